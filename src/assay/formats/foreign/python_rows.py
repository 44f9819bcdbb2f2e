"""Rows as Python programs hold them: lists, data frames, columns, records; each becomes a dictionary of plain values.

A missing cell is no member: None and what pandas and NumPy write for it. A text that holds a printed list, as a frame
that was read from CSV has, is that list in the columns that hold lists.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from assay.formats.foreign.member_names import EVIDENCE_ID_KEYS, EVIDENCE_TEXT_KEYS, LIST_KEYS, normalise_member_name
from assay.formats.foreign.plain_values import is_missing, make_plain
from assay.formats.foreign.reply_shapes import RANKING_KEYS
from assay.formats.foreign.row_files import open_list_member, read_printed_list
from assay.formats.foreign.rows import READ_MEMBERS
from assay.formats.problems import make_value_error
from assay.formats.strict_json import decode_json
from assay.records.errors import InputError, shorten_repr

_LIST_COLUMNS = frozenset((*RANKING_KEYS, *LIST_KEYS, *EVIDENCE_TEXT_KEYS, *EVIDENCE_ID_KEYS, "citations", "tags"))


def list_rows(value: Any, name: str, expected: str, *, kept: Container[str] = ()) -> list[Any]:
    """Return the rows of a list, a data frame (pandas, Polars, Arrow), an array of records or a dictionary of columns.

    Missing cells are left out but those of `kept` columns, which are None. `name` is the argument and `expected` its
    forms, for messages. Raises InputError for what has no rows, or a column twice.
    """
    rows = _list_frame_rows(value, name)
    if rows is None and isinstance(value, Mapping):
        rows = _list_column_rows(value, name, expected)
    if rows is None:
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            raise make_value_error(name, f"not rows (got {shorten_repr(value)}; expected {expected})")
        rows = []
        for row in value:
            inner = _list_frame_rows(row, name) if hasattr(row, "to_pylist") else None  # a batch of an Arrow table
            rows += [row] if inner is None else inner
    return [_read_row(row, kept) for row in rows]


def _list_frame_rows(value: Any, name: str) -> list[Any] | None:
    """Return the rows of a data frame or an array of records, None for anything else. No library is imported."""
    if hasattr(value, "collect") and hasattr(value, "collect_schema"):  # a lazy Polars frame
        value = value.collect()
    if hasattr(value, "to_pylist"):  # an Arrow table
        _refuse_repeated(getattr(value, "column_names", ()), name)
        return list(value.to_pylist())
    if hasattr(value, "to_dicts"):  # a Polars frame
        return list(value.to_dicts())
    if hasattr(value, "to_dict") and hasattr(value, "columns"):  # a pandas frame
        return _list_pandas_rows(value, name)
    columns = getattr(getattr(value, "dtype", None), "names", None)
    if columns and hasattr(value, "tolist"):  # an array of records
        return [dict(zip(columns, row, strict=True)) for row in value.tolist()]
    return None


def _list_pandas_rows(frame: Any, name: str) -> list[Any]:
    """Return the rows of a pandas frame; an index that has the name of an id or a question is a column too."""
    _refuse_repeated(frame.columns, name)
    index_names = [str(index) for index in getattr(getattr(frame, "index", None), "names", ()) if index is not None]
    if any(normalise_member_name(index) in READ_MEMBERS for index in index_names):
        frame = frame.reset_index()
    return list(frame.to_dict("records"))


def _refuse_repeated(columns: Iterable[Any], name: str) -> None:
    """Raise InputError for two columns of one name, of which only one would be read."""
    names = list(map(str, columns))
    repeated = sorted({column for column in names if names.count(column) > 1})
    if repeated:
        raise make_value_error(
            name, f"a column twice (got {', '.join(repeated)}; expected a name of its own for each column)"
        )


def _list_column_rows(value: Mapping[Any, Any], name: str, expected: str) -> list[Any]:
    """Return the rows of a dictionary of columns, or of a document with a list of rows. Raises InputError for another
    dictionary, with what it may be."""
    document_rows = open_list_member(value)
    if document_rows is not None and not _are_columns(value):
        return document_rows
    columns = {str(key): _open_column(column) for key, column in value.items()}
    lengths = {key: len(column) for key, column in columns.items() if column is not None}
    if not lengths or len(lengths) < len(columns):
        raise make_value_error(name, _describe_dictionary(value, expected))
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{key}: {length}" for key, length in lengths.items())
        raise make_value_error(name, f"columns of different lengths (got {counts}; expected one cell for each row)")
    cells = [column for column in columns.values() if column is not None]
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def _are_columns(value: Mapping[Any, Any]) -> bool:
    return all(normalise_member_name(str(key)) in READ_MEMBERS for key in value)


def _open_column(column: Any) -> Sequence[Any] | None:
    """Return the cells of a column, which pandas also writes as a dictionary by row; None for what is no column."""
    if isinstance(column, Mapping) and all(isinstance(key, int) for key in column):
        return list(column.values())
    if hasattr(column, "tolist"):
        column = column.tolist()
    elif hasattr(column, "to_list"):
        column = column.to_list()
    return column if isinstance(column, (list, tuple)) else None


def _describe_dictionary(value: Mapping[Any, Any], expected: str) -> str:
    """Return what is wrong with a dictionary that is no rows: one row, or rows by their id."""
    got = shorten_repr(value)
    if any(normalise_member_name(str(key)) in READ_MEMBERS for key in value):
        return f"one row, which is no list (got {got}; expected it in brackets, or {expected})"
    example = f'{{"id": "{next(iter(value), "…")}", …}}'
    return f"not rows (got {got}; expected rows such as {example}, or {expected})"


def _read_row(row: Any, kept: Container[str]) -> Any:
    """Return a row as a dictionary without its missing cells; what is no row as it is."""
    members = make_plain(_open_record(row))
    if not isinstance(members, Mapping):
        return members
    cells: dict[str, Any] = {}
    for key, cell in members.items():
        name = normalise_member_name(str(key))
        if is_missing(cell):
            if name in kept:
                cells[str(key)] = None
        else:
            cells[str(key)] = _read_list_cell(cell) if name in _LIST_COLUMNS else cell
    return cells


def _open_record(row: Any) -> Any:
    """Return a named tuple, a row of pandas or an object with members of rows as a dictionary; another as it is."""
    if hasattr(row, "_asdict"):
        return row._asdict()
    if hasattr(row, "to_dict") and hasattr(row, "index"):  # a row of pandas
        return row.to_dict()
    if type(row).__module__.startswith("assay.") or hasattr(row, "model_dump"):
        return row
    own = getattr(row, "__dict__", None)
    if isinstance(own, dict) and not READ_MEMBERS.isdisjoint(own):
        return {key: member for key, member in own.items() if not key.startswith("_")}
    return row


def _read_list_cell(cell: Any) -> Any:
    """Return the list that a text holds, as JSON or as Python prints it; anything else as it is."""
    stripped = cell.strip() if isinstance(cell, str) else ""
    if not (stripped.startswith("[") and stripped.endswith("]")):
        return cell
    try:
        return decode_json(stripped, "", is_nan_missing=True)
    except InputError:
        pass
    try:
        return read_printed_list(stripped)
    except ValueError:
        return cell  # a text in brackets
