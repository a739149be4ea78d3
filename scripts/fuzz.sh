#!/usr/bin/env bash
# Fuzz the core: scripts/fuzz.sh [SECONDS] [TARGET...], by default 60 seconds for each target in fuzz/targets.
# What a target has found worth keeping goes into fuzz/corpus, an input that fails into fuzz/artifacts.
#
#   SEED                where chance begins, for a run that can be repeated (default: 0, somewhere else each time)
#   JOBS                targets that run at the same time (default: 1)
#   YPRESS_FUZZ_ASAN=0  without AddressSanitizer
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || for file in fuzz/targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
jobs=${JOBS:-1}
[[ $seconds =~ ^[0-9]+$ && $jobs =~ ^[1-9][0-9]*$ ]] || { echo "error: SECONDS and JOBS are numbers" >&2; exit 2; }
for target in "${targets[@]}"; do
    [ -f "fuzz/targets/$target.rs" ] || { echo "error: there is no fuzz/targets/$target.rs" >&2; exit 2; }
done

# What cargo-fuzz passes to the compiler. All of it is there in a stable release but the switch for AddressSanitizer,
# whose run-time library comes with it all the same.
flags="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-trace-compares
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0 -Ccodegen-units=1"
host=$(rustc -vV | sed -n 's/^host: //p')
folder=fuzz/target/plain
export RUSTC_BOOTSTRAP=1
if [ "${YPRESS_FUZZ_ASAN:-1}" != 0 ]; then
    folder=fuzz/target/asan
    flags="$flags -Zsanitizer=address"
    # The C libraries, too.
    export CFLAGS="${CFLAGS:-} -fsanitize=address -fno-omit-frame-pointer -g1"
fi
# With --target, the flags are not used for build scripts and procedural macros.
RUSTFLAGS=$(tr -s ' \n' ' ' <<<"$flags") CARGO_TARGET_DIR=$folder \
    cargo build --quiet --locked --release --manifest-path fuzz/Cargo.toml --target "$host" --bins

run() {
    local target=$1 corpus=fuzz/corpus/$1 seeds=()
    mkdir -p "$corpus" fuzz/artifacts
    [ ! -d "fuzz/seeds/$target" ] || seeds=("fuzz/seeds/$target")
    # Nothing that is read here may take more memory than this at once, whatever it claims.
    if "$folder/$host/release/$target" "$corpus" ${seeds[@]+"${seeds[@]}"} -max_total_time="$seconds" -timeout=100 -seed="${SEED:-0}" \
        -rss_limit_mb=1500 -malloc_limit_mb=300 -max_len=65536 -print_final_stats=1 -verbosity=1 \
        -artifact_prefix="fuzz/artifacts/$target-" >"fuzz/artifacts/$target.log" 2>&1; then
        awk -v target="$target" '/^stat::number_of_executed_units/ { runs = $2 } / cov: / { cover = $4 }
            END { printf "fuzz %s: %d runs, %d edges, no failure\n", target, runs, cover }' "fuzz/artifacts/$target.log"
    else
        tail -n 60 "fuzz/artifacts/$target.log"
        echo "fuzz $target: FAILED, see fuzz/artifacts" >&2
        return 1
    fi
}

running=() failed=0
for target in "${targets[@]}"; do
    if [ ${#running[@]} -eq "$jobs" ]; then
        wait "${running[0]}" || failed=1
        running=("${running[@]:1}")
    fi
    run "$target" &
    running+=($!)
done
for one in ${running[@]+"${running[@]}"}; do wait "$one" || failed=1; done
exit $failed
