"""Evidence that a search by words missed although they share words: what the run shows of how it is indexed."""

from __future__ import annotations

from collections.abc import Iterable

from assay.attribution.cause_finding import (
    RECORD_BEFORE_ACCESS,
    RECORD_ERRORS,
    RECORD_ID_SEARCH,
    RECORD_QUERY,
    RECORD_TEXTS,
    RECORDS_OF_FAILED_SEARCH,
    CauseFinding,
)
from assay.attribution.evidence_trace import TraceStep
from assay.attribution.index.index_view import IndexView
from assay.attribution.losses.facts_of_search import (
    LARGE_RUN,
    describe_absence,
    describe_search,
    has_texts,
    list_other_texts,
    may_be_unindexed,
)
from assay.attribution.losses.lost_unit import LostEvidence, may_search_by_vectors
from assay.records.findings import CauseConfidence, RootCause
from assay.text.lexical_rank import compute_lexical_rank
from assay.text.normalisation import normalise_nfc
from assay.text.pattern_cache import compile_pattern
from assay.text.tokens import is_stop_word, tokenise_text


def compare_with_run(loss: LostEvidence, view: IndexView, lexical: TraceStep) -> CauseFinding | None:
    """Tell an analyzer from a failed search and from a missing chunk by what other searches of the run return."""
    absent = describe_search(loss, lexical)
    words = view.words.find_distinctive_words(loss.query, loss.texts)
    quoted = quote_words(view.words.find_matched_words(words))
    unindexed: tuple[RootCause, ...] = () if loss.is_shown_in_run else (loss.unindexed_cause,)
    if words and not view.words.is_matched(words):
        return _report_unmatched(loss, view, lexical, words)
    if words and not lexical.chunk_ids:
        fact = f"it returns nothing, and elsewhere in the run it finds chunks by {quoted}"
        record = (RECORD_ERRORS, RECORD_QUERY)
        return CauseFinding(
            "insufficient_trace", lexical.name, (absent, fact), "low", ("bm25_analyzer", "acl"), record=record
        )
    if not words and not may_search_by_vectors(loss.steps):
        fact = "question and evidence share no word that tells it from other chunks"
        return CauseFinding(
            "bm25_analyzer",
            lexical.name,
            (absent, fact, *describe_absence(loss)),
            "low" if unindexed else "medium",
            unindexed,
            "vocabulary_mismatch",
            (RECORD_ID_SEARCH,),
        )
    if loss.is_shown_in_run:
        return None
    others: tuple[RootCause, ...] = ("bm25_analyzer", "stale_index")
    fact = f"elsewhere in the run it finds chunks by {quoted}, which question and evidence share"
    facts = (absent, *((fact,) if words else ()), *describe_absence(loss))
    return CauseFinding(
        loss.unindexed_cause,
        lexical.name,
        facts,
        "medium",
        tuple(cause for cause in others if cause != loss.unindexed_cause),
        "not_indexed",
        (RECORD_ID_SEARCH,),
    )


def _report_unmatched(loss: LostEvidence, view: IndexView, lexical: TraceStep, words: frozenset[str]) -> CauseFinding:
    """No search of the run finds a chunk by the words that question and evidence share.

    It is the analyzer if the index is seen to have a chunk with one of them, which is not found by it either. If no
    chunk but the lost one has them, one that is not indexed leaves the same trace; and no analyzer keeps apart what is
    written alike, unless it treats queries in another way than texts.
    """
    absent = describe_search(loss, lexical)
    unindexed: tuple[RootCause, ...] = () if loss.is_shown_in_run else (loss.unindexed_cause,)
    indexed = view.find_indexed_with(words, loss.chunk_ids)
    fact = describe_findable(loss, view)
    if fact is not None and not loss.is_shown_in_run:
        return report_not_indexed(loss, view, lexical, fact, "medium" if describe_absence(loss) else "low")
    facts = [
        absent,
        f"no search of the run finds a chunk by {quote_words(words)} alone, which question and evidence share",
    ]
    confidence: CauseConfidence = "high" if loss.is_shown_in_run else "low"
    if indexed is not None:
        facts.append(f"{indexed}, which other lists of the run have, has one of these words too")
        confidence = "high" if loss.is_shown_in_run or view.words.is_tried_again(words) else "medium"
    facts += describe_absence(loss)
    return CauseFinding(
        "bm25_analyzer", lexical.name, tuple(facts), confidence, unindexed, "analyzer", (RECORD_ID_SEARCH,)
    )


def describe_findable(loss: LostEvidence, view: IndexView) -> str | None:
    """Return what shows that a search by words would find the unit if it were indexed; None if nothing does.

    The words that it shares with the query find other chunks; or no chunk that the index is seen to have has them, and
    they are written alike in both, while most queries find chunks by their rarest word.
    """
    words = view.words.find_distinctive_words(loss.query, loss.texts)
    matched = view.words.find_matched_words(words)
    if matched:
        return f"elsewhere in the run it finds chunks by {quote_words(matched)}, which question and evidence share"
    alike = _list_words_written_alike(loss, words)
    if not alike or not view.words.finds_by_words or view.find_indexed_with(words, loss.chunk_ids) is not None:
        return None
    return f"no list of the run has a chunk with {quote_words(alike)}, which question and evidence share as written"


def report_not_indexed(
    loss: LostEvidence, view: IndexView, search: TraceStep, fact: str, confidence: CauseConfidence
) -> CauseFinding:
    """The search would find the unit by its words, and no list of the run has it."""
    names = [step.name for step in loss.retrievers]
    absent = describe_search(loss, search) if len(names) == 1 else f"{loss.name} is absent in {', '.join(names)}"
    facts = (absent, fact, *_describe_lost_document(loss, view), *describe_absence(loss))
    also: tuple[RootCause, ...] = ("bm25_analyzer",)
    if may_search_by_vectors(loss.steps):
        also = ("embedding", "bm25_analyzer")
    return CauseFinding("stale_index", search.name, facts, confidence, also, "not_indexed", (RECORD_ID_SEARCH,))


def _describe_lost_document(loss: LostEvidence, view: IndexView) -> tuple[str, ...]:
    """Return that no list of the run has anything of the document of the unit, if it has other chunks; else nothing."""
    documents = view.indexed.list_documents(loss.chunk_ids)
    if not documents or view.shows_document_of(loss.chunk_ids):
        return ()
    return (f"no list of the run has anything of {', '.join(documents)}",)


def quote_words(words: Iterable[str]) -> str:
    """Return the first five words, in quotation marks."""
    return f"“{', '.join(sorted(words)[:5])}”"


def _list_words_written_alike(loss: LostEvidence, words: frozenset[str]) -> set[str]:
    """Return those of some words that the query and the texts of the unit have with the same letters, in the same case
    and with the same diacritics: words of letters alone, so that no code is split."""
    texts = {word for text in loss.texts for word in _LETTERS.findall(normalise_nfc(text))}
    alike = texts.intersection(_LETTERS.findall(normalise_nfc(loss.query)))
    return {word for word in alike if not words.isdisjoint(tokenise_text(word))}


_LETTERS = compile_pattern(r"[^\W\d_]+")


def check_shared_words(loss: LostEvidence, lexical: TraceStep, max_rank: int) -> CauseFinding | None:
    """The lexical search ranks the unit lower than the words that it shares with the question justify."""
    expected_rank = compute_lexical_rank(loss.query, loss.texts, list_other_texts(loss, lexical))
    rank = loss.find_rank(lexical)
    if not has_texts(loss, lexical) or expected_rank is None or expected_rank > max_rank:
        return None
    if rank is not None and rank <= expected_rank:
        return None
    evidence = (
        f"{loss.describe_rank(lexical)} in {lexical.name}",
        f"by the words it shares with the question it should have rank {expected_rank} of what was returned",
    )
    if loss.is_hidden:
        return _report_hidden(loss, lexical, evidence)
    if loss.view is not None and not loss.view.indexed.has_texts:
        also: tuple[RootCause, ...] = ("parser",) if rank is not None else (loss.unindexed_cause,)
        if may_be_unindexed(loss):
            if _is_missing_in_document(loss, loss.view):
                fact = "no list has it; others of its document are shown, and its words find other chunks"
                return CauseFinding(
                    "chunking",
                    lexical.name,
                    (*evidence, fact),
                    "medium",
                    (loss.unindexed_cause, "bm25_analyzer"),
                    record=(RECORD_TEXTS, RECORD_ID_SEARCH),
                )
            is_absence_meaningful = bool(describe_absence(loss)) and any(step.chunk_ids for step in loss.retrievers)
            findable = describe_findable(loss, loss.view) if is_absence_meaningful else None
            if findable is not None:
                return report_not_indexed(loss, loss.view, lexical, findable, "low")
            also = ("chunking", loss.unindexed_cause)
        # The index may have other words than the corpus, under the same id.
        return CauseFinding(
            "bm25_analyzer", lexical.name, evidence, "low", also, "analyzer", (RECORD_TEXTS, RECORD_QUERY)
        )
    if rank is None and loss.view is not None and not any(map(loss.view.is_shown, loss.chunk_ids)):
        return _report_shown_nowhere(loss, loss.view, lexical, evidence)
    if not any(step.chunk_ids for step in loss.retrievers):
        fact = "no search returns anything"
        return CauseFinding(
            "bm25_analyzer",
            lexical.name,
            (*evidence, fact),
            "low",
            ("acl", loss.unindexed_cause),
            "analyzer",
            RECORDS_OF_FAILED_SEARCH,
        )
    if _shares_grammar_alone(loss):
        others: tuple[RootCause, ...] = ("context_builder",) if rank is not None else (loss.unindexed_cause,)
        fact = "the words that question and evidence share are of grammar"
        return CauseFinding("bm25_analyzer", lexical.name, (*evidence, fact), "low", others, "analyzer")
    unlifted = loss.unlifted
    if unlifted is not None:  # whatever the search did, the reranker had it in its hands
        fact = f"{loss.describe_rank(unlifted)} in {unlifted.name}, which was reranked"
        facts = evidence if unlifted is lexical else (*evidence, fact)
        return CauseFinding("bm25_analyzer", lexical.name, facts, "medium", ("reranker",), "analyzer")
    confidence: CauseConfidence = "high" if expected_rank == 1 else "medium"
    return CauseFinding("bm25_analyzer", lexical.name, evidence, confidence, subcause="analyzer")


def _shares_grammar_alone(loss: LostEvidence) -> bool:
    """Whether question and unit share words of grammar alone, which many texts have and some searches leave out."""
    words = {word for text in loss.texts for word in tokenise_text(text)}
    return all(map(is_stop_word, words.intersection(tokenise_text(loss.query))))


def _report_hidden(loss: LostEvidence, lexical: TraceStep, evidence: tuple[str, ...]) -> CauseFinding:
    """The run shows the unit to others only, so that access may be what takes it from this user."""
    assert loss.view is not None
    confidence: CauseConfidence = "medium" if loss.view.indexed.has_texts else "low"
    record = (RECORD_BEFORE_ACCESS,)
    return CauseFinding(
        "bm25_analyzer",
        lexical.name,
        (*evidence, HIDDEN),
        confidence,
        ("acl", loss.unindexed_cause),
        "analyzer",
        record,
    )


HIDDEN = "the run shows it to users with other rights, and never to users with these"


def _report_shown_nowhere(
    loss: LostEvidence, view: IndexView, lexical: TraceStep, evidence: tuple[str, ...]
) -> CauseFinding:
    """What no trace of the run shows may not be indexed, or be hidden from everybody who asked. Where a vector search
    misses it too, and any search returned something, the index lacks it more often than two searches fail."""
    others = [step for step in loss.retrievers if step.kind == "dense" and loss.find_rank(step) is None]
    is_absence_meaningful = view.observations >= LARGE_RUN and any(step.chunk_ids for step in loss.retrievers)
    facts = (*evidence, *describe_absence(loss))
    if not others or not is_absence_meaningful:
        unsure: tuple[RootCause, ...] = (loss.unindexed_cause, "acl")
        return CauseFinding("bm25_analyzer", lexical.name, facts, "low", unsure, "analyzer", (RECORD_ID_SEARCH,))
    facts = (*facts, f"{others[0].name} does not have it either")
    findable = describe_findable(loss, view)
    if findable is not None:
        return report_not_indexed(loss, view, lexical, findable, "low")
    also: tuple[RootCause, ...] = ("stale_index", "bm25_analyzer")
    return CauseFinding("embedding", lexical.name, facts, "low", also, "not_indexed", (RECORD_ID_SEARCH,))


def _is_missing_in_document(loss: LostEvidence, view: IndexView) -> bool:
    """Whether a chunk that no trace shows is of a document that the run shows, and the search finds by its words."""
    words = view.words.find_distinctive_words(loss.query, loss.texts)
    return bool(words) and view.words.is_matched(words) and view.shows_document_of(loss.chunk_ids)
