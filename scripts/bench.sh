#!/usr/bin/env bash
# The measurements that the pages in docs/ quote: criterion for the core, then the Python ones against the peers.
. "$(dirname "$0")/env.sh"
. "$(dirname "$0")/bench-env.sh"
say "cargo bench"
cargo bench --locked --bench rows --bench segment
for command in "rows.py" "rows.py --thresholds" "row_choices.py lock" "row_choices.py tuning" "row_choices.py limit" \
    "sizes.py"; do
    say "benches/$command"
    # shellcheck disable=SC2086  # the name and its arguments
    "$BIN/python" benches/$command
done
