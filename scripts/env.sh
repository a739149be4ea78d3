# Sourced by the other scripts: where things are, and an environment of the checkout's own.
#
#   PYTHON   the interpreter to start from (default: python3, 3.11 or newer)

set -eu
cd "$(dirname "$0")/.."
ROOT=$(pwd)
PYTHON=${PYTHON:-python3}
# The checkout's environment alone counts, whatever the caller has active.
unset VIRTUAL_ENV CONDA_PREFIX PYTHONPATH PYTHONHOME
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

command -v cargo >/dev/null || fail "Rust is needed: https://rustup.rs"
command -v "$PYTHON" >/dev/null || fail "$PYTHON is not there; name another with PYTHON=..."
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "$PYTHON is older than Python 3.11"

# ensure_venv FOLDER STAMP PACKAGE...: an environment that has these packages; made anew when the list changes.
ensure_venv() {
    folder=$1 wanted=$("$PYTHON" -c 'import sys; print(sys.version)')" $*"
    shift
    if [ ! -f "$folder/installed" ] || [ "$(cat "$folder/installed")" != "$wanted" ]; then
        say "making $folder"
        "$PYTHON" -m venv --clear "$folder"
        "$folder/bin/python" -m pip install -q "$@"
        printf '%s' "$wanted" >"$folder/installed"
    fi
}

# extra NAME: the packages of an extra in pyproject.toml, one a line, without ypress itself.
extra() {
    "$PYTHON" - "$1" <<'PY'
import sys, tomllib

extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]


def packages(name):
    for package in extras[name]:
        if package.startswith("ypress["):
            for other in package[len("ypress[") : -1].split(","):
                yield from packages(other)
        else:
            yield package


print("\n".join(sorted(set(packages(sys.argv[1])))))
PY
}

# read_extra NAME: the same into the positional parameters' stead: an array named `packages`.
read_extra() {
    packages=()
    while IFS= read -r package; do packages+=("$package"); done < <(extra "$1")
}
