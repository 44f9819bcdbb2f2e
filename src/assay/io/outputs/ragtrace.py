"""`rag-trace` ([001]): one JSON object a line with the chunks of each stage, answer, citations, latency."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, cast

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import fields, replace

from assay.model import Behaviour, Chunk, Count, NonNegative, Observation, Stage, TargetError, ToolCall, Usage

LISTS = {"retrieved": "retrieved_chunks", "reranked": "reranked_chunks", "context": "context_chunks"}
"""The member that holds each stage."""


class Tokens(Struct, frozen=True):
    """Tokens as the trace reports them."""

    prompt: Count | None = None
    completion: Count | None = None
    context: Count | None = None


class RagTrace(Struct, frozen=True):
    """The line as it is written; what is absent or null was not reported, except a null answer: it failed."""

    query_id: str
    config_id: str | None = None
    question: str | None = None
    query_rewrite: str | None = None
    retrieved_chunks: tuple[Chunk | str, ...] | None = None
    reranked_chunks: tuple[Chunk | str, ...] | None = None
    context_chunks: tuple[Chunk | str, ...] | None = None
    answer: str | UnsetType | None = UNSET
    citations: tuple[str, ...] | None = None
    expected_behavior_observed: Behaviour | None = None
    latency_ms: dict[str, NonNegative | None] | None = None
    tokens: Tokens | None = None
    cost_usd: NonNegative | None = None
    versions: dict[str, str | None] | None = None
    tool_calls: tuple[ToolCall, ...] | Count | None = None
    error: TargetError | str | None = None
    repeat: Count = 0
    metadata: dict[str, Any] | None = None


_LINE = msgspec.json.Decoder(RagTrace)

# Most lines have objects for chunks and the versions of the line before. A quicker decoder is written for those; it
# takes no line that `_LINE` would refuse, and a line that it does not take is left to `_LINE`.
_QUICK: dict[str, Any] = dict.fromkeys(LISTS.values(), tuple[Chunk, ...] | None) | {"versions": msgspec.Raw}
_QUICK_LINE = cast(
    "msgspec.json.Decoder[RagTrace]",
    msgspec.json.Decoder(
        msgspec.defstruct(
            "QuickRagTrace",
            [
                (each.name, each.type) if each.required else (each.name, _QUICK.get(each.name, each.type), each.default)
                for each in fields(RagTrace)
            ],
            frozen=True,
        )
    ),
)


def decode(line: bytes) -> Observation:
    """Decode one line: stages `retrieved`, `reranked` and `context`, and those named inside `retrieved_chunks`.

    Raises msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError or ValueError.
    """
    try:
        quick = _QUICK_LINE.decode(line)
        versions = {} if quick.versions is None else _read_versions(bytes(quick.versions))  # type: ignore[arg-type]
    except msgspec.ValidationError:
        full = _LINE.decode(line)
        lists = {name: _chunks(getattr(full, name)) for name in LISTS.values()}
        return _observation(replace(full, **lists), _known(full.versions))
    return _observation(quick, versions)


def _observation(line: RagTrace, versions: dict[str, str]) -> Observation:
    """Return the line as an `Observation`; its chunks are no longer strings."""
    retrieved, reranked, context = cast(
        "list[tuple[Chunk, ...] | None]", [line.retrieved_chunks, line.reranked_chunks, line.context_chunks]
    )
    stages: list[Stage] = []
    if retrieved is not None:
        if len({chunk.stage for chunk in retrieved}) > 1:
            stages += _named_within(retrieved)
        stages.append(Stage("retrieved", retrieved))
    if reranked is not None:
        stages.append(Stage("reranked", reranked))
    if context is not None:
        stages.append(Stage("context", context))
    return Observation(
        line.query_id,
        "unknown" if line.config_id is None else line.config_id,
        line.repeat,
        line.question,
        line.query_rewrite,
        tuple(stages) if stages else None,
        line.answer,
        line.expected_behavior_observed,
        line.citations,
        None,
        line.tool_calls,
        _usage(line),
        versions,
        TargetError("target", line.error) if isinstance(line.error, str) else line.error,
    )


def _chunks(items: tuple[Chunk | str, ...] | None) -> tuple[Chunk, ...] | None:
    return None if items is None else tuple([Chunk(item) if isinstance(item, str) else item for item in items])


def _named_within(chunks: tuple[Chunk, ...]) -> list[Stage]:
    """Return one stage for each `stage` value, where the items of one list name several (DECISIONS 6).

    Their ranks were checked in the list that merges them, and count there or within the stage: the order is what stays.
    """
    names = dict.fromkeys(chunk.stage for chunk in chunks if chunk.stage is not None)
    return [
        Stage(name, tuple([replace(chunk, rank=None) for chunk in chunks if chunk.stage == name])) for name in names
    ]


def _usage(line: RagTrace) -> Usage | None:
    latency, tokens = line.latency_ms, line.tokens
    if latency is None and tokens is None and line.cost_usd is None:
        return None
    steps = _steps(latency) if latency else {}
    end_to_end = steps.pop("end_to_end", None)
    if tokens is None:
        return Usage(end_to_end, steps, cost_usd=line.cost_usd)
    return Usage(end_to_end, steps, tokens.prompt, tokens.completion, tokens.context, line.cost_usd)


def _steps(latency: dict[str, float | None]) -> dict[str, float]:
    """Return the steps that were timed; `embed` and `embed_ms` are the same one."""
    known = latency
    if None in latency.values():
        known = {name: value for name, value in latency.items() if value is not None}
    names = _step_names(tuple(known))
    if names is None:
        return cast("dict[str, float]", known)
    steps = dict(zip(names, cast("Iterable[float]", known.values()), strict=True))
    if len(steps) < len(known):
        raise ValueError(f"latency_ms: a step is given with and without _ms (got {', '.join(latency)})")
    return steps


@lru_cache(maxsize=256)
def _step_names(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the names without `_ms`; None where none ends so."""
    short = tuple([name.removesuffix("_ms") for name in names])
    return None if short == names else short


def _known(versions: dict[str, str | None] | None) -> dict[str, str]:
    return {name: version for name, version in (versions or {}).items() if version is not None}


_VERSIONS = msgspec.json.Decoder(dict[str, str | None] | None)


@lru_cache(maxsize=256)
def _read_versions(text: bytes) -> dict[str, str]:
    return _known(_VERSIONS.decode(text))
