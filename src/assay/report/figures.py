"""How numbers are printed: three decimals, `n/a` where there is none, and never a mean without its count."""

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
    """Return the catalogue's row of a metric name, None where it is not given."""
    return graders.get(read_name(metric).base)


def number(value: float | None, metric: str = "", graders: Graders = CATALOG) -> str:
    """Return a number as people read it; the metric's unit decides the decimals.

    >>> number(0.12345), number(None), number(-0.0001)
    ('0.123', 'n/a', '0.000')
    """
    if value is None:
        return NA
    grader = grader_of(metric, graders) if metric else None
    decimals = _DECIMALS.get(grader.unit, 3) if grader is not None else 3
    return f"{value:z.{decimals}f}"


def with_count(summary: Summary | None, graders: Graders = CATALOG) -> str:
    """Return a summary's value with the number of cases it stands on, `n/a` where none was scored."""
    if summary is None or summary.value is None:
        return NA
    errors = f", {plural(summary.errors, 'error')}" if summary.errors else ""
    return f"{number(summary.value, summary.metric, graders)} (n={summary.scored}{errors})"


def interval(bounds: Interval | None, metric: str = "", graders: Graders = CATALOG) -> str:
    """Return the bounds of an interval, with its confidence unless that is 95%.

    One without width is not printed: it says that there was no variation to learn from, not that the value is certain.
    """
    if bounds is None:
        return NA
    if bounds.low == bounds.high:
        return "none: no variation"
    level = "" if bounds.confidence == 0.95 else f" ({percent(bounds.confidence)})"
    return f"{number(bounds.low, metric, graders)} to {number(bounds.high, metric, graders)}{level}"


def with_interval(summary: Summary | None, graders: Graders = CATALOG) -> str:
    """Return a summary's value with its count and, where it has one, its interval."""
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
    """Return what must be said beside a summary: its own notes and its interval's, each once."""
    said = summary.interval.note if summary.interval is not None else ""
    return tuple(dict.fromkeys([*summary.notes, *([said] if said else [])]))


def instrument(metric: str, graders: Graders) -> str:
    """Return D for a deterministic metric, J for a judged one."""
    by = read_name(metric).key("by", "")
    grader = grader_of(metric, graders)
    judged = by == "judge" or (not by and grader is not None and grader.instrument == "judged")
    return JUDGED if judged else DETERMINISTIC


def common_reason(column: ScoreColumn | None) -> str:
    """Return why most rows of a column have no number; "" where all have one."""
    if column is None:
        return ""
    without = column.reason[np.isin(column.status, (NOT_APPLICABLE, ERROR))]
    counts = np.bincount(without, minlength=len(column.reasons)).tolist()
    most = max(counts, default=0)
    return min(why for why, count in zip(column.reasons, counts, strict=True) if count == most) if most else ""


def column_of(metric: str, table: ScoreTable) -> ScoreColumn | None:
    """Return the column that a summary was made from: `latency_ms(stat=p95)` sums up `latency_ms`."""
    return table.columns.get(metric, table.columns.get(str(column_name(read_name(metric)))))


def score_of(column: ScoreColumn | None, row: int) -> float | None:
    """Return one case's score, None where it has none."""
    if column is None or column.status[row] != SCORED:
        return None
    return float(column.values[row])


def plural(count: int, word: str) -> str:
    """Return a count with its word.

    >>> plural(1, "case"), plural(2, "case")
    ('1 case', '2 cases')
    """
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
