"""Turns the spans of one trace into the values of an audit record, by two conventions.

OpenInference (`openinference.span.kind`, `retrieval.documents.0.document.content`) and the GenAI semantic conventions
of OpenTelemetry (`gen_ai.operation.name`, `gen_ai.output.messages`). Neither says which chunks the model was shown; the
context is therefore the retrieved chunks whose text is in the messages to the model, and not reported without texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from assay.audit.otlp import Attributes, Span
from assay.records.golden_set import User
from assay.records.observations import CONTEXT_STAGE, Chunk, Stage, TargetError, ToolCall

RETRIEVER, RERANKER, LLM, TOOL = "RETRIEVER", "RERANKER", "LLM", "TOOL"
_GENAI_KINDS = {
    "chat": LLM,
    "text_completion": LLM,
    "generate_content": LLM,
    "execute_tool": TOOL,
    "retrieval": RETRIEVER,
}
_QUESTION_MEMBERS = ("question", "query", "input", "prompt", "text")
_ANSWER_MEMBERS = ("answer", "output", "response", "result", "text", "content")
_MAX_TEXT_ID = 32
_ROLES = ("assay.user.roles", "user.roles")
NANOSECONDS_PER_MILLISECOND = 1_000_000
_LATEST = 253_402_300_799_000_000_000  # the end of the year 9999


def find_kind(span: Span) -> str:
    """Return what a span does: RETRIEVER, RERANKER, LLM, TOOL, another kind of OpenInference, or nothing."""
    kind = span.attributes.get("openinference.span.kind")
    if isinstance(kind, str):
        return kind.upper()
    return _GENAI_KINDS.get(str(span.attributes.get("gen_ai.operation.name")), "")


def find_root_span(spans: Sequence[Span]) -> Span:
    """Return the span that no other span of the trace contains; the earliest of several."""
    ids = {span.span_id for span in spans}
    roots = [span for span in spans if not span.parent_id or span.parent_id not in ids] or list(spans)
    return min(roots, key=lambda span: (bool(span.parent_id), span.start, span.span_id))


def is_answer_trace(spans: Sequence[Span]) -> bool:
    """Return whether a trace is of a question that was answered: something was retrieved or generated in it."""
    return any(find_kind(span) in (RETRIEVER, RERANKER, LLM) for span in spans)


def read_trace(spans: Sequence[Span]) -> dict[str, Any]:
    """Return the values of the audit record of a trace; None for what it does not say."""
    ordered = sorted(spans, key=lambda span: (span.start, span.end, span.span_id))
    root = find_root_span(ordered)
    models = [span for span in ordered if find_kind(span) == LLM]
    stages = _read_stages(ordered, models)
    errors = [span for span in ordered if span.failed]
    error = root if root.failed else None
    final = models[-1] if models else None
    retrieved = next((stage for stage in stages if stage.name != CONTEXT_STAGE), None)
    tools = [_read_tool(span) for span in ordered if find_kind(span) == TOOL]
    return {
        "id": root.trace_id,
        "at": _format_nanoseconds(root.start),
        "config_id": _text(root.resource, "service.name"),
        "user_uid": _find_user_uid(ordered),
        "user": _read_user(ordered),
        "question": _find_question(root, ordered, final),
        "query_rewrite": None,
        "retrieved_uids": None if retrieved is None else tuple(chunk.chunk_id for chunk in retrieved.chunks),
        "stages": tuple(stages) or None,
        "context_tokens": None,
        "prompt_tokens": _sum_tokens(models, ("llm.token_count.prompt", "gen_ai.usage.input_tokens")),
        "completion_tokens": _sum_tokens(models, ("llm.token_count.completion", "gen_ai.usage.output_tokens")),
        "model": _first_text(reversed(models), ("llm.model_name", "gen_ai.response.model", "gen_ai.request.model")),
        "prompt_hash": _hash_prompt(final),
        "versions": _read_versions(root, models),
        "answer": _find_answer(root, final),
        "behaviour": None,
        "citations": None,
        "tool_calls": tuple(tools) if tools or models else None,
        "latency_ms": max(0, root.end - root.start) / NANOSECONDS_PER_MILLISECOND,
        "cost_usd": None,
        "feedback": None,
        "error": TargetError("span_error", error.message or errors[-1].message) if error is not None else None,
    }


def _find_user_uid(spans: Sequence[Span]) -> str | None:
    """Return who asked; where only a session is named, that: answers to one session resemble each other, too."""
    user = _first_text(spans, ("user.id", "enduser.id"))
    session = _first_text(spans, ("session.id",))
    return f"session:{session}" if user is None and session is not None else user


def _read_user(spans: Sequence[Span]) -> User | None:
    """Return what decides what the user may see; None where neither tenant nor roles are named."""
    tenant = _first_text(spans, ("assay.user.tenant",))
    roles = next((span.attributes[key] for key in _ROLES for span in spans if key in span.attributes), None)
    if isinstance(roles, str):
        decoded = _decode_json(roles)
        roles = decoded if isinstance(decoded, list) else roles.split(",")
    listed = roles if isinstance(roles, list) else []
    names = tuple(role.strip() for role in listed if isinstance(role, str) and role.strip())
    if tenant is None and roles is None:
        return None
    return User(tenant, names, locale=_first_text(spans, ("assay.user.locale",)))


def _format_nanoseconds(nanoseconds: int) -> str:
    seconds, rest = divmod(min(nanoseconds, _LATEST), 1_000_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1000).isoformat()


# ── question and answer ──────────────────────────────────────────────────────────────────────────────────────────────


def _find_question(root: Span, spans: Sequence[Span], final: Span | None) -> str | None:
    question = _unwrap(root.attributes.get("input.value"), _QUESTION_MEMBERS)
    if question:
        return question
    queries = ("gen_ai.retrieval.query.text", "reranker.query")
    retrievers = [span for span in spans if find_kind(span) == RETRIEVER]
    asked = [_unwrap(span.attributes.get("input.value"), _QUESTION_MEMBERS) for span in retrievers]
    messages = list_messages(final, "input") if final is not None else []
    by_users = [text for role, text in messages if role in ("user", "human") and text]
    return _first_text(spans, queries) or next(filter(None, asked), None) or (by_users[-1] if by_users else None)


def _find_answer(root: Span, final: Span | None) -> str | None:
    answer = _unwrap(root.attributes.get("output.value"), _ANSWER_MEMBERS)
    if answer is not None or final is None:
        return answer
    texts = [text for _, text in list_messages(final, "output") if text]
    return "\n".join(texts) if texts else _unwrap(final.attributes.get("output.value"), _ANSWER_MEMBERS)


def _unwrap(value: object, members: Sequence[str]) -> str | None:
    """Return a text; of a JSON object, the member that holds it."""
    if not isinstance(value, str):
        return None
    if value[:1] != "{":
        return value
    row = _decode_json(value)
    if not isinstance(row, dict):
        return value
    return next((row[name] for name in members if isinstance(row.get(name), str)), value)


def list_messages(span: Span, direction: str) -> list[tuple[str, str]]:
    """Return the messages to a model (`input`) or from it (`output`) as role and text, by either convention."""
    attributes = span.attributes
    messages: list[tuple[str, str]] = []
    for row in _collect_rows(attributes, f"llm.{direction}_messages"):
        parts = [row.get("message.content")]
        parts += [value for name, value in row.items() if name.endswith(".message_content.text")]
        texts = [part for part in parts if isinstance(part, str)]
        messages.append((str(row.get("message.role", "")), "\n".join(texts)))
    rows = _as_list(attributes.get(f"gen_ai.{direction}.messages"))
    rows += [row for name, event in span.events for row in _as_list(event.get(f"gen_ai.{direction}.messages"))]
    messages += [(str(row.get("role", "")), _join_parts(row)) for row in rows if isinstance(row, dict)]
    former_name = "gen_ai.prompt" if direction == "input" else "gen_ai.completion"
    for _, event in span.events:
        text = event.get(former_name)
        if isinstance(text, str):
            messages.append(("user" if direction == "input" else "assistant", text))
    return messages


def _join_parts(message: dict[str, Any]) -> str:
    content = message.get("content")
    texts = [content] if isinstance(content, str) else []
    for part in _as_list(message.get("parts")):
        text = part.get("content") if isinstance(part, dict) and part.get("type", "text") == "text" else None
        if isinstance(text, str):
            texts += [text]
    return "\n".join(texts)


# ── stages ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_stages(spans: Sequence[Span], models: Sequence[Span]) -> list[Stage]:
    stages: list[Stage] = []
    for span in spans:
        kind = find_kind(span)
        if kind not in (RETRIEVER, RERANKER):
            continue
        chunks = _read_chunks(span, kind)
        if chunks is None:
            continue
        base = "retrieved" if kind == RETRIEVER else "reranked"
        taken = sum(stage.name == base or stage.name.startswith(f"{base}-") for stage in stages)
        name = base if not taken else f"{base}-{taken + 1}"
        stages.append(Stage(name, chunks, max(0, span.end - span.start) / NANOSECONDS_PER_MILLISECOND))
    context = _find_context(stages, models)
    return stages if context is None else [*stages, Stage(CONTEXT_STAGE, context)]


def _read_chunks(span: Span, kind: str) -> tuple[Chunk, ...] | None:
    prefix = "retrieval.documents" if kind == RETRIEVER else "reranker.output_documents"
    rows = _collect_rows(span.attributes, prefix)
    documents = [{name.removeprefix("document."): value for name, value in row.items()} for row in rows]
    reported = _decode_json(span.attributes.get("gen_ai.retrieval.documents"))
    if not documents and isinstance(reported, list):
        documents = [row for row in reported if isinstance(row, dict)]
    if not documents and not isinstance(reported, list):
        return None
    return tuple(_make_chunk(document) for document in documents)


def _make_chunk(document: dict[str, Any]) -> Chunk:
    text = document.get("content", document.get("text"))
    text = text if isinstance(text, str) else None
    chunk_id = document.get("id")
    score = document.get("score")
    is_number = isinstance(score, (int, float)) and not isinstance(score, bool) and abs(score) < float("inf")
    if chunk_id is None or chunk_id == "":
        digest = hashlib.sha256((text or "").encode("utf-8", "surrogatepass")).hexdigest()
        chunk_id = f"text:sha256:{digest[:_MAX_TEXT_ID]}"
    metadata = _decode_json(document.get("metadata"))
    return Chunk(
        str(chunk_id),
        float(score) if is_number and score is not None else None,
        text=text,
        metadata=metadata if isinstance(metadata, dict) else None,
    )


def _find_context(stages: Sequence[Stage], models: Sequence[Span]) -> tuple[Chunk, ...] | None:
    """Return the chunks whose text is in the messages to the last model; None where there are no texts to look for."""
    if not stages or not models:
        return None
    shown = "\n".join(text for _, text in list_messages(models[-1], "input"))
    chunks = {chunk.chunk_id: chunk for stage in reversed(stages) for chunk in stage.chunks if chunk.text}
    if not shown or not chunks:
        return None
    return tuple(chunk for chunk in chunks.values() if chunk.text and chunk.text.strip() in shown)


def _collect_rows(attributes: Attributes, prefix: str) -> list[dict[str, Any]]:
    """Return `PREFIX.0.name`, `PREFIX.1.name` … as one dictionary for each number, in their order."""
    rows: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if not key.startswith(f"{prefix}."):
            continue
        number, _, name = key[len(prefix) + 1 :].partition(".")
        if number.isascii() and number.isdigit() and len(number) <= 6 and name:
            rows.setdefault(int(number), {})[name] = value
    return [rows[number] for number in sorted(rows)]


# ── the rest ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_tool(span: Span) -> ToolCall:
    attributes = span.attributes
    name = _text(attributes, "tool.name") or _text(attributes, "gen_ai.tool.name") or span.name or "tool"
    values = (attributes.get(key) for key in ("gen_ai.tool.call.arguments", "tool.parameters", "input.value"))
    rows = (row for row in map(_decode_json, values) if isinstance(row, dict))
    arguments = next((row for row in rows if not _is_schema(row)), {})
    duration = max(0, span.end - span.start) / NANOSECONDS_PER_MILLISECOND
    reported = (attributes.get(key) for key in ("gen_ai.tool.call.result", "output.value"))
    result = next((value for value in reported if value is not None), None)
    return ToolCall(name, arguments, (span.message or "error") if span.failed else None, duration, result)


def _is_schema(row: dict[str, Any]) -> bool:
    """Return whether an object describes arguments: OpenInference puts the schema of a tool into `tool.parameters`."""
    return row.get("type") == "object" and isinstance(row.get("properties"), dict)


def _sum_tokens(spans: Sequence[Span], keys: Sequence[str]) -> int | None:
    counts = [span.attributes[key] for span in spans for key in keys if key in span.attributes]
    numbers = [count for count in counts if isinstance(count, int) and not isinstance(count, bool) and count >= 0]
    return sum(numbers) if numbers else None


def _hash_prompt(final: Span | None) -> str | None:
    """Return the digest of the template of the prompt, or of the instructions to the model."""
    if final is None:
        return None
    template = final.attributes.get("llm.prompt_template.template", final.attributes.get("gen_ai.system_instructions"))
    if not isinstance(template, str):
        template = next((text for role, text in list_messages(final, "input") if role == "system" and text), None)
    return None if template is None else f"sha256:{hashlib.sha256(template.encode()).hexdigest()}"


def _read_versions(root: Span, models: Sequence[Span]) -> dict[str, str]:
    versions = {
        "service": _text(root.resource, "service.version"),
        "prompt": _first_text([root, *reversed(models)], ("llm.prompt_template.version",)),
        "agent": _text(root.attributes, "gen_ai.agent.version"),
    }
    return {name: version for name, version in versions.items() if version is not None}


def _text(attributes: Attributes, name: str) -> str | None:
    value = attributes.get(name)
    return value if isinstance(value, str) and value else None


def _first_text(spans: Iterable[Span], names: Sequence[str]) -> str | None:
    return next((text for span in spans for name in names if (text := _text(span.attributes, name))), None)


def _as_list(value: object) -> list[Any]:
    decoded = _decode_json(value)
    return decoded if isinstance(decoded, list) else []


def _decode_json(value: object) -> Any:
    """Return what a text of JSON holds, and any other value as it is; None for a text that is no JSON."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
