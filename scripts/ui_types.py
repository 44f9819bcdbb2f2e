#!/usr/bin/env python3
"""Writes the types of the pages' data from JSON schemas; --check only compares.

`ui/src/types.ts` are those of the HTML report. `ui/src/page_types.ts` are those of the pages on trends, monitors and
incidents, whose schema is written here from the records in Python.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from assay.audit.incident import Incident
from assay.report.page.trend_records import MonitorPage, TrendPage

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "src/assay/report/schemas/html-page.schema.json"
TYPES = ROOT / "ui/src/types.ts"

PAGE_SCHEMA = ROOT / "src/assay/report/schemas/trend-pages.schema.json"
PAGE_TYPES = ROOT / "ui/src/page_types.ts"

_HEADER = "// Written by scripts/ui_types.py from src/assay/report/schemas/{}. Do not edit.\n"
_LEFT_OUT = ("default", "title", "minimum", "exclusiveMinimum", "minItems", "maxItems")
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


def render_types(schema: Schema, name: str) -> str:
    """Return a TypeScript module with one exported type for each of the schema's `$defs`."""
    return "\n".join([_HEADER.format(name), *_iter_definitions(schema["$defs"])])


def build_page_schema() -> Schema:
    """Return the schema of the data of the pages on trends, monitors and incidents, from the records in Python."""
    pages = (TrendPage, MonitorPage, Incident)
    _, definitions = msgspec.json.schema_components(pages, ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Assay pages on trends, monitors and incidents",
        "description": "The island `page` of these pages. scripts/ui_types.py writes this file.",
        "anyOf": [{"$ref": f"#/$defs/{page.__name__}"} for page in pages],
        "$defs": {name: _simplify(definition) for name, definition in sorted(definitions.items())},
    }


def _simplify(schema: Any) -> Any:
    """Return a schema without the keywords that say nothing about types."""
    if isinstance(schema, list):
        return [_simplify(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    members: Schema = {}
    for name, value in schema.items():
        if name == "properties":  # its members are names of fields, such as `title`
            members[name] = {field: _simplify(field_schema) for field, field_schema in value.items()}
        elif name not in _LEFT_OUT:
            members[name] = _simplify(value)
    if isinstance(members.get("description"), str):
        members["description"] = members["description"].partition("\n")[0]
    if members.get("items") is False:  # of a tuple with a type for each item
        del members["items"]
    return members


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
    if "type" not in schema:
        return "unknown"
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
    """Write the types, or with --check return 1 if a file is not what the schemas give."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    page_schema = build_page_schema()
    texts = {
        TYPES: render_types(json.loads(SCHEMA.read_text(encoding="utf-8")), SCHEMA.name),
        PAGE_SCHEMA: json.dumps(page_schema, indent=2, ensure_ascii=False) + "\n",
        PAGE_TYPES: render_types(page_schema, PAGE_SCHEMA.name),
    }
    status = 0
    for path, text in texts.items():
        if not arguments.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            name = path.relative_to(ROOT)
            print(f"{name} is out of date: run scripts/ui_types.py and commit the result", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
