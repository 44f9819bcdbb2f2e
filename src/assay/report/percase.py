"""The scores of every case as JSON lines, the form that scripts and later comparisons read.

A line is put together from pieces of JSON that are made for many lines at once: a golden set may have a million cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec
import numpy as np

from assay.model import NEEDS_REVIEW, SCORED, STATUS_NAMES, CaseChecks, ScoreColumn, ScoreTable

_BLOCK = 4096
_KINDS = 65_536
_encode = msgspec.json.encode


def case_lines(table: ScoreTable) -> Iterator[bytes]:
    """Yield one JSON object per golden case, each ending in a newline, in golden order.

    Keys: `config_id`, `case_id`, `scores` (metric → number or null), `status` (metric → {status, reason}, absent where
    scored), `failed_checks`, and where there are any `needs_review` (metric → reason) and `warnings`. Raises
    ArithmeticError for a score that is not finite.
    """
    checks = {found.case_id: found for found in table.checks}
    columns = [table.columns[metric] for metric in sorted(table.columns)]
    for column in columns:
        if not np.isfinite(column.values[column.status == SCORED]).all():
            raise ArithmeticError(f"{column.metric}: a scored value is not finite")
    line = _template(table.config_id, [column.metric for column in columns])
    states = _States(columns)
    for start in range(0, len(table.case_ids), _BLOCK):
        rows = slice(start, start + _BLOCK)
        ids = table.case_ids[rows]
        ends = [_end(checks.get(case_id)) for case_id in ids]
        scores = [_numbers(column, rows) for column in columns]
        for pieces in zip(map(_encode, ids), *scores, states.of(ids, rows), ends, strict=True):
            yield line % pieces


def _template(config_id: str, metrics: Sequence[str]) -> bytes:
    """Return what is the same in every line, with a place for the case's id, each number, the states and the end.

    The states close their object, because what needs review follows them."""
    scores = b",".join(_literal(metric) + b":%b" for metric in metrics)
    return b'{"config_id":' + _literal(config_id) + b',"case_id":%b,"scores":{' + scores + b'},"status":{%b,%b}\n'


def _literal(text: str) -> bytes:
    return _encode(text).replace(b"%", b"%%")


def _numbers(column: ScoreColumn, rows: slice) -> list[bytes]:
    """Return each score as JSON, all made at once: neither a number nor null holds a comma."""
    values: list[float | None] = column.values[rows].tolist()
    for row in np.flatnonzero(column.status[rows] != SCORED).tolist():
        values[row] = None
    return _encode(values)[1:-1].split(b",")


def _end(found: CaseChecks | None) -> bytes:
    return _checks((), ()) if found is None else _checks(found.failed, found.warnings)


@lru_cache(maxsize=_KINDS)
def _checks(failed: tuple[str, ...], warnings: tuple[str, ...]) -> bytes:
    return b'"failed_checks":' + _encode(failed) + (b',"warnings":' + _encode(warnings) if warnings else b"")


class _States:
    """What cells without a score say instead; rows that differ in nothing but their numbers share one text."""

    def __init__(self, columns: Sequence[ScoreColumn]) -> None:
        self._columns = columns
        self._text = lru_cache(maxsize=_KINDS)(self._made)

    def of(self, ids: Sequence[str], rows: slice) -> list[bytes]:
        """Return the rest of `status`, and `needs_review`, for each of the rows, whose ids these are."""
        parts = [each[rows] for column in self._columns for each in (column.status, column.reason)]
        if not parts:
            return [b"}"] * len(ids)
        kinds = np.stack(parts, axis=1, dtype=np.uint16, casting="same_kind").tobytes()
        width = len(kinds) // len(ids)
        return [self._text(kinds[place : place + width]) for place in range(0, len(kinds), width)]

    def _made(self, kind: bytes) -> bytes:
        """Return the text for a row's states and reasons, two numbers for each column."""
        numbers = np.frombuffer(kind, dtype=np.uint16).reshape(-1, 2).tolist()
        said = {
            column.metric: {"status": STATUS_NAMES[status], "reason": column.reasons[reason]}
            for column, (status, reason) in zip(self._columns, numbers, strict=True)
            if status != SCORED
        }
        doubts = {
            column.metric: why
            for column, (_, reason) in zip(self._columns, numbers, strict=True)
            if (why := column.reasons[reason]).startswith(NEEDS_REVIEW)
        }
        return _encode(said)[1:] + (b',"needs_review":' + _encode(doubts) if doubts else b"")
