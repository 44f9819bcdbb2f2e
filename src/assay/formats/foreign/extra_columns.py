"""Columns of rows that no field of a case reads: those that describe the cases become attributes, which slices name.

What a column holds is looked at as a whole, because a single cell tells little: a column with one decimal number is a
measurement, and one that differs between two rows of a case describes the outputs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from assay.formats.foreign.member_names import RowError, find_misspelt_member
from assay.formats.meant_names import find_meant_name, split_name
from assay.records.counts import join_first
from assay.records.errors import shorten_repr
from assay.records.golden_set import BUILT_IN_SLICE_KEYS, GOLDEN_KEYS_TAKEN, Case
from assay.text.pattern_cache import compile_pattern

_MAX_CHARS = 80
"""A longer text is prose: nobody groups cases by it."""
_MOST_EXAMPLES = 8
_DECIMAL = compile_pattern(r"[-+]?\d*[.,]\d+(?:[eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+")
_WHOLE = compile_pattern(r"[-+]?\d+[.,]0+")
_SLICING_FIELDS = frozenset(("", "tags", "difficulty", "language", "notes"))
"""What a name may mean whose column is a slice all the same; any other field expects something, or says who asks."""
_RUN_WORDS = frozenset((
    "answered", "at", "completion", "cost", "created", "date", "duration", "error", "evaluation", "fail", "failed",
    "generated", "grade", "hash", "id", "judge", "judgement", "judgment", "latency", "llm", "model", "ms", "outcome",
    "pass", "passed", "rank", "rating", "reason", "request", "result", "run", "score", "session", "span", "status",
    "success", "temperature", "time", "timestamp", "token", "tokens", "trace", "updated", "uuid", "verdict", "version",
))  # fmt: skip
"""Words of names that say of an answered row what happened in the run and not what the case is."""


SOURCE_NAMES = frozenset(("source", "sources", "source_file", "document", "citation"))
"""Columns that probably name the evidence, which is read under other names."""


class ExtraColumn(Struct):
    """One column: its texts by case, in order of rows, and whether something in it makes it no attribute."""

    text_by_case: dict[str, str] = field(default_factory=dict)
    cells: int = 0
    is_decimal: bool = False
    is_refused: bool = False


class ExtraColumns:
    """Collects the cells that no field of a case reads, and tells which columns are attributes of the cases.

    Such a column holds short texts, whole numbers or truth values, one for each case. In rows that hold answers too it
    holds texts, because a number there is rather a measurement of the answer, and has no name such as `model`.
    """

    def __init__(self) -> None:
        self._columns: dict[str, ExtraColumn] = {}

    def add_row(self, case_id: str, cells: Mapping[str, Any], *, is_answered: bool) -> None:
        """Add the cells of a row by their column."""
        for name, value in cells.items():
            column = self._columns.setdefault(name, ExtraColumn())
            column.cells += 1
            text = _write_cell(value)
            if text is None or not _is_attribute_name(name) or (is_answered and _is_of_run(name, value, text)):
                column.is_refused = True
                continue
            column.is_decimal |= _is_decimal(text)
            column.is_refused |= column.text_by_case.setdefault(case_id, text) != text

    def count_left(self) -> Counter[str]:
        """Return the columns that are no attributes, with the number of their cells."""
        return Counter({name: column.cells for name, column in self._columns.items() if not _is_taken(column)})

    def describe_taken(self) -> str:
        """Return the columns that are attributes, each as a slice of it; "" if there is none."""
        taken = [name for name, column in self._columns.items() if _is_taken(column)]
        if not taken:
            return ""
        slices = [f"{name}={next(iter(self._columns[name].text_by_case.values()))}" for name in taken]
        return f"{GOLDEN_KEYS_TAKEN}{join_first(slices, _MOST_EXAMPLES)}"

    def add_attributes(self, cases: Iterable[tuple[Case, int]]) -> list[tuple[Case, int]]:
        """Return cases with the attributes of their rows."""
        taken = {name: column for name, column in self._columns.items() if _is_taken(column)}
        described = []
        for case, number in cases:
            attributes = {
                name: column.text_by_case[case.id] for name, column in taken.items() if case.id in column.text_by_case
            }
            described.append(
                (replace(case, attributes={**attributes, **case.attributes}) if attributes else case, number)
            )
        return described


def open_metadata(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cells of a row with those of its metadata, which test cases of DeepEval and examples of LangSmith have
    as an object, in the place of that. A column of the row comes before a member of the same name.

    >>> open_metadata({"metadata": {"team": "shop", "city": "Ulm"}, "city": "Bonn"})
    {'team': 'shop', 'city': 'Bonn'}
    """
    opened: dict[str, Any] = {}
    for name, value in cells.items():
        if name in _METADATA_NAMES and isinstance(value, Mapping):
            opened |= {str(key): member for key, member in value.items() if member is not None}
        else:
            opened[name] = value
    return {**opened, **{name: cells[name] for name in opened if name in cells and name not in _METADATA_NAMES}}


_METADATA_NAMES = ("metadata", "additional_metadata", "additionalMetadata")


def refuse_unread_columns(members: Mapping[str, Any], names: Iterable[str]) -> None:
    """Raise RowError for one of the named members of a row in Assay's words that cannot be an attribute by itself: by
    the name of its column, or by what it holds.

    >>> refuse_unread_columns({"office": "north", "size": ["m", "l"]}, ["office"])
    """
    for name in names:
        text = _write_cell(members[name])
        if text is None or not _is_attribute_name(name) or _is_decimal(text):
            expected = f'expected x_{name} for a note, or attributes: {{"{name}": …}} for slices'
            raise RowError(name, f"not read (got {shorten_repr(members[name])}; {expected})")


def _is_taken(column: ExtraColumn) -> bool:
    return not column.is_refused and not column.is_decimal


def _write_cell(value: Any) -> str | None:
    """Return the text of a cell that can name a slice, None for any other: a list, an object, prose.

    >>> _write_cell(" North "), _write_cell(2026), _write_cell(True), _write_cell(["a"])
    ('North', '2026', 'True', None)
    """
    if not isinstance(value, (str, int, float)):
        return None
    text = str(value).strip()
    return text if text and len(text) <= _MAX_CHARS and text.isprintable() else None


def _is_decimal(text: str) -> bool:
    """Return whether a text is a number that is not whole; a column of integers with gaps has texts such as 3.0.

    >>> _is_decimal("0.25"), _is_decimal("3.0"), _is_decimal("2026-03")
    (True, False, False)
    """
    return _DECIMAL.fullmatch(text) is not None and _WHOLE.fullmatch(text) is None


def _is_attribute_name(name: str) -> bool:
    """Return whether a column may be an attribute by its name, and whether the name means nothing else.

    >>> [_is_attribute_name(name) for name in ("department", "tenant", "kind", "a=b", "cluster", "tgas")]
    [True, False, False, False, False, False]
    """
    if not name or "=" in name or "." in name or name in BUILT_IN_SLICE_KEYS or name in Case.__struct_fields__:
        return False
    if "_".join(split_name(name)) in SOURCE_NAMES:
        return False
    return find_meant_name(name).field in _SLICING_FIELDS and not find_misspelt_member(name)


def _is_of_run(name: str, value: Any, text: str) -> bool:
    """Return whether the column of an answered row says what happened in the run.

    >>> _is_of_run("llm_model", "m1", "m1"), _is_of_run("office", "north", "north"), _is_of_run("seen", 4, "4")
    (True, False, True)
    """
    is_number = not isinstance(value, str) or re.fullmatch(r"[-+]?\d+(?:[.,]\d+)?", text) is not None
    return is_number or not _RUN_WORDS.isdisjoint(split_name(name))


def lift_attributes(rows: Sequence[Mapping[str, Any]], names: Iterable[str]) -> tuple[list[dict[str, Any]], str] | None:
    """Return rows in Assay's words with columns that it does not know among their attributes, and what to say of it.

    None if one of the columns is no attribute: a misspelt field, a list, a number with decimals.
    """
    columns = ExtraColumns()
    unknown = tuple(dict.fromkeys(names))
    for number, row in enumerate(rows):
        cells = {name: row[name] for name in unknown if name in row and row[name] is not None}
        columns.add_row(str(number), cells, is_answered=False)
    if columns.count_left():
        return None
    lifted = []
    for row in rows:
        attributes = {name: _write_cell(row[name]) for name in unknown if row.get(name) is not None}
        members = {name: value for name, value in row.items() if name not in unknown}
        if attributes:
            members["attributes"] = {**attributes, **members.get("attributes", {})}
        lifted.append(members)
    return lifted, columns.describe_taken()
