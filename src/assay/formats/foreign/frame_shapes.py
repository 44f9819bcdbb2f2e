"""The rows of a data frame in JSON, in each form (`orient`) that `DataFrame.to_json` of pandas writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.formats.foreign.member_names import ID_KEYS, QUESTION_KEYS, normalise_member_name
from assay.records.errors import shorten_repr

IMPORT_REMEDY = "`assay init --from {name}` makes a golden set of rows of questions with what is expected"
"""What to do with a file of rows that is no golden set, in messages."""
RECORDS_REMEDY = 'of a data frame write rows: to_json(path, orient="records")'
_SPLIT_MEMBERS = (frozenset(("columns", "data")), frozenset(("columns", "index", "data")))
_NAMING = frozenset((*QUESTION_KEYS, *ID_KEYS))


def list_frame_rows(document: Any) -> list[Any] | None:
    """Return the rows of a frame that was written with orient `split`, `index`, `columns` or `table`; None for what is
    no such frame, or has no column that names a case.

    The label of a row is its id where no column is one, unless the labels are numbers, as pandas gives them.

    >>> list_frame_rows({"columns": ["question", "answer"], "index": [0], "data": [["Fee?", "9 euros"]]})
    [{'question': 'Fee?', 'answer': '9 euros'}]
    >>> list_frame_rows({"fee": {"question": "Fee?", "answer": "9 euros"}})
    [{'id': 'fee', 'question': 'Fee?', 'answer': '9 euros'}]
    >>> list_frame_rows({"question": {"0": "Fee?"}, "answer": {"0": "9 euros"}})
    [{'question': 'Fee?', 'answer': '9 euros'}]
    >>> list_frame_rows({"columns": ["question", "question"], "data": [["Fee?", "Rent?"]]}) is None
    True
    """
    if not isinstance(document, Mapping) or not document:
        return None
    if frozenset(document) in _SPLIT_MEMBERS:
        return _open_split(document)
    if set(document) == {"schema", "data"}:
        return document["data"] if isinstance(document["data"], list) else None
    members = list(document.values())
    if not all(isinstance(member, Mapping) and member.keys() == members[0].keys() for member in members):
        return None
    labels = list(members[0])
    if is_row_named(document):
        if not labels or not all(label.isdecimal() for label in labels):
            return None
        return [{name: column[label] for name, column in document.items()} for label in labels]
    return _name_rows(list(document), members) if is_row_named(labels) else None


def is_frame(document: Mapping[str, Any]) -> bool:
    """Return whether an object is a frame, also one in columns whose rows have names."""
    cells = [cell for name, cell in document.items() if normalise_member_name(name) in _NAMING]
    return bool(list_frame_rows(document)) or any(isinstance(cell, Mapping) for cell in cells)


def describe_no_text(value: Any, expected: str) -> str:
    """Return what is wrong with a value that should be a text: of a column of a frame, how to write its rows.

    >>> describe_no_text(7, "a question")
    'not a text (got 7; expected a question)'
    """
    remedy = f"; {RECORDS_REMEDY}" if isinstance(value, Mapping) else ""
    return f"not a text (got {shorten_repr(value)}; expected {expected}{remedy})"


def is_row_named(names: Iterable[str]) -> bool:
    """Return whether one of some members names the case of a row: by its id or its question."""
    return any(normalise_member_name(name) in _NAMING for name in names)


def _open_split(document: Mapping[str, Any]) -> list[Any] | None:
    """Return the rows of a frame that has its columns, its labels and its cells apart."""
    columns, cells = document["columns"], document["data"]
    if not isinstance(columns, list) or not isinstance(cells, list):
        return None
    are_rows = all(isinstance(row, list) and len(row) == len(columns) for row in cells)
    if not are_rows or not all(isinstance(name, str) for name in columns) or not is_row_named(columns):
        return None
    if len(set(columns)) < len(columns):  # one of two columns of a name would be lost
        return None
    rows = [dict(zip(columns, row, strict=True)) for row in cells]
    labels = document.get("index")
    return _name_rows(labels, rows) if isinstance(labels, list) and len(labels) == len(rows) else rows


def _name_rows(labels: Sequence[Any], rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return rows with their labels as ids, where these are texts other than numbers and no column is an id."""
    are_ids = all(isinstance(label, str) and not label.isdecimal() for label in labels)
    if not are_ids or any(normalise_member_name(name) in ID_KEYS for row in rows for name in row):
        return list(rows)
    return [{"id": label, **row} for label, row in zip(labels, rows, strict=True)]
