"""Observations: what a target returned for one case, its stages, and the rankings in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, chain
from typing import Any

from msgspec import UNSET, Struct, UnsetType, json, structs

from assay.records.golden_set import Behaviour, CorpusChunk, Count, NonNegative, Position

# ── what was observed ────────────────────────────────────────────────────────────────────────────────────────────


UNNAMED_CONFIG = "unknown"
"""The configuration of outputs that name none."""
TEXT_ID_PREFIX = "text:sha256:"
"""Begins the id of a chunk that the target reported without one: it is made from the chunk's text."""


class Chunk(Struct, frozen=True, omit_defaults=True, gc=False):
    """One retrieved chunk as the target reported it; its position in the list is its rank."""

    chunk_id: str
    score: float | None = None
    rank: Position | None = None
    stage: str | None = None
    text: str | None = None
    text_hash: str | None = None
    metadata: dict[str, Any] | None = None


def is_text_id(chunk_id: str) -> bool:
    """Return whether an id was made from the text of a chunk, because the target reported none."""
    return chunk_id.startswith(TEXT_ID_PREFIX)


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
    """One tool call that the target made while answering.

    `result`: what the tool returned and the model was shown, a text or JSON; None if it is not reported.
    """

    name: str
    arguments: dict[str, Any] = {}
    error: str | None = None
    latency_ms: NonNegative | None = None
    result: Any = None

    @property
    def result_text(self) -> str | None:
        """The result as text: JSON on one line, unless it is a text itself; None if none is reported.

        >>> ToolCall("leave", result={"days": 12}).result_text
        '{"days":12}'
        """
        if self.result is None or isinstance(self.result, str):
            return self.result
        return json.encode(self.result).decode()


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


class FailedAttempt(Struct, frozen=True, omit_defaults=True):
    """A call that failed and was made again: why, and after how long."""

    code: str
    message: str = ""
    elapsed_ms: NonNegative | None = None


_SELF_EXPLAINING_CODES = ("exception", "schema", "http_")


def describe_target_error(error: TargetError) -> str:
    """Return an error as one line: its message, after its code unless the message says as much without it.

    >>> describe_target_error(TargetError("exception", "KeyError: 'API_KEY'"))
    "KeyError: 'API_KEY'"
    >>> describe_target_error(TargetError("timeout", "no reply within 30 s"))
    'timeout: no reply within 30 s'
    """
    message = " ".join(error.message.split())
    if message and error.code.startswith(_SELF_EXPLAINING_CODES):
        return message
    return f"{error.code}: {message}" if message else error.code


UNNAMED_CONFIG = "unknown"
"""The configuration of observations that name none."""


class Observation(Struct, frozen=True, omit_defaults=True):
    """What the target did with one case.

    An absent `answer` means that the target was not asked for one; null means that it failed to give one.
    `failed_attempts` are the calls before the last one, each of which failed; None where that was not recorded.
    """

    case_id: str
    config_id: str = UNNAMED_CONFIG
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
    failed_attempts: tuple[FailedAttempt, ...] | None = None


def list_tool_results(observation: Observation) -> dict[str, str]:
    """Return the results of tools that the target reports, by the name of the call, which no chunk has.

    >>> list_tool_results(Observation("q", tool_calls=(ToolCall("leave", result="12"), ToolCall("log"))))
    {'tool call 1': '12'}
    """
    calls = observation.tool_calls if isinstance(observation.tool_calls, tuple) else ()
    results = {f"tool call {number}": call.result_text for number, call in enumerate(calls, 1)}
    return {name: text for name, text in results.items() if text}


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


_IDENTITY = ("document", "version", "section", "page", "tenant", "tenant_id", "index_version")
"""What the metadata of a chunk may say of which text it is: two chunks of one id that differ in it are two."""


def complete_texts(
    chunks: Sequence[Chunk], observation: Observation, known: Mapping[str, CorpusChunk]
) -> Sequence[Chunk]:
    """Return chunks of an observation with their texts: one without text has that which another stage reports under the
    same id, unless a corpus has one (`known`), which nobody shortened.

    Many systems report texts once, in their results or in their context. Of several the longest is meant if it contains
    the others; where it does not, the id names a document or what changed, and the text stays unknown.
    """
    lacking = {chunk.chunk_id for chunk in chunks if chunk.text is None and not _has_text(known.get(chunk.chunk_id))}
    if not lacking:
        return chunks
    reported: dict[str, list[Chunk]] = {}
    for stage in observation.stages or ():
        for chunk in stage.chunks:
            if chunk.text and chunk.chunk_id in lacking:
                reported.setdefault(chunk.chunk_id, []).append(chunk)
    return [
        structs.replace(chunk, text=_find_text(chunk, reported[chunk.chunk_id]))
        if chunk.text is None and chunk.chunk_id in reported
        else chunk
        for chunk in chunks
    ]


def _has_text(chunk: CorpusChunk | None) -> bool:
    return chunk is not None and chunk.text is not None


def _find_text(chunk: Chunk, namesakes: Sequence[Chunk]) -> str | None:
    texts = {other.text for other in namesakes if other.text and not _is_other_chunk(chunk, other)}
    longest = max(sorted(texts), key=len, default=None)
    if longest is None or len(texts) == 1:
        return longest
    whole = " ".join(longest.split())
    return longest if all(" ".join(text.split()).strip("….") in whole for text in texts) else None


def _is_other_chunk(chunk: Chunk, other: Chunk) -> bool:
    """Return whether what is reported of two chunks of one id tells that they are two."""
    if chunk.text_hash is not None and other.text_hash is not None and chunk.text_hash != other.text_hash:
        return True
    own, others = chunk.metadata or {}, other.metadata or {}
    return any(name in own and name in others and own[name] != others[name] for name in _IDENTITY)


def reports_nothing(observation: Observation) -> bool:
    """Return whether an observation reports nothing that the system did or showed, nor why it failed."""
    reported = (observation.stages, observation.behaviour, observation.citations, observation.sentences)
    is_silent = observation.tool_calls is None and observation.error is None
    return is_silent and observation.answer is UNSET and all(part is None for part in reported)


NO_ANSWER_REASON = "no answer was asked for"
"""Why metrics of answers do not apply to an observation without an answer, a behaviour or an error."""


def describe_unreported_stage(name: str) -> str:
    """Return the reason why a metric of a stage does not apply: it was not reported; for the context, with a remedy.

    >>> describe_unreported_stage("retrieved")
    'stage retrieved not reported'
    """
    reason = f"stage {name} not reported"
    if name != CONTEXT_STAGE:
        return reason
    remedy = "name it contexts in recorded rows, or set context: retrieved for a target"
    return f"{reason} (if the model is shown what is retrieved, {remedy})"


def add_context_stage(observation: Observation, name: str) -> Observation:
    """Return the observation with the stage `name` as its context too, unless it reports a context or no such stage."""
    shown = find_stage(observation, name)
    if shown is None or find_stage(observation, CONTEXT_STAGE) is not None:
        return observation
    return structs.replace(observation, stages=(*(observation.stages or ()), Stage(CONTEXT_STAGE, shown.chunks)))


NULL_ANSWER = "null_answer"


class StageRanking(Struct, gc=False):
    """One ranking: its stage, the chunk ids in rank order, and the same ids as a set.

    `has_text_ids`: a chunk was reported without an id, and has one made from its text.
    """

    stage: Stage
    ids: list[str]
    distinct: set[str]
    has_text_ids: bool = False


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
        joined_ids = "".join(ids)
        self.has_ascii_ids = joined_ids.isascii()
        self.has_no_metadata = [chunk.metadata for chunk in self.chunks].count(None) == len(ids)
        id_lists = [ids[end - size : end] for size, end in zip(self.sizes, self.ends, strict=True)]
        if TEXT_ID_PREFIX in joined_ids:
            has_text_ids = [any(map(is_text_id, chunk_ids)) for chunk_ids in id_lists]
        else:
            has_text_ids = [False] * len(stages)
        rankings = map(StageRanking, stages, id_lists, map(set, id_lists), has_text_ids)
        self.ranked = dict(zip(rows, rankings, strict=True))


def group_rankings(observations: Sequence[Observation]) -> dict[str, StageRankings]:
    """Return the rankings of some observations, numbered from 0, by the name of their stage."""
    stages_by_name: dict[str, tuple[list[int], list[Stage]]] = {}
    for row, observation in enumerate(observations):
        for stage in observation.stages or ():
            rows, stages = stages_by_name.get(stage.name) or stages_by_name.setdefault(stage.name, ([], []))
            rows.append(row)
            stages.append(stage)
    return {name: StageRankings(name, rows, stages) for name, (rows, stages) in stages_by_name.items()}
