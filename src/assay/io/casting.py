"""Casts what strict reading refuses and only one meaning fits: numbers written as text, ids written as numbers.

Used by `assay convert` alone: reading never guesses. Every cast is counted under words for people.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
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
    """Write the lines of a JSON Lines file with their members cast to `record`; returns how often what was cast.

    Lines keep their numbers; one that is no JSON object is written as it is, for the reader to refuse.
    """
    counts: Counter[str] = Counter()
    with open(target, "wb") as out:
        for line in read_lines(source):
            before, data = counts.total(), line.data
            try:
                row = cast(json.loads(data), type_of(record), counts)
                if counts.total() > before:
                    data = json.dumps(row, ensure_ascii=False, allow_nan=False).encode()
            except (ValueError, RecursionError):
                data = line.data
            out.write(data + b"\n")
    return counts


def cast(value: Any, kind: inspect.Type, counts: Counter[str]) -> Any:
    """Return `value` with everything in it that has one obvious meaning as `kind` cast, and count each cast."""
    if isinstance(kind, inspect.UnionType):
        return cast(value, _meant(value, kind), counts)
    if isinstance(kind, inspect.StructType) and isinstance(value, dict):
        members = {member.encode_name: member.type for member in kind.fields}
        return {name: cast(each, members.get(name, inspect.AnyType()), counts) for name, each in value.items()}
    if isinstance(kind, inspect.DictType) and isinstance(value, dict):
        return {name: cast(each, kind.value_type, counts) for name, each in value.items()}
    if isinstance(kind, _LISTS) and isinstance(value, list):
        return [cast(each, kind.item_type, counts) for each in value]
    for made, how in _casts(value, kind):
        counts[how] += 1
        return made
    return value


def _casts(value: Any, kind: inspect.Type) -> Iterator[tuple[Any, str]]:
    """Yield the one value that is meant, with the name of the cast; nothing where there is none, or no need."""
    if isinstance(kind, inspect.StrType) and type(value) is int:
        yield str(value), TO_TEXT
    elif isinstance(kind, _LISTS) and value is None:
        yield [], TO_LIST
    elif isinstance(kind, inspect.IntType) and isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        yield int(value.strip().partition(".")[0]), TO_NUMBER
    elif isinstance(kind, inspect.IntType) and isinstance(value, float) and value.is_integer():
        yield int(value), TO_NUMBER
    elif isinstance(kind, inspect.FloatType) and isinstance(value, str) and _is_finite(value.strip()):
        yield float(value), TO_NUMBER


def _is_finite(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def _meant(value: Any, kind: inspect.UnionType) -> inspect.Type:
    """Return the option of a union that a value is, or can be cast to; any type where it is one already."""
    options = [option for option in kind.types if not isinstance(option, inspect.NoneType)]
    wanted: dict[type, tuple[type[inspect.Type], ...]] = {
        dict: (inspect.StructType, inspect.DictType),
        list: _LISTS,
        str: (inspect.StrType, inspect.LiteralType),
        int: _NUMBERS,
        float: _NUMBERS,
    }
    nature = wanted.get(type(value), ())
    same = [option for option in options if isinstance(option, nature)]
    castable = [option for option in options if value is not None and any(_casts(value, option))]
    return next(iter([*same, *castable]), inspect.AnyType())
