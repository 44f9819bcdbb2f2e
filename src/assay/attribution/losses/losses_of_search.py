"""Evidence that no search returned, and which of them should have: by words, by vectors, or neither.

That a search does not return the evidence does not prove that its analyzer is wrong: the chunk may not be indexed, the
query may have been rewritten, and the search may have failed. What the other traces of the run show ranks these.
"""

from __future__ import annotations

from assay.attribution.cause_finding import RECORD_CORPUS, RECORD_ID_SEARCH, RECORD_QUERY, RECORD_TEXTS, CauseFinding
from assay.attribution.evidence_trace import TraceStep
from assay.attribution.losses.facts_of_search import (
    LARGE_RUN,
    describe_absence,
    describe_search,
    has_texts,
    may_be_unindexed,
)
from assay.attribution.losses.lost_unit import NEAR, LostEvidence
from assay.attribution.losses.missed_words import (
    HIDDEN,
    check_shared_words,
    compare_with_run,
    describe_findable,
    report_not_indexed,
)
from assay.attribution.losses.rewritten_queries import check_rewriting
from assay.records.findings import RootCause


def check_search(loss: LostEvidence) -> CauseFinding | None:
    """A search missed the unit: the keyword search if it shares words with the question, else the vector search."""
    lexical = next((step for step in loss.retrievers if step.kind == "lexical"), None)
    dense = next((step for step in loss.retrievers if step.kind == "dense"), None)
    reach = NEAR if lexical is not None and dense is not None else loss.last_shown_rank
    missed = [step for step in (lexical, dense) if step is not None and (loss.find_rank(step) or reach + 1) > reach]
    if lexical is not None and lexical in missed:
        finding = check_rewriting(loss, lexical)
        if finding is None and dense is None:
            return _check_only_search(loss, lexical, min(reach, 3))
        finding = finding or check_shared_words(loss, lexical, min(reach, 3))
        if finding is not None:
            return finding
        is_everywhere = dense is not None and loss.find_rank(dense) is None and loss.find_rank(lexical) is None
        is_large_run = loss.view is not None and loss.view.observations >= LARGE_RUN
        if dense is not None and is_everywhere and is_large_run and not loss.texts and may_be_unindexed(loss):
            return _report_unindexed(loss, dense, lexical)
        if dense is not None and dense in missed and not has_texts(loss, lexical):
            evidence = (
                f"{loss.describe_rank(dense)} in {dense.name}; {loss.describe_rank(lexical)} in {lexical.name}",
            )
            others: tuple[RootCause, ...] = ("bm25_analyzer", "acl") if loss.is_hidden else ("bm25_analyzer",)
            hidden = (HIDDEN,) if loss.is_hidden else ()
            record = (RECORD_QUERY, RECORD_CORPUS)
            return CauseFinding("embedding", dense.name, (*evidence, *hidden), "low", others, record=record)
    if dense is not None and dense in missed:
        return _check_vector_search(loss, dense, lexical)
    return None


def _check_vector_search(loss: LostEvidence, dense: TraceStep, lexical: TraceStep | None) -> CauseFinding:
    """The vector search misses the unit, or ranks it too low: rank what else would explain that."""
    if may_be_unindexed(loss):
        return _report_unseen(loss, dense)
    if loss.find_rank(lexical) is not None:
        return _report_found_by_words(loss, dense, lexical)
    also: tuple[RootCause, ...] = ("golden_label_issue",) if loss.is_answered else ()
    absence = describe_absence(loss)
    if absence:
        also = ("stale_index", *also)
    if loss.find_rank(dense) is not None:
        cut = _check_cut_below_search(loss, dense, "embedding")
        if cut is not None:
            return cut
        also = (_name_next_step(loss), *also)
    return CauseFinding("embedding", dense.name, (describe_search(loss, dense), *absence), "low", also)


def _check_cut_below_search(loss: LostEvidence, search: TraceStep, cause: RootCause) -> CauseFinding | None:
    """The search has the unit near the top, and the context takes fewer of its chunks: nothing shows that it fails."""
    context, rank = loss.find_last_step("context"), loss.find_rank(search)
    ranking = loss.find_last_step("rerank", "filter", "merge", "lexical", "dense", "retriever")
    if context is None or rank is None or rank > NEAR or ranking is not search:
        return None
    fact = describe_search(loss, search)
    return CauseFinding("context_builder", context.name, (fact,), "low", (cause,), "ranked_below_cut_off")


def _name_next_step(loss: LostEvidence) -> RootCause:
    """Return the step that could have kept what the search ranks too low: the reranker, else the context."""
    return "reranker" if loss.find_last_step("rerank") is not None else "context_builder"


def _report_found_by_words(loss: LostEvidence, dense: TraceStep, lexical: TraceStep | None) -> CauseFinding:
    """The keyword search had the unit, so that what ranks the results of both searches could have kept it."""
    assert lexical is not None
    also: RootCause = "reranker" if loss.find_last_step("rerank") is not None else "hybrid_merge"
    facts = tuple(f"{loss.describe_rank(step)} in {step.name}" for step in (dense, lexical))
    return CauseFinding("embedding", dense.name, facts, "low", (also,))


def _report_unseen(loss: LostEvidence, dense: TraceStep) -> CauseFinding:
    """Nothing in the run shows the unit, and no text tells what the index holds."""
    facts = (f"{loss.describe_rank(dense)} in {dense.name}", *describe_absence(loss), _NO_INDEXED_TEXTS)
    return CauseFinding("embedding", dense.name, facts, "low", ("chunking", "stale_index"), record=(RECORD_TEXTS,))


_NO_INDEXED_TEXTS = "no stage reports texts, so nothing shows how chunks are indexed"


def _report_unindexed(loss: LostEvidence, dense: TraceStep, lexical: TraceStep) -> CauseFinding:
    """Two searches that work differently miss the same unit at every rank, and no other query of the run finds it: that
    the index does not have it under its id is likelier than that both fail (ADR 0147)."""
    facts = (
        f"{loss.describe_rank(dense)} in {dense.name} and in {lexical.name}",
        *describe_absence(loss),
        _NO_INDEXED_TEXTS,
    )
    record = (RECORD_TEXTS, RECORD_ID_SEARCH)
    if loss.is_answered:  # so that its text may be in the index under another id, or the label names the wrong one
        others: tuple[RootCause, ...] = ("chunking", "golden_label_issue")
        return CauseFinding("insufficient_trace", dense.name, facts, "low", others, record=record)
    if loss.is_answered_otherwise:  # so that the label may be of another state of the documents than the index
        other = "the answer states other values and cites what it was shown for them"
        outdated: tuple[RootCause, ...] = ("stale_index", "golden_label_issue")
        return CauseFinding("insufficient_trace", dense.name, (*facts, other), "low", outdated, record=(RECORD_CORPUS,))
    return CauseFinding(
        "stale_index", dense.name, facts, "low", ("chunking", "embedding"), "not_indexed", record=record
    )


def _check_only_search(loss: LostEvidence, lexical: TraceStep, max_rank: int) -> CauseFinding:
    """Rank what explains that the only search, by keywords, misses the unit: by what the traces of the run show."""
    rank = loss.find_rank(lexical)
    if loss.view is not None and loss.texts and rank is None:
        finding = compare_with_run(loss, loss.view, lexical)
        if finding is not None:
            return finding
    finding = check_shared_words(loss, lexical, max_rank) or _check_cut_below_search(loss, lexical, "bm25_analyzer")
    if finding is not None:
        return finding
    also: tuple[RootCause, ...] = (_name_next_step(loss) if rank is not None else loss.unindexed_cause,)
    if loss.view is not None and not loss.view.indexed.has_texts and not loss.texts:
        also = (*also, "chunking")
    fact = describe_search(loss, lexical)
    return CauseFinding("bm25_analyzer", lexical.name, (fact,), "low", also, record=(RECORD_QUERY, RECORD_ID_SEARCH))


def check_unclear_search(loss: LostEvidence) -> CauseFinding | None:
    """The only search, of which nothing tells how it works, misses what most of the corpus and the words of other
    questions show to be findable."""
    if len(loss.retrievers) != 1 or loss.retrievers[0].kind != "retriever" or loss.view is None or loss.is_shown_in_run:
        return None
    fact = describe_findable(loss, loss.view) if loss.texts and describe_absence(loss) else None
    return report_not_indexed(loss, loss.view, loss.retrievers[0], fact, "low") if fact is not None else None
