"""Rows in the forms in which Python programs hold them are the rows of a list of dictionaries."""

from __future__ import annotations

import collections
import datetime
import enum
import types
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest

import assay
from assay.formats.foreign.plain_values import make_plain
from assay.records.errors import InputError
from assay.runs.python_values import read_golden_value, read_outputs_value

GOLDEN: list[dict[str, Any]] = [
    {"id": "ferry", "question": "When does the ferry leave?", "must_have": ["noon"], "behaviour": "answer"},
    {"id": "moon", "question": "Who owns the moon?", "behaviour": "abstain"},
]
OUTPUTS: list[dict[str, Any]] = [
    {"id": "ferry", "answer": "At noon.", "contexts": ["The ferry leaves at noon, every day."]},
    {"id": "moon", "answer": None, "contexts": []},
]
Row = dict[str, Any]


def fill(rows: list[Row], missing: Any = None) -> list[Row]:
    """Return rows with a cell for every column, as frames have them."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: missing if row.get(name) is None else row[name] for name in names} for row in rows]


class PandasRow:
    """A row of a pandas frame, as `iterrows` gives it."""

    def __init__(self, row: Row) -> None:
        self.index = list(row)
        self._row = row

    def __iter__(self) -> Iterator[Any]:
        return iter(self._row.values())

    def to_dict(self) -> Row:
        return self._row


class PandasFrame:
    """A pandas frame, whose index may have a name."""

    def __init__(self, rows: list[Row], index: str | None = None) -> None:
        self._rows, self._indexed = rows, index
        self.columns = [name for name in rows[0] if name != index]
        self.index = types.SimpleNamespace(names=[index])

    def reset_index(self) -> PandasFrame:
        return PandasFrame(self._rows)

    def to_dict(self, form: str) -> list[Row]:
        assert "records" == form
        return [{name: row[name] for name in self.columns} for row in self._rows]


class LazyFrame:
    """A lazy frame of Polars."""

    collect_schema = None

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows

    def collect(self) -> Any:
        return types.SimpleNamespace(to_dicts=lambda: self._rows)


class Batch:
    """A batch of an Arrow table."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows
        self.column_names = list(rows[0])

    def to_pylist(self) -> list[Row]:
        return self._rows


class NAType:
    """What pandas writes for a missing value."""

    def __bool__(self) -> bool:
        raise TypeError("neither true nor false")


class Record:
    """An object of a user's own."""

    def __init__(self, row: Row) -> None:
        self.__dict__.update(row)


def make_tuples(rows: list[Row]) -> list[Any]:
    kind = collections.namedtuple("kind", list(rows[0]))  # type: ignore[misc]
    return [kind(**row) for row in rows]


def make_array(rows: list[Row]) -> Any:
    return np.array([tuple(row.values()) for row in rows], dtype=[(name, object) for name in rows[0]])


FORMS: dict[str, Callable[[list[Row]], Any]] = {
    "dictionaries": list,
    "none": fill,
    "nan": lambda rows: fill(rows, float("nan")),
    "numpy nan": lambda rows: fill(rows, np.float64("nan")),
    "missing": lambda rows: fill(rows, NAType()),
    "generator": iter,
    "pandas rows": lambda rows: [PandasRow(row) for row in fill(rows, float("nan"))],
    "pandas": lambda rows: PandasFrame(fill(rows, float("nan"))),
    "pandas index": lambda rows: PandasFrame(fill(rows, float("nan")), "id"),
    "columns of pandas": lambda rows: {
        name: {number: row[name] for number, row in enumerate(fill(rows))} for name in fill(rows)[0]
    },
    "columns": lambda rows: {name: [row[name] for row in fill(rows)] for name in fill(rows)[0]},
    "lazy": lambda rows: LazyFrame(fill(rows)),
    "batches": lambda rows: [Batch(fill(rows)[:1]), Batch(fill(rows)[1:])],
    "named tuples": lambda rows: make_tuples(fill(rows)),
    "array of records": lambda rows: make_array(fill(rows)),
    "objects": lambda rows: [Record(row) for row in fill(rows)],
    "namespaces": lambda rows: [types.SimpleNamespace(**row) for row in fill(rows)],
    "mappings": lambda rows: [types.MappingProxyType(row) for row in rows],
    "printed lists": lambda rows: [
        {name: str(cell) if isinstance(cell, list) else cell for name, cell in row.items()} for row in rows
    ],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_rows_gives_the_same_golden_set_and_observations(form: str) -> None:
    golden = read_golden_value(FORMS[form](GOLDEN))
    assert read_golden_value(GOLDEN) == golden
    expected = read_outputs_value(OUTPUTS, golden)
    assert expected == read_outputs_value(FORMS[form](OUTPUTS), golden)
    assert ["At noon.", None] == [row.answer for row in expected]


@dataclass
class Asked:
    """A question of a user's own data class, with a field that only some have."""

    question: str
    reference: str
    must_have: list[str] | None = None


class AskedTuple(NamedTuple):
    """The same as a named tuple."""

    question: str
    reference: str


class AskedStruct(msgspec.Struct):
    """The same as a record of msgspec."""

    question: str
    reference: str


@pytest.mark.parametrize("kind", [Asked, AskedTuple, AskedStruct])
def test_records_of_ones_own_are_golden_rows(kind: Any) -> None:
    rows = [kind("Who sails?", "The mate."), kind("Who cooks?", "The cook.")]
    assert ["The mate.", "The cook."] == [case.reference for case in read_golden_value(rows).cases]


def test_two_columns_of_one_name_are_refused() -> None:
    frame = PandasFrame(fill(OUTPUTS))
    frame.columns.append("answer")
    with pytest.raises(InputError, match=r"outputs: E_VALUE a column twice .got answer"):
        read_outputs_value(frame, read_golden_value(GOLDEN))


class Kind(enum.Enum):
    """A behaviour, as a program may name it."""

    ANSWER = "answer"


class Name(enum.StrEnum):
    """An id, as a program may name it."""

    FERRY = "ferry"


def test_values_of_numpy_enums_times_and_uuids_are_plain() -> None:
    number = uuid.UUID("12345678123456781234567812345678")
    at = datetime.datetime(2026, 3, 1, 12, 30, tzinfo=datetime.UTC)
    row = {
        "id": Name.FERRY, "question": np.str_("When?"), "reference": "Noon.", "behaviour": Kind.ANSWER,
        "metadata": {"number": number, "at": at, "weight": np.float64(0.5), "count": np.int64(3), "kinds": {"b", "a"}},
    }  # fmt: skip
    (case,) = read_golden_value([row]).cases
    assert ("ferry", "When?", "answer") == (case.id, case.question, case.behaviour)
    assert {
        "number": str(number), "at": "2026-03-01T12:30:00+00:00", "weight": 0.5, "count": 3, "kinds": ["a", "b"],
    } == case.metadata  # fmt: skip
    observations = assay.observe(lambda _: {"answer": np.str_("Noon."), "retrieved": [number]}, [row])
    assert str is type(observations[0].answer)
    assert msgspec.json.encode(observations)


@pytest.mark.parametrize(
    "value", [np.str_("a"), Name.FERRY, np.float64(1.5), True, None, 3, "b", b"c", (1, "d"), {"e": {np.int32(2)}}]
)
def test_what_is_made_plain_can_be_written_as_json(value: Any) -> None:
    plain = make_plain(value)
    assert plain == msgspec.json.decode(msgspec.json.encode(plain)) or isinstance(plain, bytes)
    assert make_plain(plain) == plain
