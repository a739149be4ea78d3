#!/usr/bin/env bash
# JupyterLab in a real Chromium, with the wheel that `make test` leaves in dist/. Arguments go to pytest.
# YPRESS_CHROMIUM names the browser, if it is not called chromium.
. "$(dirname "$0")/env.sh"
[ -x .venv-wheel/bin/python ] || fail "no environment with the wheel; run make test first"
chromium=${YPRESS_CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
[ -n "$chromium" ] || fail "no Chromium; install it (on Debian: apt-get install chromium), or name it in YPRESS_CHROMIUM"
.venv-wheel/bin/python -m pip install -q 'playwright>=1.50'
say "pytest, with $chromium; pictures in artefacts/"
YPRESS_BROWSER=1 YPRESS_CHROMIUM=$chromium .venv-wheel/bin/python -P -m pytest tests/jupyter/test_browser.py "$@"
