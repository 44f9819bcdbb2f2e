#!/usr/bin/env python3
"""Writes ui/src/types.ts, the types of the HTML report's data, from its JSON schema; --check only compares."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "src/assay/report/schemas/html-page.schema.json"
TYPES = ROOT / "ui/src/types.ts"

_HEADER = "// Written by scripts/ui_types.py from src/assay/report/schemas/html-page.schema.json. Do not edit.\n"
_NAMES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_KEYWORDS = {
    "$ref",
    "additionalProperties",
    "anyOf",
    "description",
    "enum",
    "items",
    "prefixItems",
    "properties",
    "required",
    "type",
}

Schema = dict[str, Any]


def render_types(schema: Schema) -> str:
    """Return a TypeScript module with one exported type for each of the schema's `$defs`."""
    return "\n".join([_HEADER, *_iter_definitions(schema["$defs"])])


def _iter_definitions(definitions: dict[str, Schema]) -> Iterator[str]:
    for name, definition in definitions.items():
        comment = f"/** {definition['description']} */\n" if "description" in definition else ""
        if "properties" in definition:
            yield f"{comment}export interface {name} {_render_object(definition)}\n"
        else:
            yield f"{comment}export type {name} = {_render_type(definition)};\n"


def _render_type(schema: Schema) -> str:
    """Return the TypeScript type of a schema. Raises ValueError for a keyword that this script does not know."""
    unknown = schema.keys() - _KEYWORDS
    if unknown:
        raise ValueError(f"JSON Schema keywords without a TypeScript type: {', '.join(sorted(unknown))}")
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix("#/$defs/")
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(_render_type(option) for option in schema["anyOf"])
    if isinstance(schema["type"], list):
        return " | ".join(_NAMES[name] for name in schema["type"])
    if schema["type"] == "array":
        return _render_array(schema)
    if schema["type"] == "object":
        return _render_object(schema)
    return _NAMES[schema["type"]]


def _render_array(schema: Schema) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_render_type(item) for item in schema['prefixItems'])}]"
    item = _render_type(schema["items"])
    return f"({item})[]" if " | " in item else f"{item}[]"


def _render_object(schema: Schema) -> str:
    if "properties" not in schema:
        values = schema.get("additionalProperties")
        return f"Record<string, {_render_type(values) if values else 'unknown'}>"
    required = schema.get("required", ())
    fields = []
    for name, field in schema["properties"].items():
        optional = "" if name in required else "?"
        text = _render_type(field).replace("\n", "\n  ")
        fields.append(f"  {name}{optional}: {text};\n")
    return "{\n" + "".join(fields) + "}"


def main() -> int:
    """Write the types, or with --check return 1 if the file is not what the schema gives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    text = render_types(json.loads(SCHEMA.read_text(encoding="utf-8")))
    if not arguments.check:
        TYPES.write_text(text, encoding="utf-8")
    elif not TYPES.exists() or TYPES.read_text(encoding="utf-8") != text:
        print(
            f"{TYPES.relative_to(ROOT)} is out of date: run scripts/ui_types.py and commit the result", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
