#!/usr/bin/env bash
# The measurements that the README quotes: criterion for the core, then each benches/bench_*.py against the peers.
. "$(dirname "$0")/env.sh"
. "$(dirname "$0")/bench-env.sh"
if ls benches/*.rs >/dev/null 2>&1; then
    say "cargo bench"
    cargo bench --locked
fi
for file in benches/bench_*.py; do
    [ -f "$file" ] || continue
    say "$file"
    "$BIN/python" "$file"
done
