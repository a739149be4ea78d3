#!/usr/bin/env bash
# The test-suites of pycrdt-store and jupyter-server-ydoc on our classes; needs the wheel that `make test` leaves in dist/.
. "$(dirname "$0")/env.sh"
wheel=$(ls dist/ypress-*.whl 2>/dev/null) || fail "no wheel in dist/; run make test first"
"$PYTHON" tests/upstream/run.py --wheel "$wheel" "$@"
# Some of its tests wait for fixed times: what fails twice is a failure.
"$PYTHON" tests/upstream/run_jupyter.py --wheel "$wheel" || "$PYTHON" tests/upstream/run_jupyter.py --wheel "$wheel"
