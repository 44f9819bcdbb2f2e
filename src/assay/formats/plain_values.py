"""Objects of frameworks as plain values: documents, nodes, messages, responses, test cases.

No framework is imported. An object is read by what it has: `model_dump` of pydantic, the fields of a dataclass or of a
msgspec record.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import msgspec

MAX_DEPTH = 20
_PLAIN = (str, int, float, bool, bytes, type(None))


def make_plain(value: Any, depth: int = 0) -> Any:
    """Return a value with the objects of frameworks in it as dictionaries and lists; other objects stay as they are.

    Numbers and arrays of NumPy are those of Python. Records of Assay stay too. Below 20 levels nothing is converted.
    """
    if isinstance(value, _PLAIN) or depth > MAX_DEPTH or type(value).__module__.startswith("assay."):
        return value
    if isinstance(value, Mapping):
        return {str(key): make_plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [make_plain(item, depth + 1) for item in value]
    if type(value).__module__ == "numpy":
        return value.tolist()
    members = _list_members(value)
    return value if members is None else {str(key): make_plain(item, depth + 1) for key, item in members.items()}


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
    if hasattr(value, "page_content"):
        return {name: getattr(value, name, None) for name in ("id", "page_content", "metadata")}
    return None
