"""Templates of request bodies and arguments, and paths into the replies.

A template has a few placeholders, such as `{{question}}`, which are filled in one pass. A text that is exactly one
placeholder becomes the value itself (a list, null); inside a longer text the value becomes text. Values are never read
as templates themselves. A path (`data.hits[0].id`, `hits[*].id`, `$` for the whole value) only looks values up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from assay.calls.interfaces import TargetCall
from assay.records.golden_set import Case, User

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_.]+)\s*\}\}")
USER_FIELDS = User.__struct_fields__
PLACEHOLDER_NAMES = (
    "case_id",
    "question",
    "history",
    "messages",
    "k",
    "user",
    *(f"user.{field}" for field in USER_FIELDS),
)
TURN_PLACEHOLDERS = ("history", "messages")
"""The placeholders that send the earlier turns of a conversation."""


def fill_call_template(template: Any, call: TargetCall) -> Any:
    """Return the template with every placeholder replaced; `find_unknown_placeholders` says beforehand which ones do
    not exist.
    """
    return _fill_values(template, list_placeholder_values(call))


def find_unknown_placeholders(template: Any) -> list[str]:
    """Return the placeholders of a template that do not exist."""
    if isinstance(template, str):
        return [name for name in _PLACEHOLDER.findall(template) if name not in PLACEHOLDER_NAMES]
    items = template.values() if isinstance(template, dict) else template if isinstance(template, list) else ()
    return [name for item in items for name in find_unknown_placeholders(item)]


def list_placeholder_values(call: TargetCall) -> dict[str, Any]:
    """Return the values of all placeholders."""
    case = call.case
    user = encode_user(case)
    values: dict[str, Any] = {
        "case_id": case.id,
        "question": case.question,
        "history": _to_json_value(case.history),
        "messages": list_messages(case),
        "k": call.k,
        "user": user,
    }
    for field in USER_FIELDS:
        values[f"user.{field}"] = (user or {}).get(field)
    return values


def list_messages(case: Case) -> list[dict[str, str]]:
    """Return the conversation as messages of model endpoints, the question last.

    >>> from assay.records.golden_set import Turn
    >>> list_messages(Case("c", "And on Sunday?", history=(Turn("user", "Open today?"), Turn("assistant", "Yes."))))[1:]
    [{'role': 'assistant', 'content': 'Yes.'}, {'role': 'user', 'content': 'And on Sunday?'}]
    """
    turns = [{"role": str(turn.role), "content": turn.text} for turn in case.history]
    return [*turns, {"role": "user", "content": case.question}]


def names_placeholder(template: Any, names: Collection[str]) -> bool:
    """Return whether a template has one of some placeholders.

    >>> names_placeholder({"input": ["{{ history }}"]}, ("history",))
    True
    """
    if isinstance(template, str):
        return not set(names).isdisjoint(_PLACEHOLDER.findall(template))
    items = template.values() if isinstance(template, Mapping) else template if isinstance(template, list) else ()
    return any(names_placeholder(item, names) for item in items)


def encode_user(case: Case) -> dict[str, Any] | None:
    """Return the user of a case as plain values, None if the case has none."""
    return _to_json_value(case.user) if case.user is not None else None


def build_identity_headers(identity: Mapping[str, str], call: TargetCall) -> dict[str, str]:
    """Return the headers that identify the user: `{x-tenant: user.tenant}`; lists are joined with commas.

    No header is sent for a field that the user does not have. Raises ValueError for a value that cannot be a header.
    """
    values, headers = list_placeholder_values(call), {}
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


MAX_STEPS = 20

_STEP = re.compile(r"\.?(?P<name>[^.\[\]$*\s]+)|\[(?P<index>\d{1,6})\]|(?P<wildcard>\[\*\])")


class MissingPath(LookupError):  # noqa: N818  # reads as a fact at the call site: `except Missing`
    """A value has nothing at a path."""


def parse_path(path: str) -> list[str | int | None]:
    """Return the steps of a path: a name, an index, or None for every item. Raises ValueError for other texts.

    >>> parse_path("$.hits[*].meta.page")
    ['hits', None, 'meta', 'page']
    """
    text = path.removeprefix("$")
    steps: list[str | int | None] = []
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None or len(steps) == MAX_STEPS or (at == 0 and path[0] != "$" and text.startswith(".")):
            raise ValueError(f"not a path (got {path!r}; expected names, [0] and [*], such as data.hits[*].id)")
        if match["index"]:
            steps.append(int(match["index"]))
        else:
            steps.append(match["name"])  # None for [*]
        at = match.end()
    if not path:
        raise ValueError("an empty path (expected names, [0] and [*], or $ for the whole)")
    return steps


def find_value(value: Any, path: str) -> Any:
    """Return the value at `path`, a list if the path has `[*]`. Raises Missing if there is none.

    >>> find_value({"hits": [{"id": "a"}, {"id": "b"}]}, "hits[*].id")
    ['a', 'b']
    """
    steps = parse_path(path)
    matches = list(_iterate_matches(value, steps, path))
    return matches if None in steps else matches[0]


def _iterate_matches(value: Any, steps: list[str | int | None], path: str) -> Iterator[Any]:
    if not steps:
        yield value
        return
    step, further_steps = steps[0], steps[1:]
    if step is None:
        if not isinstance(value, list):
            raise MissingPath(f"{path}: expected a list (got {type(value).__name__})")
        for item in value:
            yield from _iterate_matches(item, further_steps, path)
    elif isinstance(step, int):
        if not isinstance(value, list) or step >= len(value):
            raise MissingPath(f"{path}: nothing at [{step}]")
        yield from _iterate_matches(value[step], further_steps, path)
    else:
        if not isinstance(value, dict) or step not in value:
            keys = ", ".join(sorted(map(str, value))[:12]) if isinstance(value, dict) else type(value).__name__
            raise MissingPath(f"{path}: nothing at {step!r} (got {keys})")
        yield from _iterate_matches(value[step], further_steps, path)
