#!/usr/bin/env bash
# Builds sdist and wheel and installs them in clean environments: on every Python from 3.11 to 3.14 that is found, and with each
# extra on the first of them. `scripts/check_wheel.sh [--no-extras]`; needs the development environment.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
ensure_environment dev

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
EXTRAS="http judge mcp audit postgres parquet documents entailment all langchain litellm llamaindex"

# The names of the files in a wheel, without those of its metadata that carry a digest.
list_files() {
    "$python" -c 'import sys, zipfile; print("\n".join(sorted(zipfile.ZipFile(sys.argv[1]).namelist())))' "$1"
}

build() {
    "$python" -m hatchling build --directory "$scratch/dist" >/dev/null
    "$python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$scratch/again" "$scratch"/dist/*.tar.gz
    diff <(list_files "$scratch"/dist/*.whl) <(list_files "$scratch"/again/*.whl) # the sdist holds all that the wheel needs
    ls "$scratch/dist"
}

# Every Python that can make environments, each version once: those on the PATH, then those of pyenv.
find_pythons() {
    local candidate version seen=" "
    for candidate in "$(find_python)" python3.11 python3.12 python3.13 python3.14 \
        "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-4]*/bin/python3; do
        version=$("$candidate" -c 'import sys, venv, ensurepip; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
        case $seen in *" $version "*) continue ;; esac
        case $version in 3.1[1-4]) ;; *) continue ;; esac
        seen="$seen$version "
        echo "$candidate"
    done
}

# smoke PYTHON NAME [EXTRA]
smoke() {
    local folder=$scratch/$2
    "$1" -m venv "$folder/venv"
    local clean=$folder/venv/bin/python
    if [ $# -eq 2 ]; then
        install_into "$clean" --require-hashes --requirement requirements/core.txt
        install_into "$clean" --no-deps "$scratch"/dist/*.whl
    else
        local wheel=("$scratch"/dist/*.whl)
        install_into "$clean" --constraint "$scratch/constraints.txt" "rag-assay[$3] @ file://${wheel[0]}"
    fi
    (
        cd "$folder" # so that nothing is imported from the source tree
        "$folder/venv/bin/assay" --help >/dev/null
        "$clean" "$root/scripts/wheel_smoke.py" "${@:3}"
    ) | tee -a "$scratch/printed"
    echo "$("$clean" --version)${3:+, extra $3}: ok"
    rm -rf "$folder"
}

build
sed -n 's/^\([A-Za-z0-9_.-]*==[^\\]*\).*/\1/p' requirements/extras.txt >"$scratch/constraints.txt" # versions and markers without hashes
mapfile -t pythons < <(find_pythons)
for base in "${pythons[@]}"; do
    smoke "$base" "python-$("$base" -c 'import sys; print(sys.version_info[1])')"
done
if [ "$(grep '^scores ' "$scratch/printed" | sort -u | wc -l)" -ne 1 ]; then
    echo "the scores of the example are not the same on every Python" >&2
    exit 1
fi
[ "${1:-}" = --no-extras ] && exit
for extra in $EXTRAS; do
    smoke "${pythons[0]}" "extra-$extra" "$extra"
done
