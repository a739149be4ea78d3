#!/usr/bin/env bash
# What can be said about the code without running it.
. "$(dirname "$0")/env.sh"
. "$(dirname "$0")/tools.sh"
export PYO3_PYTHON=$BIN/python

say "rustfmt"
cargo fmt --check
cargo fmt --check --manifest-path fuzz/Cargo.toml
say "clippy, the core alone"
cargo clippy --locked --all-targets -- -D warnings
say "clippy, with the Python module"
cargo clippy --locked --all-targets --features python -- -D warnings
say "clippy, the fuzz targets"
# In the folder of the others: most of what they need is there already.
CARGO_TARGET_DIR=target cargo clippy --locked --all-targets --manifest-path fuzz/Cargo.toml -- -D warnings
say "ruff"
"$BIN/ruff" check .
"$BIN/ruff" format --check .
say "mypy"
"$BIN/mypy"
say "licences"
"$PYTHON" scripts/licenses.py --check
