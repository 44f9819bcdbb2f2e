"""How numbers are printed: three decimals, `n/a` for a missing number, and no mean without its count."""

from __future__ import annotations

import numpy as np

from assay.metrics.catalog import CATALOG, case_column_name
from assay.metrics.metric import Metric, parse_metric_name
from assay.records.counts import format_count
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED, Interval, ScoreColumn, ScoreTable, Summary

NOT_AVAILABLE = "n/a"

_DECIMALS = {"ms": 0, "tokens": 0, "USD": 6}
DETERMINISTIC, JUDGED = "D", "J"


def find_metric_row(metric: str) -> Metric | None:
    """Return the catalogue's row for a metric name, None if the catalogue has none."""
    return CATALOG.get(parse_metric_name(metric).base)


def format_number(value: float | None, metric: str = "", more_decimals: int = 0) -> str:
    """Return a number as text, `n/a` for None; the metric's unit decides the number of decimals, and more may be added.

    >>> format_number(0.12345), format_number(None), format_number(-0.0001)
    ('0.123', 'n/a', '0.000')
    """
    if value is None:
        return NOT_AVAILABLE
    metric_row = find_metric_row(metric) if metric else None
    decimals = _DECIMALS.get(metric_row.unit, 3) if metric_row is not None else 3
    return f"{value:z.{decimals + more_decimals}f}"


def format_with_count(summary: Summary | None) -> str:
    """Return a summary's value with the number of cases scored; `n/a` if none was, with how many are in error."""
    if summary is None:
        return NOT_AVAILABLE
    if summary.value is None:
        return f"{NOT_AVAILABLE} ({format_count(summary.errors, 'error')})" if summary.errors else NOT_AVAILABLE
    errors = f", {format_count(summary.errors, 'error')}" if summary.errors else ""
    return f"{format_value(summary)} (n={summary.scored}{errors}{format_open_counts(summary)})"


def format_open_counts(summary: Summary) -> str:
    """Return how many answers next to the scored ones are unknown to a metric, and how many nothing checks.

    >>> format_open_counts(Summary("correct_answer", "all", "rate", 1.0, None, 1.0, None, 1, 9, 0, unchecked=9))
    ', 9 unchecked'
    """
    unknown = f", {summary.unknown.count} unknown" if summary.unknown is not None else ""
    return unknown + (f", {summary.unchecked} unchecked" if summary.unchecked else "")


def count_out_of_scope(summary: Summary) -> int:
    """Return how many cases a metric does not apply to: neither scored nor in error, unknown or unchecked."""
    unknown = summary.unknown.count if summary.unknown is not None else 0
    return summary.not_applicable - unknown - summary.unchecked


def format_value(summary: Summary) -> str:
    """Return the value of a summary as every report shows it: a number, `n/a`, or a range where answers are unknown.

    The range has the unknown answers at worst and at best; the mean of the others alone would stand for all of them.

    >>> from assay.records.scores import UnknownRange
    >>> format_value(Summary("hit@5", "all", "mean", 1.0, 1.0, 1.0, None, 3, 0, 0))
    '1.000'
    >>> format_value(Summary("hit@5", "all", "mean", 1.0, 1.0, 1.0, None, 3, 1, 0, unknown=UnknownRange(1, 0.75, 1)))
    '0.750–1.000'
    """
    if summary.unknown is None:
        return format_number(summary.value, summary.metric)
    bounds = summary.unknown.low, summary.unknown.high
    return "–".join(format_number(bound, summary.metric) for bound in bounds)


def format_unknown(summary: Summary) -> str:
    """Return how many answers of a mean are unknown, and what it is of the known ones alone; empty without any.

    >>> from assay.records.scores import UnknownRange
    >>> format_unknown(Summary("hit@5", "all", "mean", 1.0, 1.0, 1.0, None, 3, 1, 0, unknown=UnknownRange(1, 0.75, 1)))
    '1 unknown, counted at worst and at best; of the 3 known alone 1.000'
    """
    if summary.unknown is None:
        return ""
    mean = format_number(summary.value, summary.metric)
    return f"{summary.unknown.count} unknown, counted at worst and at best; of the {summary.scored} known alone {mean}"


def format_interval(bounds: Interval | None, metric: str = "", *, in_parentheses: bool = False) -> str:
    """Return the bounds of an interval as text, with its confidence unless that is 95%.

    `in_parentheses` says that the text is put into some, so that it has none of its own. Bounds that are equal are not
    printed: they mean that the scores did not vary, not that the value is certain.

    >>> bounds = Interval(24.0, 26.0, "order statistics", confidence=0.626)
    >>> format_interval(bounds, "latency_ms"), format_interval(bounds, "latency_ms", in_parentheses=True)
    ('24 to 26 (62.6%)', '24 to 26 at 62.6%')
    """
    if bounds is None:
        return NOT_AVAILABLE
    if bounds.low == bounds.high:
        return "none: no variation"
    level = ""
    if bounds.confidence != 0.95:
        percent = format_percent(bounds.confidence)
        level = f" at {percent}" if in_parentheses else f" ({percent})"
    return f"{format_number(bounds.low, metric)} to {format_number(bounds.high, metric)}{level}"


def format_with_interval(summary: Summary | None) -> str:
    """Return a summary's value with its count and, if it has one, its interval.

    A range with unknown answers has no interval next to it, which would be a second range of the same look.
    """
    if summary is None or summary.value is None or summary.interval is None or summary.unknown is not None:
        return format_with_count(summary)
    return f"{format_with_count(summary)}, {format_interval(summary.interval, summary.metric)}"


def format_percent(share: float) -> str:
    """Return a share as a percentage.

    >>> format_percent(0.9), format_percent(0.52713)
    ('90%', '52.7%')
    """
    return f"{100 * share:.3g}%"


def collect_summary_notes(summary: Summary) -> tuple[str, ...]:
    """Return the notes to print next to a summary: its own and its interval's, without duplicates."""
    interval_note = summary.interval.note if summary.interval is not None else ""
    return tuple(dict.fromkeys([*summary.notes, *([interval_note] if interval_note else [])]))


def get_metric_class(metric: str) -> str:
    """Return D for a deterministic metric, J for a judged one."""
    by = parse_metric_name(metric).key_value("by", "")
    metric_row = find_metric_row(metric)
    judged = by in ("judge", "combined") or (not by and metric_row is not None and metric_row.scoring_class == "judged")
    return JUDGED if judged else DETERMINISTIC


_WORDS_ALIKE = 4
"""With how many words in common two reasons of errors begin alike: "the golden set names a:1, which …"."""


def find_common_reason(column: ScoreColumn | None) -> str:
    """Return the commonest reason why rows of a column have no number; "" if all have one.

    Where most of them are errors, it is that of an error. Errors that begin alike count together, because each may name
    something of its case.
    """
    if column is None:
        return ""
    errors, absent = column.status == ERROR, column.status == NOT_APPLICABLE
    is_mostly_error = np.count_nonzero(errors) > np.count_nonzero(absent)
    codes = column.reason[errors if is_mostly_error else errors | absent]
    counts = np.bincount(codes, minlength=len(column.reasons)).tolist()
    by_beginning: dict[str, list[tuple[int, str]]] = {}
    for reason, count in zip(column.reasons, counts, strict=True):
        if count:
            beginning = " ".join(reason.split()[:_WORDS_ALIKE]) if is_mostly_error else reason
            by_beginning.setdefault(beginning, []).append((-count, reason))
    if not by_beginning:
        return ""
    alike = min(by_beginning.values(), key=lambda rows: (sum(count for count, _ in rows), min(rows)))
    _, reason = min(alike)
    return f"{reason} (and {len(alike) - 1} alike)" if len(alike) > 1 else reason


def find_source_column(metric: str, table: ScoreTable) -> ScoreColumn | None:
    """Return the column that a summary was computed from: `latency_ms(stat=p95)` summarises `latency_ms`."""
    return table.columns.get(metric, table.columns.get(str(case_column_name(parse_metric_name(metric)))))


def get_row_score(column: ScoreColumn | None, row: int) -> float | None:
    """Return the score in one row of a column, None if the case has none or there is no column."""
    if column is None or column.status[row] != SCORED:
        return None
    return float(column.values[row])
