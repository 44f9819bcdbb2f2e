"""Objects of frameworks as plain values: documents, nodes, messages, responses, test cases.

No framework is imported. An object is read by what it has: `model_dump` of pydantic, the fields of a dataclass or of a
msgspec record, and of any other object its attributes, if one of them has a name that replies or chunks have.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import inspect
import math
import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

MAX_DEPTH = 20
_PLAIN = (str, int, float, bool, bytes, type(None))
_REPLY_NAMES = (
    "answer", "response", "actual_output", "output_text", "final_answer", "source_nodes", "source_documents",
    "retrieved_contexts", "retrieval_context", "retrieved", "choices", "messages", "structuredContent",
)  # fmt: skip
_CHUNK_NAMES = ("page_content", "node", "node_id", "chunk_id")
_MESSAGE_NAMES = ("additional_kwargs", "response_metadata", "usage_metadata", "role", "type", "refusal")
"""What a message has next to its content, which many other objects have too."""
_OTHER_NAMES = ("content", "text", "id", "metadata", "score", "citations", "sources", "documents", "context", "usage")
_MISSING = object()


def make_plain(value: Any, depth: int = 0) -> Any:
    """Return a value with the objects of frameworks in it as dictionaries and lists; other objects stay as they are.

    Numbers, texts and arrays of NumPy are those of Python, members of an enum their values, and times and UUIDs texts.
    Records of Assay stay too. Below 20 levels nothing is converted.

    >>> import datetime
    >>> make_plain({"at": datetime.date(2026, 3, 1), "ids": ("a", "b")})
    {'at': '2026-03-01', 'ids': ['a', 'b']}
    """
    if isinstance(value, (str, float, int)) and type(value) not in _PLAIN:
        return _make_exact(value)
    if isinstance(value, (datetime.date, datetime.time, uuid.UUID)):
        return None if is_missing(value) else value.isoformat() if not isinstance(value, uuid.UUID) else str(value)
    if isinstance(value, enum.Enum):
        return make_plain(value.value, depth + 1)
    if isinstance(value, _PLAIN) or depth > MAX_DEPTH or type(value).__module__.startswith("assay."):
        return value
    if isinstance(value, Mapping):
        return {str(key): make_plain(item, depth + 1) for key, item in value.items()}
    fields = getattr(value, "_fields", ()) if isinstance(value, tuple) else ()  # those of a named tuple
    if not set(fields).isdisjoint(_REPLY_NAMES):
        return {name: make_plain(getattr(value, name), depth + 1) for name in fields}
    if isinstance(value, (list, tuple)):
        return [make_plain(item, depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):  # in one order, whatever the hashes are
        return sorted((make_plain(item, depth + 1) for item in value), key=repr)
    if type(value).__module__ == "numpy":
        return value.tolist()
    members = _list_members(value)
    return value if members is None else {str(key): make_plain(item, depth + 1) for key, item in members.items()}


def _make_exact(value: str | float | int) -> str | float | int:
    """Return a value of a subclass, such as those of NumPy and of enums, as one of Python."""
    if isinstance(value, str):
        return str.__str__(value)
    return float(value) if isinstance(value, float) else int(value)


def is_missing(value: Any) -> bool:
    """Return whether a cell holds nothing: None, NaN, and what pandas writes for a missing value or time.

    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing([])
    (True, True, False, False)
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def _list_members(value: Any) -> Mapping[Any, Any] | None:
    """Return the members of an object, None for one that does not name them."""
    if isinstance(value, type):
        return None
    if hasattr(value, "model_dump"):  # pydantic: LangChain, LlamaIndex nodes, OpenAI, Ragas, DeepEval
        dumped = value.model_dump()
        return dumped if isinstance(dumped, Mapping) else None
    if dataclasses.is_dataclass(value):  # LlamaIndex responses
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, msgspec.Struct):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    return _list_attributes(value)


def _list_attributes(value: Any) -> dict[str, Any] | None:
    """Return the attributes of an object that looks like a reply, a message or a chunk; None for any other.

    Attributes are looked up without calling anything of the object, so that one that has every attribute, such as a
    mock, is none of these.
    """
    is_message = _has(value, "content") and any(_has(value, name) for name in _MESSAGE_NAMES)
    is_message = is_message and isinstance(getattr(value, "content", None), (str, list))
    if not is_message and not any(_has(value, name) for name in (*_REPLY_NAMES, *_CHUNK_NAMES)):
        return None
    own = [name for name in getattr(value, "__dict__", {}) if not name.startswith("_")]
    names = (*own, *_REPLY_NAMES, *_CHUNK_NAMES, *_MESSAGE_NAMES, *_OTHER_NAMES)
    attributes: dict[str, Any] = {}
    for name in dict.fromkeys(names):
        if _has(value, name):
            with suppress(Exception):  # a property of the object may raise anything
                attributes[name] = getattr(value, name)
    return {name: item for name, item in attributes.items() if not callable(item)}


def _has(value: Any, name: str) -> bool:
    return inspect.getattr_static(value, name, _MISSING) is not _MISSING
