#!/usr/bin/env bash
# Twenty rooms at work for so many minutes (default: 20), on the wheel that `make test` leaves installed.
. "$(dirname "$0")/env.sh"
[ -x .venv-wheel/bin/python ] || fail "no environment with the wheel; run make test first"
say "${1:-20} minutes"
exec .venv-wheel/bin/python -P tests/long/soak.py --minutes "${1:-20}"
