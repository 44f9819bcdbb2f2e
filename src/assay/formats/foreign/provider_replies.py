"""Replies of model providers and of tools: chat completions and responses of OpenAI, messages of LangChain and
LlamaIndex, and tool results of MCP, with the answer, a refusal, the model and the tokens under the usual names.

A refusal is an answer: its text is what the user is told, and the system declares that it abstains. An answer that a
content filter withheld whole is an error, because nothing tells what the user was shown instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from assay.formats.foreign.chunk_shapes import NoteReading

_EMPTY: tuple[Any, ...] = (None, "", [], ())
_TEXT_PARTS = ("text", "output_text")
_FILTERED = "content_filter"
_WITHHELD = "a content filter withheld the answer (expected the text that the user is shown instead)"
_OPENAI_KEYS = frozenset((
    "system_fingerprint", "service_tier", "temperature", "top_p", "tools", "tool_choice", "parallel_tool_calls",
    "instructions", "incomplete_details", "previous_response_id", "reasoning", "status", "store", "text", "truncation",
    "user", "max_output_tokens", "background", "conversation", "max_tool_calls", "prompt", "top_logprobs",
    "safety_identifier", "prompt_cache_key", "completed_at", "moderation",
))  # fmt: skip
_MESSAGE_KEYS = frozenset((
    "content", "blocks", "refusal", "additional_kwargs", "response_metadata", "usage_metadata", "type", "role", "name",
    "tool_calls", "invalid_tool_calls", "example", "audio", "annotations", "function_call", "chunk_position",
))  # fmt: skip
_MESSAGE_MARKS = ("additional_kwargs", "response_metadata", "refusal")
"""Members that only a message of a model has next to its content."""
_STRUCTURED_KEYS, _ERROR_KEYS = ("structuredContent", "structured_content"), ("isError", "is_error")


def open_provider_reply(members: dict[str, Any], note: NoteReading) -> None:
    """Put the parts of a reply of a provider or a tool under the usual names; other replies stay as they are."""
    open_tool_result(members, note)
    choices, output = members.get("choices"), members.get("output")
    if isinstance(choices, (list, tuple)) and choices and isinstance(choices[0], Mapping):
        _open_completion(members, choices, note)
    elif members.get("object") == "response" and isinstance(output, (list, tuple)):
        _open_response(members, output, note)
    elif _is_message(members):
        _open_message(members, note)
        return
    else:
        return
    for key in _OPENAI_KEYS & members.keys():
        del members[key]
    if isinstance(members.get("model"), str):
        members["versions"] = {**(members.get("versions") or {}), "model": members.pop("model")}
    members.pop("error", None) if members.get("error") is None else None


def _open_completion(members: dict[str, Any], choices: Sequence[Any], note: NoteReading) -> None:
    message = choices[0].get("message")
    several = " of several choices" if len(choices) > 1 else ""
    _set_answer(members, message, f"choices[0].message{several}", choices[0].get("finish_reason"), note)
    del members["choices"]


def _open_response(members: dict[str, Any], output: Sequence[Any], note: NoteReading) -> None:
    items = [item for item in output if isinstance(item, Mapping)]
    parts: list[Any] = []
    for item in items:
        content = item.get("content")
        if item.get("type") == "message" and content is not None:
            parts += content if isinstance(content, (list, tuple)) else [content]
    details = members.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    _set_answer(members, {"content": parts or None}, "the messages of output", reason, note)
    del members["output"]
    members.pop("output_text", None)
    searches = [item.get("results") or () for item in items if item.get("type") == "file_search_call"]
    results = [result for search in searches for result in search]
    if results:
        members["results"] = results


def _set_answer(members: dict[str, Any], message: Any, place: str, reason: Any, note: NoteReading) -> None:
    """Set the answer to the text of a message; of a refusal, the behaviour as well, unless the reply declares one."""
    text = extract_text(message)
    if reason == _FILTERED and text in _EMPTY:
        if members.get("error") is None:
            members["error"] = {"code": _FILTERED, "message": _WITHHELD}
        return
    members["answer"] = text
    if is_refusal(message):
        members.setdefault("behaviour", "abstain")
        note(f"the answer is read from the refusal in {place}, and counts as declared to abstain")
    else:
        note(f"the answer is read from {place}")
    if reason == _FILTERED:
        note(f"answers that a content filter cut ({_FILTERED}) are read as far as they go")


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _is_message(members: Mapping[str, Any]) -> bool:
    return ("content" in members or "blocks" in members) and not members.keys().isdisjoint(_MESSAGE_MARKS)


def _open_message(members: dict[str, Any], note: NoteReading) -> None:
    """Put the parts of a message that is the whole reply under the usual names."""
    message = dict(members)
    for key in _MESSAGE_KEYS & members.keys():
        del members[key]
    metadata = message.get("response_metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    _set_answer(members, message, "content", metadata.get("finish_reason"), note)
    usage = message.get("usage_metadata")
    if isinstance(usage, Mapping) and "usage" not in members:
        members["usage"] = {key: usage[key] for key in ("input_tokens", "output_tokens") if key in usage}
    model = metadata.get("model_name") or metadata.get("model")
    if isinstance(model, str):
        members["versions"] = {**(members.get("versions") or {}), "model": model}
    calls = message.get("tool_calls")
    if isinstance(calls, (list, tuple)) and calls:
        members["tool_calls"] = [_rename_call(call) for call in calls]


def _rename_call(call: Any) -> Any:
    """Return a tool call with its arguments under the name that Assay has for them."""
    if not isinstance(call, Mapping) or "args" not in call:
        return call
    return {"name": call.get("name"), "arguments": call["args"]}


def extract_text(value: Any) -> str | None:
    """Return a text, the text of a message or of its refusal, or the joined texts of its parts; None for anything else.

    >>> extract_text({"content": [{"type": "text", "text": "12 "}, {"type": "text", "text": "days"}]})
    '12 days'
    >>> extract_text({"content": None, "refusal": "I cannot help with that."})
    'I cannot help with that.'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        inner = next((value[key] for key in ("content", "text", "blocks") if value.get(key) is not None), None)
        if inner in _EMPTY and _find_refusal(value):
            return _find_refusal(value)
        if isinstance(inner, (list, tuple)) and inner:
            return _join_parts(inner)
        return extract_text(inner) if inner is not None else None
    if isinstance(value, (list, tuple)) and value and all(isinstance(part, Mapping) for part in value):
        return _join_parts(value)
    return None


def _join_parts(parts: Sequence[Any]) -> str | None:
    """Return the texts of the parts of a message in one; LangChain's parts may be plain texts."""
    texts: list[str] = []
    for part in parts:
        if isinstance(part, Mapping):
            kind = part.get("type", part.get("block_type"))
            text = part.get("refusal") if kind == "refusal" else extract_text(part) if kind in _TEXT_PARTS else None
        else:
            text = part
        if isinstance(text, str):
            texts.append(text)
    return "".join(texts) if texts else None


def is_refusal(value: Any) -> bool:
    """Return whether a message holds the refusal of a model in place of a text, as OpenAI reports it.

    >>> is_refusal({"content": [{"type": "refusal", "refusal": "I cannot help with that."}]})
    True
    >>> is_refusal({"content": "12 days", "refusal": None})
    False
    """
    if not isinstance(value, Mapping):
        return False
    content = value.get("content")
    if content in _EMPTY:
        return bool(_find_refusal(value))
    if not isinstance(content, (list, tuple)):
        return False
    texts = [part for part in content if not isinstance(part, Mapping) or part.get("type") in _TEXT_PARTS]
    return not texts and any(isinstance(part, Mapping) and part.get("type") == "refusal" for part in content)


def _find_refusal(message: Mapping[Any, Any]) -> str:
    """Return the refusal of a message, which LangChain keeps among additional arguments; "" if there is none."""
    additional = message.get("additional_kwargs")
    refusal = message.get("refusal") or (additional.get("refusal") if isinstance(additional, Mapping) else None)
    return refusal if isinstance(refusal, str) else ""


# ── tool results of MCP ──────────────────────────────────────────────────────────────────────────────────────────────


def open_tool_result(members: dict[str, Any], note: NoteReading) -> None:
    """Put what a tool result of MCP holds in its place: its structured content, else JSON in its text, else the text.

    It is recognised by `content` with typed parts next to `structuredContent` or `isError`.
    """
    content = members.get("content")
    if not isinstance(content, (list, tuple)) or members.keys().isdisjoint((*_STRUCTURED_KEYS, *_ERROR_KEYS)):
        return
    if not all(isinstance(part, Mapping) and isinstance(part.get("type"), str) for part in content):
        return
    text = "\n".join(str(part.get("text", "")) for part in content if part["type"] == "text")
    structured = next((members[key] for key in _STRUCTURED_KEYS if members.get(key) is not None), None)
    if any(members.get(key) is True for key in _ERROR_KEYS):
        value: Any = {"error": {"code": "tool_error", "message": text or "an error without a message"}}
    elif structured is not None:
        value = (
            structured["result"] if isinstance(structured, Mapping) and set(structured) == {"result"} else structured
        )
        note("the reply is read from structuredContent")
    else:
        value = _decode_text(text)
        note("the reply is read from content")
    members.clear()
    if isinstance(value, Mapping):
        members.update({str(key): item for key, item in value.items()})
    else:
        members["results" if isinstance(value, (list, tuple)) else "answer"] = value


def _decode_text(text: str) -> Any:
    """Return the object or the list that a text is the JSON of, else the text."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
    return value if isinstance(value, (dict, list)) else text
