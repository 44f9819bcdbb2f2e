"""Evidence that a filter, the reranker or the builder of the context lost after the search had it."""

from __future__ import annotations

from assay.attribution.cause_finding import RECORD_QUERY, CauseFinding
from assay.attribution.evidence_trace import TraceStep, list_received
from assay.attribution.losses.lost_unit import LostEvidence
from assay.attribution.losses.rewritten_queries import find_added_subjects, find_misleading_query, report_added_subjects
from assay.records.counts import format_count
from assay.records.findings import RootCause

FILTERED_OUT = "filtered_out"
"""The subcause of evidence that a filter dropped."""


def check_context_builder(loss: LostEvidence) -> CauseFinding | None:
    """The unit is ranked high enough to be shown, or above a chunk that was shown, and is not in the context."""
    context, final = (
        loss.find_last_step("context"),
        loss.find_last_step("rerank", "filter", "merge", "lexical", "dense", "retriever"),
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
    cut = _find_cut_text(final, context, rank)
    if cut is not None:
        fact = f"{loss.describe_rank(final)} in {final.name}; in the context {cut} words are left"
        return CauseFinding("context_builder", context.name, (fact,), "high", subcause="text_truncated")
    contrast = (
        f"while rank {lower_ranks[0]} is in it" if lower_ranks else f"of {format_count(loss.shown_count, 'chunk')}"
    )
    evidence = (f"{loss.describe_rank(final)} in {final.name} and is not in the context {contrast}",)
    if lower_ranks or rank <= loss.shown_count:
        subcause = "left_out" if lower_ranks else "token_budget"
        return CauseFinding("context_builder", context.name, evidence, "high", subcause=subcause)
    also: tuple[RootCause, ...] = ("reranker",) if final.kind == "rerank" and rank > 1 else ()
    return CauseFinding("context_builder", context.name, evidence, "medium", also, "token_budget")


def _find_cut_text(ranking: TraceStep, context: TraceStep, rank: int) -> str | None:
    """Return how many words of a ranked chunk its text in the context has, if that is a part of it; else None."""
    ranked = ranking.stage.chunks[rank - 1]
    shown = next((chunk for chunk in context.stage.chunks if chunk.chunk_id == ranked.chunk_id), None)
    if shown is None or not shown.text or not ranked.text:
        return None
    whole, left = ranked.text.split(), shown.text.split()
    # The last word may be cut in two, and a mark may say that something is missing.
    is_part = len(left) < len(whole) and left[:-1] == whole[: len(left) - 1]
    return f"{len(left)} of its {len(whole)}" if is_part else None


def check_filter(loss: LostEvidence) -> CauseFinding | None:
    """A list that a filter received had the unit, and the filter dropped it.

    Of several searches, a list whose lower chunks the filter passes on: else what joined them may have cut it off.
    """
    for position, step in enumerate(loss.steps):
        before = loss.find_received(step) if step.kind == "filter" and not loss.has_from(step) else None
        if before is None:
            continue
        received = list_received(loss.steps, position)
        if len(received) > 1 and set(before.chunk_ids[loss.find_rank(before) :]).isdisjoint(step.chunk_ids):
            continue
        dropped = len({chunk_id for list_ in received for chunk_id in list_.chunk_ids}) - len(set(step.chunk_ids))
        evidence = (f"{loss.describe_rank(before)} in {before.name}; {step.name} drops it with {dropped - 1} others",)
        misled = find_misleading_query(loss, step)
        if misled is not None:
            return CauseFinding(
                "bm25_analyzer",
                step.name,
                (*evidence, misled),
                "medium",
                ("hybrid_merge",),
                "query_rewriting",
                () if loss.is_query_known else (RECORD_QUERY,),
            )
        if not loss.is_query_known:  # a filter that goes by the query drops the same
            return CauseFinding(
                "hybrid_merge", step.name, evidence, "medium", ("bm25_analyzer",), FILTERED_OUT, (RECORD_QUERY,)
            )
        return CauseFinding("hybrid_merge", step.name, evidence, "high", subcause=FILTERED_OUT)
    return None


def check_reranker(loss: LostEvidence) -> CauseFinding | None:
    """The reranker received the unit near the top and ranked it too low or dropped it."""
    reranked = loss.find_last_step("rerank")
    rerank_input = loss.find_last_step("filter", "merge") or (loss.retrievers[-1] if loss.retrievers else None)
    before, after = loss.find_rank(rerank_input), loss.find_rank(reranked)
    if reranked is None or rerank_input is None or before is None:
        return None
    passed_on = len(reranked.chunk_ids)
    usual = loss.view.largest_stages.get(reranked.name, 0) if loss.view is not None else 0
    is_short = passed_on < min(len(rerank_input.chunk_ids), max(usual, loss.last_shown_rank))
    is_dropped = after is None and (before <= passed_on or is_short)
    is_demoted = after is not None and before <= loss.last_shown_rank < after
    if not is_dropped and not is_demoted:
        return None
    misled = find_added_subjects(loss, rerank_input)
    evidence: tuple[str, ...] = (
        f"{loss.describe_rank(rerank_input)} in {rerank_input.name}; in {reranked.name} it {describe_fall(after)}",
    )
    if misled is not None:
        return report_added_subjects((*evidence, misled), reranked)
    if after is None and is_short:
        evidence += (f"{reranked.name} passes on {passed_on} of the {len(rerank_input.chunk_ids)} that it received",)
    subcause = "dropped" if after is None else "ranked_below_cut_off"
    return CauseFinding("reranker", reranked.name, evidence, "high", subcause=subcause)


def describe_fall(rank: int | None) -> str:
    """Return to which rank the evidence falls, or that it is gone."""
    return "is gone" if rank is None else f"falls to rank {rank}"
