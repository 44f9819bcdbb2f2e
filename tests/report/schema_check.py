"""A validator for the JSON Schema keywords that the published schemas use; it raises an error for any other keyword."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_SCHEMAS = Path(__file__).parents[2] / "src/assay/report/schemas"
_ANNOTATIONS = {"$schema", "$defs", "title", "description"}
_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def load_schema(name: str) -> dict[str, Any]:
    """Return a published schema."""
    schema: dict[str, Any] = json.loads((_SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    return schema


def violations(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "$") -> list[str]:
    """Return `path: problem` for everything in `value` that the schema does not allow."""
    if "type" in schema:
        problems = _check_keyword("type", schema["type"], value, schema, root, at)
        if problems:
            return problems  # the other keywords assume the right type
    problems = []
    for keyword, expected in schema.items():
        if keyword not in _ANNOTATIONS:
            problems += _check_keyword(keyword, expected, value, schema, root, at)
    return problems


def _check_keyword(
    keyword: str, expected: Any, value: Any, schema: dict[str, Any], root: dict[str, Any], at: str
) -> list[str]:
    match keyword:
        case "$ref":
            return violations(value, root["$defs"][expected.removeprefix("#/$defs/")], root, at)
        case "type":
            names = [expected] if isinstance(expected, str) else expected
            return [] if any(_has_type(value, name) for name in names) else [f"{at}: {value!r} is not {expected}"]
        case "enum":
            return [] if value in expected else [f"{at}: {value!r} is not one of {expected}"]
        case "minimum":
            return [] if value >= expected else [f"{at}: {value} < {expected}"]
        case "maximum":
            return [] if value <= expected else [f"{at}: {value} > {expected}"]
        case "anyOf":
            fits = any(not violations(value, option, root) for option in expected)
            return [] if fits else [f"{at}: fits none of anyOf"]
        case "required":
            return [f"{at}: {name} is missing" for name in expected if name not in value]
        case "items" | "prefixItems":
            return _check_items(value, expected, root, at)
        case "properties":
            members = {name: member for name, member in expected.items() if name in value}
            return _check_members(value, members, root, at)
        case "additionalProperties":
            extra = [name for name in value if name not in schema.get("properties", {})]
            if expected is False:
                return [f"{at}: {name} is not allowed" for name in extra]
            return _check_members(value, dict.fromkeys(extra, expected), root, at)
    raise NotImplementedError(f"{at}: JSON Schema keyword {keyword}")


def _has_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):  # for Python a bool is an int as well
        return name == "boolean"
    return isinstance(value, _TYPES[name])


def _check_items(value: list[Any], expected: Any, root: dict[str, Any], at: str) -> list[str]:
    """Check the items of a list against one schema, or those of a tuple against a schema each (`prefixItems`)."""
    schemas = expected if isinstance(expected, list) else [expected] * len(value)
    if len(schemas) != len(value):
        return [f"{at}: {len(value)} items, not {len(schemas)}"]
    problems = []
    for index, (item, schema) in enumerate(zip(value, schemas, strict=True)):
        problems += violations(item, schema, root, f"{at}[{index}]")
    return problems


def _check_members(value: dict[str, Any], members: dict[str, Any], root: dict[str, Any], at: str) -> list[str]:
    problems = []
    for name, schema in members.items():
        problems += violations(value[name], schema, root, f"{at}.{name}")
    return problems
