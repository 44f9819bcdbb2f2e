"""`rag-trace` ([001]): one JSON object a line with the chunks of each stage, answer, citations, latency."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import UNSET, Struct, UnsetType

from assay.model import Behaviour, Chunk, Count, NonNegative, Observation, Stage, TargetError, ToolCall, Usage


class Tokens(Struct, frozen=True):
    """Tokens as the trace reports them."""

    prompt: Count | None = None
    completion: Count | None = None
    context: Count | None = None


class RagTrace(Struct, frozen=True):
    """The line as it is written; absent and null lists both mean "not reported"."""

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
    latency_ms: dict[str, NonNegative] | None = None
    tokens: Tokens | None = None
    cost_usd: NonNegative | None = None
    versions: dict[str, str] | None = None
    tool_calls: tuple[ToolCall, ...] | Count | None = None
    error: TargetError | str | None = None
    repeat: Count = 0
    metadata: dict[str, Any] | None = None


def _chunks(items: tuple[Chunk | str, ...]) -> tuple[Chunk, ...]:
    if str not in map(type, items):
        return cast("tuple[Chunk, ...]", items)
    return tuple(Chunk(item) if isinstance(item, str) else item for item in items)


def _named_within(chunks: tuple[Chunk, ...]) -> list[Stage]:
    """Return one stage for each `stage` value, where the items of one list name several (DECISIONS 6)."""
    if len({chunk.stage for chunk in chunks}) < 2:
        return []
    names = dict.fromkeys(chunk.stage for chunk in chunks if chunk.stage is not None)
    return [Stage(name, tuple(chunk for chunk in chunks if chunk.stage == name)) for name in names]


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
    stage_ms, tokens = line.latency_ms, line.tokens
    if stage_ms is None and tokens is None and line.cost_usd is None:
        return None
    if stage_ms is None:
        stage_ms = {}
    elif "_ms" in "".join(stage_ms):
        stage_ms = {name.removesuffix("_ms"): value for name, value in stage_ms.items()}
    end_to_end = stage_ms.pop("end_to_end", None)
    if tokens is None:
        return Usage(end_to_end, stage_ms, cost_usd=line.cost_usd)
    return Usage(end_to_end, stage_ms, tokens.prompt, tokens.completion, tokens.context, line.cost_usd)


def to_observation(line: RagTrace) -> Observation:
    """Return the line as an `Observation`: stages `retrieved`, `reranked`, `context`, and those named inside a list."""
    stages = _stages(line)
    return Observation(
        line.query_id,
        line.config_id or "unknown",
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
        line.versions or {},
        TargetError("target", line.error) if isinstance(line.error, str) else line.error,
    )


_DECODER = msgspec.json.Decoder(RagTrace)


def decode(line: bytes) -> Observation:
    """Decode one line. Raises msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError or RecursionError."""
    return to_observation(_DECODER.decode(line))
