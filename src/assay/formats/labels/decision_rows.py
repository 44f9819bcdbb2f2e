"""Reads small tables that people write: CSV with a header, JSON Lines, or one JSON list; a record on each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct

from assay.formats.file_io import Source, decode_line, open_source, read_lines
from assay.formats.labels.label_files import LabelRow, read_label_rows
from assay.formats.problems import ProblemList
from assay.formats.strict_json import MisfitError, convert_strictly, decode_json
from assay.records.errors import InputError, Problem, shorten_repr

MAX_TABLE_BYTES = 64 * 2**20

Record = TypeVar("Record", bound=Struct)


class PlacedRecord(NamedTuple, Generic[Record]):
    """A record with its line, or with its place in a JSON list such as `[3]`, which has no line."""

    line: int | None
    place: str
    record: Record


def load_decision_rows(
    path: str, record: type[Record], required: Sequence[str], numbers: Sequence[str] = ()
) -> list[PlacedRecord[Record]]:
    """Return the rows of a file as records; `numbers` are the fields that are whole numbers in a CSV cell.

    Raises InputError with everything that is wrong with any row: its line or place, its field, and the value.
    """
    with open_source(path, max_bytes=MAX_TABLE_BYTES) as source:
        rows = _read_rows(source, record.__struct_fields__, required)
    findings = ProblemList(path)
    records = []
    for number, row in enumerate(rows):
        line, place = row.line or None, "" if row.line else f"[{number}]"
        try:
            records.append(PlacedRecord(line, place, convert_strictly(_cast(row.members, numbers), record, place)))
        except MisfitError as error:
            for misfit in error.misfits:
                findings.add_error(line, *misfit)
    findings.raise_errors()
    return records


def _read_rows(source: Source, columns: Sequence[str], required: Sequence[str]) -> list[LabelRow]:
    """Return the rows of any of the three forms; those of a JSON list have no line, which is 0."""
    if source.path.is_dir():
        raise InputError([Problem(source.name, None, "", "is a folder (expected CSV or JSON)", "E_NO_FILE")])
    lines = [line for line in read_lines(source, max_bytes=MAX_TABLE_BYTES) if line.data.strip()]
    if not lines:
        expected = f"expected rows with {', '.join(required)}"
        raise InputError([Problem(source.name, None, "", f"empty (got no row; {expected})", "E_EMPTY")])
    if not lines[0].data.lstrip().startswith(b"["):
        return list(read_label_rows(source, columns, required))
    rows = decode_json("\n".join(decode_line(line, source.name) for line in lines), source.name)
    problems = [
        Problem(source.name, None, f"[{number}]", f"not an object (got {shorten_repr(row)})", "E_ROW")
        for number, row in enumerate(rows)
        if not isinstance(row, dict)
    ]
    if problems:
        raise InputError(problems)
    return [LabelRow(0, row) for row in rows]


def _cast(members: dict[str, object], numbers: Sequence[str]) -> dict[str, object]:
    """Return members with the cells that should be whole numbers as numbers; others stay, and are refused later."""
    cast = dict(members)
    for name in numbers:
        cell = members.get(name)
        if isinstance(cell, str) and cell.strip().lstrip("-").isdecimal():
            cast[name] = int(cell)
    return cast
