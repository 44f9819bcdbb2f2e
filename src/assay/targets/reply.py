"""From a target's reply to an observation: read as it is, or mapped by configuration, and checked either way."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, structs

from assay.config_model import ChunkFields, Response
from assay.errors import shown
from assay.model import Case, Chunk, Observation, Stage, TargetError, Usage
from assay.ports import SEARCHED, Call, CallError
from assay.targets.paths import Missing, find

MAX_DEPTH = 100
_STAGE_KEYS = {
    "results": SEARCHED,
    "hits": SEARCHED,
    "documents": SEARCHED,
    "retrieved_chunks": "retrieved",
    "reranked_chunks": "reranked",
    "context_chunks": "context",
}
_CHUNK_KEYS = frozenset(Chunk.__struct_fields__)
T = TypeVar("T")


def decode(body: bytes) -> Any:
    """Return the JSON value of a reply. Raises CallError: protocol where it is no JSON, schema where it is too deep."""
    try:
        value = msgspec.json.decode(body)
    except RecursionError:
        raise CallError("schema", f"nested too deep (expected {MAX_DEPTH} levels at most)") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        begin = body[:60].decode("utf-8", "backslashreplace")
        raise CallError("protocol", f"not JSON: {error} (got {shown(begin)})") from None
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise CallError("schema", f"nested too deep (expected {MAX_DEPTH} levels at most)")
    return value


def read_reply(value: Any, call: Call, response: Response) -> Observation:
    """Return the observation that a reply stands for; its identity is always that of the call.

    A text is an answer, a list is a ranking, an object is an Observation (or its fields under the [001] names) unless
    `response` says where its parts are. Raises CallError with code schema, id_mismatch or target_error.
    """
    if isinstance(value, Observation):
        observation = value
    elif response.answer is not None or response.stages:
        observation = _mapped(value, call, response)
    else:
        observation = _native(value, call, response)
    _check_identity(observation, call.case)
    return _only(_under_keys(observation, response.key), call)


def _only(observation: Observation, call: Call) -> Observation:
    """Keep what the operation is about: a search has rankings and no answer."""
    if observation.error is not None:
        raise CallError("target_error", f"{observation.error.code}: {observation.error.message}")
    if call.operation == "ask":
        if observation.answer is UNSET and observation.stages is None:
            raise CallError("schema", "the reply holds neither an answer nor stages")
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


# ── a reply in our own words ─────────────────────────────────────────────────────────────────────────────────────


def _native(value: Any, call: Call, response: Response) -> Observation:
    if isinstance(value, str) and call.operation == "ask":
        return Observation(call.case.id, answer=value)
    if isinstance(value, list):
        value = {"results": value}
    if not isinstance(value, Mapping):
        raise CallError("schema", f"not an object, a list or a text (got {shown(value)})")
    row = {str(key): item for key, item in value.items()}
    said = row.pop("query_id", None)
    row.setdefault("case_id", call.case.id if said is None else said)
    stages = row.pop("stages", None)
    found = [_native_stage(stage, response) for stage in stages] if isinstance(stages, list) else None
    for key, name in _STAGE_KEYS.items():
        if row.get(key) is not None and name not in {stage.name for stage in found or ()}:
            found = [*(found or ()), Stage(name, _chunks(row.pop(key), response, native=True))]
    row["citations"] = _citations(row.get("citations"), response)
    if isinstance(row.get("error"), str):
        row["error"] = TargetError("error", row["error"])
    for key in ("error", "usage"):
        if row.get(key) is None:
            row.pop(key, None)
    observation = _convert({key: item for key, item in row.items() if key in _FIELDS}, Observation)
    if stages is not None and found is None:
        raise CallError("schema", f"stages: not a list (got {shown(stages)})")
    return structs.replace(observation, stages=None if found is None else tuple(found))


_FIELDS = frozenset(Observation.__struct_fields__)


def _native_stage(stage: Any, response: Response) -> Stage:
    if isinstance(stage, Stage):
        return stage
    if not isinstance(stage, Mapping) or not isinstance(stage.get("name"), str):
        raise CallError("schema", f"stages: not a stage (got {shown(stage)}; expected name and chunks)")
    chunks = _chunks(stage.get("chunks"), response, native=True)
    return Stage(stage["name"], chunks, _latency(stage.get("latency_ms")))


def _latency(value: Any) -> float | None:
    return None if value is None else _convert(value, float)


# ── a reply mapped by configuration ──────────────────────────────────────────────────────────────────────────────


def _mapped(value: Any, call: Call, response: Response) -> Observation:
    stages = [
        Stage(name, _chunks(found, response))
        for name, path in response.stages.items()
        if (found := _optional(value, path)) is not None
    ]
    answer: Any = UNSET
    if response.answer is not None and call.operation == "ask":
        answer = _required(value, response.answer)
    usage = {name: found for name, path in response.usage.items() if (found := _optional(value, path)) is not None}
    versions = {name: _optional(value, path) for name, path in response.versions.items()}
    row = {
        "case_id": _optional(value, response.case_id) or call.case.id,
        "answer": answer,
        "behaviour": _optional(value, response.behaviour),
        "query_rewrite": _optional(value, response.query_rewrite),
        "citations": _citations(_optional(value, response.citations), response),
        "usage": _convert(usage, Usage) if usage else None,
        "versions": {name: str(version) for name, version in versions.items() if version is not None},
    }
    if response.stages and not stages and call.operation == "search":
        raise CallError("schema", f"no ranking at {', '.join(response.stages.values())} (got {_outline(value)})")
    row = {key: item for key, item in row.items() if item is not UNSET}
    return structs.replace(_convert(row, Observation), stages=tuple(stages) or None)


def _required(value: Any, path: str) -> Any:
    try:
        return find(value, path)
    except Missing as error:
        raise CallError("schema", str(error)) from None


def _optional(value: Any, path: str | None) -> Any:
    if path is None:
        return None
    try:
        return find(value, path)
    except Missing:
        return None


# ── chunks and their ids ─────────────────────────────────────────────────────────────────────────────────────────


def _chunks(items: Any, response: Response, *, native: bool = False) -> tuple[Chunk, ...]:
    if not isinstance(items, (list, tuple)):
        raise CallError("schema", f"a ranking that is not a list (got {shown(items)})")
    return tuple(_chunk(item, place, response, native) for place, item in enumerate(items))


def _chunk(item: Any, place: int, response: Response, native: bool) -> Chunk:
    if isinstance(item, Chunk):
        return item
    if isinstance(item, str):
        return Chunk(item)
    if not isinstance(item, Mapping):
        raise CallError("schema", f"chunk {place}: neither an object nor an id (got {shown(item)})")
    fields = response.chunk
    row = _native_chunk(item) if native and fields == ChunkFields() else _mapped_chunk(item, fields)
    if response.key is not None:
        row.setdefault("chunk_id", "")
    if row.get("chunk_id") is None:
        raise CallError("schema", f"chunk {place}: no id (got {_outline(item)}; expected {fields.id})")
    return _convert(row, Chunk)


def _native_chunk(item: Mapping[Any, Any]) -> dict[str, Any]:
    """Take a chunk's own fields; everything else that it says is metadata."""
    row = {key: item[key] for key in _CHUNK_KEYS if key in item}
    extra = {str(key): value for key, value in item.items() if key not in _CHUNK_KEYS}
    if extra:
        row["metadata"] = extra | (row.get("metadata") or {})
    return row


def _mapped_chunk(item: Mapping[Any, Any], fields: ChunkFields) -> dict[str, Any]:
    whole = dict(item)
    found = {
        "chunk_id": _optional(whole, fields.id),
        "text": _optional(whole, fields.text),
        "score": _optional(whole, fields.score),
        "text_hash": _optional(whole, fields.text_hash),
        "metadata": {name: _optional(whole, path) for name, path in fields.metadata.items()} or None,
    }
    if isinstance(found["chunk_id"], int):
        found["chunk_id"] = str(found["chunk_id"])
    return {key: value for key, value in found.items() if value is not None}


def _keyed(chunk: Chunk, key: str | None) -> Chunk:
    """Return the chunk under its stable key: the values of the named fields, joined with colons."""
    if key is None:
        return chunk
    metadata = chunk.metadata or {}
    values = [metadata.get(name, chunk.chunk_id if name == "chunk_id" else None) for name in key.split("+")]
    if any(value in (None, "") or isinstance(value, (list, dict)) for value in values):
        raise CallError("schema", f"a chunk without {key} (got {_outline(metadata)})")
    return structs.replace(chunk, chunk_id=":".join(map(str, values)))


def _under_keys(observation: Observation, key: str | None) -> Observation:
    """Return the observation with its chunks, and the citations of them, under their stable keys."""
    if key is None or observation.stages is None:
        return observation
    names: dict[str, str] = {}
    stages = []
    for stage in observation.stages:
        chunks = tuple(_keyed(chunk, key) for chunk in stage.chunks)
        names |= {old.chunk_id: new.chunk_id for old, new in zip(stage.chunks, chunks, strict=True)}
        stages.append(structs.replace(stage, chunks=chunks))
    cited = observation.citations and tuple(names.get(each, each) for each in observation.citations)
    return structs.replace(observation, stages=tuple(stages), citations=cited)


def _citations(found: Any, response: Response) -> list[str] | None:
    if found is None:
        return None
    if not isinstance(found, (list, tuple)):
        raise CallError("schema", f"citations: not a list (got {shown(found)})")
    native = not (response.answer or response.stages)
    return [
        item if isinstance(item, str) else _keyed(_chunk(item, place, response, native), response.key).chunk_id
        for place, item in enumerate(found)
    ]


# ── checks ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _check_identity(observation: Observation, case: Case) -> None:
    if observation.case_id != case.id:
        message = f"answered another case (got {shown(observation.case_id)}; expected {shown(case.id)})"
        raise CallError("id_mismatch", message)
    said = observation.question
    if said is not None and _plain(said) != _plain(case.question):
        raise CallError(
            "id_mismatch", f"answered another question (got {shown(said)}; expected {shown(case.question)})"
        )


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _convert(value: Any, record: type[T]) -> T:
    try:
        return msgspec.convert(value, record)
    except msgspec.ValidationError as error:
        raise CallError("schema", str(error)) from None


def _outline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "the keys " + ", ".join(sorted(map(str, value))[:12])
    return shown(value, 60)


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            item
            for each in level
            if isinstance(each, (dict, list))
            for item in (each.values() if isinstance(each, dict) else each)
        ]
    return depth
