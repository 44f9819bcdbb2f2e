"""Observations: what a target returned for one case, its stages, and the rankings in them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain
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


class StageRanking(Struct, gc=False):
    """One ranking: its stage, the chunk ids in rank order, and the same ids as a set."""

    stage: Stage
    ids: list[str]
    distinct: set[str]


class StageRankings:
    """The rankings of one stage. `rows` have one, in rising order (twice, where an observation gives the stage twice);
    `chunks` and `ids` hold them end to end, `ends` says where each of them ends, and `ranked` has each by its row.

    `has_ascii_ids`: all ids are ASCII; `has_no_metadata`: no chunk carries metadata.
    """

    __slots__ = ("chunks", "ends", "has_ascii_ids", "has_no_metadata", "ids", "name", "ranked", "rows", "sizes")

    def __init__(self, name: str, rows: list[int], stages: list[Stage]) -> None:
        self.name, self.rows = name, rows
        self.sizes = [len(stage.chunks) for stage in stages]
        self.ends = list(accumulate(self.sizes))
        self.chunks = list(chain.from_iterable([stage.chunks for stage in stages]))
        self.ids = ids = [chunk.chunk_id for chunk in self.chunks]
        self.has_ascii_ids = "".join(ids).isascii()
        self.has_no_metadata = [chunk.metadata for chunk in self.chunks].count(None) == len(ids)
        id_lists = [ids[end - size : end] for size, end in zip(self.sizes, self.ends, strict=True)]
        self.ranked = dict(zip(rows, map(StageRanking, stages, id_lists, map(set, id_lists)), strict=True))


def group_rankings(observations: Sequence[Observation]) -> dict[str, StageRankings]:
    """Return the rankings of some observations, numbered from 0, by the name of their stage."""
    stages_by_name: dict[str, tuple[list[int], list[Stage]]] = {}
    for row, observation in enumerate(observations):
        for stage in observation.stages or ():
            rows, stages = stages_by_name.get(stage.name) or stages_by_name.setdefault(stage.name, ([], []))
            rows.append(row)
            stages.append(stage)
    return {name: StageRankings(name, rows, stages) for name, (rows, stages) in stages_by_name.items()}
