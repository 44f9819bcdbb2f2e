"""The scores of every case as JSON lines, the form that scripts and later comparisons read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import msgspec
import numpy as np

from assay.model import SCORED, STATUS_NAMES, CaseChecks, ScoreColumn, ScoreTable

_BLOCK = 4096
_Cells = list[float | None]
_NOTHING: dict[str, Any] = {}


def case_lines(table: ScoreTable) -> Iterator[bytes]:
    """Yield one JSON object per golden case, each ending in a newline, in golden order.

    Keys: `config_id`, `case_id`, `scores` (metric → number or null), `status` (metric → {status, reason}, absent where
    scored), `failed_checks`, and `warnings` where there are any. Raises ArithmeticError for a score that is not finite.
    """
    checks = {found.case_id: found for found in table.checks}
    columns = [table.columns[metric] for metric in sorted(table.columns)]
    for column in columns:
        if not np.isfinite(column.values[column.status == SCORED]).all():
            raise ArithmeticError(f"{column.metric}: a scored value is not finite")
    reasons = [_reasons(column) for column in columns]
    for start in range(0, len(table.case_ids), _BLOCK):
        yield from _block(table, columns, reasons, checks, slice(start, start + _BLOCK))


def _reasons(column: ScoreColumn) -> list[list[msgspec.Raw]]:
    """Return the JSON of every (status, reason) that a cell of the column may have, made once."""
    encode = msgspec.json.encode
    return [
        [msgspec.Raw(encode({"status": status, "reason": reason})) for reason in column.reasons]
        for status in STATUS_NAMES
    ]


def _block(
    table: ScoreTable,
    columns: list[ScoreColumn],
    reasons: list[list[list[msgspec.Raw]]],
    checks: dict[str, CaseChecks],
    rows: slice,
) -> Iterator[bytes]:
    ids = table.case_ids[rows]
    names = [column.metric for column in columns]
    cells = [_cells(column, rows) for column in columns]
    status = _status(columns, reasons, rows)
    encode_into, line = msgspec.json.Encoder().encode_into, bytearray()
    scores_of = zip(*cells, strict=True) if cells else repeat((), len(ids))
    for row, (case_id, scores) in enumerate(zip(ids, scores_of, strict=True)):
        found = checks.get(case_id)
        shape = {
            "config_id": table.config_id,
            "case_id": case_id,
            "scores": dict(zip(names, scores, strict=True)),
            "status": status.get(row, _NOTHING),
            "failed_checks": found.failed if found is not None else (),
        }
        if found is not None and found.warnings:
            shape["warnings"] = found.warnings
        encode_into(shape, line)
        line.append(0x0A)
        yield bytes(line)


def _cells(column: ScoreColumn, rows: slice) -> _Cells:
    values: _Cells = column.values[rows].tolist()
    for row in np.flatnonzero(column.status[rows] != SCORED).tolist():
        values[row] = None
    return values


def _status(
    columns: list[ScoreColumn], reasons: list[list[list[msgspec.Raw]]], rows: slice
) -> dict[int, dict[str, msgspec.Raw]]:
    """Return, for the rows that have any, what each cell without a score says instead."""
    found: dict[int, dict[str, msgspec.Raw]] = {}
    for column, texts in zip(columns, reasons, strict=True):
        status, reason = column.status[rows], column.reason[rows]
        without = np.flatnonzero(status != SCORED)
        for row, state, why in zip(without.tolist(), status[without].tolist(), reason[without].tolist(), strict=True):
            found.setdefault(row, {})[column.metric] = texts[state][why]
    return found
