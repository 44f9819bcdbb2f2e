"""Turns the reply of a target into an observation, directly or as the settings map it, and checks the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, structs

from assay.calls.interfaces import SEARCH_STAGE, CallError, TargetCall
from assay.calls.mapped_paths import describe_missing_path
from assay.calls.templates import MissingPath, find_value, parse_path
from assay.formats.foreign.chunk_shapes import SCORE_KEYS, TEXT_KEYS, ShapeError, read_chunk, read_chunks
from assay.formats.foreign.provider_replies import extract_text, is_refusal, open_tool_result
from assay.formats.foreign.reply_shapes import (
    ANSWER_KEYS,
    OTHER_ANSWER_KEYS,
    RANKING_KEYS,
    STAGE_KEYS,
    STAGE_LIST_KEYS,
    find_answer_like_text,
    read_citations,
    recognise_reply,
)
from assay.formats.strict_json import MisfitError, convert_strictly
from assay.records.errors import shorten_repr
from assay.records.golden_set import Case
from assay.records.observations import CONTEXT_STAGE, Chunk, Observation, Stage, ToolCall
from assay.records.settings import ChunkMapping, ResponseMapping
from assay.text.normalisation import collapse_spaces

MAX_REPLY_DEPTH = 100
_CHUNK_KEYS = frozenset(Chunk.__struct_fields__)
T = TypeVar("T", bound=msgspec.Struct)


def decode_reply(body: bytes) -> Any:
    """Return the JSON value of a reply. Raises CallError: `protocol` if it is not JSON, `schema` if nested too deep."""
    try:
        value = msgspec.json.decode(body)
    except RecursionError:
        raise CallError("schema", f"nested too deep (expected {MAX_REPLY_DEPTH} levels at most)") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        start = body[:60].decode("utf-8", "backslashreplace")
        raise CallError("protocol", f"not JSON: {error} (got {shorten_repr(start)})") from None
    if body.count(b"[") + body.count(b"{") > MAX_REPLY_DEPTH and _measure_depth(value) > MAX_REPLY_DEPTH:
        raise CallError("schema", f"nested too deep (expected {MAX_REPLY_DEPTH} levels at most)")
    return value


def read_reply(value: Any, call: TargetCall, response: ResponseMapping) -> Observation:
    """Return the observation of a reply, with the case id and question of the call.

    A text is an answer, a list is a ranking, and an object is recognised by its members (`recognise_reply`), but for
    the parts of which `response` says where they are; how it was understood is added to the notices of the call.
    Raises CallError with code `schema`, `id_mismatch` or `target_error`.
    """
    if isinstance(value, Observation):
        observation = value
    elif response.answer is not None or response.stages:
        observation = _read_mapped(value, call, response)
    else:
        observation = _read_native(_without_tool_calls(value, response), call, response, needs_answer=True)
    if response.tool_calls is not None and not isinstance(value, Observation):
        _note_paths(value, {"tool_calls": response.tool_calls}, call)
        observation = structs.replace(observation, tool_calls=_read_tool_calls(value, response))
    _check_identity(observation, call.case)
    return _select_parts(_rename_chunks(observation, response.key), call, value)


def _select_parts(observation: Observation, call: TargetCall, reply: Any) -> Observation:
    """Return the parts that belong to the operation: a search has rankings and no answer."""
    if observation.error is not None:
        raise CallError("target_error", f"{observation.error.code}: {observation.error.message}")
    if call.operation == "ask":
        if observation.answer is UNSET and observation.stages is None:
            raise CallError("schema", f"the reply holds neither an answer nor stages{_suggest_answer(reply)}")
        return structs.replace(observation, case_id=call.case.id, question=call.case.question)
    if not observation.stages:
        raise CallError("schema", "the reply of a search holds no ranking (expected results, or stages)")
    return Observation(
        call.case.id,
        question=call.case.question,
        query_rewrite=observation.query_rewrite,
        stages=observation.stages,
        usage=observation.usage,
        versions=observation.versions,
    )


def _suggest_answer(reply: Any) -> str:
    """Return where the answer of a reply that was not read may be, with the setting to write; "" if nowhere."""
    path = find_answer_like_text(reply)
    if not path:
        return ""
    return f"; {path} looks like the answer: write response: {{answer: {path}}} into the target's settings"


# ── a reply that is recognised by its shape ──────────────────────────────────────────────────────────────────────────


def _read_native(value: Any, call: TargetCall, response: ResponseMapping, *, needs_answer: bool) -> Observation:
    if isinstance(value, str) and call.operation == "ask":
        return Observation(call.case.id, answer=value)
    search_stage = SEARCH_STAGE if call.operation == "search" else ""
    if isinstance(value, list):
        _refuse_mixed_list(value)
        value = {"results": value}
    if not isinstance(value, Mapping):
        expected = "the answer as a text, or an object with answer and the chunks in retrieved or context"
        raise CallError("schema", f"not an object, a list or a text (got {shorten_repr(value)}; expected {expected})")
    value = {str(key): item for key, item in value.items()}
    open_tool_result(value, call.notices.add)
    if response.chunk != ChunkMapping() or response.key is not None:
        value = _map_chunks(value, call, response)
    try:
        shape = recognise_reply(value, call.notices.add, search_stage=search_stage, needs_answer=needs_answer)
        shape.row["citations"] = _read_citations(shape.row.get("citations"), call, response)
    except ShapeError as error:
        raise CallError("schema", str(error)) from None
    row = shape.row
    query_id = row.pop("query_id", None)
    row.setdefault("case_id", call.case.id if query_id is None else query_id)
    for key in ("error", "usage"):
        if row.get(key) is None:
            row.pop(key, None)
    stages = tuple(shape.rankings) if shape.rankings or shape.has_stages else None
    return structs.replace(_convert(row, Observation), stages=stages)


def _refuse_mixed_list(items: Sequence[Any]) -> None:
    """Raise CallError for a list of an answer and other things, which is no ranking."""
    has_text = any(isinstance(item, str) for item in items)
    if has_text and not all(isinstance(item, (str, Mapping, Chunk)) for item in items):
        expected = 'one object, such as {"answer": …, "retrieved": […]}'
        raise CallError("schema", f"a list of texts and other things (got {shorten_repr(items)}; expected {expected})")


def _map_chunks(value: Mapping[Any, Any], call: TargetCall, response: ResponseMapping) -> dict[str, Any]:
    """Return the reply with its chunks read as the settings say, whatever their ranking is called."""
    members = {str(key): item for key, item in value.items()}
    for key in (*STAGE_KEYS, *STAGE_LIST_KEYS, *RANKING_KEYS, CONTEXT_STAGE):
        if isinstance(members.get(key), (list, tuple)):
            members[key] = _read_chunks(members[key], call, response)
    if isinstance(members.get("stages"), (list, tuple)):
        members["stages"] = [
            {**stage, "chunks": _read_chunks(stage.get("chunks"), call, response)}
            if isinstance(stage, Mapping)
            else stage
            for stage in members["stages"]
        ]
    return members


# ── a reply mapped by the settings ───────────────────────────────────────────────────────────────────────────────────


def _read_mapped(value: Any, call: TargetCall, response: ResponseMapping) -> Observation:
    """Return what the settings map, and what they leave open as its shape tells."""
    if call.operation == "ask":  # a search has rankings alone, and perhaps not every one
        _note_paths(value, _list_optional_paths(response), call)
    rankings = _find_present(value, response.stages)
    stages = [Stage(name, _read_chunks(items, call, response)) for name, items in rankings.items()]
    if response.stages and not stages and call.operation == "search":
        paths = response.stages.items()
        missing = [describe_missing_path(value, f"response.stages.{name}", path) for name, path in paths]
        raise CallError("schema", "; ".join(filter(None, missing)) or "the reply of a search holds null for a ranking")
    answer: Any = UNSET
    if response.answer is not None and call.operation == "ask":
        answer = _find_required(value, "response.answer", response.answer)
    behaviour = _find_optional(value, response.behaviour)
    if answer is None:
        answer = _find_refusal(value, response)
        behaviour = behaviour or ("abstain" if answer is not None else None)
    usage = _find_present(value, response.usage)
    versions = _find_present(value, response.versions)
    mapped = {
        "answer": answer,
        "behaviour": behaviour,
        "query_rewrite": _find_optional(value, response.query_rewrite),
        "citations": _read_citations(_find_optional(value, response.citations), call, response),
        "usage": usage or None,
        "versions": {name: str(version) for name, version in versions.items()} or None,
    }
    open_parts = Observation(call.case.id)
    members = _leave_out_mapped(value, response)
    if members:
        unmapped = ResponseMapping(chunk=response.chunk, key=response.key)
        open_parts = _read_native(members, call, unmapped, needs_answer=response.answer is None)
    row = {
        name: part
        for name, part in mapped.items()
        if part is not UNSET and (part is not None or name == "answer")  # a null answer is one that failed
    }
    row["case_id"] = _find_optional(value, response.case_id) or call.case.id
    observation = _convert(row, Observation)
    changes: dict[str, Any] = {name: getattr(observation, name) for name in row}
    return structs.replace(open_parts, **changes, stages=tuple(stages) or open_parts.stages)


_ANSWER_PLACES = frozenset((*ANSWER_KEYS, *OTHER_ANSWER_KEYS, "choices", "messages"))
_RANKING_PLACES = frozenset(
    (*STAGE_KEYS, *STAGE_LIST_KEYS, *RANKING_KEYS, "stages", "retrieved_context_ids", CONTEXT_STAGE)
)
_IDENTITY_PLACES = frozenset(("case_id", "query_id", "question"))
"""Names that a service may use for something else; without a mapping they are those of Assay."""


def _find_refusal(value: Any, response: ResponseMapping) -> str | None:
    """Return the refusal of a model in the message whose content the settings map, None if it is no refusal."""
    message, _, last = (response.answer or "").rpartition(".")
    holder = _find_optional(value, message) if message and last == "content" else None
    return extract_text(holder) if is_refusal(holder) else None


def _leave_out_mapped(value: Any, response: ResponseMapping) -> dict[str, Any]:
    """Return the members of a reply from which a part may be read that the settings do not map."""
    if not isinstance(value, Mapping):
        return {}
    paths = [response.answer, response.behaviour, response.citations, response.query_rewrite, response.case_id]
    paths += [*response.stages.values(), *response.usage.values(), *response.versions.values()]
    left_out = {str(step) for path in paths if path is not None for step in parse_path(path)[:1]} | _IDENTITY_PLACES
    if response.tool_calls is not None:
        left_out |= {*map(str, parse_path(response.tool_calls)[:1]), "tool_calls"}
    if response.answer is not None:
        left_out |= _ANSWER_PLACES
    if response.stages:
        left_out |= _RANKING_PLACES
    return {str(key): item for key, item in value.items() if str(key) not in left_out}


def _list_optional_paths(response: ResponseMapping) -> dict[str, str]:
    """Return the paths that the settings map, by setting, without that of the answer, which a reply must have."""
    names = ("behaviour", "citations", "query_rewrite", "case_id")
    paths = {name: getattr(response, name) for name in names}
    for group in ("stages", "usage", "versions"):
        paths |= {f"{group}.{name}": path for name, path in getattr(response, group).items()}
    return {name: path for name, path in paths.items() if path is not None}


def _note_paths(value: Any, paths: Mapping[str, str], call: TargetCall) -> None:
    """Note of each path whether the reply has something there."""
    for name, path in paths.items():
        setting = f"response.{name}"
        call.notices.add_path(setting, describe_missing_path(value, setting, path))


def _find_required(value: Any, setting: str, path: str) -> Any:
    try:
        return find_value(value, path)
    except MissingPath:
        raise CallError("schema", describe_missing_path(value, setting, path)) from None


def _find_present(value: Any, paths: Mapping[str, str]) -> dict[str, Any]:
    """Return what is found at each path, under the same names, without what is missing or null."""
    items: dict[str, Any] = {}
    for name, path in paths.items():
        item = _find_optional(value, path)
        if item is not None:
            items[name] = item
    return items


def _find_optional(value: Any, path: str | None) -> Any:
    if path is None:
        return None
    try:
        return find_value(value, path)
    except MissingPath:
        return None


# ── tool calls ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _without_tool_calls(value: Any, response: ResponseMapping) -> Any:
    """Return a reply without the member that the settings map to tool calls, so that nobody calls it unread."""
    if response.tool_calls is None or not isinstance(value, Mapping):
        return value
    return {key: item for key, item in value.items() if key not in (response.tool_calls, "tool_calls")}


def _read_tool_calls(value: Any, response: ResponseMapping) -> tuple[ToolCall, ...] | int | None:
    """Return the tool calls of a reply as the settings map them; None where it reports none."""
    items = _find_optional(value, response.tool_calls)
    if items is None or (isinstance(items, int) and not isinstance(items, bool) and items >= 0):
        return items
    if not isinstance(items, (list, tuple)):
        message = f"{response.tool_calls}: neither a list of tool calls nor their number (got {shorten_repr(items)})"
        raise CallError("schema", message)
    return tuple(_read_tool_call(item, index, response) for index, item in enumerate(items))


def _read_tool_call(item: Any, index: int, response: ResponseMapping) -> ToolCall:
    fields = response.tool
    if not isinstance(item, Mapping):
        raise CallError("schema", f"tool call {index}: not an object (got {shorten_repr(item)})")
    name = _find_optional(item, fields.name)
    if not isinstance(name, str):
        expected = f"expected {fields.name}, or response.tool.name"
        raise CallError("schema", f"tool call {index}: no name (got {_describe_value(item)}; {expected})")
    error = _find_optional(item, fields.error)
    row = {
        "name": name,
        "arguments": _read_arguments(_find_optional(item, fields.arguments)),
        "result": _find_optional(item, fields.result),
        "error": error if error is None or isinstance(error, str) else msgspec.json.encode(error).decode(),
        "latency_ms": item.get("latency_ms"),
    }
    return _convert({key: part for key, part in row.items() if part is not None}, ToolCall)


def _read_arguments(arguments: Any) -> Any:
    """Return the arguments of a call, which some frameworks give as JSON in a text."""
    if not isinstance(arguments, str):
        return arguments
    try:
        decoded = msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        decoded = None
    return decoded if isinstance(decoded, dict) else {"text": arguments}


# ── chunks and their ids ─────────────────────────────────────────────────────────────────────────────────────────────


def _read_chunks(items: Any, call: TargetCall, response: ResponseMapping) -> tuple[Chunk, ...]:
    """Return the chunks of a ranking; where the settings map none of their parts, by their shape."""
    try:
        if response.chunk == ChunkMapping() and response.key is None:
            return read_chunks(items, call.notices.add)
        if not isinstance(items, (list, tuple)):
            raise ShapeError(f"a ranking that is not a list (got {shorten_repr(items)})")
        _note_chunk_paths(items, response.chunk, call)
        return tuple(_read_mapped_chunk(item, index, response, call) for index, item in enumerate(items))
    except ShapeError as error:
        raise CallError("schema", str(error)) from None


def _note_chunk_paths(items: Sequence[Any], fields: ChunkMapping, call: TargetCall) -> None:
    """Note of each path inside a chunk that the settings state whether a chunk of the ranking has something there."""
    paths = {name: getattr(fields, name) for name in ("text", "score", "text_hash")}
    paths = {name: path for name, path in paths.items() if path != getattr(ChunkMapping(), name)}
    paths |= {f"metadata.{name}": path for name, path in fields.metadata.items()}
    for name, path in paths.items():
        setting = f"response.chunk.{name}"
        for item in items:
            if isinstance(item, Mapping):
                call.notices.add_path(setting, describe_missing_path(item, setting, path, "a chunk"))


def _read_mapped_chunk(item: Any, index: int, response: ResponseMapping, call: TargetCall) -> Chunk:
    if isinstance(item, Chunk):
        return item
    if isinstance(item, str):
        return Chunk(item)
    if not isinstance(item, Mapping):
        raise CallError("schema", f"chunk {index}: neither an object nor an id (got {shorten_repr(item)})")
    fields = response.chunk
    if response.key is not None and fields == ChunkMapping():
        row = _native_members(item)
        row.setdefault("chunk_id", "")
        return _convert(row, Chunk)
    members = _mapped_members(item, fields)
    if response.key is None and fields.id != ChunkMapping().id and members.get("chunk_id") is None:
        missing = describe_missing_path(item, "response.chunk.id", fields.id, "it")
        raise CallError("schema", f"chunk {index}: no id: {missing or f'null at {fields.id}'}")
    if response.key is not None:  # the id is made from the fields, so that the chunk need not have one
        return _convert({"chunk_id": "", **members}, Chunk)
    chunk = read_chunk(_add_unmapped(item, members, fields), index, call.notices.add)
    mapped_metadata = members.get("metadata")
    if mapped_metadata is None:
        return chunk
    return structs.replace(chunk, metadata={**(chunk.metadata or {}), **mapped_metadata})


def _add_unmapped(item: Mapping[Any, Any], members: Mapping[str, Any], fields: ChunkMapping) -> dict[str, Any]:
    """Return an item in which the parts that the settings name have their usual names, for the rest to be recognised.

    What is at a named path, and what could be taken for the same part, is left out.
    """
    left = {str(key): value for key, value in item.items()}
    for name, path, other_keys in (
        ("chunk_id", fields.id, ()),
        ("text", fields.text, TEXT_KEYS),
        ("score", fields.score, SCORE_KEYS),
        ("text_hash", fields.text_hash, ()),
    ):
        if path == name:
            continue
        left = _leave_out_path(left, parse_path(path))
        left = {key: value for key, value in left.items() if key not in other_keys}
        if name in members:
            left[name] = members[name]
    return left


def _leave_out_path(item: dict[str, Any], steps: Sequence[str | int | None]) -> dict[str, Any]:
    """Return an object without the member at a path of names; unchanged where the path leads through a list."""
    if not steps:
        return item
    first, *rest = steps
    if not rest:
        return {key: value for key, value in item.items() if key != first}
    inner = item.get(str(first))
    if not isinstance(inner, Mapping):
        return item
    return {**item, str(first): _leave_out_path({str(key): value for key, value in inner.items()}, rest)}


def _native_members(item: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the members of a chunk; everything else in the object becomes its metadata."""
    row = {key: item[key] for key in _CHUNK_KEYS if key in item}
    extra = {str(key): value for key, value in item.items() if key not in _CHUNK_KEYS}
    if extra:
        row["metadata"] = extra | (row.get("metadata") or {})
    return row


def _mapped_members(item: Mapping[Any, Any], fields: ChunkMapping) -> dict[str, Any]:
    value = dict(item)
    members = {
        "chunk_id": _find_optional(value, fields.id),
        "text": _find_optional(value, fields.text),
        "score": _find_optional(value, fields.score),
        "text_hash": _find_optional(value, fields.text_hash),
        "metadata": {name: _find_optional(value, path) for name, path in fields.metadata.items()} or None,
    }
    if isinstance(members["chunk_id"], int):
        members["chunk_id"] = str(members["chunk_id"])
    return {name: member for name, member in members.items() if member is not None}


def _rename_chunk(chunk: Chunk, key: str | None) -> Chunk:
    """Return the chunk with its stable key as id: the values of the fields that `key` names, joined with colons."""
    if key is None:
        return chunk
    metadata = chunk.metadata or {}
    values = [metadata.get(name, chunk.chunk_id if name == "chunk_id" else None) for name in key.split("+")]
    if any(value in (None, "") or isinstance(value, (list, dict)) for value in values):
        raise CallError("schema", f"a chunk without {key} (got {_describe_value(metadata)})")
    return structs.replace(chunk, chunk_id=":".join(map(str, values)))


def _rename_chunks(observation: Observation, key: str | None) -> Observation:
    """Return the observation with the stable keys as ids of its chunks and of the chunks that it cites."""
    if key is None or observation.stages is None:
        return observation
    new_ids: dict[str, str] = {}
    stages = []
    for stage in observation.stages:
        chunks = tuple(_rename_chunk(chunk, key) for chunk in stage.chunks)
        new_ids |= {old.chunk_id: new.chunk_id for old, new in zip(stage.chunks, chunks, strict=True)}
        stages.append(structs.replace(stage, chunks=chunks))
    cited = observation.citations and tuple(new_ids.get(chunk_id, chunk_id) for chunk_id in observation.citations)
    return structs.replace(observation, stages=tuple(stages), citations=cited)


def _read_citations(citations: Any, call: TargetCall, response: ResponseMapping) -> list[str] | None:
    """Return the ids of cited chunks, which a reply gives as ids or as chunks."""
    if isinstance(citations, (list, tuple)) and (response.chunk != ChunkMapping() or response.key is not None):
        citations = [
            item
            if isinstance(item, str)
            else _rename_chunk(_read_mapped_chunk(item, index, response, call), response.key).chunk_id
            for index, item in enumerate(citations)
        ]
    try:
        return read_citations(citations, call.notices.add)
    except ShapeError as error:
        raise CallError("schema", str(error)) from None


# ── checks ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _check_identity(observation: Observation, case: Case) -> None:
    if observation.case_id != case.id:
        message = f"answered another case (got {shorten_repr(observation.case_id)}; expected {shorten_repr(case.id)})"
        raise CallError("id_mismatch", message)
    question = observation.question
    if question is not None and collapse_spaces(question) != collapse_spaces(case.question):
        message = f"answered another question (got {shorten_repr(question)}; expected {shorten_repr(case.question)})"
        raise CallError("id_mismatch", message)


def _convert(value: Any, record: type[T]) -> T:
    try:
        return convert_strictly(value, record)
    except MisfitError as error:
        raise CallError("schema", str(error)) from None


def _describe_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "the keys " + ", ".join(sorted(map(str, value))[:12])
    return shorten_repr(value, 60)


def _measure_depth(value: Any) -> int:
    depth, level = 0, [value]  # level by level, because recursion could exhaust the stack
    while level:
        depth += 1
        next_level: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                next_level.extend(item.values())
            elif isinstance(item, list):
                next_level.extend(item)
        level = next_level
    return depth
