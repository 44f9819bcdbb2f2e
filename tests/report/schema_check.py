"""As much of JSON Schema as the published schemas use; a keyword that it does not know is an error, never skipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_SCHEMAS = Path(__file__).parents[2] / "src/assay/report/schemas"
_SAYS_NOTHING = {"$schema", "$defs", "title", "description"}
_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def load_schema(name: str) -> dict[str, Any]:
    """Return a published schema."""
    schema: dict[str, Any] = json.loads((_SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    return schema


def violations(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "$") -> list[str]:
    """Return `path: what is wrong` for everything in `value` that the schema does not allow."""
    if "type" in schema and (wrong := _violations("type", schema["type"], value, schema, root, at)):
        return wrong  # the other keywords take the type for granted
    found: list[str] = []
    for keyword, wanted in schema.items():
        if keyword not in _SAYS_NOTHING:
            found += _violations(keyword, wanted, value, schema, root, at)
    return found


def _violations(
    keyword: str, wanted: Any, value: Any, schema: dict[str, Any], root: dict[str, Any], at: str
) -> list[str]:
    match keyword:
        case "$ref":
            return violations(value, root["$defs"][wanted.removeprefix("#/$defs/")], root, at)
        case "type":
            types = [wanted] if isinstance(wanted, str) else wanted
            fits = any(isinstance(value, _TYPES[each]) for each in types) and not isinstance(value, bool)
            return [] if fits else [f"{at}: {value!r} is not {wanted}"]
        case "enum":
            return [] if value in wanted else [f"{at}: {value!r} is not one of {wanted}"]
        case "minimum":
            return [] if value >= wanted else [f"{at}: {value} < {wanted}"]
        case "maximum":
            return [] if value <= wanted else [f"{at}: {value} > {wanted}"]
        case "anyOf":
            return [] if any(not violations(value, each, root) for each in wanted) else [f"{at}: fits none of anyOf"]
        case "items":
            return [wrong for i, each in enumerate(value) for wrong in violations(each, wanted, root, f"{at}[{i}]")]
        case "required":
            return [f"{at}: {name} is missing" for name in wanted if name not in value]
        case "properties":
            known = [(name, each) for name, each in wanted.items() if name in value]
            return [wrong for name, each in known for wrong in violations(value[name], each, root, f"{at}.{name}")]
        case "additionalProperties":
            extra = [name for name in value if name not in schema.get("properties", {})]
            if wanted is False:
                return [f"{at}: {name} is not allowed" for name in extra]
            return [wrong for name in extra for wrong in violations(value[name], wanted, root, f"{at}.{name}")]
    raise NotImplementedError(f"{at}: JSON Schema keyword {keyword}")
