"""The slices of a run: how many cases each has, and its values in a table."""

from __future__ import annotations

from collections.abc import Container, Mapping

from assay.metrics.template_columns import ANSWER, BEHAVIOUR, NDCG_10, RUNNER_COLUMNS, MetricNames, find_first_present
from assay.records.scores import ConfigResult, ScoringResult, Summary
from assay.report.findings.measured_headlines import find_measured_summary
from assay.report.findings.table import Table
from assay.report.wording.number_format import format_with_interval

FEW_CASES = 10
"""A slice with fewer cases is descriptive only."""


def count_slice_cases(metrics: Mapping[str, Summary]) -> int:
    """Return the number of cases in a slice; each metric's counts add up to it, so the first metric is enough."""
    return next((s.scored + s.not_applicable + s.errors for s in metrics.values()), 0)


def list_slices_by_size(result: ConfigResult) -> list[tuple[int, str]]:
    """Return (cases, `key=value`) of the slices, smallest first."""
    return sorted((count_slice_cases(metrics), key) for key, metrics in result.slices.items())


def build_slices_table(scoring: ScoringResult, *, only: Container[str] = (), without: Container[str] = ()) -> Table:
    """Return one row per configuration and slice: of the keys in `only`, or of all keys but those in `without`."""
    slice_columns = _choose_slice_columns(scoring)
    rows = []
    for config, result in sorted(scoring.configs.items()):
        for name in sorted(result.slices):
            slice_key = name.partition("=")[0]
            if slice_key in only or (not only and slice_key not in without):
                summaries = result.slices[name]
                cells = [format_with_interval(find_measured_summary(names, summaries)) for _, names in slice_columns]
                rows.append((config, name, str(count_slice_cases(summaries)), *cells))
    columns = ("Config", "Slice", "Cases", *(title for title, _ in slice_columns))
    notes = (f"Slices of fewer than {FEW_CASES} cases are descriptive only.",) if rows else ()
    return Table("Slices", columns, tuple(rows), notes)


_SLICE_COLUMNS: tuple[tuple[str, MetricNames], ...] = (
    ("Answer correctness", ANSWER),
    ("Behaviour", BEHAVIOUR),
    *(column for column in RUNNER_COLUMNS if column[1] not in (BEHAVIOUR, NDCG_10)),
)


def _choose_slice_columns(scoring: ScoringResult) -> list[tuple[str, MetricNames]]:
    """Return whether answers were right, and the legacy runner's columns that were requested, one for ranks; filled up
    with other metrics that were."""
    requested = dict.fromkeys(metric for _, result in sorted(scoring.configs.items()) for metric in result.summary)
    chosen = [(title, names) for title, names in _SLICE_COLUMNS if find_first_present(names, requested) is not None]
    named_metrics = {name for _, names in chosen for name in names}
    other_columns = [(metric, (metric,)) for metric in requested if metric not in named_metrics]
    return [*chosen, *other_columns[: len(_SLICE_COLUMNS) - len(chosen)]]
