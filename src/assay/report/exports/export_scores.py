"""What a run folder keeps of a finished scoring: the JSON report, and the scores of every case.

Most runs write nothing else, so that this imports none of the writers of the other reports.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.report.exports.case_scores import iter_case_lines
from assay.report.exports.json_report import render_json_report
from assay.report.findings.collect_entities import tabulate_entities
from assay.report.findings.collect_findings import attribute_all_configs, compare_run
from assay.scoring.scored_run import ScoredRun


def render_json(run: ScoredRun, now: str | None = None) -> str:
    """Return the JSON report, with the attribution of every case."""
    return render_json_report(run.scoring, now, attribute_all_configs(run), tabulate_entities(run), compare_run(run))


def iterate_case_lines(run: ScoredRun) -> Iterator[bytes]:
    """Yield the scores of every (configuration, case) as JSON lines, configurations in alphabetical order."""
    for config in sorted(run.scoring.configs):
        yield from iter_case_lines(run.scoring.configs[config].table)
