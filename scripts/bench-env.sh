# Sourced after env.sh: .venv-bench with ypress, built as released, and the libraries to compare it with.

ensure_venv .venv-bench "maturin>=1.16,<2" pycrdt-store jupyter-ydoc
BIN=$ROOT/.venv-bench/bin
if [ ! -f .venv-bench/peers ]; then
    # Each on its own: one that has no build for this machine is left out of the comparison.
    for package in zstandard lz4 brotli cramjam numcodecs backports.zstd; do
        "$BIN/python" -m pip install -q --only-binary :all: "$package" || echo "$package cannot be had here: left out"
    done
    touch .venv-bench/peers
fi
say "building ypress"
rm -rf target/bench-wheel
PATH=$BIN:$PATH "$BIN/maturin" build --quiet --locked --release --interpreter "$BIN/python" --out target/bench-wheel
"$BIN/python" -m pip install -q --no-deps --force-reinstall target/bench-wheel/ypress-*.whl
