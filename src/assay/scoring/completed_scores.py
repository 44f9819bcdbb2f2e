"""The columns of a metric with its unknown answers scored: what a difference would be, whatever these answers are.

An unknown answer has no score, so pairs leave it out, and what is left of a difference may have the wrong sign (ADR
0158). With these answers at the end of the range that is worst for the candidate, and then best, every difference in
between is bounded. An answer that is the same on both sides has the same score there, whatever it is (ADR 0162): its
pair differs at neither end.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.metrics.metric import Metric
from assay.records.scores import SCORED, ScoreColumn
from assay.scoring.column_values import AVERAGE_STATISTICS, find_statistic, find_unknown_code, get_range
from assay.scoring.same_answers import find_same_answers
from assay.stats.arrays import BoolArray, RowIndices
from assay.stats.samples import compute_exact_sum

Columns = tuple[ScoreColumn, ScoreColumn]
"""The columns of a baseline and of a candidate, with the same case in the same row."""
_MEANS = AVERAGE_STATISTICS[:2]


class CompletedColumns(Struct, frozen=True):
    """Both columns with all unknown answers scored: at worst for the candidate, and at best.

    At worst those of the baseline are at their best, and the other way round; answers that are the same on both sides
    are at their worst in both. `lowest` and `highest` have all of them at the worst and at the best of the range, which
    is what either side may be by itself.
    """

    worst: Columns
    best: Columns
    lowest: Columns
    highest: Columns


def complete_columns(metric_row: Metric, metric: str, columns: Columns) -> CompletedColumns | None:
    """Return both ends of two columns; None where no answer is unknown, or nothing bounds what it may score."""
    low, high = get_range(metric_row)
    if low is None or high is None or metric_row.direction == "neutral":
        return None
    if find_statistic(metric_row, metric) not in _MEANS:
        return None
    before, after = columns
    unknown_before, unknown_after = find_unknown_cells(before), find_unknown_cells(after)
    if not unknown_before.any() and not unknown_after.any():
        return None
    bad, good = (high, low) if metric_row.direction == "lower" else (low, high)
    same = find_same_answers(before, after) & unknown_before & unknown_after
    lowest = score_cells(before, unknown_before, bad), score_cells(after, unknown_after, bad)
    highest = score_cells(before, unknown_before, good), score_cells(after, unknown_after, good)
    return CompletedColumns(
        worst=(score_cells(lowest[0], unknown_before & ~same, good), lowest[1]),
        best=(lowest[0], score_cells(lowest[1], unknown_after & ~same, good)),
        lowest=lowest,
        highest=highest,
    )


def average_rows(column: ScoreColumn, rows: RowIndices) -> float:
    """Return the mean score of some rows, one or more, all of them scored."""
    return compute_exact_sum(column.values[rows]) / len(rows)


def bound_side(completed: CompletedColumns, side: int, rows: RowIndices) -> tuple[float, float]:
    """Return between which means one side (0: the baseline) may be on some rows that both sides score."""
    first, second = (average_rows(columns[side], rows) for columns in (completed.lowest, completed.highest))
    return min(first, second), max(first, second)


def find_unknown_cells(column: ScoreColumn) -> BoolArray:
    """Return which rows of a column nobody can tell the score of."""
    code = find_unknown_code(column)
    if code is None:
        return np.zeros(len(column.reason), dtype=np.bool_)
    unknown: BoolArray = (column.reason == code) & (column.status != SCORED)
    return unknown


def score_cells(column: ScoreColumn, rows: BoolArray | RowIndices, value: float) -> ScoreColumn:
    """Return the column with a score in the given rows, and no reason there."""
    reasons = column.reasons if "" in column.reasons else (*column.reasons, "")
    values, status, reason = column.values.copy(), column.status.copy(), column.reason.copy()
    values[rows], status[rows], reason[rows] = value, SCORED, reasons.index("")
    return replace(column, values=values, status=status, reason=reason, reasons=reasons)
