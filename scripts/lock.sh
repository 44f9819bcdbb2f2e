#!/usr/bin/env bash
# Writes the locked requirements from pyproject.toml: `scripts/lock.sh [--upgrade | --upgrade-package NAME]`. Needs uv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

lock() {
    uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
        --no-emit-index-url --no-header "${@:2}" pyproject.toml --output-file "requirements/$1.txt"
}

lock dev --group dev "$@"
lock core --group build --constraints requirements/dev.txt # the same versions, so that dev installs on top of core
lock extras --extra all --extra langchain --extra litellm --extra llamaindex --extra documents --extra parquet --extra entailment --constraints requirements/dev.txt # what CI installs of each extra
if grep -n '://' requirements/*.txt; then
    echo "requirements/ must not hold addresses" >&2
    exit 1
fi
