#!/usr/bin/env bash
# Count the instructions of the hot paths under callgrind and compare them with benches/instructions.json; with --update,
# write that file. Fails where something takes more than a tenth more.
. "$(dirname "$0")/env.sh"
case "$(uname -sm)" in
    "Linux x86_64") ;;
    *) fail "the counts that are kept are those of Linux on x86-64" ;;
esac
if ! grep -qw avx2 /proc/cpuinfo; then
    echo "this processor has no AVX2, and so other paths are taken than in the baseline: nothing to compare" >&2
    exit 0
fi
command -v valgrind >/dev/null || fail "valgrind is needed (on Debian: apt-get install valgrind)"
say "building"
# As it is released; the binary's name has a hash, which cargo tells.
binary=$(cargo bench --locked --bench instructions --no-run --message-format json --quiet |
    "$PYTHON" -c 'import json, sys; print(*(j["executable"] for line in sys.stdin if (j := json.loads(line)).get("executable")))')
say "counting"
exec "$PYTHON" scripts/instructions.py "$binary" "$@"
