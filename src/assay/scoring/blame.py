"""Determines which step lost one unit of evidence, from ranks alone.

A loss is attributed to a step only if the step could have done better, not if it received the evidence at too low a
rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assay.finding import Cause, Confidence
from assay.metrics.lexical import lexical_rank
from assay.scoring.walk import Kind, Step

DEFAULT_K = 5
"""The assumed number of chunks shown to the model if neither settings nor trace state it (ADR 0030)."""
NEAR = 5
"""The last rank at which a retriever counts as having found the evidence near the top."""
_RRF_CONSTANT = 60


class Blame(NamedTuple):
    """A cause with the stage where it shows, the facts behind it, and other causes that would explain them."""

    cause: Cause
    stage: str | None
    evidence: tuple[str, ...]
    confidence: Confidence
    also: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class Loss:
    """A unit of evidence that did not reach the generator, with what is known about it.

    `text_of` returns the text of a chunk by its id, or None if it is unknown; `texts` are the texts of the unit.
    `production_k` is the number of chunks that the generator is usually shown, 0 if unknown.
    """

    unit: int
    name: str
    steps: tuple[Step, ...]
    query: str
    texts: tuple[str, ...]
    text_of: Callable[[str], str | None]
    production_k: int = 0

    @property
    def retrievers(self) -> list[Step]:
        """The steps that search the index."""
        return [step for step in self.steps if step.kind in ("lexical", "dense", "retriever")]

    def last(self, *kinds: Kind) -> Step | None:
        """Return the last step of these kinds."""
        return next((step for step in reversed(self.steps) if step.kind in kinds), None)

    @property
    def shown(self) -> int:
        """The number of chunks that the generator was shown; without a context stage, an assumed number."""
        context = self.last("context")
        return len(context.stage.chunks) if context is not None else self.reach

    @property
    def reach(self) -> int:
        """The last rank that should have been shown to the generator."""
        context = self.last("context")
        return max(self.production_k, len(context.stage.chunks) if context is not None else 0) or DEFAULT_K

    def rank(self, step: Step | None) -> int | None:
        """Return the rank of the unit in a step, None if there is no such step or rank."""
        return step.rank(self.unit) if step is not None else None

    def at(self, step: Step | None) -> str:
        """Return the rank of the unit in a step, in words."""
        rank = self.rank(step)
        return f"{self.name} has rank {rank}" if rank is not None else f"{self.name} is absent"


def blame(loss: Loss) -> Blame:
    """Return what lost a unit: the last step that had it within reach, else the search that missed it."""
    for rule in (_check_context_builder, _check_reranker, _check_merge, _check_unseen_merge, _check_search, _check_low):
        finding = rule(loss)
        if finding is not None:
            return finding
    first = loss.steps[0].name if loss.steps else None
    fact = f"the trace does not show which part lost {loss.name}"
    return Blame("insufficient_trace", first, (fact,), "low")


def _check_context_builder(loss: Loss) -> Blame | None:
    """The unit is ranked high enough to be shown, or above a chunk that was shown, and is not in the context."""
    context, final = loss.last("context"), loss.last("rerank", "merge", "lexical", "dense", "retriever")
    rank = loss.rank(final)
    if context is None or final is None or rank is None:
        return None
    # A chunk id may occur twice: reversed, so that its first rank wins.
    rank_by_id = {chunk_id: chunk_rank for chunk_rank, chunk_id in reversed(list(enumerate(final.ids, 1)))}
    context_ranks = [rank_by_id.get(chunk_id, 0) for chunk_id in context.ids]
    lower_ranks = [context_rank for context_rank in context_ranks if context_rank > rank]
    if not lower_ranks and rank > loss.reach:
        return None
    contrast = f"while rank {lower_ranks[0]} is in it" if lower_ranks else f"of {loss.shown} chunks"
    evidence = (f"{loss.at(final)} in {final.name} and is not in the context {contrast}",)
    return Blame("context_builder", context.name, evidence, "high" if lower_ranks or rank <= loss.shown else "medium")


def _check_reranker(loss: Loss) -> Blame | None:
    """The reranker received the unit near the top and ranked it too low or dropped it."""
    reranked = loss.last("rerank")
    rerank_input = loss.last("merge") or (loss.retrievers[-1] if loss.retrievers else None)
    before, after = loss.rank(rerank_input), loss.rank(reranked)
    if reranked is None or rerank_input is None or before is None:
        return None
    is_dropped = after is None and before <= len(reranked.stage.chunks)
    is_demoted = after is not None and before <= loss.reach < after
    if not is_dropped and not is_demoted:
        return None
    evidence = (f"{loss.at(rerank_input)} in {rerank_input.name}; in {reranked.name} it {_describe_fall(after)}",)
    return Blame("reranker", reranked.name, evidence, "high")


def _describe_fall(rank: int | None) -> str:
    return "is gone" if rank is None else f"falls to rank {rank}"


def _check_merge(loss: Loss) -> Blame | None:
    """A retriever had the unit near the top, or reciprocal rank fusion would have kept it, and the merge lost it."""
    merged, inputs = loss.last("merge"), loss.retrievers
    ranks: dict[str, int] = {}
    for step in inputs:
        input_rank = step.rank(loss.unit)
        if input_rank is not None:
            ranks[step.name] = input_rank
    if merged is None or not ranks:
        return None
    rank, best = merged.rank(loss.unit), min(ranks.values())
    expected = _compute_fused_rank(inputs, loss.unit)
    reranked = loss.last("rerank")
    passed_on = len(reranked.stage.chunks) if reranked is not None else loss.reach
    ignored = [step.name for step in inputs if step.name in ranks and _is_ignored(step, inputs, merged)]
    is_lost = rank is None and (best <= max(loss.reach, 3) or expected <= NEAR or bool(ignored))
    is_demoted = rank is not None and expected <= passed_on < rank
    if not is_lost and not is_demoted:
        return None
    input_ranks = ", ".join(f"rank {input_rank} in {name}" for name, input_rank in ranks.items())
    evidence = [f"{loss.name} has {input_ranks}; in {merged.name} it {_describe_fall(rank)}"]
    evidence += [f"nothing that {name} alone has among its first {NEAR} is in {merged.name}" for name in ignored]
    if len(merged.ids) < max(len(step.ids) for step in inputs) // 2:
        evidence.append(f"{merged.name} keeps only {len(merged.ids)} chunks")
    return Blame("hybrid_merge", merged.name, tuple(evidence), "high" if is_lost else "medium")


def _is_ignored(step: Step, inputs: Sequence[Step], merged: Step) -> bool:
    """Whether the merge has none of the top chunks that only this retriever found."""
    only_here = set(step.ids[:NEAR]).difference(*(other.ids for other in inputs if other is not step))
    return bool(only_here) and only_here.isdisjoint(merged.ids)


def _compute_fused_rank(inputs: Sequence[Step], unit: int) -> int:
    """Return the rank of the unit's best chunk by reciprocal rank fusion (Cormack et al. 2009) of the retrievers."""
    scores: dict[str, float] = {}
    covering: set[str] = set()
    for step in inputs:
        for rank, (chunk_id, mask) in enumerate(zip(step.ids, step.units, strict=True), 1):
            scores[chunk_id] = scores.get(chunk_id, 0.0) + 1 / (_RRF_CONSTANT + rank)
            if mask >> unit & 1:
                covering.add(chunk_id)
    best = max(scores[chunk_id] for chunk_id in covering)
    return 1 + sum(score > best for score in scores.values())


def _check_unseen_merge(loss: Loss) -> Blame | None:
    """One of several searches had the unit near the top, and the step that merged them is not reported."""
    inputs = loss.retrievers
    near_top = [step for step in inputs if (loss.rank(step) or NEAR + 1) <= NEAR]
    if len(inputs) < 2 or not near_top or loss.last("merge") is not None:
        return None
    first = near_top[0]
    fact = f"{loss.at(first)} in {first.name}, and no stage shows how it was merged with the other searches"
    also: tuple[Cause, ...] = ("hybrid_merge", "reranker") if loss.last("rerank") is not None else ("hybrid_merge",)
    return Blame("insufficient_trace", None, (fact,), "low", also)


def _check_search(loss: Loss) -> Blame | None:
    """A search missed the unit: the keyword search if it shares words with the question, else the vector search."""
    lexical = next((step for step in loss.retrievers if step.kind == "lexical"), None)
    dense = next((step for step in loss.retrievers if step.kind == "dense"), None)
    reach = NEAR if lexical is not None and dense is not None else loss.reach
    missed = [step for step in (lexical, dense) if step is not None and (loss.rank(step) or reach + 1) > reach]
    if lexical is not None and lexical in missed:
        finding = _check_shared_words(loss, lexical, min(reach, 3))
        if finding is not None:
            return finding
        if dense is None:
            evidence = (f"{loss.at(lexical)} in {lexical.name}, the only search",)
            return Blame("bm25_analyzer", lexical.name, evidence, "low")
        if dense in missed and not _has_texts(loss, lexical):
            evidence = (f"{loss.at(dense)} in {dense.name}; {loss.at(lexical)} in {lexical.name}",)
            return Blame("insufficient_trace", dense.name, evidence, "low", ("embedding", "bm25_analyzer"))
    if dense is not None and dense in missed:
        evidence = (f"{loss.at(dense)} in {dense.name}",)
        return Blame("embedding", dense.name, evidence, "high" if loss.rank(dense) is None else "medium")
    return None


def _check_shared_words(loss: Loss, lexical: Step, max_rank: int) -> Blame | None:
    """The lexical search ranks the unit lower than the words that it shares with the question justify."""
    expected_rank = lexical_rank(loss.query, loss.texts, _list_other_texts(loss, lexical))
    rank = loss.rank(lexical)
    if not _has_texts(loss, lexical) or expected_rank is None or expected_rank > max_rank:
        return None
    if rank is not None and rank <= expected_rank:
        return None
    evidence = (
        f"{loss.at(lexical)} in {lexical.name}",
        f"by the words it shares with the question it should have rank {expected_rank} of what was returned",
    )
    return Blame("bm25_analyzer", lexical.name, evidence, "high" if expected_rank == 1 else "medium")


def _list_other_texts(loss: Loss, lexical: Step) -> list[str]:
    """Return the known texts of the other chunks that a lexical search returned."""
    ranking = zip(lexical.ids, lexical.units, strict=True)
    texts = [loss.text_of(chunk_id) for chunk_id, mask in ranking if not mask >> loss.unit & 1]
    return [text for text in texts if text is not None]


def _has_texts(loss: Loss, lexical: Step) -> bool:
    """Whether the texts of the unit and, if the search returned anything, of some other chunk are known."""
    return bool(loss.texts) and (not lexical.ids or bool(_list_other_texts(loss, lexical)))


def _check_low(loss: Loss) -> Blame | None:
    """The unit passed every step, but too far down: the last step that ranks could have ranked it higher."""
    final = loss.last("rerank", "merge")
    rank = loss.rank(final)
    if final is None or rank is None:
        return None
    evidence = (f"{loss.at(final)} in {final.name}; the generator was shown {loss.shown}",)
    context = loss.last("context")
    if context is not None and rank <= DEFAULT_K:
        return Blame("context_builder", context.name, evidence, "low")
    cause: Cause = "reranker" if final.kind == "rerank" else "hybrid_merge"
    return Blame(cause, final.name, evidence, "low")
