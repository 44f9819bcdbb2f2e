"""Strict JSON for files that people write: what two parsers could read differently is an error, and nothing is coerced.

A text is decoded once, fast. Only if something looks wrong is it decoded again, more slowly, to report what is wrong
and where. msgspec decides whether a value fits its record, but reports the first fault only: for a value that does not
fit, all faults are found from the description of the record's type.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import cache, cached_property
from itertools import islice
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

import msgspec
from msgspec import Struct, inspect

from assay.formats.meant_names import choose_field
from assay.records.errors import MAX_PROBLEMS_SHOWN, InputError, Problem, shorten_repr
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

MAX_JSON_DEPTH = 100
MAX_NUMBER_CHARACTERS = 100

# A string that is not closed extends to the end of the text: giving it up would mean to search again from each quote.
_STRING_OR_BRACKET = LatePattern(r'"(?>(?:[^"\\]++|\\.)*)"?|[\[\]{}]', re.DOTALL)
_SURROGATE_ESCAPE = LatePattern(r"\\u[dD][89a-fA-F]")
_PLAIN_KEY = compile_pattern(r"[^\W\d]\w*")


Record = TypeVar("Record")


class LateDecoder(Generic[Record]):
    """A decoder of JSON into a record that is built for the first line: of all formats, a run reads one or two."""

    def __init__(self, record: type[Record]) -> None:
        self._record = record

    @cached_property
    def decode(self) -> Callable[[bytes], Record]:
        """The method of the decoder: it raises what msgspec does, and RecursionError."""
        return msgspec.json.Decoder(self._record).decode


class _SuspectError(ValueError):
    """The fast decoder found something that only the slow one can report."""


class _Fault(Struct, frozen=True):
    """Takes the place of a number that is not allowed, until the slow decoder reports it."""

    message: str
    code: str


class _Members(list[tuple[str, Any]]):
    """The members of an object as written, including duplicate keys."""


def decode_json_object(
    text: str, path: str, line: int | None = None, *, is_nan_missing: bool = False
) -> dict[str, Any]:
    """Decode one JSON object. Raises InputError for any other value and for everything that `decode_json` refuses."""
    value = decode_json(text, path, line, is_nan_missing=is_nan_missing)
    if type(value) is not dict:
        message = f"not an object (got {shorten_repr(value)}; expected a JSON object in braces)"
        raise InputError([Problem(path, line, "", message, "E_ROW")])
    return value


def decode_json(text: str, path: str, line: int | None = None, *, is_nan_missing: bool = False) -> Any:
    """Decode one JSON text strictly; `line` is None if the text is a whole document.

    With `is_nan_missing` NaN and infinities are null: other tools write them for a number that they do not have.
    Raises InputError, with a `field` such as `user.roles[0]`, for broken JSON, duplicate keys, NaN, infinity, numbers
    that overflow or have more than 100 characters, nesting beyond 100 and lone surrogates.

    >>> decode_json('{"a": [1, 2.5]}', "x.jsonl", 1)
    {'a': [1, 2.5]}
    """
    if text.count("[") + text.count("{") > MAX_JSON_DEPTH:
        _check_depth(text, path, line)
    try:
        fast = (_FOREIGN if is_nan_missing else _STRICT).fast
        value, end = fast.raw_decode(text) if text.startswith("{") else (None, -1)
        if end != len(text):
            value = fast.decode(text)
    except _SuspectError:
        return _explain(text, path, line, is_nan_missing=is_nan_missing)
    except json.JSONDecodeError as error:
        raise InputError([_syntax_problem(error, text, path, line)]) from None
    if "\\u" in text and _SURROGATE_ESCAPE.search(text):
        return _explain(text, path, line, is_nan_missing=is_nan_missing)
    return value


def join_field(parent: str, key: str | int) -> str:
    """Return the path of a member or item of `parent`, as error messages print it.

    >>> join_field(join_field("relevance", "hr:1"), 0)
    'relevance["hr:1"][0]'
    """
    if isinstance(key, int):
        return f"{parent}[{key}]"
    if not _PLAIN_KEY.fullmatch(key):
        quoted = json.dumps(key, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
        return f"{parent}[{quoted}]"
    return f"{parent}.{key}" if parent else key


def _explain(text: str, path: str, line: int | None, *, is_nan_missing: bool) -> Any:
    decoders = _FOREIGN if is_nan_missing else _STRICT
    try:
        value = decoders.slow.decode(text)
    except json.JSONDecodeError as error:  # the fast decoder stopped at something else before it came to this
        raise InputError([_syntax_problem(error, text, path, line)]) from None
    problems = [Problem(path, line, field, fault.message, fault.code) for field, fault in _find_faults(value, "")]
    if problems:
        raise InputError(problems)
    return decoders.fast.decode(text)


def _find_faults(value: Any, at: str) -> Iterator[tuple[str, _Fault]]:
    if isinstance(value, _Fault):
        yield at, value
    elif isinstance(value, str):
        yield from _find_surrogates(value, at)
    elif isinstance(value, _Members):
        keys: set[str] = set()
        for key, member in value:
            yield from _find_surrogates(key, join_field(at, key))
            if key in keys:
                message = f"key given twice (got {shorten_repr(key)} again; expected it once)"
                yield join_field(at, key), _Fault(message, "E_KEY_TWICE")
            keys.add(key)
            yield from _find_faults(member, join_field(at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _find_faults(item, join_field(at, index))


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
        if depth > MAX_JSON_DEPTH:
            message = f"nested too deep (got more than {MAX_JSON_DEPTH} levels; expected {MAX_JSON_DEPTH} at most)"
            raise InputError([Problem(path, line, "", message, "E_DEPTH")])


def _syntax_problem(error: json.JSONDecodeError, text: str, path: str, line: int | None) -> Problem:
    near = text[error.pos : error.pos + 40]
    got = shorten_repr(near) if near.strip() else "the end of the text, as if cut off"
    if line is None:
        position, expected = f"line {error.lineno} column {error.colno}", "one JSON value"
        line = error.lineno
    else:
        position, expected = f"column {error.colno}", "one JSON object on each line"
    message = f"invalid JSON: {error.msg.removesuffix(' at')} at {position} (got {got}; expected {expected})"
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


def _read_as_missing(_: str) -> None:
    return None


class _Decoders(Struct, frozen=True):
    """The decoder of sound texts, and the slow one that says what is wrong with others."""

    fast: json.JSONDecoder
    slow: json.JSONDecoder


def _build_decoders(fast_constant: Callable[[str], Any], slow_constant: Callable[[str], Any]) -> _Decoders:
    return _Decoders(
        json.JSONDecoder(
            object_pairs_hook=_object_of_unique_keys,
            parse_int=_parse_integer,
            parse_float=_parse_float,
            parse_constant=fast_constant,
        ),
        json.JSONDecoder(
            object_pairs_hook=_Members,
            parse_int=_parse_number_or_fault,
            parse_float=_parse_number_or_fault,
            parse_constant=slow_constant,
        ),
    )


_STRICT = _build_decoders(_refuse_constant, _not_finite)
_FOREIGN = _build_decoders(_read_as_missing, _read_as_missing)

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


def convert_strictly(value: Any, record: type[T], at: str = "") -> T:
    """Convert `value` to a `record`. Raises MisfitError with up to 50 faults, whose field names begin with `at`.

    >>> class Page(msgspec.Struct, forbid_unknown_fields=True):
    ...     number: int
    >>> convert_strictly({"number": 3}, Page)
    Page(number=3)
    >>> convert_strictly({"number": True}, Page)
    Traceback (most recent call last):
    ...
    assay.formats.strict_json.MisfitError: number: wrong type (got True; expected an integer)
    """
    try:
        return msgspec.convert(value, record)
    except msgspec.ValidationError as error:
        misfits = list(islice(_find_misfits(value, describe_record_type(record), at), MAX_PROBLEMS_SHOWN))
        raise MisfitError(misfits or [Misfit(at, f"{error} (got {shorten_repr(value)})", "E_TYPE")]) from None


def convert_open(row: dict[str, Any], record: type[T], at: str = "") -> tuple[T, dict[str, Any]]:
    """Convert an object that may have free-form members (`x_…`); return the record and these members."""
    try:
        return msgspec.convert(row, record), {}
    except msgspec.ValidationError:
        free = {key: member for key, member in row.items() if key.startswith("x_")}
        return convert_strictly({key: member for key, member in row.items() if key not in free}, record, at), free


@cache
def describe_record_type(record: Any) -> inspect.Type:
    """Return msgspec's description of a type, cached because computing it is slow."""
    return inspect.type_info(record)


_OTHER_NAMES = {
    "reference": ("expected_answer",),
    "expected_answer": ("reference",),
    "expected_output": ("expected_answer", "reference"),
    "ground_truth": ("expected_answer", "reference"),
    "user_input": ("question",),
    "input": ("question",),
    "query": ("question",),
    "user": ("user_context",),
    "behaviour": ("expected_behavior",),
}
"""Names of members in other formats and tools, which are spelled too differently for being told from the letters."""


_OF_USER = frozenset(("tenant", "roles", "position", "position_scope", "locale", "as_of"))
"""What a case says of the user who asks, in its member `user`."""


def describe_unknown_field(name: str, names: list[str]) -> str:
    """Return the message for a name that is not one of `names`, suggesting what it is called there, or the closest one.

    >>> describe_unknown_field("expected_chunk_id", ["id", "expected_chunk_ids"])
    "unknown field (got 'expected_chunk_id'; expected 'expected_chunk_ids'?)"
    >>> describe_unknown_field("as_of", ["id", "question", "user"])
    "unknown field (got 'as_of'; expected 'as_of' in 'user': user.as_of)"
    """
    if name in _OF_USER and "user" in names:
        return f"unknown field (got {shorten_repr(name)}; expected {name!r} in 'user': user.{name})"
    meant = [known for known in _OTHER_NAMES.get(name, ()) if known in names]
    by_words = choose_field(name, names)  # before its letters: must_not_have is not must_have
    close = meant or ([by_words] if by_words else get_close_matches(name, names, n=1, cutoff=0.7))
    expected = f"{close[0]!r}?" if close else f"one of {', '.join(names)}, or an x_ name"
    return f"unknown field (got {shorten_repr(name)}; expected {expected})"


def _find_misfits(value: Any, kind: inspect.Type, at: str) -> Iterator[Misfit]:
    if isinstance(kind, inspect.UnionType):
        yield from _find_union_misfits(value, kind, at)
    elif isinstance(kind, inspect.StructType) and isinstance(value, dict):
        yield from _find_member_misfits(value, kind, at)
    elif isinstance(kind, inspect.DictType) and isinstance(value, dict):
        for key, member in value.items():
            yield from _find_misfits(member, kind.value_type, join_field(at, key))
    elif isinstance(kind, (inspect.VarTupleType, inspect.ListType)) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _find_misfits(item, kind.item_type, join_field(at, index))
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
            yield from _find_misfits(item, members[key].type, join_field(at, key))
        else:
            yield Misfit(join_field(at, key), describe_unknown_field(key, list(members)), "E_UNKNOWN_FIELD")
    for name, member in members.items():
        if member.required and name not in value:
            message = f"missing (got no {name!r}; expected {_describe_type(member.type)})"
            yield Misfit(join_field(at, name), message, "E_MISSING")


def _describe_misfit(value: Any, kind: inspect.Type, at: str) -> Misfit:
    expected = _describe_type(kind)
    if isinstance(kind, inspect.LiteralType) and isinstance(value, str):
        return Misfit(at, f"unknown value (got {shorten_repr(value)}; expected {expected})", "E_ENUM")
    if isinstance(kind, (inspect.IntType, inspect.FloatType)) and _is_number(value, kind):
        hint = f"; did you mean {value / 100:g}?" if kind.le == 1 and 1 < value <= 100 else ""
        return Misfit(at, f"out of range (got {shorten_repr(value)}; expected {expected}{hint})", "E_RANGE")
    percent = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    options = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    share = float(percent[1]) / 100 if percent is not None else None
    takes_share = share is not None and any(
        isinstance(option, inspect.FloatType) and _is_in_range(share, option) for option in options
    )
    hint = f"; did you mean {share:g}?" if takes_share else ""
    return Misfit(at, f"wrong type (got {shorten_repr(value)}; expected {expected}{hint})", "E_TYPE")


_PERCENT = LatePattern(r"([1-9]\d{0,2}(?:\.\d{1,9})?) ?%")
"""A share in percent; less than 1% may be meant as it is without the sign."""


def _is_number(value: Any, kind: inspect.IntType | inspect.FloatType) -> bool:
    """Return whether a value is a number of this kind, whatever its range; `True` is no integer."""
    return type(value) is int if isinstance(kind, inspect.IntType) else type(value) in (int, float)


def _is_in_range(value: float, kind: inspect.IntType | inspect.FloatType) -> bool:
    if kind.gt is not None and value <= kind.gt:
        return False
    return (kind.ge is None or value >= kind.ge) and (kind.le is None or value <= kind.le)


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
            return _is_number(value, kind) and _is_in_range(value, kind)
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
    if kind.gt is not None:
        return f"{noun} above {kind.gt}" + (f", at most {kind.le}" if kind.le is not None else "")
    return noun if kind.ge is None else f"{noun} of {kind.ge} or more"


def write_plain_text(value: object) -> str:
    """Return a text of a type that extends `str`, such as one with marks of HTML, as a plain one; msgspec writes none.

    Raises TypeError for any other value.
    """
    if isinstance(value, str):
        return str(value)
    raise TypeError(f"objects of type {type(value).__name__} cannot be recorded")
