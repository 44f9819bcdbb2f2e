"""The scores of every case: as JSON lines, for scripts and later comparisons, and as CSV, for a spreadsheet.

For speed (a golden set may have a million cases), lines are joined from pieces of JSON encoded for many rows at once.
In CSV a cell without a score is empty and the last column says why.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec
import numpy as np

from assay.records.golden_set import Case
from assay.records.scores import NEEDS_REVIEW, SCORED, SETTLED, STATUS_NAMES, CaseChecks, ScoreColumn, ScoreTable
from assay.scoring.case_outcomes import classify_checks
from assay.text.escaping import escape_csv_cell

_BLOCK_ROWS = 4096
_MAX_CACHED = 65_536
_encode = msgspec.json.encode


def iter_case_lines(table: ScoreTable) -> Iterator[bytes]:
    """Yield one JSON object per golden case, each ending in a newline, in golden order.

    Keys: `config_id`, `case_id`, `scores` (metric → number or null), `status` (metric → {status, reason}, absent if
    scored), `failed_checks`, and if there are any, `needs_review` and `settled` (metric → reason) and `warnings`.
    Raises ArithmeticError for a score that is not finite.
    """
    checks = {case_checks.case_id: case_checks for case_checks in table.checks}
    columns = [table.columns[metric] for metric in sorted(table.columns)]
    for column in columns:
        if not np.isfinite(column.values[column.status == SCORED]).all():
            raise ArithmeticError(f"{column.metric}: a scored value is not finite")
    line = _build_line_template(table.config_id, [column.metric for column in columns])
    statuses = _StatusEncoder(columns)
    for start in range(0, len(table.case_ids), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        ids = table.case_ids[rows]
        ends = [_encode_line_end(checks.get(case_id)) for case_id in ids]
        scores = [_encode_scores(column, rows) for column in columns]
        for pieces in zip(map(_encode, ids), *scores, statuses.encode_rows(ids, rows), ends, strict=True):
            yield line % pieces


def _build_line_template(config_id: str, metrics: Sequence[str]) -> bytes:
    """Return the parts that all lines share, with `%b` for the case id, each score, the statuses and the line's end.

    The encoded statuses close their own object, because `needs_review` and `settled` may follow them.
    """
    scores = b",".join(_escape_literal(metric) + b":%b" for metric in metrics)
    return (
        b'{"config_id":' + _escape_literal(config_id) + b',"case_id":%b,"scores":{' + scores + b'},"status":{%b,%b}\n'
    )


def _escape_literal(text: str) -> bytes:
    return _encode(text).replace(b"%", b"%%")


def _encode_scores(column: ScoreColumn, rows: slice) -> list[bytes]:
    """Return each score as JSON, encoded in one call and split: neither a number nor null contains a comma."""
    values: list[float | None] = column.values[rows].tolist()
    for row in np.flatnonzero(column.status[rows] != SCORED).tolist():
        values[row] = None
    return _encode(values)[1:-1].split(b",")


def _encode_line_end(case_checks: CaseChecks | None) -> bytes:
    return _encode_checks((), ()) if case_checks is None else _encode_checks(case_checks.failed, case_checks.warnings)


@lru_cache(maxsize=_MAX_CACHED)
def _encode_checks(failed: tuple[str, ...], warnings: tuple[str, ...]) -> bytes:
    return b'"failed_checks":' + _encode(failed) + (b',"warnings":' + _encode(warnings) if warnings else b"")


class _StatusEncoder:
    """Encodes the statuses and reasons of cells without a score; rows with the same ones share one cached text."""

    def __init__(self, columns: Sequence[ScoreColumn]) -> None:
        self._columns = columns
        self._width = np.result_type(np.uint16, *(column.reason.dtype for column in columns))
        self._cached_row = lru_cache(maxsize=_MAX_CACHED)(self._encode_row)

    def encode_rows(self, ids: Sequence[str], rows: slice) -> list[bytes]:
        """Return `status`, `needs_review` and `settled`, as far as there are any, for each row of a block.

        `ids` are its cases.
        """
        if not self._columns:
            return [b"}"] * len(ids)
        code_arrays: list[np.ndarray] = []
        for column in self._columns:
            code_arrays += [column.status[rows], column.reason[rows]]
        # A row's codes as bytes are the key of the cache: cheaper than a tuple of numbers for each row.
        codes = np.stack(code_arrays, axis=1, dtype=self._width, casting="same_kind").tobytes()
        width = len(codes) // len(ids)
        return [self._cached_row(codes[start : start + width]) for start in range(0, len(codes), width)]

    def _encode_row(self, codes: bytes) -> bytes:
        """Return the text for one row; `codes` holds status and reason, two numbers per column."""
        pairs = np.frombuffer(codes, dtype=self._width).reshape(-1, 2).tolist()
        unscored, needs_review, settled = {}, {}, {}
        for column, (status, reason_code) in zip(self._columns, pairs, strict=True):
            reason = column.reasons[reason_code]
            if status != SCORED:
                unscored[column.metric] = {"status": STATUS_NAMES[status], "reason": reason}
            if reason.startswith(NEEDS_REVIEW):
                needs_review[column.metric] = reason
            elif reason.startswith(SETTLED):
                settled[column.metric] = reason
        text = _encode(unscored)[1:]
        text += b',"needs_review":' + _encode(needs_review) if needs_review else b""
        return text + (b',"settled":' + _encode(settled) if settled else b"")


_LEADING_COLUMNS = ("config_id", "case_id", "behaviour", "difficulty", "tags", "outcome", "failed_checks", "warnings")
_NOT_SCORED_COLUMN = "not_scored"


class _LineBuffer:
    """The file that the CSV writer writes to: holds the last row only, so that rows can be streamed."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        """Keep one row."""
        self.text = text


def iter_csv_lines(
    tables: Mapping[str, ScoreTable], cases: Mapping[str, Case], *, raw: bool = False
) -> Iterator[bytes]:
    """Yield a header and one row for each configuration and case, configurations sorted, cases in golden order.

    All configurations have the same metric columns. The last column lists the metrics without a score and the reasons.
    Unless `raw`, a cell that a spreadsheet would take for a formula starts with an apostrophe.
    """
    line = _LineBuffer()
    writer = csv.writer(line)
    metrics = sorted({metric for table in tables.values() for metric in table.columns})
    writer.writerow([*_LEADING_COLUMNS, *metrics, _NOT_SCORED_COLUMN])
    yield line.text.encode()
    cell = str if raw else escape_csv_cell
    for config, table in sorted(tables.items()):
        checks = {case_checks.case_id: case_checks for case_checks in table.checks}
        columns = [table.columns.get(metric) for metric in metrics]
        for row, case_id in enumerate(table.case_ids):
            case, case_checks = cases[case_id], checks.get(case_id)
            failed, warned = (case_checks.failed, case_checks.warnings) if case_checks is not None else ((), ())
            outcome = classify_checks(case_checks)
            tags = ";".join(case.tags)
            leading = (config, case_id, case.behaviour, case.difficulty, tags, outcome, ";".join(failed))
            values = [
                repr(float(column.values[row])) if column is not None and column.status[row] == SCORED else ""
                for column in columns
            ]
            unscored = [
                f"{column.metric}: {STATUS_NAMES[column.status[row]]} ({column.reasons[column.reason[row]]})"
                for column in columns
                if column is not None and column.status[row] != SCORED
            ]
            writer.writerow([*map(cell, (*leading, ";".join(warned))), *values, cell("; ".join(unscored))])
            yield line.text.encode()
