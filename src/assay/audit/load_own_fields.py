"""Reads lines whose members have names of their own: `--fields question=prompt,answer=completion,contexts=docs`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from assay.audit.load_traffic_lines import AuditLine, FieldError, format_time
from assay.records.errors import InputError, shorten_repr

CONTEXTS = "contexts"
"""The name for what was shown to the model: a list of texts, or of objects with a text."""
TARGETS = (*AuditLine.__struct_fields__, CONTEXTS)
USUAL_NAMES = {
    "question": ("prompt", "query", "input", "user_input", "user_query", "message"),
    "answer": ("completion", "response", "output", "reply", "generation", "result"),
    CONTEXTS: ("docs", "documents", "context", "contexts", "passages", "sources", "chunks", "retrieved_contexts"),
}
"""Names that other logs have for the members that matter most, by which an error can propose a mapping."""
_TEXT_NAMES = ("text", "body", "content", "page_content", "passage", "snippet")
_ID_NAMES = ("chunk_id", "id", "uid", "doc_id", "document_id", "source")


def parse_fields(text: str) -> dict[str, str]:
    """Return the own name of each member: `question=prompt,answer=reply.text`. Raises InputError for what is none.

    >>> parse_fields("question=prompt, answer=reply.text")
    {'question': 'prompt', 'answer': 'reply.text'}
    """
    names: dict[str, str] = {}
    for pair in text.split(","):
        target, sign, own = (part.strip() for part in pair.partition("="))
        if not sign or not own:
            raise InputError(f"--fields: not a pair (got {shorten_repr(pair)}; expected such as question=prompt)")
        if target not in TARGETS:
            raise InputError(
                f"--fields: no such member (got {shorten_repr(target)}; expected one of {', '.join(TARGETS)}, before "
                "the equals sign)"
            )
        names[target] = own
    return names


def propose_fields(members: Collection[str]) -> str:
    """Return a mapping that may be meant for lines with these members; an example where nothing is alike.

    >>> propose_fields(["query", "reply", "at"])
    'question=query,answer=reply'
    """
    pairs = []
    for target, usual in USUAL_NAMES.items():
        own = next((name for name in usual if name in members), None)
        if own is not None:
            pairs.append(f"{target}={own}")
    return ",".join(pairs) or "question=prompt,answer=completion,contexts=docs"


def rename_fields(line: bytes, names: Mapping[str, str]) -> bytes:
    """Return a line with its members under the names of an audit record; others stay as they are.

    A dot leads into an object. A time may be a number of seconds since 1970. Raises ValueError for a line that is no
    JSON, FieldError for contexts that are no list of texts or of objects with one.
    """
    row = json.loads(line)
    if not isinstance(row, dict):
        return line
    renamed = {name: value for name, value in row.items() if name not in names.values()}
    for target, own in names.items():
        value = _look_up(row, own)
        if value is None:
            continue
        if target == CONTEXTS:
            renamed["stages"] = [{"name": "context", "chunks": _make_chunks(value, own)}]
        elif target == "at" and isinstance(value, (int, float)) and not isinstance(value, bool):
            renamed["at"] = _read_seconds(value, own)
        else:
            renamed[target] = value
    return json.dumps(renamed, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _look_up(row: Mapping[str, Any], path: str) -> Any:
    """Return the value of a member by its name, else by a path with dots; None where there is none."""
    if path in row:
        return row[path]
    value: Any = row
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


def _make_chunks(value: Any, own: str) -> list[dict[str, Any]]:
    """Return chunks with texts; one without an id gets one from its text, so that the same text has the same."""
    chunks = []
    for place, item in enumerate(value if isinstance(value, list) else [value]):
        text = item if isinstance(item, str) else _find_member(item, _TEXT_NAMES)
        if not isinstance(text, str):
            expected = f"a text, or an object with one of {', '.join(_TEXT_NAMES)}"
            raise FieldError(f"{own}[{place}]", f"not a context (got {shorten_repr(item)}; expected {expected})")
        chunk_id = _find_member(item, _ID_NAMES)
        if not isinstance(chunk_id, (str, int)) or chunk_id == "":
            chunk_id = "text:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        chunks.append({"chunk_id": str(chunk_id), "text": text})
    return chunks


def _find_member(item: Any, names: Collection[str]) -> Any:
    if not isinstance(item, dict):
        return None
    return next((item[name] for name in names if item.get(name) is not None), None)


def _read_seconds(value: float, own: str) -> str:
    try:
        return format_time(datetime.fromtimestamp(value, UTC))
    except (ValueError, OverflowError, OSError):
        raise FieldError(own, f"not a time (got {value}; expected seconds since 1970, or a text)") from None
