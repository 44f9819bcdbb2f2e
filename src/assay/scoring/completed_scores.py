"""The columns of a metric with its unknown answers scored: what a difference would be, whatever these answers are.

An unknown answer has no score, so pairs leave it out, and what is left of a difference may have the wrong sign (ADR
0158). With these answers at the end of the range that is worst for the candidate, and then best, every difference in
between is bounded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from assay.metrics.metric import Metric
from assay.records.scores import SCORED, ScoreColumn
from assay.scoring.column_values import AVERAGE_STATISTICS, find_statistic, find_unknown_code, get_range
from assay.stats.arrays import BoolArray, RowIndices

Columns = tuple[ScoreColumn, ScoreColumn]
"""The columns of a baseline and of a candidate, with the same case in the same row."""
_MEANS = AVERAGE_STATISTICS[:2]


class CompletedColumns(NamedTuple):
    """Both columns with all unknown answers scored: at worst for the candidate, and at best.

    At worst those of the baseline are at their best, and the other way round.
    """

    worst: Columns
    best: Columns


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
    return CompletedColumns(
        worst=(score_cells(before, unknown_before, good), score_cells(after, unknown_after, bad)),
        best=(score_cells(before, unknown_before, bad), score_cells(after, unknown_after, good)),
    )


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
