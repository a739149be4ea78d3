#!/usr/bin/env bash
# Everything that must pass. The Python tests run on the wheel, built from the source distribution and installed into
# an environment of its own. Arguments go to pytest.
. "$(dirname "$0")/lint.sh"

say "cargo test, the core alone"
cargo test --locked --quiet
say "cargo test, with the Python module"
# The test programs embed Python: they need its library at run time and may need its home.
PYTHONHOME=$("$PYTHON" -c 'import sys; print(sys.base_prefix)') \
    LD_LIBRARY_PATH=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR") or "")'):${LD_LIBRARY_PATH:-} \
    cargo test --locked --quiet --features python

say "source distribution, and a wheel from it"
rm -rf dist
"$BIN/maturin" sdist --out dist
# The same target folder as above saves compiling the dependencies again. What was built of ypress itself must go: the
# files of a source distribution have old dates, and cargo would take an earlier build for up to date.
cargo clean --quiet --release --package ypress
PATH=$BIN:$PATH CARGO_TARGET_DIR=$ROOT/target "$BIN/python" -m pip wheel -q --no-deps --no-build-isolation \
    --wheel-dir dist dist/ypress-*.tar.gz
wheel=$(ls dist/ypress-*.whl)
ls -l "$wheel"

say "the wheel in a clean environment"
rm -rf .venv-wheel
"$PYTHON" -m venv .venv-wheel
WHEEL_BIN=$ROOT/.venv-wheel/bin
"$WHEEL_BIN/python" -m pip install -q "$wheel"
"$WHEEL_BIN/python" -I -c 'import ypress; assert ypress.decompress(ypress.compress(b"a" * 999)) == b"a" * 999'
"$WHEEL_BIN/python" -m pip install -q "$wheel[test]" mypy typing_extensions
"$WHEEL_BIN/python" -m pip check

say "the stub against the module"
allow=()
if [ -f tests/stubtest-allowlist.txt ]; then allow=(--allowlist "$ROOT/tests/stubtest-allowlist.txt"); fi
(cd .venv-wheel && bin/python -m mypy.stubtest ypress._native ${allow[@]+"${allow[@]}"})

if [ -f tests/yjs/package.json ] && command -v npm >/dev/null; then
    say "Yjs for the tests"
    (cd tests/yjs && npm ci --silent --no-audit --no-fund)
fi

# Two at a time: much of it waits for servers and kernels.
say "pytest"
YPRESS_WHEEL=$ROOT/$wheel YPRESS_SDIST=$(ls "$ROOT"/dist/ypress-*.tar.gz) "$WHEEL_BIN/python" -P -m pytest --numprocesses 2 --dist worksteal "$@"
