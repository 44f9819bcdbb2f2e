"""Format `rag-trace` (ADR 0038): one JSON object per line with the chunks of each stage, answer, citations, latency."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, cast

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import fields, replace

from assay.formats.strict_json import LateDecoder
from assay.records.golden_set import Behaviour, Count, NonNegative
from assay.records.observations import Chunk, Observation, Stage, TargetError, ToolCall, Usage
from assay.text.pattern_cache import compile_pattern

STAGE_MEMBERS = {"retrieved": "retrieved_chunks", "reranked": "reranked_chunks", "context": "context_chunks"}
"""The member that holds each stage."""


class TraceTokens(Struct, frozen=True):
    """Token counts as the trace reports them."""

    prompt: Count | None = None
    completion: Count | None = None
    context: Count | None = None


class RagTraceRow(Struct, frozen=True):
    """One line. A member that is absent or null was not reported; but a null `answer` means that answering failed."""

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
    tokens: TraceTokens | None = None
    cost_usd: NonNegative | None = None
    versions: dict[str, str | None] | None = None
    tool_calls: tuple[ToolCall, ...] | Count | None = None
    error: TargetError | str | None = None
    repeat: Count = 0
    metadata: dict[str, Any] | None = None


_LINE = LateDecoder(RagTraceRow)

# Most lines have objects for chunks and the same versions as the line before. This decoder is faster for those: it
# accepts no line that `_LINE` would refuse, and lines that it refuses are decoded by `_LINE`.
_FAST_TYPES: dict[str, Any] = dict.fromkeys(STAGE_MEMBERS.values(), tuple[Chunk, ...] | None) | {
    "versions": msgspec.Raw
}
_FAST_LINE = cast(
    "msgspec.json.Decoder[RagTraceRow]",
    msgspec.json.Decoder(
        msgspec.defstruct(
            "FastRagTrace",
            [
                (field.name, field.type)
                if field.required
                else (field.name, _FAST_TYPES.get(field.name, field.type), field.default)
                for field in fields(RagTraceRow)
            ],
            frozen=True,
        )
    ),
)


def decode_rag_trace(line: bytes) -> Observation:
    """Decode one line: stages `retrieved`, `reranked` and `context`, or those named inside `retrieved_chunks`.

    Raises msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError or ValueError.
    """
    try:
        fast = _FAST_LINE.decode(line)
        versions = {} if fast.versions is None else _read_versions(bytes(fast.versions))  # type: ignore[arg-type]
    except msgspec.ValidationError:
        full = _LINE.decode(line)
        lists = {name: _chunks(getattr(full, name)) for name in STAGE_MEMBERS.values()}
        return _make_observation(replace(full, **lists), _reported_versions(full.versions))
    return _make_observation(fast, versions)


def _make_observation(line: RagTraceRow, versions: dict[str, str]) -> Observation:
    """Return the line as an `Observation`; its chunks must be `Chunk` records."""
    retrieved, reranked, context = cast(
        "list[tuple[Chunk, ...] | None]", [line.retrieved_chunks, line.reranked_chunks, line.context_chunks]
    )
    stages: list[Stage] = []
    if retrieved is not None:
        if len({chunk.stage for chunk in retrieved}) > 1:
            stages += _split_by_stage(retrieved)
        if not stages or _is_one_ranking(retrieved):
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
        _make_usage(line),
        versions,
        TargetError("target", line.error) if isinstance(line.error, str) else line.error,
    )


def _chunks(items: tuple[Chunk | str, ...] | None) -> tuple[Chunk, ...] | None:
    return None if items is None else tuple([Chunk(item) if isinstance(item, str) else item for item in items])


_MERGED = compile_pattern(r"merge|fus(?:e|ion)|rrf|hybrid|ensemble|combine")


def _is_one_ranking(chunks: tuple[Chunk, ...]) -> bool:
    """Return whether a list of several stages is one ranking, whose chunks say where they come from.

    Its ranks count through the list, or some chunks name no stage. Otherwise each stage is a ranking of its own.
    """
    if any(chunk.stage is None for chunk in chunks):
        return True
    return all(chunk.rank == position for position, chunk in enumerate(chunks, 1))


def _split_by_stage(chunks: tuple[Chunk, ...]) -> list[Stage]:
    """Return one stage for each `stage` value of a list that merges several.

    The ranks are dropped: they may count in the merged list or within the stage, and the order of the list is kept.
    What merged the others comes last, so that it is what was retrieved.
    """
    listed_names = dict.fromkeys(chunk.stage for chunk in chunks if chunk.stage is not None)
    names = sorted(listed_names, key=lambda name: _MERGED.search(name.lower()) is not None)
    return [
        Stage(name, tuple([replace(chunk, rank=None) for chunk in chunks if chunk.stage == name])) for name in names
    ]


def _make_usage(line: RagTraceRow) -> Usage | None:
    latency, tokens = line.latency_ms, line.tokens
    if latency is None and tokens is None and line.cost_usd is None:
        return None
    steps = _timed_steps(latency) if latency else {}
    end_to_end = steps.pop("end_to_end", None)
    if tokens is None:
        return Usage(end_to_end, steps, cost_usd=line.cost_usd)
    return Usage(end_to_end, steps, tokens.prompt, tokens.completion, tokens.context, line.cost_usd)


def _timed_steps(latency: dict[str, float | None]) -> dict[str, float]:
    """Return the milliseconds of each step that was timed; `embed` and `embed_ms` are the same step."""
    timed = latency
    if None in latency.values():
        timed = {name: value for name, value in latency.items() if value is not None}
    names = _step_names(tuple(timed))
    if names is None:
        return cast("dict[str, float]", timed)
    steps = dict(zip(names, cast("Iterable[float]", timed.values()), strict=True))
    if len(steps) < len(timed):
        raise ValueError(f"latency_ms: a step is given with and without _ms (got {', '.join(latency)})")
    return steps


@lru_cache(maxsize=256)
def _step_names(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the names without the ending `_ms`, None if no name has it."""
    short = tuple([name.removesuffix("_ms") for name in names])
    return None if short == names else short


def _reported_versions(versions: dict[str, str | None] | None) -> dict[str, str]:
    return {name: version for name, version in (versions or {}).items() if version is not None}


_VERSIONS = msgspec.json.Decoder(dict[str, str | None] | None)


@lru_cache(maxsize=256)
def _read_versions(text: bytes) -> dict[str, str]:
    return _reported_versions(_VERSIONS.decode(text))
