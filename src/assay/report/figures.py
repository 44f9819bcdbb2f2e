"""How numbers are printed: three decimals, `n/a` for a missing number, and no mean without its count."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.graders.base import Grader
from assay.graders.catalog import CATALOG, column_name
from assay.graders.names import read_name
from assay.model import ERROR, NOT_APPLICABLE, SCORED, Interval, ScoreColumn, ScoreTable, Summary

NA = "n/a"
Graders = Mapping[str, Grader]
"""The catalogue's rows by base name."""

_DECIMALS = {"ms": 0, "tokens": 0, "USD": 6}
DETERMINISTIC, JUDGED = "D", "J"


def grader_of(metric: str, graders: Graders) -> Grader | None:
    """Return the catalogue's row for a metric name, None if the catalogue has none."""
    return graders.get(read_name(metric).base)


def number(value: float | None, metric: str = "", graders: Graders = CATALOG) -> str:
    """Return a number as text, `n/a` for None; the metric's unit decides the number of decimals.

    >>> number(0.12345), number(None), number(-0.0001)
    ('0.123', 'n/a', '0.000')
    """
    if value is None:
        return NA
    grader = grader_of(metric, graders) if metric else None
    decimals = _DECIMALS.get(grader.unit, 3) if grader is not None else 3
    return f"{value:z.{decimals}f}"


def with_count(summary: Summary | None, graders: Graders = CATALOG) -> str:
    """Return a summary's value with the number of cases scored, `n/a` if none was."""
    if summary is None or summary.value is None:
        return NA
    errors = f", {plural(summary.errors, 'error')}" if summary.errors else ""
    return f"{number(summary.value, summary.metric, graders)} (n={summary.scored}{errors})"


def interval(bounds: Interval | None, metric: str = "", graders: Graders = CATALOG) -> str:
    """Return the bounds of an interval as text, with its confidence unless that is 95%.

    Bounds that are equal are not printed: they mean that the scores did not vary, not that the value is certain.
    """
    if bounds is None:
        return NA
    if bounds.low == bounds.high:
        return "none: no variation"
    level = "" if bounds.confidence == 0.95 else f" ({percent(bounds.confidence)})"
    return f"{number(bounds.low, metric, graders)} to {number(bounds.high, metric, graders)}{level}"


def with_interval(summary: Summary | None, graders: Graders = CATALOG) -> str:
    """Return a summary's value with its count and, if it has one, its interval."""
    if summary is None or summary.value is None or summary.interval is None:
        return with_count(summary, graders)
    return f"{with_count(summary, graders)}, {interval(summary.interval, summary.metric, graders)}"


def percent(share: float) -> str:
    """Return a share as a percentage.

    >>> percent(0.9), percent(0.52713)
    ('90%', '52.7%')
    """
    return f"{100 * share:.3g}%"


def notes_of(summary: Summary) -> tuple[str, ...]:
    """Return the notes to print next to a summary: its own and its interval's, without duplicates."""
    interval_note = summary.interval.note if summary.interval is not None else ""
    return tuple(dict.fromkeys([*summary.notes, *([interval_note] if interval_note else [])]))


def instrument(metric: str, graders: Graders) -> str:
    """Return D for a deterministic metric, J for a judged one."""
    by = read_name(metric).key("by", "")
    grader = grader_of(metric, graders)
    judged = by == "judge" or (not by and grader is not None and grader.instrument == "judged")
    return JUDGED if judged else DETERMINISTIC


def common_reason(column: ScoreColumn | None) -> str:
    """Return the commonest reason why rows of a column have no number; "" if all have one."""
    if column is None:
        return ""
    without = column.reason[np.isin(column.status, (NOT_APPLICABLE, ERROR))]
    counts = np.bincount(without, minlength=len(column.reasons)).tolist()
    largest = max(counts, default=0)
    if not largest:
        return ""
    return min(reason for reason, count in zip(column.reasons, counts, strict=True) if count == largest)


def column_of(metric: str, table: ScoreTable) -> ScoreColumn | None:
    """Return the column that a summary was computed from: `latency_ms(stat=p95)` summarises `latency_ms`."""
    return table.columns.get(metric, table.columns.get(str(column_name(read_name(metric)))))


def score_of(column: ScoreColumn | None, row: int) -> float | None:
    """Return the score in one row of a column, None if the case has none or there is no column."""
    if column is None or column.status[row] != SCORED:
        return None
    return float(column.values[row])


def plural(count: int, word: str) -> str:
    """Return a count with its noun, in the plural unless the count is 1.

    >>> plural(1, "case"), plural(2, "case")
    ('1 case', '2 cases')
    """
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
