"""Evidence that the merging of several searches lost: one of them had it near the top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from assay.attribution.cause_finding import RECORD_MERGED, CauseFinding
from assay.attribution.evidence_trace import StepKind, TraceStep
from assay.attribution.losses.lost_unit import NEAR, LostEvidence
from assay.attribution.losses.step_losses import describe_fall
from assay.records.counts import format_count
from assay.records.findings import RootCause

_RRF_CONSTANT = 60


def check_merge(loss: LostEvidence) -> CauseFinding | None:
    """A retriever had the unit near the top, or reciprocal rank fusion would have kept it, and the merge lost it."""
    merged, inputs = loss.find_last_step("merge"), loss.retrievers
    ranks: dict[str, int] = {}
    for step in inputs:
        input_rank = step.find_rank(loss.unit)
        if input_rank is not None:
            ranks[step.name] = input_rank
    if merged is None or not ranks or (merged.find_rank(loss.unit) is None and loss.has_from(merged)):
        return None
    rank, best = merged.find_rank(loss.unit), min(ranks.values())
    expected = _compute_fused_rank(inputs, loss.unit)
    reranked = loss.find_last_step("rerank")
    passed_on = len(reranked.stage.chunks) if reranked is not None else loss.last_shown_rank
    ignored = [step.name for step in inputs if step.name in ranks and _is_ignored(step, inputs, merged)]
    overtaken = [step.name for step in inputs if step.name in ranks and _passes_over(step, ranks[step.name], loss)]
    is_lost = rank is None and (
        best <= max(loss.last_shown_rank, 3) or expected <= NEAR or bool(ignored) or bool(overtaken)
    )
    is_demoted = rank is not None and expected <= passed_on < rank
    if not is_lost and not is_demoted:
        return None
    input_ranks = ", ".join(f"rank {input_rank} in {name}" for name, input_rank in ranks.items())
    evidence = [f"{loss.name} has {input_ranks}; in {merged.name} it {describe_fall(rank)}"]
    evidence += [f"nothing that {name} alone has among its first {NEAR} is in {merged.name}" for name in ignored]
    evidence += [f"{merged.name} has what {name} alone has, and lower" for name in overtaken if rank is None]
    if len(merged.chunk_ids) < max(len(step.chunk_ids) for step in inputs) // 2:
        evidence.append(f"{merged.name} keeps only {format_count(len(merged.chunk_ids), 'chunk')}")
    missed = [step for step in inputs if step.name not in ranks]
    if missed:  # a search that finds nothing of it leaves the merge less to go by
        also: tuple[RootCause, ...] = tuple(
            dict.fromkeys(SEARCH_CAUSES[step.kind] for step in missed if step.kind in SEARCH_CAUSES)
        )
        evidence.append(f"{loss.name} is absent in {', '.join(step.name for step in missed)}")
        return CauseFinding("hybrid_merge", merged.name, tuple(evidence), "medium", also)
    return CauseFinding("hybrid_merge", merged.name, tuple(evidence), "high" if is_lost else "medium")


def describe_lowering(loss: LostEvidence) -> str | None:
    """Return that the merged list has the unit below what is shown, where reciprocal rank fusion of the searches would
    have it above, so that what ranks after it got it low; None otherwise."""
    merged, inputs = loss.find_last_step("merge"), loss.retrievers
    rank = loss.find_rank(merged)
    if merged is None or rank is None or rank <= loss.last_shown_rank or not any(map(loss.find_rank, inputs)):
        return None
    expected = _compute_fused_rank(inputs, loss.unit)
    if expected > loss.last_shown_rank:
        return None
    return f"{loss.describe_rank(merged)} in {merged.name}, and by its ranks in the searches would have {expected}"


SEARCH_CAUSES: Mapping[StepKind, RootCause] = MappingProxyType({"lexical": "bm25_analyzer", "dense": "embedding"})
"""What a search of each kind is at fault for where it misses the evidence."""


def _is_ignored(step: TraceStep, inputs: Sequence[TraceStep], merged: TraceStep) -> bool:
    """Whether the merge has none of the top chunks that only this retriever found."""
    only_here = set(step.chunk_ids[:NEAR]).difference(*(other.chunk_ids for other in inputs if other is not step))
    return bool(only_here) and only_here.isdisjoint(merged.chunk_ids)


def _passes_over(step: TraceStep, rank: int, loss: LostEvidence) -> bool:
    """Whether the merge has a chunk that only this retriever has, below the unit: no fusion of ranks does that."""
    merged = loss.find_last_step("merge")
    lower = set(step.chunk_ids[rank:]).difference(*(other.chunk_ids for other in loss.retrievers if other is not step))
    return merged is not None and not lower.isdisjoint(merged.chunk_ids)


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


def check_unseen_merge(loss: LostEvidence) -> CauseFinding | None:
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
    return CauseFinding("insufficient_trace", None, (fact,), "low", also, record=(RECORD_MERGED,))
