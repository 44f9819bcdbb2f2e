"""Notes on one configuration: cases without output, the stage scored, warnings, cases in review."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from assay.records.counts import format_count
from assay.records.scores import ConfigResult, ScoringResult
from assay.scoring.column_values import find_rows_in_review

_MOST_NAMED = 20  # cases in a note


def iter_config_notes(config: str, result: ConfigResult, scoring: ScoringResult) -> Iterator[str]:
    """Yield notes on one configuration: cases without output, the stage scored, warnings, cases in review."""
    missing = result.table.missing
    if missing:
        more = f" … and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
        yield f"{config}: {format_count(len(missing), 'case')} without output: {', '.join(missing[:_MOST_NAMED])}{more}"
    if config in scoring.stages:
        yield f"{config}: ranking metrics score the stage {scoring.stages[config]!r}"
    warned = Counter(name for checks in result.table.checks for name in checks.warnings)
    if warned:
        listed = ", ".join(f"{name} × {count}" for name, count in sorted(warned.items()))
        yield f"{config}: warnings that fail no case: {listed}"
    yield from _iter_cases_in_review(config, result)
    yield from (f"{config}: {note}" for note in result.table.notes)


def _iter_cases_in_review(config: str, result: ConfigResult) -> Iterator[str]:
    """Yield a note that names the cases with scores that a person should review, and their metrics."""
    metrics_by_case: dict[str, list[str]] = {}
    for metric, column in sorted(result.table.columns.items()):
        for row in find_rows_in_review(column).tolist():
            metrics_by_case.setdefault(result.table.case_ids[row], []).append(metric)
    if metrics_by_case:
        listed = "; ".join(
            f"{case_id}: {', '.join(metrics_by_case[case_id])}" for case_id in list(metrics_by_case)[:_MOST_NAMED]
        )
        more = f" … and {len(metrics_by_case) - _MOST_NAMED} more" if len(metrics_by_case) > _MOST_NAMED else ""
        count = format_count(len(metrics_by_case), "case")
        yield f"{config}: {count} in review, because the judge's votes are far apart or tied: {listed}{more}"
