"""Repeats of one case become one score before anything else is computed from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.graders.base import Bools, Floats
from assay.model import ERROR, NEEDS_REVIEW, NOT_APPLICABLE, SCORED, ScoreColumn

NO_OBSERVATION = "no observation"
_Rows = npt.NDArray[np.intp]


class Folded(NamedTuple):
    """A column with one row per case, and how far apart each case's repeats were (max − min; 0 where there was one)."""

    column: ScoreColumn
    spread: Floats


def fold(column: ScoreColumn, case_of_row: _Rows, cases: int) -> Folded:
    """Return the column with one row per case: the mean of the case's scored repeats.

    `case_of_row[i]` is the case (0 … `cases` − 1) that row i observed; rows may come in any order. A case is not
    applicable where all its repeats are, and an error where it was never observed, or fewer than half of the repeats
    that apply were scored. It needs review where any of its repeats does. Source: Miller 2024, case means first.

    >>> rows = ScoreColumn("hit", np.array([1.0, 0.0, 1.0]), np.zeros(3, np.uint8), np.zeros(3, np.uint16))
    >>> folded = fold(rows, np.array([0, 0, 1]), 3)
    >>> folded.column.values.tolist(), folded.column.status.tolist(), folded.spread.tolist()
    ([0.5, 1.0, 0.0], [0, 0, 2], [1.0, 0.0, 0.0])
    """
    rows, scored = _count(case_of_row, cases), _count(case_of_row[column.status == SCORED], cases)
    applicable = rows - _count(case_of_row[column.status == NOT_APPLICABLE], cases)
    status = np.full(cases, SCORED, dtype=np.uint8)
    status[2 * scored < applicable] = ERROR
    status[applicable == 0] = NOT_APPLICABLE
    status[rows == 0] = ERROR
    values, spread = _means(column, case_of_row, cases, status == SCORED)
    reason, reasons = _reasons(column, case_of_row, status, rows == 0)
    return Folded(ScoreColumn(column.metric, values, status, reason, reasons), spread)


def _count(case_of_row: _Rows, cases: int) -> _Rows:
    return np.bincount(case_of_row, minlength=cases)


def _means(column: ScoreColumn, case_of_row: _Rows, cases: int, scored: Bools) -> tuple[Floats, Floats]:
    """Return mean and spread by case; sums run over sorted values, so that the order of the rows changes no bit."""
    chosen = column.status == SCORED
    case, value = case_of_row[chosen], column.values[chosen]
    if _count(case, cases).max(initial=0) <= 1:  # no repeats: nothing to sort
        mean = np.zeros(cases)
        mean[case] = value
        return np.where(scored, mean, 0.0), np.zeros(cases)
    order = np.lexsort((value, case))
    case, value = case[order], value[order]
    low, high = np.full(cases, np.inf), np.full(cases, -np.inf)
    np.minimum.at(low, case, value)
    np.maximum.at(high, case, value)
    mean = np.bincount(case, weights=value, minlength=cases) / np.maximum(_count(case, cases), 1)
    mean = np.clip(mean, low, high, where=scored, out=np.zeros(cases))
    return mean, np.subtract(high, low, where=scored, out=np.zeros(cases))


def _reasons(
    column: ScoreColumn, case_of_row: _Rows, status: npt.NDArray[np.uint8], unseen: Bools
) -> tuple[npt.NDArray[np.uint16], tuple[str, ...]]:
    """Return why each case has no score, or one that needs review: of its repeats' reasons for that, the first in
    alphabetical order."""
    reasons = tuple(sorted({"", *column.reasons, *([NO_OBSERVATION] if unseen.any() else [])}))
    place = np.array([reasons.index(reason) for reason in column.reasons], dtype=np.uint16)
    reason = np.full(len(status), len(reasons) - 1, dtype=np.uint16)
    same = (column.status == status[case_of_row]) & (column.status != SCORED)
    np.minimum.at(reason, case_of_row[same], place[column.reason[same]])
    reason[status == SCORED] = reasons.index("")
    doubtful = [code for code, why in enumerate(column.reasons) if why.startswith(NEEDS_REVIEW)]
    if doubtful:
        marked = np.isin(column.reason, doubtful) & (status[case_of_row] == SCORED)
        reason[case_of_row[marked]] = len(reasons)
        np.minimum.at(reason, case_of_row[marked], place[column.reason[marked]])
    if unseen.any():
        reason[unseen] = reasons.index(NO_OBSERVATION)
    return reason, reasons
