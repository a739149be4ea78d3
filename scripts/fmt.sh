#!/usr/bin/env bash
# Format the sources.
. "$(dirname "$0")/env.sh"
. "$(dirname "$0")/tools.sh"
cargo fmt
"$BIN/ruff" check --fix .
"$BIN/ruff" format .
