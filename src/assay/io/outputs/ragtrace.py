"""`rag-trace` ([001]): one JSON object a line with the chunks of each stage, answer, citations, latency."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

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


def _chunks(items: tuple[Chunk | str, ...]) -> tuple[Chunk, ...]:
    if str not in map(type, items):
        return cast("tuple[Chunk, ...]", items)
    return tuple(Chunk(item) if isinstance(item, str) else item for item in items)


def _named_within(chunks: tuple[Chunk, ...]) -> list[Stage]:
    """Return one stage for each `stage` value, where the items of one list name several (DECISIONS 6).

    Their ranks were checked in the list that merges them, and count there or within the stage: the order is what stays.
    """
    if len({chunk.stage for chunk in chunks}) < 2:
        return []
    names = dict.fromkeys(chunk.stage for chunk in chunks if chunk.stage is not None)
    return [
        Stage(name, tuple([replace(chunk, rank=None) for chunk in chunks if chunk.stage == name])) for name in names
    ]


def _stages(line: RagTrace) -> list[Stage]:
    stages: list[Stage] = []
    if line.retrieved_chunks is not None:
        chunks = _chunks(line.retrieved_chunks)
        stages = _named_within(chunks)
        stages.append(Stage("retrieved", chunks))
    if line.reranked_chunks is not None:
        stages.append(Stage("reranked", _chunks(line.reranked_chunks)))
    if line.context_chunks is not None:
        stages.append(Stage("context", _chunks(line.context_chunks)))
    return stages


def _usage(line: RagTrace) -> Usage | None:
    stage_ms, tokens = _steps(line.latency_ms), line.tokens
    if line.latency_ms is None and tokens is None and line.cost_usd is None:
        return None
    end_to_end = stage_ms.pop("end_to_end", None)
    if tokens is None:
        return Usage(end_to_end, stage_ms, cost_usd=line.cost_usd)
    return Usage(end_to_end, stage_ms, tokens.prompt, tokens.completion, tokens.context, line.cost_usd)


def _steps(latency: dict[str, float | None] | None) -> dict[str, float]:
    """Return the steps that were timed; `embed` and `embed_ms` are the same one."""
    if latency is None:
        return {}
    steps = {name.removesuffix("_ms"): value for name, value in latency.items() if value is not None}
    if len(steps) < len(latency) - list(latency.values()).count(None):
        raise ValueError(f"latency_ms: a step is given with and without _ms (got {', '.join(latency)})")
    return steps


def _known(versions: dict[str, str | None] | None) -> dict[str, str]:
    if versions is None:
        return {}
    if None in versions.values():
        return {name: version for name, version in versions.items() if version is not None}
    return cast("dict[str, str]", versions)


def to_observation(line: RagTrace) -> Observation:
    """Return the line as an `Observation`: stages `retrieved`, `reranked`, `context`, and those named inside a list."""
    stages = _stages(line)
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
        _known(line.versions),
        TargetError("target", line.error) if isinstance(line.error, str) else line.error,
    )


_DECODER = msgspec.json.Decoder(RagTrace)


def decode(line: bytes) -> Observation:
    """Decode one line. Raises msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError or RecursionError."""
    return to_observation(_DECODER.decode(line))
