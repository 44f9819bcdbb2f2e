"""Strict JSON for files that people write: everything that two parsers could read differently is an error.

A text is decoded once, fast. Only if something looks wrong is it decoded again, more slowly, to report what is wrong
and where.
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

_STRING_OR_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_PLAIN_KEY = re.compile(r"[^\W\d]\w*")


class _SuspectError(ValueError):
    """The fast decoder found something that only the slow one can report."""


class _Fault(NamedTuple):
    """Takes the place of a number that is not allowed, until the slow decoder reports it."""

    message: str
    code: str


class _Members(list[tuple[str, Any]]):
    """The members of an object as written, including duplicate keys."""


def decode_object(text: str, path: str, line: int | None = None) -> dict[str, Any]:
    """Decode one JSON object. Raises InputError for any other value and for everything that `decode` refuses."""
    value = decode(text, path, line)
    if type(value) is not dict:
        message = f"not an object (got {shown(value)}; expected a JSON object in braces)"
        raise InputError([Problem(path, line, "", message, "E_ROW")])
    return value


def decode(text: str, path: str, line: int | None = None) -> Any:
    """Decode one JSON text strictly; `line` is None if the text is a whole document.

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
        raise InputError([_syntax_problem(error, text, path, line)]) from None
    if "\\u" in text and _SURROGATE_ESCAPE.search(text):
        return _explain(text, path, line)
    return value


def pointer(parent: str, key: str | int) -> str:
    """Return the path of a member or item of `parent`, as error messages print it.

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
    problems = [Problem(path, line, field, fault.message, fault.code) for field, fault in _find_faults(value, "")]
    if problems:
        raise InputError(problems)
    return _FAST.decode(text)


def _find_faults(value: Any, at: str) -> Iterator[tuple[str, _Fault]]:
    if isinstance(value, _Fault):
        yield at, value
    elif isinstance(value, str):
        yield from _find_surrogates(value, at)
    elif isinstance(value, _Members):
        keys: set[str] = set()
        for key, member in value:
            yield from _find_surrogates(key, pointer(at, key))
            if key in keys:
                message = f"key given twice (got {shown(key)} again; expected it once)"
                yield pointer(at, key), _Fault(message, "E_KEY_TWICE")
            keys.add(key)
            yield from _find_faults(member, pointer(at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _find_faults(item, pointer(at, index))


def _find_surrogates(text: str, at: str) -> Iterator[tuple[str, _Fault]]:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        got = f"\\u{ord(text[error.start]):04x}"
        yield at, _Fault(f"lone surrogate (got {got}; expected a whole character)", "E_SURROGATE")


def _check_depth(text: str, path: str, line: int | None) -> None:
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match.group(), 0)
        if depth > MAX_DEPTH:
            message = f"nested too deep (got more than {MAX_DEPTH} levels; expected {MAX_DEPTH} at most)"
            raise InputError([Problem(path, line, "", message, "E_DEPTH")])


def _syntax_problem(error: json.JSONDecodeError, text: str, path: str, line: int | None) -> Problem:
    near = text[error.pos : error.pos + 40]
    got = shown(near) if near.strip() else "the end of the text, as if cut off"
    if line is None:
        position, expected = f"line {error.lineno} column {error.colno}", "one JSON value"
        line = error.lineno
    else:
        position, expected = f"column {error.colno}", "one JSON object on each line"
    message = f"invalid JSON: {error.msg} at {position} (got {got}; expected {expected})"
    return Problem(path, line, "", message, "E_JSON")


def _object_of_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _SuspectError
    return members


def _parse_integer(digits: str) -> int:
    if len(digits) > MAX_NUMBER_CHARACTERS:
        raise _SuspectError
    return int(digits)


def _parse_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value) or len(digits) > MAX_NUMBER_CHARACTERS:
        raise _SuspectError
    return value


def _refuse_constant(_: str) -> NoReturn:
    raise _SuspectError


def _parse_number_or_fault(digits: str) -> float | _Fault:
    if len(digits) > MAX_NUMBER_CHARACTERS:
        message = f"number too long (got {len(digits)} characters; expected {MAX_NUMBER_CHARACTERS} at most)"
        return _Fault(message, "E_NUMBER")
    value = float(digits)
    return value if math.isfinite(value) else _not_finite(digits)


def _not_finite(literal: str) -> _Fault:
    return _Fault(f"not a finite number (got {literal}; expected a number that JSON can hold)", "E_NUMBER")


_FAST = json.JSONDecoder(
    object_pairs_hook=_object_of_unique_keys,
    parse_int=_parse_integer,
    parse_float=_parse_float,
    parse_constant=_refuse_constant,
)
_SLOW = json.JSONDecoder(
    object_pairs_hook=_Members,
    parse_int=_parse_number_or_fault,
    parse_float=_parse_number_or_fault,
    parse_constant=_not_finite,
)
