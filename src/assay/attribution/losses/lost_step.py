"""Determines which step lost one unit of evidence, from its ranks and from what the traces of the run show.

A loss is attributed to a step only if the step could have done better, not if it received the evidence at too low a
rank. The steps after the search are in `step_losses` and `merge_losses`, the search is in `losses_of_search`.
"""

from __future__ import annotations

from assay.attribution.cause_finding import RECORD_QUERY, RECORD_UNFILTERED, CauseFinding
from assay.attribution.evidence_trace import DEFAULT_PRODUCTION_K
from assay.attribution.losses.facts_of_search import describe_shown
from assay.attribution.losses.losses_of_search import check_search, check_unclear_search
from assay.attribution.losses.lost_unit import NEAR, LostEvidence
from assay.attribution.losses.merge_losses import SEARCH_CAUSES, check_merge, check_unseen_merge, describe_lowering
from assay.attribution.losses.rewritten_queries import find_added_subjects, report_added_subjects
from assay.attribution.losses.step_losses import check_context_builder, check_filter, check_reranker
from assay.records.counts import format_count
from assay.records.findings import RootCause
from assay.records.observations import CONTEXT_STAGE


def find_lost_step(loss: LostEvidence) -> CauseFinding:
    """Return what lost a unit: the last step that had it within reach, else the search that missed it."""
    rules = (
        _check_untold,
        check_context_builder,
        check_filter,
        check_reranker,
        check_merge,
        check_unseen_merge,
        _check_cut_off,
        check_search,
        _check_low,
        _check_dropped_low,
    )
    for rule in rules:
        finding = rule(loss)
        if finding is not None:
            return finding
    unindexed = check_unclear_search(loss)
    if unindexed is not None:
        return unindexed
    first = loss.steps[0].name if loss.steps else None
    fact = f"the trace does not show which part lost {loss.name}"
    record: tuple[str, ...] = (RECORD_UNFILTERED, RECORD_QUERY)
    if first is not None and not loss.is_ranked:
        fact = f"{loss.name} is in no list of this case, and the trace does not tell how {first} searches"
        if loss.rank_apart is not None:
            fact = f"{loss.name} is in no list of the answer; a search of its own has it at rank {loss.rank_apart}"
        elif loss.retrievers and loss.retrievers[0].kind == "retriever":
            record = (name_kind_of_search(loss.retrievers[0].name), *record)
    return CauseFinding(
        "insufficient_trace",
        first,
        (fact,),
        "low",
        ("embedding", "bm25_analyzer", "reranker"),
        record=record,
    )


def _check_untold(loss: LostEvidence) -> CauseFinding | None:
    """Nothing tells whether a step had the unit: it may be a chunk of which the trace has the id alone."""
    if loss.is_ranked or not loss.has_untold_chunks:
        return None
    fact = f"{loss.name} is in no text of this case, and the trace lists chunks without their texts"
    causes: tuple[RootCause, ...] = ("embedding", "bm25_analyzer", "reranker")
    return CauseFinding("insufficient_trace", None, (fact,), "low", causes, record=("the text of each chunk",))


def name_kind_of_search(stage: str) -> str:
    """Return what to record where the only list does not tell how it was found.

    >>> name_kind_of_search("hits")
    'the stage “hits” as bm25 or vector (what searches by words, or by meaning; two lists if by both)'
    """
    return f"the stage “{stage}” as bm25 or vector (what searches by words, or by meaning; two lists if by both)"


def _check_cut_off(loss: LostEvidence) -> CauseFinding | None:
    """The reranker has the unit near the top, and still below the cut-off: the searches found it."""
    reranked, context = loss.find_last_step("rerank"), loss.find_last_step("context")
    rank = loss.find_rank(reranked)
    if reranked is None or context is None or rank is None or rank > NEAR:
        return None
    evidence = (f"{loss.describe_rank(reranked)} in {reranked.name}; the generator was shown {loss.shown_count}",)
    misled = find_added_subjects(loss, reranked)
    if misled is not None:
        return report_added_subjects((*evidence, misled), reranked)
    record = ("more of the ranking in the context, once",)
    return CauseFinding(
        "reranker", reranked.name, evidence, "low", ("context_builder",), "ranked_below_cut_off", record
    )


def _check_low(loss: LostEvidence) -> CauseFinding | None:
    """The unit passed every step, but too far down: the last step that ranks could have ranked it higher."""
    final = loss.find_last_step("rerank", "filter", "merge", "lexical", "dense", "retriever")
    rank = loss.find_rank(final)
    if final is None or rank is None:
        return None
    context = loss.find_last_step("context")
    cut = next((step for step in loss.steps if step.kind == "context" and step.name != CONTEXT_STAGE), None)
    if cut is not None:
        fact = f"{loss.describe_rank(final)} in {final.name}; {cut.name} has its first {len(cut.chunk_ids)}"
        return CauseFinding("context_builder", cut.name, (fact,), "medium", ("reranker",), "ranked_below_cut_off")
    evidence: tuple[str, ...] = (f"{loss.describe_rank(final)} in {final.name}; {describe_shown(loss)}",)
    if final.kind in ("rerank", "retriever") and (final.kind == "rerank" or len(loss.steps) <= 2):
        also: tuple[RootCause, ...] = ("context_builder", "bm25_analyzer")
        record = (RECORD_UNFILTERED, RECORD_QUERY)
        lowering = describe_lowering(loss)
        if final.kind == "rerank" and lowering is not None:
            also = ("hybrid_merge", "context_builder")
            evidence = (*evidence, lowering)
        if final.kind == "rerank":
            return CauseFinding("reranker", final.name, evidence, "low", also, "ranked_below_cut_off", record)
        # What a stage `retrieved` does is not known: it may rank what another search found, or be the only search.
        unseen = f"{final.name} is the only ranking that is reported, and nothing tells what ranked it"
        return CauseFinding("reranker", final.name, (*evidence, unseen), "low", also, "ranked_too_low", record)
    if context is not None and rank <= DEFAULT_PRODUCTION_K:
        return CauseFinding("context_builder", context.name, evidence, "low", subcause="token_budget")
    return CauseFinding("hybrid_merge", final.name, evidence, "low", subcause="ranked_below_cut_off")


def _check_dropped_low(loss: LostEvidence) -> CauseFinding | None:
    """The reranker received the unit far down and dropped it: the search, or what joined its lists, ranked it there."""
    reranked, unlifted = loss.find_last_step("rerank"), loss.unlifted
    if reranked is None or unlifted is None:
        return None
    passed_on = format_count(len(reranked.chunk_ids), "chunk")
    fact = f"{loss.describe_rank(unlifted)} in {unlifted.name}; {reranked.name} drops it and passes on {passed_on}"
    others = tuple(dict.fromkeys(SEARCH_CAUSES.get(step.kind, "embedding") for step in loss.retrievers))
    record = (RECORD_UNFILTERED, RECORD_QUERY)
    return CauseFinding("reranker", reranked.name, (fact,), "low", others, "dropped", record)
