"""How long ``import ypress`` takes: ``python benches/importing.py [--rounds N]``.

Processes that import it and processes that import nothing, in interleaved rounds; the median of the differences, and
the modules that must not come along.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from measuring import parser, save, say_versions

MODULES = ("numpy", "pycrdt", "anyio", "traitlets", "click", "sqlite3")


def milliseconds(code: str) -> float:
    """How long a new interpreter takes for this code."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return 1e3 * (time.perf_counter() - start)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=31)
    arguments = options.parse_args()
    rounds = 7 if arguments.quick else arguments.rounds
    milliseconds("import ypress")
    pairs = [(milliseconds("pass"), milliseconds("import ypress")) for _ in range(rounds)]
    code = f"import sys, ypress; print(*(name for name in {MODULES!r} if name in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    results = {
        "interpreter_ms": statistics.median(bare for bare, _ in pairs),
        "import_ms": statistics.median(full - bare for bare, full in pairs),
        "loaded": loaded,
    }
    save(arguments.json, results, arguments.quick)
    say_versions()
    print(f"interpreter alone {results['interpreter_ms']:.1f} ms, import ypress {results['import_ms']:.1f} ms more")
    print(f"of {', '.join(MODULES)} it loads: {', '.join(loaded) or 'none'}")


if __name__ == "__main__":
    main()
