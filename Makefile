# Each target sets up what it needs in this folder; none needs root. PYTHON=... names another interpreter.
.PHONY: help demo test test-browser lint fmt bench long upstream fuzz instructions memcheck soak clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

demo:  ## compare codecs on a store (DB=path/to/.jupyter_ystore.db, else one is made)
	@bash scripts/demo.sh

test:  ## everything that must pass, on the built wheel
	@bash scripts/test.sh

test-browser:  ## JupyterLab in a real Chromium (after make test)
	@bash scripts/browser.sh

lint:  ## rustfmt, clippy, ruff, mypy
	@bash scripts/lint.sh

fmt:  ## format the sources
	@bash scripts/fmt.sh

bench:  ## all measurements, into docs/benchmarks.md (QUICK=1: a first look)
	@bash scripts/bench.sh

long:  ## the tests with many more rounds, memcheck and soak
	@YPRESS_LONG=1 bash scripts/test.sh --timeout=3600
	@bash scripts/memcheck.sh
	@bash scripts/soak.sh 20

upstream:  ## the test-suites of pycrdt-store and jupyter-server-ydoc on our classes (after make test)
	@bash scripts/upstream.sh

fuzz:  ## fuzz the core (SECONDS=60 for each target, TARGET=name for one, JOBS=1 at a time)
	@bash scripts/fuzz.sh $(or $(SECONDS),60) $(TARGET)

instructions:  ## count the instructions of the hot paths (valgrind), compared with those of before
	@bash scripts/instructions.sh

memcheck:  ## the core's tests under valgrind
	@bash scripts/memcheck.sh

soak:  ## twenty rooms at work (MINUTES=20): memory, handles and threads stay flat, nothing is lost
	@bash scripts/soak.sh $(or $(MINUTES),20)

clean:  ## remove all that was built or installed here
	rm -rf target fuzz/target dist .venv .venv-wheel .venv-bench .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -f python/ypress/*.so python/ypress/*.pyd
	rm -rf tests/yjs/node_modules
	find python tests benches -name __pycache__ -type d -prune -exec rm -rf {} +
