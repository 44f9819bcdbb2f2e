# Sourced by ./demo, ./test and .ci/run: `ensure_environment core|dev` makes the virtual environment (.venv, or $ASSAY_VENV)
# from requirements/, once; afterwards $python is its Python and the working directory is the project's root.

unset CDPATH PYTHONPATH PYTHONHOME
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
venv=${ASSAY_VENV:-$root/.venv}
case $venv in
    /*) ;;
    *) venv=$OLDPWD/$venv ;;
esac
python=$venv/bin/python
stamp=$venv/.assay-environment # three lines: root of the project, installed set, checksum of the requirements

die() {
    echo "$*" >&2
    exit 3
}

find_python() {
    local candidate
    set -- python3 python3.13 python3.12 python3.11 python3.14
    [ -z "${ASSAY_PYTHON:-}" ] || set -- "$ASSAY_PYTHON"
    for candidate; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    die "Python 3.11, 3.12, 3.13 or 3.14 with its venv module is needed (on Debian and Ubuntu: python3-venv)." \
        "If it is not on the PATH, name it: ASSAY_PYTHON=/path/to/python3 $0"
}

checksum() {
    cat pyproject.toml requirements/*.txt | cksum
}

# The development environment contains everything of the core one.
is_ready() {
    [ -x "$python" ] && [ -f "$stamp" ] || return 1
    case $(cat "$stamp") in
        "$root"$'\n'dev$'\n'"$(checksum)" | "$root"$'\n'"$1"$'\n'"$(checksum)") ;;
        *) return 1 ;;
    esac
}

# The lock is held while file descriptor 9 is open, so that a killed run leaves no lock behind.
wait_for_lock() {
    "$1" - <<'PYTHON'
import fcntl
try:
    fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("Waiting for another run that is creating the environment…", flush=True)
    fcntl.flock(9, fcntl.LOCK_EX)
PYTHON
}

# A directory that this script did not create is never overwritten; an incomplete or moved environment is created again.
make_venv() {
    if [ -x "$python" ] && [ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" = "$root" ]; then
        return
    fi
    if [ -f "$stamp" ]; then
        rm -rf "$venv"
    elif [ -e "$venv" ] && [ -n "$(ls -A "$venv")" ]; then
        die "$venv was not made by this script: remove it, or set ASSAY_VENV to another directory."
    fi
    mkdir -p "$venv"
    echo "incomplete" >"$stamp"
    "$1" -m venv "$venv"
}

# install_into PYTHON ARGUMENTS…: uv where it is on the PATH and can, else pip.
install_into() {
    if command -v uv >/dev/null && uv pip install --quiet --python "$@" 2>/dev/null; then
        return
    fi
    "$1" -m pip install -qq --disable-pip-version-check --no-input --no-compile "${@:2}"
}

ensure_environment() {
    is_ready "$1" && return
    local base
    base=$(find_python)
    mkdir -p "$(dirname "$venv")"
    exec 9>"$venv.lock"
    wait_for_lock "$base"
    if ! is_ready "$1"; then
        echo "Creating the environment in $venv (once, about a minute)…"
        make_venv "$base"
        echo "incomplete" >"$stamp"
        install_into "$python" --require-hashes --requirement "requirements/$1.txt"
        install_into "$python" --no-deps --no-build-isolation --editable .
        "$python" -m compileall -q -j 2 "$venv/lib" src || true # fast starts even if Python cannot write caches later
        printf '%s\n%s\n%s\n' "$root" "$1" "$(checksum)" >"$stamp"
    fi
    exec 9>&-
}
