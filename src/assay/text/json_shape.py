"""Whether a JSON value fits a schema, of which the keywords of `SCHEMA_KEYWORDS` are checked.

Nothing of a schema is ignored: a keyword that is not checked is a fault, unless it only describes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from assay.text.linear_patterns import PatternError, compile_linear

MAX_DEPTH = 100
_COMBINATIONS = ("anyOf", "allOf", "oneOf")
_LISTS = ("required", "enum", *_COMBINATIONS)
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_ANNOTATIONS = ("$schema", "$id", "$comment", "title", "description", "default", "examples", "format")
SCHEMA_KEYWORDS = (
    *("type", "enum", "const", "properties", "required", "additionalProperties", "items", "minItems", "maxItems"),
    *("minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *_COMBINATIONS,
    "not",
)
"""The keywords that are checked; those that only describe are allowed."""


def find_schema_faults(schema: Any, path: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield (path, message) for everything in a schema that cannot be checked."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        yield path, "not a schema (expected an object, true or false)"
        return
    for keyword, value in schema.items():
        here = f"{path}.{keyword}"
        message = _find_keyword_fault(keyword, value)
        if message:
            yield here, message
        for name, part in _list_parts(keyword, value):
            yield from find_schema_faults(part, f"{here}{name}", depth + 1)


def _find_keyword_fault(keyword: str, value: Any) -> str:
    """Return what is wrong with the value of one keyword, its parts left aside; "" if nothing is."""
    if keyword not in SCHEMA_KEYWORDS:
        expected = f"expected some of {', '.join(SCHEMA_KEYWORDS)}"
        return "" if keyword in _ANNOTATIONS else f"a keyword that is not checked ({expected})"
    if keyword == "type":
        types = value if isinstance(value, list) else [value]
        is_known = types and all(isinstance(name, str) and name in _TYPES for name in types)
        return "" if is_known else f"no type (got {value!r}; expected some of {', '.join(_TYPES)})"
    if keyword == "pattern":
        return _find_pattern_fault(value)
    if keyword == "properties":
        return "" if isinstance(value, dict) else f"not an object (got {value!r})"
    if keyword in _LISTS:
        return "" if isinstance(value, list) else f"not a list (got {value!r})"
    is_limit = keyword.startswith(("min", "max", "exclusive"))
    return f"not a number (got {value!r})" if is_limit and not _is_number(value) else ""


def _find_pattern_fault(value: Any) -> str:
    try:
        compile_linear(value if isinstance(value, str) else "(")
    except PatternError as error:
        return f"not a pattern (got {value!r}: {error})"
    return ""


def _list_parts(keyword: str, value: Any) -> list[tuple[str, Any]]:
    """Return the schemas inside the value of a keyword, with their names in a path."""
    if keyword == "properties" and isinstance(value, dict):
        return [(f".{name}", part) for name, part in value.items()]
    if keyword in _COMBINATIONS and isinstance(value, list):
        return [(f"[{number}]", part) for number, part in enumerate(value)]
    return [("", value)] if keyword in ("items", "not", "additionalProperties") else []


def check_schema(value: Any, schema: Any, path: str = "$") -> Iterator[str]:
    """Yield what is wrong with a JSON value under a schema, each with the path of the part.

    >>> list(check_schema({"days": "12"}, {"properties": {"days": {"type": "integer"}}, "required": ["unit"]}))
    ['$: unit is missing', '$.days: not of type integer']
    """
    if isinstance(schema, bool):
        if not schema:
            yield f"{path}: not allowed"
        return
    yield from _check_value(value, schema, path)
    if isinstance(value, dict):
        yield from _check_object(value, schema, path)
    if isinstance(value, list):
        yield from _check_list(value, schema, path)
    yield from _check_combinations(value, schema, path)


def _check_value(value: Any, schema: Mapping[str, Any], path: str) -> Iterator[str]:
    types = schema.get("type")
    if types is not None:
        names = types if isinstance(types, list) else [types]
        if not any(_has_type(value, name) for name in names):
            yield f"{path}: not of type {' or '.join(names)}"
    if "enum" in schema and not any(_is_same(value, allowed) for allowed in schema["enum"]):
        yield f"{path}: not one of the allowed values"
    if "const" in schema and not _is_same(value, schema["const"]):
        yield f"{path}: another value than the demanded one"
    if isinstance(value, str):
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", math.inf):
            yield f"{path}: {len(value)} characters long"
        if "pattern" in schema and not compile_linear(str(schema["pattern"])).matches(value):
            yield f"{path}: does not match its pattern"
    if _is_number(value):
        is_low = value < schema.get("minimum", -math.inf) or value <= schema.get("exclusiveMinimum", -math.inf)
        if is_low or value > schema.get("maximum", math.inf) or value >= schema.get("exclusiveMaximum", math.inf):
            yield f"{path}: out of range"


def _check_object(value: Mapping[str, Any], schema: Mapping[str, Any], path: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{path}: {name} is missing"
    for name, part in value.items():
        if name in properties:
            yield from check_schema(part, properties[name], f"{path}.{name}")
        elif "additionalProperties" in schema:
            yield from check_schema(part, schema["additionalProperties"], f"{path}.{name}")


def _check_list(value: list[Any], schema: Mapping[str, Any], path: str) -> Iterator[str]:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf):
        yield f"{path}: {len(value)} entries"
    if "items" in schema:
        for number, part in enumerate(value):
            yield from check_schema(part, schema["items"], f"{path}[{number}]")


def _check_combinations(value: Any, schema: Mapping[str, Any], path: str) -> Iterator[str]:
    for part in schema.get("allOf", ()):
        yield from check_schema(value, part, path)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            fitting = sum(not any(check_schema(value, part, path)) for part in schema[keyword])
            if not fitting or (keyword == "oneOf" and fitting > 1):
                yield f"{path}: fits {fitting} of the alternatives"
    if "not" in schema and not any(check_schema(value, schema["not"], path)):
        yield f"{path}: fits what it must not"


def _has_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, _TYPES[name])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_same(value: Any, other: Any) -> bool:
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)
