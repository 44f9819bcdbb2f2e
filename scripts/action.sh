#!/usr/bin/env bash
# The step of action.yml: scores the files named in the environment, writes reports and exits with the gate's exit code.
set -uo pipefail

words=(score --golden "$ASSAY_GOLDEN" --run-dir "$ASSAY_OUT/run" --html "$ASSAY_OUT/report.html" --report "$ASSAY_OUT/report.md")
for name in corpus verdicts calibration baseline gate profile; do
    variable=ASSAY_$(tr "[:lower:]" "[:upper:]" <<<"$name") # the bash of macOS does not support ${name^^}
    [ -z "${!variable:-}" ] || words+=("--$name" "${!variable}")
done
[ "${ASSAY_STRICT:-false}" != true ] || words+=(--strict)
while IFS= read -r pattern; do
    [ -z "$pattern" ] || words+=(--outputs "$pattern")
done <<<"${ASSAY_OUTPUTS:-}"

# Remove the run folder of an earlier attempt of this job; scoring refuses any other folder that is not empty.
[ ! -f "$ASSAY_OUT/run/manifest.json" ] || rm -rf "$ASSAY_OUT/run"
assay "${words[@]}"
status=$?
[ -z "${GITHUB_OUTPUT:-}" ] || echo "exit-code=$status" >>"$GITHUB_OUTPUT"

if [ -f "$ASSAY_OUT/run/manifest.json" ]; then
    report=(report "$ASSAY_OUT/run" --junit "$ASSAY_OUT/junit.xml" --csv "$ASSAY_OUT/cases.csv" --github)
    for name in baseline gate profile; do
        variable=ASSAY_$(tr "[:lower:]" "[:upper:]" <<<"$name") # the bash of macOS does not support ${name^^}
        [ -z "${!variable:-}" ] || report+=("--$name" "${!variable}")
    done
    [ "${ASSAY_STRICT:-false}" != true ] || report+=(--strict)
    assay "${report[@]}" || status=$((status == 0 ? 3 : status))
else
    echo "::error title=assay::nothing was scored (exit $status): see the log of this step"
fi
exit "$status"
