#!/usr/bin/env bash
# All measurements in one go; `docs/benchmarks.md`, the plot beside it and the tables that other pages quote are made of
# them.
#
#   QUICK=1          a first look in two or three minutes; what is made goes into target/bench-quick
#   STORES=FOLDER    also measures the sizes of the stores (*.db) in a folder of yours, which are only read
#   MORE=1           also what the page does not quote: the core by itself (cargo bench), and the measurements behind the
#                    choices of the row codec, which docs/design-rows.md has
. "$(dirname "$0")/env.sh"
. "$(dirname "$0")/bench-env.sh"
results=target/bench quick=()
if [ -n "${QUICK:-}" ]; then results=target/bench-quick quick=(--quick); fi
rm -rf "$results"

# bench NAME ARGUMENT...: run a bench; its figures go to the report under this name.
bench() {
    name=$1
    shift
    say "benches/$*"
    begun=$SECONDS
    "$BIN/python" "benches/$1" --json "$results/$name.json" ${quick[@]+"${quick[@]}"} "${@:2}"
    echo "($((SECONDS - begun)) s)"
}

bench sizes sizes.py
if [ -n "${STORES:-}" ]; then bench stores sizes.py --from "$STORES"; fi
bench rows rows.py
bench limits row_limits.py
bench writing store.py
bench history history.py
bench rewriting rewriting.py
bench importing importing.py
if [ -n "${MORE:-}" ]; then
    say "cargo bench"
    cargo bench --locked --bench rows --bench segment
    for command in "rows.py --thresholds" "row_choices.py lock" "row_choices.py tuning"; do
        say "benches/$command"
        # shellcheck disable=SC2086  # the name and its arguments
        "$BIN/python" benches/$command
    done
fi
say "the report"
if [ -n "${QUICK:-}" ]; then
    "$BIN/python" benches/make_report.py "$results" --output "$results"
else
    "$BIN/python" benches/make_report.py "$results"
fi
