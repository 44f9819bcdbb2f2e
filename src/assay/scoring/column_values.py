"""What a column holds on a slice, the values that were scored and how many rows have none, and its numbers in messages.

Numbers have enough digits to tell them apart; lists of cases are cut short.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from assay.metrics import false_passes, variants
from assay.metrics.answers import answer_behaviour, correctness
from assay.metrics.cases.settled_answers import SETTLED_METRICS
from assay.metrics.catalog import case_column_name
from assay.metrics.grounding import citation_placement
from assay.metrics.judged.judge_requests import NO_VERDICT, UNSCORED_PREFIX
from assay.metrics.metric import Metric, MetricName, parse_metric_name
from assay.metrics.own_metric import find_own_failures
from assay.metrics.retrieval import evidence_fields
from assay.records.counts import format_count
from assay.records.observations import NO_ANSWER_REASON
from assay.records.scores import ERROR, NEEDS_REVIEW, NOT_APPLICABLE, SCORED, SETTLED, Interval, ScoreColumn, ScoreTable
from assay.stats.arrays import FloatArray, RowIndices
from assay.stats.samples import compute_exact_sum

_DECIMALS = {"ms": 0, "tokens": 0, "USD": 4}
_MOST_DECIMALS = 17
CASES_NAMED = 5
_FEW_REASONS = 100  # reasons of a column whose codes are kept, because every slice of it asks for them


def format_compared(value: float, threshold: float, unit: str = "share") -> tuple[str, str]:
    """Format two numbers so that different numbers never look the same.

    >>> format_compared(0.8497, 0.85)
    ('0.8497', '0.8500')
    """
    decimals = _DECIMALS.get(unit, 3)
    while f"{value:.{decimals}f}" == f"{threshold:.{decimals}f}" and value != threshold and decimals < _MOST_DECIMALS:
        decimals += 1
    suffix = f" {unit}" if unit in ("ms", "USD") else ""
    return f"{value:.{decimals}f}{suffix}", f"{threshold:.{decimals}f}{suffix}"


def format_interval_suffix(interval: Interval | None, unit: str = "share") -> str:
    """Return `, 95% low–high`, or nothing without an interval.

    >>> format_interval_suffix(Interval(0.7123, 0.9, "Wilson"))
    ', 95% 0.71–0.90'
    """
    if interval is None:
        return ""
    decimals = _DECIMALS.get(unit, 2)
    return f", {interval.confidence:.0%} {interval.low:.{decimals}f}–{interval.high:.{decimals}f}"


def format_case_ids(case_ids: Sequence[str]) -> str:
    """Return the first few ids and how many more there are.

    >>> format_case_ids(["a", "b", "c", "d", "e", "f", "g"])
    'a, b, c, d, e … and 2 more'
    """
    more = len(case_ids) - CASES_NAMED
    return ", ".join(case_ids[:CASES_NAMED]) + (f" … and {more} more" if more > 0 else "")


_TEXTS_NAMED = 3


def describe_own_failures(table: ScoreTable) -> list[str]:
    """Return a sentence for each metric of one's own that could not measure some cases: on which, and why.

    Cases with the same error text are named together, the text of most cases first.
    """
    sentences = []
    for name, column in table.columns.items():
        rows = np.flatnonzero(find_own_failures(column))
        if not len(rows):
            continue
        ids_by_text: dict[str, list[str]] = {}
        for row in rows.tolist():
            ids_by_text.setdefault(column.reasons[column.reason[row]], []).append(table.case_ids[row])
        texts = sorted(ids_by_text, key=lambda text: -len(ids_by_text[text]))  # stable: else in golden order
        named = [f"{text} ({format_case_ids(ids_by_text[text])})" for text in texts[:_TEXTS_NAMED]]
        if len(texts) > _TEXTS_NAMED:
            others = format_count(len(texts) - _TEXTS_NAMED, "other text")
            named.append(f"and {others}, each with its failed case")
        total = format_count(len(table.case_ids), "case")
        sentences.append(f"{name} could not measure {len(rows)} of {total}: {'; '.join(named)}")
    return sentences


def list_own_failures(table: ScoreTable, row: int) -> dict[str, str]:
    """Return why metrics of one's own could not measure a case, by metric."""
    return {
        name: column.reasons[column.reason[row]]
        for name, column in table.columns.items()
        if column.status[row] == ERROR and find_own_failures(column)[row]
    }


PERCENTILE_STATISTICS = {"p50": 50.0, "p95": 95.0}
AVERAGE_STATISTICS = ("mean", "rate", "balanced")
MIN_JUDGED_SHARE = 0.95
"""The share of the cases to be judged below which the others give no number: they may be the easy ones."""
"""A number per row that rows of one cluster share."""


class ColumnValues(Struct, frozen=True):
    """The scored rows of a slice with their values, in golden order, the rows in error, and the count of the others."""

    rows: RowIndices
    values: FloatArray
    error_rows: RowIndices
    not_applicable: int
    not_finite: int

    @property
    def scored(self) -> int:
        """Rows with a number."""
        return len(self.rows)

    @property
    def errors(self) -> int:
        """Rows that should have a number and have none."""
        return len(self.error_rows)

    @property
    def applicable(self) -> int:
        """Rows that should have a number: scored and errors."""
        return self.scored + self.errors

    def with_errors_as(self, worst: float) -> ColumnValues:
        """Return the same with each error scored as `worst`."""
        values = np.concatenate([self.values, np.full(self.errors, worst)])
        return structs.replace(self, rows=np.concatenate([self.rows, self.error_rows]), values=values)


def collect_values(column: ScoreColumn, rows: RowIndices | None = None) -> ColumnValues:
    """Return what a column holds on the given rows (all without them); a score that is not finite is an error."""
    if rows is None:
        chosen, values, status = np.arange(len(column.values), dtype=np.intp), column.values, column.status
    else:
        chosen, values, status = rows, column.values[rows], column.status[rows]
        # Most metrics apply to all cases of a slice or to none; reports of a small run ask for thousands of slices.
        states = status.tobytes()
        if states.count(NOT_APPLICABLE) == len(rows):
            return ColumnValues(chosen[:0], values[:0], chosen[:0], len(rows), 0)
        if states.count(SCORED) == len(rows) and np.isfinite(values).all():
            return ColumnValues(chosen, values, chosen[:0], 0, 0)
    claimed = status == SCORED
    scored = claimed & np.isfinite(values)
    not_applicable = status == NOT_APPLICABLE
    absent = int(np.count_nonzero(not_applicable))
    if absent + np.count_nonzero(scored) == len(chosen):
        errors, not_finite = chosen[:0], 0
    else:
        errors, not_finite = chosen[~(scored | not_applicable)], int(np.count_nonzero(claimed & ~scored))
    return ColumnValues(chosen[scored], values[scored], errors, absent, not_finite)


def find_column(table: ScoreTable, name: MetricName) -> ScoreColumn | None:
    """Return the column behind a metric name, None where it was not measured."""
    return table.columns.get(str(name)) or table.columns.get(str(case_column_name(name)))


_UNKNOWN_REASONS = (
    correctness.UNKNOWN_REASON,
    answer_behaviour.UNKNOWN_REASON,
    variants.UNKNOWN_REASON,
    variants.UNKNOWN_DISTINCTION_REASON,
    false_passes.UNKNOWN_REASON,
    citation_placement.UNTOLD_REASON,
    evidence_fields.NO_TEXTS,
)


def find_unknown_code(column: ScoreColumn) -> int | None:
    """Return the code of the reason of rows whose score nothing tells, at worst or at best (ADR 53); None without."""
    find = _find_unknown_once if len(column.reasons) <= _FEW_REASONS else _find_unknown_among
    return find(column.reasons)


def _find_unknown_among(reasons: tuple[str, ...]) -> int | None:
    return next((code for code, reason in enumerate(reasons) if reason in _UNKNOWN_REASONS), None)


_find_unknown_once = lru_cache(maxsize=256)(_find_unknown_among)


NOT_REPORTED = "not reported"
"""Part of the reasons of rows for which the target left out a field; a remedy in brackets may follow."""


def find_unreported_rows(column: ScoreColumn, rows: RowIndices) -> npt.NDArray[np.bool_]:
    """Return which of the rows have no score because the target did not report what the metric is made from."""
    silent = [
        code for code, reason in enumerate(column.reasons) if NOT_REPORTED in reason or reason == NO_ANSWER_REASON
    ]
    is_unreported: npt.NDArray[np.bool_] = column.status[rows] == NOT_APPLICABLE
    return is_unreported & np.isin(column.reason[rows], silent)


def lists_unjudged_rows(column: ScoreColumn) -> bool:
    """Return whether a column has a reason for rows that a judge was to label and did not."""
    return any(_says_unjudged(reason) for reason in column.reasons)


def find_rows_without_verdict(column: ScoreColumn) -> npt.NDArray[np.bool_]:
    """Return which rows have no score because no verdict is recorded: nobody asked the judge about them."""
    unasked = [code for code, reason in enumerate(column.reasons) if reason == NO_VERDICT]
    is_unasked: npt.NDArray[np.bool_] = (column.status == ERROR) & np.isin(column.reason, unasked)
    return is_unasked


def count_cases_without_verdict(table: ScoreTable) -> int:
    """Return on how many cases a metric by judge has no score because no verdict is recorded."""
    is_unjudged = np.zeros(len(table.case_ids), dtype=np.bool_)
    for column in table.columns.values():
        is_unjudged |= find_rows_without_verdict(column)
    return int(np.count_nonzero(is_unjudged))


def _says_unjudged(reason: str) -> bool:
    return reason == NO_VERDICT or reason.startswith((UNSCORED_PREFIX, NEEDS_REVIEW))


def explain_partial_judging(
    column: ScoreColumn, column_values: ColumnValues, coverage_floor: float = MIN_JUDGED_SHARE
) -> str:
    """Say that too few of the rows that a judge was to label have a usable verdict; nothing where enough have."""
    silent = [code for code, reason in enumerate(column.reasons) if _says_unjudged(reason)]
    to_judge = column_values.scored + int(np.count_nonzero(np.isin(column.reason[column_values.error_rows], silent)))
    if column_values.scored == to_judge or column_values.scored >= coverage_floor * to_judge:
        return ""
    return (
        f"not measured: coverage below {coverage_floor:.0%} ({column_values.scored} of "
        f"{format_count(to_judge, 'case')} judged)"
    )


_ANSWER_METRICS = ("correct_answer", "citation_correctness(by=rules)", "behaviour", "keywords")


def describe_leaked_scores(table: ScoreTable) -> list[str]:
    """Return the note that says in which scores leaks count, and not the answers; none where they change nothing."""
    changed = {name: own.values != table.columns[name].values for name, own in table.before_leaks.items()}
    if not any(rows.any() for rows in changed.values()):
        return []
    count = int(np.logical_or.reduce(list(changed.values())).sum())
    names = [name for name in _ANSWER_METRICS if name in changed and changed[name].any()]
    cases = format_count(count, "case that leaked gets", "cases that leaked get")
    return [f"{cases} the worst score in {', '.join(names[:3]) or 'metrics of the answer'}, whatever the answer says"]


def find_rows_in_review(column: ScoreColumn, rows: RowIndices | None = None) -> RowIndices:
    """Return which of the rows (by default all) need human review, because votes disagree widely or are tied."""
    return _find_rows_with_reason(column, NEEDS_REVIEW, rows)


def find_settled_rows(column: ScoreColumn, rows: RowIndices | None = None) -> RowIndices:
    """Return which of the rows (by default all) have a score that rests on what a person decided."""
    return _find_rows_with_reason(column, SETTLED, rows)


def list_settled_cases(table: ScoreTable) -> set[str]:
    """Return the cases of which people decided whether the answer is right or what it does."""
    case_ids: set[str] = set()
    for metric in SETTLED_METRICS:
        if metric in table.columns:
            case_ids.update(table.case_ids[row] for row in find_settled_rows(table.columns[metric]).tolist())
    return case_ids


def _find_rows_with_reason(column: ScoreColumn, prefix: str, rows: RowIndices | None) -> RowIndices:
    find = _find_codes_once if len(column.reasons) <= _FEW_REASONS else _find_codes
    codes = find(column.reasons, prefix)
    chosen = np.arange(len(column.values), dtype=np.intp) if rows is None else rows
    return chosen[np.isin(column.reason[chosen], codes)] if codes else chosen[:0]


def _find_codes(reasons: tuple[str, ...], prefix: str) -> tuple[int, ...]:
    """Return the codes of the reasons that begin with a prefix."""
    return tuple(code for code, reason in enumerate(reasons) if reason.startswith(prefix))


_find_codes_once = lru_cache(maxsize=1024)(_find_codes)


def find_statistic(metric_row: Metric, metric: str) -> str:
    """Return the statistic that sums up a metric: the one that its name states, else its catalogue row's.

    >>> from assay.metrics.catalog import CATALOG
    >>> find_statistic(CATALOG["latency_ms"], "latency_ms(stat=p95)")
    'p95'
    """
    return (
        parse_metric_name(metric).key_value("stat", metric_row.statistic)
        if "stat" in metric_row.keys
        else metric_row.statistic
    )


def get_worst_value(metric_row: Metric) -> float | None:
    """Return the worst value of a metric's declared range, None where it is open or no direction is better."""
    worst = {"higher": metric_row.low, "lower": metric_row.high}.get(metric_row.direction)
    return worst if worst is not None and math.isfinite(worst) else None


def get_range(metric_row: Metric) -> tuple[float | None, float | None]:
    """Return the ends of a metric's declared range, None for an open one."""
    low, high = metric_row.low, metric_row.high
    return low if math.isfinite(low) else None, high if math.isfinite(high) else None


MIN_CASES_FOR_OPEN_MEANS = 300
"""Scored cases from which the interval of a mean without an upper end covers 90% or more with 4% of outliers."""


def is_open_amount(metric_row: Metric) -> bool:
    """Return whether a metric measures an amount without an upper end, such as latency, tokens or cost."""
    return metric_row.family == "operations" and metric_row.unit != "count" and not math.isfinite(metric_row.high)


def sum_values(values: FloatArray, *, exact: bool) -> float:
    """Return the sum: exactly rounded, or accumulated in the given order, which is much faster."""
    if exact:
        return compute_exact_sum(values)
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def is_binary(values: FloatArray) -> bool:
    """Return whether every value is 0 or 1."""
    return bool(np.all((values == 0.0) | (values == 1.0)))
