"""The limitations of a report: which numbers are reproducible, how small the golden set is, what was not measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.metrics.catalog import CATALOG
from assay.records.counts import format_count, join_first
from assay.records.scores import ScoringResult
from assay.report.findings.slice_tables import FEW_CASES, list_slices_by_size
from assay.report.wording.number_format import (
    JUDGED,
    find_common_reason,
    find_metric_row,
    find_source_column,
    format_percent,
    get_metric_class,
)

_MAX_SLICES = 5
_MAX_METRICS, _MAX_EXAMPLES = 8, 3
"""The most metrics that are named for one reason, and how many of more are."""


def describe_limitations(scoring: ScoringResult) -> Iterator[str]:
    """Yield one short paragraph for each limitation of this report."""
    yield from _describe_reproducibility(scoring)
    yield from _describe_set_size(scoring)
    yield from _describe_unmeasured(scoring)
    yield from _describe_perfect_scores(scoring)
    yield from _describe_small_slices(scoring)
    if scoring.golden.judgments == "partial":
        yield (
            "Not every chunk was judged, and an unjudged chunk counts as irrelevant: "
            "read the ranking metrics together with judged@k."
        )


def _list_measured_metrics(scoring: ScoringResult) -> list[str]:
    metrics: set[str] = set()
    for result in scoring.configs.values():
        metrics.update(name for name, summary in result.summary.items() if summary.scored)
    return sorted(metrics)


def _describe_reproducibility(scoring: ScoringResult) -> Iterator[str]:
    judged = [metric for metric in _list_measured_metrics(scoring) if get_metric_class(metric) == JUDGED]
    yield (
        "Metrics of class D are computed from the files alone: the same files give exactly the same numbers. "
        "The system's answers may differ if it is asked again."
    )
    if judged:
        yield (
            f"Metrics of class J are computed from a judge's recorded verdicts: {', '.join(judged)}. "
            "Scoring the same verdicts again gives exactly the same numbers; asking the judge again may not."
        )
    else:
        yield "No judge was asked: there is no metric of class J in this report."
    unrepeated = [config for config, result in sorted(scoring.configs.items()) if result.table.repeats <= 1]
    if unrepeated:
        yield (
            f"Each question was asked once ({', '.join(unrepeated)}): "
            "how much the answers vary from run to run is unknown."
        )


def _describe_set_size(scoring: ScoringResult) -> Iterator[str]:
    cases = scoring.golden.cases
    if cases:
        bound = format_percent(1 - 0.05 ** (1 / cases))  # Clopper-Pearson for 0 failures: (1 - rate) ** cases = 0.05
        yield (
            f"The golden set has {format_count(cases, 'case')}. A failure that occurs in none of them may still affect "
            f"up to {bound} of such questions (one-sided 95% bound). It is a test set for this system, not a benchmark."
        )


def _name_first(metrics: Sequence[str]) -> str:
    """Return the metrics, of many the first ones: the table of all metrics has the reason of each."""
    if len(metrics) <= _MAX_METRICS:
        return ", ".join(metrics)
    return f"{format_count(len(metrics), 'metric')}, such as {', '.join(metrics[:_MAX_EXAMPLES])}"


def _describe_unmeasured(scoring: ScoringResult) -> Iterator[str]:
    for config, result in sorted(scoring.configs.items()):
        reasons: dict[str, list[str]] = {}
        for metric, summary in sorted(result.summary.items()):
            if summary.value is None:
                reason = find_common_reason(find_source_column(metric, result.table)) or "no case"
                reasons.setdefault(reason, []).append(metric)
        if reasons:
            listed = "; ".join(f"{_name_first(metrics)} ({reason})" for reason, metrics in sorted(reasons.items()))
            yield f"{config}, requested but not measured: {listed}."
    judged_bases = set()
    for metric in _list_measured_metrics(scoring):
        metric_row = find_metric_row(metric)
        if metric_row is not None and get_metric_class(metric) == JUDGED:
            judged_bases.add(metric_row.name)
    unasked = sorted(
        f"{row.name}(by=judge)" for row in CATALOG.values() if row.rubrics and row.name not in judged_bases
    )
    if unasked:
        yield f"Not measured, because they need a judge's verdicts: {_name_first(unasked)}."


def _describe_perfect_scores(scoring: ScoringResult) -> Iterator[str]:
    for config, result in sorted(scoring.configs.items()):
        perfect = []
        for metric, summary in result.summary.items():
            metric_row = find_metric_row(metric)
            has_known_best = metric_row is None or (metric_row.direction == "higher" and metric_row.high == 1.0)
            if has_known_best and summary.scored > 1 and summary.value == 1.0 and summary.unknown is None:
                perfect.append(metric)
        if perfect:
            yield (
                f"{config} has a perfect score on {', '.join(perfect)}. Treat a perfect score as a warning: "
                "the questions may be too easy to tell a good system from a better one."
            )


def _describe_small_slices(scoring: ScoringResult) -> Iterator[str]:
    sizes = {key: size for result in scoring.configs.values() for size, key in list_slices_by_size(result)}
    small = sorted((size, key) for key, size in sizes.items() if size < FEW_CASES)
    if small:
        listed = join_first([f"{key} ({size})" for size, key in small], _MAX_SLICES)
        yield f"Slices of fewer than {FEW_CASES} cases are descriptive only: {listed}."
