"""Fills templates of request bodies and arguments: `{{question}}` and a few other placeholders, in one pass.

A text that is exactly one placeholder becomes the value itself (a list, null); inside a longer text the value becomes
text. Values are never read as templates themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from assay.model import Case, User
from assay.ports import Call

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_.]+)\s*\}\}")
USER_FIELDS = User.__struct_fields__
NAMES = ("case_id", "question", "history", "k", "user", *(f"user.{field}" for field in USER_FIELDS))


def fill(template: Any, call: Call) -> Any:
    """Return the template with every placeholder replaced; `check` says beforehand which ones do not exist."""
    return _fill_values(template, values_of(call))


def check(template: Any) -> list[str]:
    """Return the placeholders of a template that do not exist."""
    if isinstance(template, str):
        return [name for name in _PLACEHOLDER.findall(template) if name not in NAMES]
    items = template.values() if isinstance(template, dict) else template if isinstance(template, list) else ()
    return [name for item in items for name in check(item)]


def values_of(call: Call) -> dict[str, Any]:
    """Return the values of all placeholders."""
    case = call.case
    user = user_of(case)
    values: dict[str, Any] = {
        "case_id": case.id,
        "question": case.question,
        "history": _to_json_value(case.history),
        "k": call.k,
        "user": user,
    }
    for field in USER_FIELDS:
        values[f"user.{field}"] = (user or {}).get(field)
    return values


def user_of(case: Case) -> dict[str, Any] | None:
    """Return the user of a case as plain values, None if the case has none."""
    return _to_json_value(case.user) if case.user is not None else None


def headers_of(identity: Mapping[str, str], call: Call) -> dict[str, str]:
    """Return the headers that identify the user: `{x-tenant: user.tenant}`; lists are joined with commas.

    No header is sent for a field that the user does not have. Raises ValueError for a value that cannot be a header.
    """
    values, headers = values_of(call), {}
    for header, name in identity.items():
        value = values[name]
        if value is None:
            continue
        text = ",".join(map(str, value)) if isinstance(value, list) else _to_text(value)
        if not text.isprintable() or not text.isascii():
            raise ValueError(f"{name} cannot be sent in header {header} (got {text!r}; expected printable ASCII)")
        headers[header] = text
    return headers


def _to_json_value(record: Any) -> Any:
    """Return a record as plain JSON values, with lists instead of tuples."""
    return msgspec.json.decode(msgspec.json.encode(record))


def _fill_values(template: Any, values: dict[str, Any]) -> Any:
    if isinstance(template, str):
        match = _PLACEHOLDER.fullmatch(template)
        if match is not None:
            return values[match[1]]
        return _PLACEHOLDER.sub(lambda placeholder: _to_text(values[placeholder[1]]), template)
    if isinstance(template, dict):
        return {key: _fill_values(item, values) for key, item in template.items()}
    return [_fill_values(item, values) for item in template] if isinstance(template, list) else template


def _to_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
