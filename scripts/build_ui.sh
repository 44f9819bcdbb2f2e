#!/usr/bin/env bash
# Builds the pages (the HTML report, and those on trends) from ui/ into the package; with --check it only compares. Needs Node 20.19 or newer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../ui"
assets=../src/assay/report/page/assets

if ! cmp -s package-lock.json node_modules/.assay-lock; then
    npm ci --no-progress --loglevel=error
    cp package-lock.json node_modules/.assay-lock
fi
npm run --silent build -- --logLevel warn
mkdir -p "$assets"
for page in index:report pages:pages; do
    built=dist/${page%%:*}.html asset=$assets/${page##*:}.html
    if [ "${1:-}" != --check ]; then
        cp "$built" "$asset"
    elif ! cmp "$built" "$asset"; then
        echo "$asset is not what ui/ builds: run scripts/build_ui.sh and commit the result" >&2
        exit 1
    fi
done
if [ "${1:-}" = --check ]; then
    echo "the pages are what ui/ builds"
fi
