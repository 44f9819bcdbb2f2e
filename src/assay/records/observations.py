"""Which of an observation's stages a metric means by `stage=…`."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from assay.records.golden_set import Behaviour, Count, NonNegative, Position

# ── what was observed ────────────────────────────────────────────────────────────────────────────────────────────


class Chunk(Struct, frozen=True, omit_defaults=True, gc=False):
    """One retrieved chunk as the target reported it; its position in the list is its rank."""

    chunk_id: str
    score: float | None = None
    rank: Position | None = None
    stage: str | None = None
    text: str | None = None
    text_hash: str | None = None
    metadata: dict[str, Any] | None = None


class Stage(Struct, frozen=True, omit_defaults=True):
    """The chunks that one step of the pipeline returned, in rank order."""

    name: str
    chunks: tuple[Chunk, ...]
    latency_ms: NonNegative | None = None


class Sentence(Struct, frozen=True, omit_defaults=True):
    """One sentence of the answer with the ids it cites, for targets that report citations sentence by sentence."""

    text: str
    citations: tuple[str, ...] = ()


class ToolCall(Struct, frozen=True, omit_defaults=True):
    """One tool call that the target made while answering."""

    name: str
    arguments: dict[str, Any] = {}
    error: str | None = None
    latency_ms: NonNegative | None = None


class Usage(Struct, frozen=True, omit_defaults=True):
    """Latency, tokens and cost of one observation, without those of the judge.

    `stage_ms` holds the latency of steps that are not retrieval stages (embedding, generation, …).
    """

    end_to_end_ms: NonNegative | None = None
    stage_ms: dict[str, NonNegative] = {}
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    context_tokens: Count | None = None
    cost_usd: NonNegative | None = None


class TargetError(Struct, frozen=True, omit_defaults=True):
    """Why the target returned no observation, or only part of one."""

    code: str
    message: str = ""


class Observation(Struct, frozen=True, omit_defaults=True):
    """What the target did with one case.

    An absent `answer` means that the target was not asked for one; null means that it failed to give one.
    """

    case_id: str
    config_id: str = "unknown"
    repeat: Count = 0
    question: str | None = None
    query_rewrite: str | None = None
    stages: tuple[Stage, ...] | None = None
    answer: str | UnsetType | None = UNSET
    behaviour: Behaviour | None = None
    citations: tuple[str, ...] | None = None
    sentences: tuple[Sentence, ...] | None = None
    tool_calls: tuple[ToolCall, ...] | Count | None = None
    usage: Usage | None = None
    versions: dict[str, str] = {}
    error: TargetError | None = None


CONTEXT_STAGE = "context"
RETRIEVED_STAGE = "retrieved"
FINAL_STAGE = "final"
_AFTER_RETRIEVAL = ("rerank", CONTEXT_STAGE)


def find_stage(observation: Observation, name: str) -> Stage | None:
    """Return the stage of that name, None where the target did not report it.

    `retrieved` is the stage so named, else the last before reranking and context; `final` is the last ranking before
    the context; `context` is what the model was shown (ADR 0008).
    """
    stages = observation.stages
    if stages is None:
        return None
    for stage in stages:
        if stage.name == name:
            return stage
    if name == RETRIEVED_STAGE:
        before: Stage | None = None
        for stage in stages:
            if stage.name.startswith(_AFTER_RETRIEVAL):
                break
            before = stage
        return before
    if name == FINAL_STAGE:
        rankings = [stage for stage in stages if stage.name != CONTEXT_STAGE]
        return rankings[-1] if rankings else None
    return None


NULL_ANSWER = "null_answer"
