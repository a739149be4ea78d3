#!/usr/bin/env bash
# Format the sources.
. "$(dirname "$0")/env.sh"
. "$(dirname "$0")/tools.sh"
cargo fmt
cargo fmt --manifest-path fuzz/Cargo.toml
"$BIN/ruff" check --fix .
"$BIN/ruff" format .
