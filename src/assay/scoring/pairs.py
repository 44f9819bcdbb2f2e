"""Aligns two score tables case by case and pairs the scores of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from assay.graders.base import Floats
from assay.model import ERROR, Case, ScoreColumn, ScoreTable
from assay.scoring.measured import measure
from assay.scoring.slices import Rows

ABSENT = "not among the cases of this side"


class Pairs(NamedTuple):
    """The paired values of one metric on some rows of two aligned tables.

    `rows` are scored on both sides, with values `before` and `after`; `lost` are scored in the baseline only, `won` in
    the candidate only; `failed_before` and `failed_after` are in error on that side.
    """

    rows: Rows
    before: Floats
    after: Floats
    lost: Rows
    won: Rows
    failed_before: Rows
    failed_after: Rows


def pairs_of(baseline: ScoreColumn, candidate: ScoreColumn, rows: Rows | None = None) -> Pairs:
    """Return the pairs of two columns of aligned tables, on the given rows (all without them)."""
    before, after = measure(baseline, rows), measure(candidate, rows)
    both, at, to = np.intersect1d(before.rows, after.rows, assume_unique=True, return_indices=True)
    return Pairs(
        both,
        before.values[at],
        after.values[to],
        np.setdiff1d(before.rows, both, assume_unique=True),
        np.setdiff1d(after.rows, both, assume_unique=True),
        before.error_rows,
        after.error_rows,
    )


def all_cases(candidate: Sequence[Case], baseline: Sequence[Case]) -> list[Case]:
    """Return the cases of both sides, each once: the candidate's in their order, then those only the baseline has."""
    known = {case.id for case in candidate}
    return [*candidate, *(case for case in baseline if case.id not in known)]


def aligned(table: ScoreTable, case_ids: Sequence[str]) -> ScoreTable:
    """Return the table with one row for each of `case_ids`, in their order; a case that it lacks is an error."""
    if list(table.case_ids) == list(case_ids):
        return table
    row_by_case = {case_id: row for row, case_id in enumerate(table.case_ids)}
    rows = np.array([row_by_case.get(case_id, -1) for case_id in case_ids], dtype=np.intp)
    columns = {name: _select_rows(column, rows) for name, column in table.columns.items()}
    selected_ids = set(case_ids)
    return replace(
        table,
        case_ids=tuple(case_ids),
        columns=columns,
        missing=tuple(case_id for case_id in table.missing if case_id in selected_ids),
        checks=tuple(case_checks for case_checks in table.checks if case_checks.case_id in selected_ids),
    )


def _select_rows(column: ScoreColumn, rows: Rows) -> ScoreColumn:
    reasons = tuple(dict.fromkeys((*column.reasons, ABSENT)))
    absent = rows < 0
    if len(column.values) == 0:
        values, status, reason = np.zeros(len(rows)), np.zeros(len(rows), np.uint8), np.zeros(len(rows), np.uint16)
    else:
        values, status, reason = column.values[rows], column.status[rows], column.reason[rows]
    values[absent], status[absent], reason[absent] = 0.0, ERROR, reasons.index(ABSENT)
    return ScoreColumn(column.metric, values, status, reason, reasons)
