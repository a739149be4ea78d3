# Sourced after env.sh: .venv, with what building and checking needs.

read_extra test
ensure_venv .venv "maturin>=1.16,<2" "mypy>=1.15" "ruff>=0.9" typing_extensions "${packages[@]}"
BIN=$ROOT/.venv/bin
