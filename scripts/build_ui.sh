#!/usr/bin/env bash
# Builds the page of the HTML report from ui/ into the package; with --check it only compares. Needs Node 20.19 or newer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../ui"
asset=../src/assay/report/assets/report.html

if ! cmp -s package-lock.json node_modules/.assay-lock; then
    npm ci --no-progress --loglevel=error
    cp package-lock.json node_modules/.assay-lock
fi
npm run --silent build -- --logLevel warn
if [ "${1:-}" = --check ]; then
    cmp dist/index.html "$asset" || {
        echo "$asset is not what ui/ builds: run scripts/build_ui.sh and commit the result" >&2
        exit 1
    }
    echo "the page of the HTML report is what ui/ builds"
else
    mkdir -p "$(dirname "$asset")"
    cp dist/index.html "$asset"
fi
