"""Strict JSON for files that people write: whatever two readers could understand differently is an error.

A line is decoded once, fast. Only where something looks wrong is it decoded again, slowly, to say what and where.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from assay.errors import InputError, Problem, shown

MAX_DEPTH = 100
MAX_NUMBER_CHARACTERS = 100

_PIECE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_PLAIN_KEY = re.compile(r"[^\W\d]\w*")


class _SuspectError(ValueError):
    """The fast pass met something that only the slow pass can explain."""


class _Bad(NamedTuple):
    """Stands in for a number that is not allowed, until the slow pass reports it."""

    message: str
    code: str


class _Pairs(list[tuple[str, Any]]):
    """The members of an object as written, duplicates included."""


def decode_object(text: str, path: str, line: int | None = None) -> dict[str, Any]:
    """Decode one JSON object; raises InputError for any other value and whatever `decode` refuses."""
    value = decode(text, path, line)
    if type(value) is not dict:
        message = f"not an object (got {shown(value)}; expected a JSON object in braces)"
        raise InputError([Problem(path, line, "", message, "E_ROW")])
    return value


def decode(text: str, path: str, line: int | None = None) -> Any:
    """Decode one JSON text strictly; `line` is None where the text is a whole document.

    Raises InputError, with a `field` such as `user.roles[0]`, for broken JSON, duplicate keys, NaN, infinity, numbers
    that overflow or have more than 100 characters, nesting beyond 100 and lone surrogates.

    >>> decode('{"a": [1, 2.5]}', "x.jsonl", 1)
    {'a': [1, 2.5]}
    """
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _check_depth(text, path, line)
    try:
        value, end = _FAST.raw_decode(text) if text.startswith("{") else (None, -1)
        if end != len(text):
            value = _FAST.decode(text)
    except _SuspectError:
        return _explain(text, path, line)
    except json.JSONDecodeError as error:
        raise InputError([_broken(error, text, path, line)]) from None
    if "\\u" in text and _SURROGATE_ESCAPE.search(text):
        return _explain(text, path, line)
    return value


def pointer(parent: str, key: str | int) -> str:
    """Return the name of a member or item inside `parent`, as error messages print it.

    >>> pointer(pointer("relevance", "hr:1"), 0)
    'relevance["hr:1"][0]'
    """
    if isinstance(key, int):
        return f"{parent}[{key}]"
    if not _PLAIN_KEY.fullmatch(key):
        quoted = json.dumps(key, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
        return f"{parent}[{quoted}]"
    return f"{parent}.{key}" if parent else key


def _explain(text: str, path: str, line: int | None) -> Any:
    value = _SLOW.decode(text)
    problems = [Problem(path, line, field, bad.message, bad.code) for field, bad in _faults(value, "")]
    if problems:
        raise InputError(problems)
    return _FAST.decode(text)


def _faults(value: Any, at: str) -> Iterator[tuple[str, _Bad]]:
    if isinstance(value, _Bad):
        yield at, value
    elif isinstance(value, str):
        yield from _surrogates(value, at)
    elif isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, member in value:
            yield from _surrogates(key, pointer(at, key))
            if key in seen:
                yield (
                    pointer(at, key),
                    _Bad(f"key given twice (got {shown(key)} again; expected it once)", "E_KEY_TWICE"),
                )
            seen.add(key)
            yield from _faults(member, pointer(at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _faults(item, pointer(at, index))


def _surrogates(text: str, at: str) -> Iterator[tuple[str, _Bad]]:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        got = f"\\u{ord(text[error.start]):04x}"
        yield at, _Bad(f"lone surrogate (got {got}; expected a whole character)", "E_SURROGATE")


def _check_depth(text: str, path: str, line: int | None) -> None:
    depth = 0
    for match in _PIECE.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match.group(), 0)
        if depth > MAX_DEPTH:
            message = f"nested too deep (got more than {MAX_DEPTH} levels; expected {MAX_DEPTH} at most)"
            raise InputError([Problem(path, line, "", message, "E_DEPTH")])


def _broken(error: json.JSONDecodeError, text: str, path: str, line: int | None) -> Problem:
    near = text[error.pos : error.pos + 40]
    got = shown(near) if near.strip() else "the end of the text, as if cut off"
    place = f"column {error.colno}" if line is not None else f"line {error.lineno} column {error.colno}"
    expected = "one JSON object on each line" if line is not None else "one JSON value"
    message = f"invalid JSON: {error.msg} at {place} (got {got}; expected {expected})"
    return Problem(path, line if line is not None else error.lineno, "", message, "E_JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _SuspectError
    return members


def _integer(digits: str) -> int:
    if len(digits) > MAX_NUMBER_CHARACTERS:
        raise _SuspectError
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value) or len(digits) > MAX_NUMBER_CHARACTERS:
        raise _SuspectError
    return value


def _refuse(_: str) -> NoReturn:
    raise _SuspectError


def _number_or_bad(digits: str) -> float | _Bad:
    if len(digits) > MAX_NUMBER_CHARACTERS:
        message = f"number too long (got {len(digits)} characters; expected {MAX_NUMBER_CHARACTERS} at most)"
        return _Bad(message, "E_NUMBER")
    value = float(digits)
    return value if math.isfinite(value) else _not_finite(digits)


def _not_finite(literal: str) -> _Bad:
    return _Bad(f"not a finite number (got {literal}; expected a number that JSON can hold)", "E_NUMBER")


_FAST = json.JSONDecoder(object_pairs_hook=_unique, parse_int=_integer, parse_float=_float, parse_constant=_refuse)
_SLOW = json.JSONDecoder(
    object_pairs_hook=_Pairs, parse_int=_number_or_bad, parse_float=_number_or_bad, parse_constant=_not_finite
)
