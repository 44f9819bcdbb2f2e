"""Which step lost one unit of evidence, told from the ranks alone.

A step is to blame only for what it did worse than it could have: one that was handed the evidence too late is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assay.finding import Cause, Confidence
from assay.metrics.lexical import lexical_rank
from assay.scoring.walk import Kind, Step

DEFAULT_K = 5
"""How many chunks a model is taken to be shown where neither settings nor trace say it (DECISIONS 17)."""
NEAR = 5
"""The ranks in which a retriever should have what is asked for, for a later step to make something of it."""
_RRF = 60


class Blame(NamedTuple):
    """A cause with the stage it is seen at, the facts that show it, and what else would explain them."""

    cause: Cause
    stage: str | None
    evidence: tuple[str, ...]
    confidence: Confidence
    also: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class Loss:
    """A unit that did not reach the generator, with all that the steps knew of it.

    `text_of` gives a chunk's text by its id, None where nobody knows it; `texts` are the unit's own. `production_k` is
    how many chunks the generator is shown as a rule, 0 where nothing says it.
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
        """How many chunks the generator was shown; without a context stage, how many it is taken to be shown."""
        context = self.last("context")
        return len(context.stage.chunks) if context is not None else self.reach

    @property
    def reach(self) -> int:
        """The last rank that should have been shown to the generator."""
        context = self.last("context")
        return max(self.production_k, len(context.stage.chunks) if context is not None else 0) or DEFAULT_K

    def rank(self, step: Step | None) -> int | None:
        """Return the unit's rank in a step, None where there is no such step or rank."""
        return step.rank(self.unit) if step is not None else None

    def at(self, step: Step | None) -> str:
        """Return where the unit stands in a step, in words."""
        rank = self.rank(step)
        return f"{self.name} has rank {rank}" if rank is not None else f"{self.name} is absent"


def blame(loss: Loss) -> Blame:
    """Return what lost a unit: the last step that had it in reach and gave it away, else what never found it."""
    for rule in (_builder, _reranker, _merger, _unmerged, _retrievers, _late):
        found = rule(loss)
        if found is not None:
            return found
    first = loss.steps[0].name if loss.steps else None
    seen = f"nothing in the trace tells which part lost {loss.name}"
    return Blame("insufficient_trace", first, (seen,), "low")


def _builder(loss: Loss) -> Blame | None:
    """Ranked within what was shown, or above a chunk that was shown, and yet not in the context."""
    context, final = loss.last("context"), loss.last("rerank", "merge", "lexical", "dense", "retriever")
    rank = loss.rank(final)
    if context is None or final is None or rank is None:
        return None
    place = {chunk_id: number for number, chunk_id in reversed(list(enumerate(final.ids, 1)))}
    worse = [number for chunk_id in context.ids if (number := place.get(chunk_id, 0)) > rank]
    if not worse and rank > loss.reach:
        return None
    instead = f"while rank {worse[0]} is in it" if worse else f"of {loss.shown} chunks"
    evidence = (f"{loss.at(final)} in {final.name} and is not in the context {instead}",)
    return Blame("context_builder", context.name, evidence, "high" if worse or rank <= loss.shown else "medium")


def _reranker(loss: Loss) -> Blame | None:
    """Handed over within reach, and put out of it."""
    reranked = loss.last("rerank")
    given = loss.last("merge") or (loss.retrievers[-1] if loss.retrievers else None)
    before, after = loss.rank(given), loss.rank(reranked)
    if reranked is None or given is None or before is None:
        return None
    dropped = after is None and before <= len(reranked.stage.chunks)
    demoted = after is not None and before <= loss.reach < after
    if not dropped and not demoted:
        return None
    evidence = (f"{loss.at(given)} in {given.name}; in {reranked.name} it {_to(after)}",)
    return Blame("reranker", reranked.name, evidence, "high")


def _to(rank: int | None) -> str:
    return "is gone" if rank is None else f"falls to rank {rank}"


def _merger(loss: Loss) -> Blame | None:
    """One retriever had it near the top, or plain reciprocal ranks would have kept it, and the merge did not."""
    merged, inputs = loss.last("merge"), loss.retrievers
    ranks = {step.name: rank for step in inputs if (rank := step.rank(loss.unit)) is not None}
    if merged is None or not ranks:
        return None
    rank, best = merged.rank(loss.unit), min(ranks.values())
    expected = _fused(inputs, loss.unit)
    reranked = loss.last("rerank")
    given_on = len(reranked.stage.chunks) if reranked is not None else loss.reach
    ignored = [step.name for step in inputs if step.name in ranks and _ignored(step, inputs, merged)]
    lost = rank is None and (best <= max(loss.reach, 3) or expected <= NEAR or bool(ignored))
    sunk = rank is not None and expected <= given_on < rank
    if not lost and not sunk:
        return None
    where = ", ".join(f"rank {rank} in {name}" for name, rank in ranks.items())
    evidence = [f"{loss.name} has {where}; in {merged.name} it {_to(rank)}"]
    evidence += [f"nothing that {name} alone has among its first {NEAR} is in {merged.name}" for name in ignored]
    if len(merged.ids) < max(len(step.ids) for step in inputs) // 2:
        evidence.append(f"{merged.name} keeps only {len(merged.ids)} chunks")
    return Blame("hybrid_merge", merged.name, tuple(evidence), "high" if lost else "medium")


def _ignored(step: Step, inputs: Sequence[Step], merged: Step) -> bool:
    """Whether the best of what only this retriever found has no place in the merge."""
    alone = set(step.ids[:NEAR]).difference(*(other.ids for other in inputs if other is not step))
    return bool(alone) and alone.isdisjoint(merged.ids)


def _fused(inputs: Sequence[Step], unit: int) -> int:
    """Return the rank that the unit's best chunk has by plain reciprocal rank fusion of the retrievers."""
    scores: dict[str, float] = {}
    covering: set[str] = set()
    for step in inputs:
        for rank, (chunk_id, mask) in enumerate(zip(step.ids, step.units, strict=True), 1):
            scores[chunk_id] = scores.get(chunk_id, 0.0) + 1 / (_RRF + rank)
            if mask >> unit & 1:
                covering.add(chunk_id)
    best = max(scores[chunk_id] for chunk_id in covering)
    return 1 + sum(score > best for score in scores.values())


def _unmerged(loss: Loss) -> Blame | None:
    """One of several searches had it near the top, and how they were merged is not reported: a later part lost it."""
    inputs = loss.retrievers
    found = [step for step in inputs if (loss.rank(step) or NEAR + 1) <= NEAR]
    if len(inputs) < 2 or not found or loss.last("merge") is not None:
        return None
    seen = f"{loss.at(found[0])} in {found[0].name}, and no stage shows what became of it beside the other searches"
    also: tuple[Cause, ...] = ("hybrid_merge", "reranker") if loss.last("rerank") is not None else ("hybrid_merge",)
    return Blame("insufficient_trace", None, (seen,), "low", also)


def _retrievers(loss: Loss) -> Blame | None:
    """The searches themselves: words that stand in the evidence should be found by them, the rest by vectors."""
    lexical = next((step for step in loss.retrievers if step.kind == "lexical"), None)
    dense = next((step for step in loss.retrievers if step.kind == "dense"), None)
    reach = NEAR if lexical is not None and dense is not None else loss.reach
    missed = [step for step in (lexical, dense) if step is not None and (loss.rank(step) or reach + 1) > reach]
    if lexical is not None and lexical in missed:
        found = _words_missed(loss, lexical, min(reach, 3))
        if found is not None:
            return found
        if dense is None:
            seen = (f"{loss.at(lexical)} in {lexical.name}, the only search",)
            return Blame(
                "bm25_analyzer", lexical.name, (f"{loss.at(lexical)} in {lexical.name}, the only search",), "low"
            )
        if dense in missed and not _readable(loss, lexical):
            seen = (f"{loss.at(dense)} in {dense.name}; {loss.at(lexical)} in {lexical.name}",)
            return Blame("insufficient_trace", dense.name, seen, "low", ("embedding", "bm25_analyzer"))
    if dense is not None and dense in missed:
        seen = (f"{loss.at(dense)} in {dense.name}",)
        return Blame("embedding", dense.name, seen, "high" if loss.rank(dense) is None else "medium")
    return None


def _words_missed(loss: Loss, lexical: Step, near: int) -> Blame | None:
    """Whether the lexical search ranks the evidence worse than the words that it shares with the question."""
    due, rank = lexical_rank(loss.query, loss.texts, _others(loss, lexical)), loss.rank(lexical)
    if not _readable(loss, lexical) or due is None or due > near or (rank is not None and rank <= due):
        return None
    evidence = (
        f"{loss.at(lexical)} in {lexical.name}",
        f"by the words it shares with the question it is due at rank {due} of what was returned",
    )
    return Blame("bm25_analyzer", lexical.name, evidence, "high" if due == 1 else "medium")


def _others(loss: Loss, lexical: Step) -> list[str]:
    """Return the texts of the other chunks that a lexical search returned, as far as they are known."""
    slots = zip(lexical.ids, lexical.units, strict=True)
    texts = [loss.text_of(chunk_id) for chunk_id, mask in slots if not mask >> loss.unit & 1]
    return [text for text in texts if text is not None]


def _readable(loss: Loss, lexical: Step) -> bool:
    """Whether the texts are known of the evidence, and of something that was returned if anything was."""
    return bool(loss.texts) and (not lexical.ids or bool(_others(loss, lexical)))


def _late(loss: Loss) -> Blame | None:
    """It came through every step, too far down: whoever ordered last could have lifted it."""
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
