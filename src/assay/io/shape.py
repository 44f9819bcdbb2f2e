"""Converts decoded JSON to records without coercion, and reports every field that does not fit.

msgspec decides whether a value fits, which is fast but reports the first fault only. For values that do not fit, all
faults are found from the description of the record's type, each with the value and what was expected.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import inspect

from assay.errors import MAX_PROBLEMS_SHOWN, shown
from assay.io.strictjson import pointer

T = TypeVar("T", bound=msgspec.Struct)


class Misfit(NamedTuple):
    """One fault of a value: the path of the field, what is wrong, and the error code."""

    field: str
    message: str
    code: str


class MisfitError(ValueError):
    """A value does not fit the record; `misfits` holds all faults."""

    def __init__(self, misfits: list[Misfit]) -> None:
        super().__init__("; ".join(f"{field}: {message}" for field, message, _ in misfits))
        self.misfits = misfits


def fit(value: Any, record: type[T], at: str = "") -> T:
    """Convert `value` to a `record`. Raises MisfitError with up to 50 faults, whose field names begin with `at`.

    >>> class Page(msgspec.Struct, forbid_unknown_fields=True):
    ...     number: int
    >>> fit({"number": 3}, Page)
    Page(number=3)
    >>> fit({"number": True}, Page)
    Traceback (most recent call last):
    ...
    assay.io.shape.MisfitError: number: wrong type (got True; expected an integer)
    """
    try:
        return msgspec.convert(value, record)
    except msgspec.ValidationError as error:
        misfits = list(islice(_find_misfits(value, type_of(record), at), MAX_PROBLEMS_SHOWN))
        raise MisfitError(misfits or [Misfit(at, f"{error} (got {shown(value)})", "E_TYPE")]) from None


def fit_open(row: dict[str, Any], record: type[T], at: str = "") -> tuple[T, dict[str, Any]]:
    """Convert an object that may have free-form members (`x_…`); return the record and these members."""
    try:
        return msgspec.convert(row, record), {}
    except msgspec.ValidationError:
        free = {key: member for key, member in row.items() if key.startswith("x_")}
        return fit({key: member for key, member in row.items() if key not in free}, record, at), free


@cache
def type_of(record: Any) -> inspect.Type:
    """Return msgspec's description of a type, cached because computing it is slow."""
    return inspect.type_info(record)


def unknown(name: str, known: list[str]) -> str:
    """Return the message for a name that is not one of `known`, suggesting the closest one if there is one.

    >>> unknown("expected_chunk_id", ["id", "expected_chunk_ids"])
    "unknown field (got 'expected_chunk_id'; expected 'expected_chunk_ids'?)"
    """
    close = get_close_matches(name, known, n=1, cutoff=0.7)
    expected = f"{close[0]!r}?" if close else f"one of {', '.join(known)}, or an x_ name"
    return f"unknown field (got {shown(name)}; expected {expected})"


def _find_misfits(value: Any, kind: inspect.Type, at: str) -> Iterator[Misfit]:
    if isinstance(kind, inspect.UnionType):
        yield from _find_union_misfits(value, kind, at)
    elif isinstance(kind, inspect.StructType) and isinstance(value, dict):
        yield from _find_member_misfits(value, kind, at)
    elif isinstance(kind, inspect.DictType) and isinstance(value, dict):
        for key, member in value.items():
            yield from _find_misfits(member, kind.value_type, pointer(at, key))
    elif isinstance(kind, (inspect.VarTupleType, inspect.ListType)) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _find_misfits(item, kind.item_type, pointer(at, index))
    elif not _fits(value, kind):
        yield _describe_misfit(value, kind, at)


def _find_union_misfits(value: Any, kind: inspect.UnionType, at: str) -> Iterator[Misfit]:
    options = [option for option in kind.types if not isinstance(option, inspect.NoneType)]
    if len(options) == 1 and value is not None:
        yield from _find_misfits(value, options[0], at)
    elif all(any(_find_misfits(value, option, at)) for option in kind.types):
        yield _describe_misfit(value, kind, at)


def _find_member_misfits(value: dict[str, Any], kind: inspect.StructType, at: str) -> Iterator[Misfit]:
    members = {member.encode_name: member for member in kind.fields}
    for key, item in value.items():
        if key in members:
            yield from _find_misfits(item, members[key].type, pointer(at, key))
        else:
            yield Misfit(pointer(at, key), unknown(key, list(members)), "E_UNKNOWN_FIELD")
    for name, member in members.items():
        if member.required and name not in value:
            message = f"missing (got no {name!r}; expected {_describe_type(member.type)})"
            yield Misfit(pointer(at, name), message, "E_MISSING")


def _describe_misfit(value: Any, kind: inspect.Type, at: str) -> Misfit:
    expected = _describe_type(kind)
    if isinstance(kind, inspect.LiteralType) and isinstance(value, str):
        return Misfit(at, f"unknown value (got {shown(value)}; expected {expected})", "E_ENUM")
    if isinstance(kind, (inspect.IntType, inspect.FloatType)) and _is_number(value, kind):
        return Misfit(at, f"out of range (got {shown(value)}; expected {expected})", "E_RANGE")
    return Misfit(at, f"wrong type (got {shown(value)}; expected {expected})", "E_TYPE")


def _is_number(value: Any, kind: inspect.IntType | inspect.FloatType) -> bool:
    """Return whether a value is a number of this kind, whatever its range; `True` is no integer."""
    return type(value) is int if isinstance(kind, inspect.IntType) else type(value) in (int, float)


def _fits(value: Any, kind: inspect.Type) -> bool:
    match kind:
        case inspect.AnyType():
            return True
        case inspect.NoneType():
            return value is None
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.StrType():
            return isinstance(value, str)
        case inspect.IntType() | inspect.FloatType():
            low, high = kind.ge, kind.le
            return _is_number(value, kind) and (low is None or value >= low) and (high is None or value <= high)
        case inspect.LiteralType():
            return type(value) is str and value in kind.values
        case _:
            return False


def _describe_type(kind: inspect.Type) -> str:
    match kind:
        case inspect.StrType():
            return "a string"
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType() | inspect.FloatType():
            return _describe_number(kind)
        case inspect.LiteralType():
            return "one of " + ", ".join(str(value) for value in kind.values)
        case inspect.VarTupleType() | inspect.ListType():
            return f"a list, each item {_describe_type(kind.item_type)}"
        case inspect.DictType():
            return f"an object, each value {_describe_type(kind.value_type)}"
        case inspect.StructType():
            return "an object with " + ", ".join(member.encode_name for member in kind.fields)
        case inspect.UnionType():
            return " or ".join(_describe_type(option) for option in kind.types)
        case inspect.NoneType():
            return "null"
        case _:
            return "any value"


def _describe_number(kind: inspect.IntType | inspect.FloatType) -> str:
    noun = "an integer" if isinstance(kind, inspect.IntType) else "a number"
    if kind.ge is not None and kind.le is not None:
        return f"{noun} from {kind.ge} to {kind.le}"
    return noun if kind.ge is None else f"{noun} of {kind.ge} or more"
