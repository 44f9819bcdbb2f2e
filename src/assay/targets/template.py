"""Request bodies and arguments from templates: `{{question}}` and a few other names, replaced in one pass.

A text that is one placeholder becomes the value itself (a list, null); inside a longer text it becomes its words.
What is filled in is never read as a template again.
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
    """Return the template with every placeholder replaced. Raises ValueError for a name that does not exist."""
    return _fill(template, values_of(call))


def check(template: Any) -> list[str]:
    """Return the placeholders of a template that mean nothing."""
    if isinstance(template, str):
        return [name for name in _PLACEHOLDER.findall(template) if name not in NAMES]
    items = template.values() if isinstance(template, dict) else template if isinstance(template, list) else ()
    return [name for item in items for name in check(item)]


def values_of(call: Call) -> dict[str, Any]:
    """Return the values that templates may name."""
    case = call.case
    user = user_of(case)
    known = {
        "case_id": case.id,
        "question": case.question,
        "history": _plain(case.history),
        "k": call.k,
        "user": user,
    }
    return known | {f"user.{field}": (user or {}).get(field) for field in USER_FIELDS}


def user_of(case: Case) -> dict[str, Any] | None:
    """Return who is asking as plain values, None where the case does not say."""
    return _plain(case.user) if case.user is not None else None


def headers_of(identity: Mapping[str, str], call: Call) -> dict[str, str]:
    """Return the headers that say who is asking: `{x-tenant: user.tenant}`; lists are joined with commas.

    A field that the user does not have sends no header. Raises ValueError where a value cannot be a header.
    """
    values, headers = values_of(call), {}
    for header, name in identity.items():
        value = values[name]
        if value is None:
            continue
        text = ",".join(map(str, value)) if isinstance(value, list) else _words(value)
        if not text.isprintable() or not text.isascii():
            raise ValueError(f"{name} cannot be sent in header {header} (got {text!r}; expected printable ASCII)")
        headers[header] = text
    return headers


def _plain(record: Any) -> Any:
    """Return a record as JSON would hold it: lists, not tuples."""
    return msgspec.json.decode(msgspec.json.encode(record))


def _fill(template: Any, values: dict[str, Any]) -> Any:
    if isinstance(template, str):
        whole = _PLACEHOLDER.fullmatch(template)
        if whole is not None:
            return values[whole[1]]
        return _PLACEHOLDER.sub(lambda match: _words(values[match[1]]), template)
    if isinstance(template, dict):
        return {key: _fill(item, values) for key, item in template.items()}
    return [_fill(item, values) for item in template] if isinstance(template, list) else template


def _words(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
