"""Casts values that strict reading refuses but that can only mean one thing: numbers written as text, ids as numbers.

Only `assay convert` casts; no reader ever guesses. Every cast is counted under a readable name.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect

from assay.io.lines import Source, read_lines
from assay.io.shape import type_of

TO_TEXT, TO_NUMBER, TO_LIST = "integers made text", "texts made numbers", "nulls made empty lists"
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}(\.0+)?")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_LISTS = (inspect.VarTupleType, inspect.ListType)
_NUMBERS = (inspect.IntType, inspect.FloatType)


def cast_lines(source: Source, record: type[msgspec.Struct], target: Path) -> Counter[str]:
    """Write a JSON Lines file to `target` with its members cast to `record`; return the number of casts of each kind.

    Line numbers do not change. A line that is not a JSON object is copied as it is, so that the reader reports it.
    """
    counts: Counter[str] = Counter()
    with open(target, "wb") as out:
        for line in read_lines(source):
            before, data = counts.total(), line.data
            try:
                row = _cast_value(json.loads(data), type_of(record), counts)
                if counts.total() > before:
                    data = json.dumps(row, ensure_ascii=False, allow_nan=False).encode()
            except (ValueError, RecursionError):
                data = line.data
            out.write(data + b"\n")
    return counts


def _cast_value(value: Any, kind: inspect.Type, counts: Counter[str]) -> Any:
    """Return `value` with everything in it cast that has one obvious meaning as `kind`, and count each cast."""
    if isinstance(kind, inspect.UnionType):
        return _cast_value(value, _choose_option(value, kind), counts)
    if isinstance(kind, inspect.StructType) and isinstance(value, dict):
        member_types = {member.encode_name: member.type for member in kind.fields}
        return {
            name: _cast_value(member, member_types.get(name, inspect.AnyType()), counts)
            for name, member in value.items()
        }
    if isinstance(kind, inspect.DictType) and isinstance(value, dict):
        return {name: _cast_value(member, kind.value_type, counts) for name, member in value.items()}
    if isinstance(kind, _LISTS) and isinstance(value, list):
        return [_cast_value(item, kind.item_type, counts) for item in value]
    cast = _find_cast(value, kind)
    if cast is None:
        return value
    new_value, cast_name = cast
    counts[cast_name] += 1
    return new_value


def _find_cast(value: Any, kind: inspect.Type) -> tuple[Any, str] | None:
    """Return the value that is meant and the name of the cast; None if no cast is needed or possible."""
    if isinstance(kind, inspect.StrType) and type(value) is int:
        return str(value), TO_TEXT
    if isinstance(kind, _LISTS) and value is None:
        return [], TO_LIST
    if isinstance(kind, inspect.IntType) and isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0]), TO_NUMBER
    if isinstance(kind, inspect.IntType) and isinstance(value, float) and value.is_integer():
        return int(value), TO_NUMBER
    if isinstance(kind, inspect.FloatType) and isinstance(value, str) and _is_finite(value.strip()):
        return float(value), TO_NUMBER
    return None


def _is_finite(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def _choose_option(value: Any, kind: inspect.UnionType) -> inspect.Type:
    """Return the first option of a union that the value already is, else the first that it can be cast to.

    `AnyType`, which casts nothing, if there is no such option.
    """
    options = [option for option in kind.types if not isinstance(option, inspect.NoneType)]
    option_types: dict[type, tuple[type[inspect.Type], ...]] = {
        dict: (inspect.StructType, inspect.DictType),
        list: _LISTS,
        str: (inspect.StrType, inspect.LiteralType),
        int: _NUMBERS,
        float: _NUMBERS,
    }
    matching = [option for option in options if isinstance(option, option_types.get(type(value), ()))]
    castable = [option for option in options if value is not None and _find_cast(value, option) is not None]
    return next(iter([*matching, *castable]), inspect.AnyType())
