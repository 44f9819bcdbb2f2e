"""Traces evidence through the stages of one observation: its rank in each, and the first stage that lost it.

Determines which step lost one unit of evidence, from ranks alone.

A loss is attributed to a step only if the step could have done better, not if it received the evidence at too low a
rank.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from assay.metrics.case_index import CaseIndex
from assay.records.findings import CauseConfidence, EvidenceTrace, RootCause
from assay.records.golden_set import Evidence, Selector
from assay.records.observations import CONTEXT_STAGE, Observation, Stage
from assay.text.answer_matching import compute_lexical_rank

StepKind = Literal["lexical", "dense", "retriever", "merge", "rerank", "context"]
_KINDS: tuple[tuple[StepKind, re.Pattern[str]], ...] = (
    ("rerank", re.compile(r"re.?rank|cross.?encod|rescor")),
    ("merge", re.compile(r"merge|fus(?:e|ion)|rrf|hybrid|ensemble|combine")),
    ("lexical", re.compile(r"bm25|lexical|keyword|sparse|full.?text|fts|tf.?idf|splade")),
    ("dense", re.compile(r"dense|vector|embed|semantic|knn|\bann\b")),
)
_RESULT_NAMES = ("retrieved", "retrieval", "candidates", "results")
_SEARCH_CALL = "search"


class TraceStep(NamedTuple):
    """One stage with its kind; `unit_masks` holds, for each rank, the bit mask of the units that its chunk covers."""

    name: str
    kind: StepKind
    stage: Stage
    unit_masks: Sequence[int]

    def find_rank(self, unit: int) -> int | None:
        """Return the first rank (from 1) whose chunk covers a unit, or None."""
        bit = 1 << unit
        return next((rank for rank, mask in enumerate(self.unit_masks, 1) if mask & bit), None)

    @property
    def chunk_ids(self) -> list[str]:
        """The chunk ids in rank order."""
        return [chunk.chunk_id for chunk in self.stage.chunks]


def build_steps(case: CaseIndex, observation: Observation) -> tuple[TraceStep, ...]:
    """Return the stages that led to the answer, in order, with the kinds that their names indicate.

    The result of a separate search call is left out if the answer has stages of its own.
    """
    stages = observation.stages or ()
    answer_stages = [stage for stage in stages if stage.name != _SEARCH_CALL]
    steps: list[TraceStep] = []
    for stage in answer_stages or stages:
        units = [mask or 0 for mask in case.evidence.unit_masks(stage.chunks)]
        steps.append(TraceStep(stage.name, _find_kind(stage, steps), stage, units))
    return tuple(steps)


def _find_kind(stage: Stage, earlier_steps: Sequence[TraceStep]) -> StepKind:
    if stage.name == CONTEXT_STAGE:
        return "context"
    name = stage.name.lower()
    kind = _find_kind_by_name(name)
    chunk_stages = {chunk.stage for chunk in stage.chunks}
    if kind == "retriever" and len(chunk_stages) == 1:
        kind = _find_kind_by_name((chunk_stages.pop() or "").lower())  # all came from one search, which the chunks name
    if kind == "merge" and not earlier_steps:
        return "retriever"  # a search that reports only what it merged
    earlier_ids = {chunk_id for step in earlier_steps for chunk_id in step.chunk_ids}
    is_selection = len(earlier_steps) > 1 and all(chunk.chunk_id in earlier_ids for chunk in stage.chunks)
    return "merge" if name in _RESULT_NAMES and is_selection else kind


def _find_kind_by_name(name: str) -> StepKind:
    return next((kind for kind, pattern in _KINDS if pattern.search(name)), "retriever")


def get_searched_units(case: CaseIndex) -> tuple[Evidence, ...]:
    """Return the units of evidence that should be found, in the order of their bits; none if access is denied."""
    if case.denied:
        return ()
    return tuple(unit for unit in case.case.evidence if unit.grade > 0)


def format_selector(selector: Selector) -> str:
    """Return a selector as text: a single chunk id as it is, other fields as `key=value`."""
    if selector.keys() == {"chunk_id"}:
        return str(selector["chunk_id"])
    return " & ".join(f"{key}={value}" for key, value in sorted(selector.items()))


def trace_evidence(case: CaseIndex, steps: Sequence[TraceStep]) -> tuple[EvidenceTrace, ...]:
    """Return the trace of every unit of evidence through the steps."""
    traces = []
    for number, unit in enumerate(get_searched_units(case)):
        ranks: dict[str, int | None] = {}
        for step in steps:
            ranks.setdefault(step.name, step.find_rank(number))
        name = " or ".join(format_selector(selector) for selector in unit.any_of)
        traces.append(EvidenceTrace(number, name, unit.grade, unit.required, ranks, _find_losing_stage(steps, number)))
    return tuple(traces)


def _find_losing_stage(steps: Sequence[TraceStep], unit: int) -> str | None:
    """Return the first stage without the unit after the last that had it; parallel retrievers do not lose anything."""
    indices_with_unit = [index for index, step in enumerate(steps) if step.find_rank(unit) is not None]
    if not steps or (indices_with_unit and indices_with_unit[-1] == len(steps) - 1):
        return None
    if not indices_with_unit:
        return steps[0].name
    later_steps = steps[indices_with_unit[-1] + 1 :]
    return next((step.name for step in later_steps if step.kind in ("merge", "rerank", "context")), None)


DEFAULT_PRODUCTION_K = 5
"""The assumed number of chunks shown to the model if neither settings nor trace state it (ADR 0030)."""
NEAR = 5
"""The last rank at which a retriever counts as having found the evidence near the top."""
_RRF_CONSTANT = 60


class CauseFinding(NamedTuple):
    """A cause with the stage where it shows, the facts behind it, and other causes that would explain them."""

    cause: RootCause
    stage: str | None
    evidence: tuple[str, ...]
    confidence: CauseConfidence
    also: tuple[RootCause, ...] = ()


@dataclass(frozen=True, slots=True)
class LostEvidence:
    """A unit of evidence that did not reach the generator, with what is known about it.

    `text_of` returns the text of a chunk by its id, or None if it is unknown; `texts` are the texts of the unit.
    `production_k` is the number of chunks that the generator is usually shown, 0 if unknown.
    """

    unit: int
    name: str
    steps: tuple[TraceStep, ...]
    query: str
    texts: tuple[str, ...]
    text_of: Callable[[str], str | None]
    production_k: int = 0

    @property
    def retrievers(self) -> list[TraceStep]:
        """The steps that search the index."""
        return [step for step in self.steps if step.kind in ("lexical", "dense", "retriever")]

    def find_last_step(self, *kinds: StepKind) -> TraceStep | None:
        """Return the last step of these kinds."""
        return next((step for step in reversed(self.steps) if step.kind in kinds), None)

    @property
    def shown_count(self) -> int:
        """The number of chunks that the generator was shown; without a context stage, an assumed number."""
        context = self.find_last_step("context")
        return len(context.stage.chunks) if context is not None else self.last_shown_rank

    @property
    def last_shown_rank(self) -> int:
        """The last rank that should have been shown to the generator."""
        context = self.find_last_step("context")
        return max(self.production_k, len(context.stage.chunks) if context is not None else 0) or DEFAULT_PRODUCTION_K

    def find_rank(self, step: TraceStep | None) -> int | None:
        """Return the rank of the unit in a step, None if there is no such step or rank."""
        return step.find_rank(self.unit) if step is not None else None

    def describe_rank(self, step: TraceStep | None) -> str:
        """Return the rank of the unit in a step, in words."""
        rank = self.find_rank(step)
        return f"{self.name} has rank {rank}" if rank is not None else f"{self.name} is absent"


def find_lost_step(loss: LostEvidence) -> CauseFinding:
    """Return what lost a unit: the last step that had it within reach, else the search that missed it."""
    for rule in (_check_context_builder, _check_reranker, _check_merge, _check_unseen_merge, _check_search, _check_low):
        finding = rule(loss)
        if finding is not None:
            return finding
    first = loss.steps[0].name if loss.steps else None
    fact = f"the trace does not show which part lost {loss.name}"
    return CauseFinding("insufficient_trace", first, (fact,), "low")


def _check_context_builder(loss: LostEvidence) -> CauseFinding | None:
    """The unit is ranked high enough to be shown, or above a chunk that was shown, and is not in the context."""
    context, final = (
        loss.find_last_step("context"),
        loss.find_last_step("rerank", "merge", "lexical", "dense", "retriever"),
    )
    rank = loss.find_rank(final)
    if context is None or final is None or rank is None:
        return None
    # A chunk id may occur twice: reversed, so that its first rank wins.
    rank_by_id = {chunk_id: chunk_rank for chunk_rank, chunk_id in reversed(list(enumerate(final.chunk_ids, 1)))}
    context_ranks = [rank_by_id.get(chunk_id, 0) for chunk_id in context.chunk_ids]
    lower_ranks = [context_rank for context_rank in context_ranks if context_rank > rank]
    if not lower_ranks and rank > loss.last_shown_rank:
        return None
    contrast = f"while rank {lower_ranks[0]} is in it" if lower_ranks else f"of {loss.shown_count} chunks"
    evidence = (f"{loss.describe_rank(final)} in {final.name} and is not in the context {contrast}",)
    return CauseFinding(
        "context_builder", context.name, evidence, "high" if lower_ranks or rank <= loss.shown_count else "medium"
    )


def _check_reranker(loss: LostEvidence) -> CauseFinding | None:
    """The reranker received the unit near the top and ranked it too low or dropped it."""
    reranked = loss.find_last_step("rerank")
    rerank_input = loss.find_last_step("merge") or (loss.retrievers[-1] if loss.retrievers else None)
    before, after = loss.find_rank(rerank_input), loss.find_rank(reranked)
    if reranked is None or rerank_input is None or before is None:
        return None
    is_dropped = after is None and before <= len(reranked.stage.chunks)
    is_demoted = after is not None and before <= loss.last_shown_rank < after
    if not is_dropped and not is_demoted:
        return None
    evidence = (
        f"{loss.describe_rank(rerank_input)} in {rerank_input.name}; in {reranked.name} it {_describe_fall(after)}",
    )
    return CauseFinding("reranker", reranked.name, evidence, "high")


def _describe_fall(rank: int | None) -> str:
    return "is gone" if rank is None else f"falls to rank {rank}"


def _check_merge(loss: LostEvidence) -> CauseFinding | None:
    """A retriever had the unit near the top, or reciprocal rank fusion would have kept it, and the merge lost it."""
    merged, inputs = loss.find_last_step("merge"), loss.retrievers
    ranks: dict[str, int] = {}
    for step in inputs:
        input_rank = step.find_rank(loss.unit)
        if input_rank is not None:
            ranks[step.name] = input_rank
    if merged is None or not ranks:
        return None
    rank, best = merged.find_rank(loss.unit), min(ranks.values())
    expected = _compute_fused_rank(inputs, loss.unit)
    reranked = loss.find_last_step("rerank")
    passed_on = len(reranked.stage.chunks) if reranked is not None else loss.last_shown_rank
    ignored = [step.name for step in inputs if step.name in ranks and _is_ignored(step, inputs, merged)]
    is_lost = rank is None and (best <= max(loss.last_shown_rank, 3) or expected <= NEAR or bool(ignored))
    is_demoted = rank is not None and expected <= passed_on < rank
    if not is_lost and not is_demoted:
        return None
    input_ranks = ", ".join(f"rank {input_rank} in {name}" for name, input_rank in ranks.items())
    evidence = [f"{loss.name} has {input_ranks}; in {merged.name} it {_describe_fall(rank)}"]
    evidence += [f"nothing that {name} alone has among its first {NEAR} is in {merged.name}" for name in ignored]
    if len(merged.chunk_ids) < max(len(step.chunk_ids) for step in inputs) // 2:
        evidence.append(f"{merged.name} keeps only {len(merged.chunk_ids)} chunks")
    return CauseFinding("hybrid_merge", merged.name, tuple(evidence), "high" if is_lost else "medium")


def _is_ignored(step: TraceStep, inputs: Sequence[TraceStep], merged: TraceStep) -> bool:
    """Whether the merge has none of the top chunks that only this retriever found."""
    only_here = set(step.chunk_ids[:NEAR]).difference(*(other.chunk_ids for other in inputs if other is not step))
    return bool(only_here) and only_here.isdisjoint(merged.chunk_ids)


def _compute_fused_rank(inputs: Sequence[TraceStep], unit: int) -> int:
    """Return the rank of the unit's best chunk by reciprocal rank fusion (Cormack et al. 2009) of the retrievers."""
    scores: dict[str, float] = {}
    covering: set[str] = set()
    for step in inputs:
        for rank, (chunk_id, mask) in enumerate(zip(step.chunk_ids, step.unit_masks, strict=True), 1):
            scores[chunk_id] = scores.get(chunk_id, 0.0) + 1 / (_RRF_CONSTANT + rank)
            if mask >> unit & 1:
                covering.add(chunk_id)
    best = max(scores[chunk_id] for chunk_id in covering)
    return 1 + sum(score > best for score in scores.values())


def _check_unseen_merge(loss: LostEvidence) -> CauseFinding | None:
    """One of several searches had the unit near the top, and the step that merged them is not reported."""
    inputs = loss.retrievers
    near_top = [step for step in inputs if (loss.find_rank(step) or NEAR + 1) <= NEAR]
    if len(inputs) < 2 or not near_top or loss.find_last_step("merge") is not None:
        return None
    first = near_top[0]
    fact = f"{loss.describe_rank(first)} in {first.name}, and no stage shows how it was merged with the other searches"
    also: tuple[RootCause, ...] = (
        ("hybrid_merge", "reranker") if loss.find_last_step("rerank") is not None else ("hybrid_merge",)
    )
    return CauseFinding("insufficient_trace", None, (fact,), "low", also)


def _check_search(loss: LostEvidence) -> CauseFinding | None:
    """A search missed the unit: the keyword search if it shares words with the question, else the vector search."""
    lexical = next((step for step in loss.retrievers if step.kind == "lexical"), None)
    dense = next((step for step in loss.retrievers if step.kind == "dense"), None)
    reach = NEAR if lexical is not None and dense is not None else loss.last_shown_rank
    missed = [step for step in (lexical, dense) if step is not None and (loss.find_rank(step) or reach + 1) > reach]
    if lexical is not None and lexical in missed:
        finding = _check_shared_words(loss, lexical, min(reach, 3))
        if finding is not None:
            return finding
        if dense is None:
            evidence = (f"{loss.describe_rank(lexical)} in {lexical.name}, the only search",)
            return CauseFinding("bm25_analyzer", lexical.name, evidence, "low")
        if dense in missed and not _has_texts(loss, lexical):
            evidence = (
                f"{loss.describe_rank(dense)} in {dense.name}; {loss.describe_rank(lexical)} in {lexical.name}",
            )
            return CauseFinding("insufficient_trace", dense.name, evidence, "low", ("embedding", "bm25_analyzer"))
    if dense is not None and dense in missed:
        evidence = (f"{loss.describe_rank(dense)} in {dense.name}",)
        return CauseFinding("embedding", dense.name, evidence, "high" if loss.find_rank(dense) is None else "medium")
    return None


def _check_shared_words(loss: LostEvidence, lexical: TraceStep, max_rank: int) -> CauseFinding | None:
    """The lexical search ranks the unit lower than the words that it shares with the question justify."""
    expected_rank = compute_lexical_rank(loss.query, loss.texts, _list_other_texts(loss, lexical))
    rank = loss.find_rank(lexical)
    if not _has_texts(loss, lexical) or expected_rank is None or expected_rank > max_rank:
        return None
    if rank is not None and rank <= expected_rank:
        return None
    evidence = (
        f"{loss.describe_rank(lexical)} in {lexical.name}",
        f"by the words it shares with the question it should have rank {expected_rank} of what was returned",
    )
    return CauseFinding("bm25_analyzer", lexical.name, evidence, "high" if expected_rank == 1 else "medium")


def _list_other_texts(loss: LostEvidence, lexical: TraceStep) -> list[str]:
    """Return the known texts of the other chunks that a lexical search returned."""
    ranking = zip(lexical.chunk_ids, lexical.unit_masks, strict=True)
    texts = [loss.text_of(chunk_id) for chunk_id, mask in ranking if not mask >> loss.unit & 1]
    return [text for text in texts if text is not None]


def _has_texts(loss: LostEvidence, lexical: TraceStep) -> bool:
    """Whether the texts of the unit and, if the search returned anything, of some other chunk are known."""
    return bool(loss.texts) and (not lexical.chunk_ids or bool(_list_other_texts(loss, lexical)))


def _check_low(loss: LostEvidence) -> CauseFinding | None:
    """The unit passed every step, but too far down: the last step that ranks could have ranked it higher."""
    final = loss.find_last_step("rerank", "merge")
    rank = loss.find_rank(final)
    if final is None or rank is None:
        return None
    evidence = (f"{loss.describe_rank(final)} in {final.name}; the generator was shown {loss.shown_count}",)
    context = loss.find_last_step("context")
    if context is not None and rank <= DEFAULT_PRODUCTION_K:
        return CauseFinding("context_builder", context.name, evidence, "low")
    cause: RootCause = "reranker" if final.kind == "rerank" else "hybrid_merge"
    return CauseFinding(cause, final.name, evidence, "low")
