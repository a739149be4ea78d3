#!/usr/bin/env bash
# The core's tests under valgrind: memory that is read before it is written, or beyond its end, or never given back.
# Arguments go to the test programs.
. "$(dirname "$0")/env.sh"
command -v valgrind >/dev/null || fail "valgrind is needed (on Debian: apt-get install valgrind)"
say "building"
programs=$(cargo test --locked --profile memcheck --lib --test segment_properties --no-run --message-format json --quiet |
    "$PYTHON" -c 'import json, sys; print(*(p for line in sys.stdin if (p := json.loads(line).get("executable"))))')
[ -n "$programs" ] || fail "nothing was built"
for program in $programs; do
    say "valgrind $(basename "$program")"
    valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite \
        "$program" --test-threads=1 "$@"
done
