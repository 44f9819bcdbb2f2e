"""Queries that lost words of the question or speak of something else beside it, so that the evidence is not found."""

from __future__ import annotations

from collections.abc import Sequence

from assay.attribution.cause_finding import CauseFinding
from assay.attribution.evidence_trace import TraceStep
from assay.attribution.losses.facts_of_search import list_other_texts
from assay.attribution.losses.lost_unit import LostEvidence
from assay.attribution.losses.missed_words import quote_words
from assay.text.lexical_rank import compute_lexical_rank
from assay.text.question_entities import find_question_entities
from assay.text.tokens import tokenise_text

_MIN_ADDED_WORDS = 5
"""From how many words on that a query adds to the question it may be about something else."""


def find_misleading_query(loss: LostEvidence, filtered: TraceStep) -> str | None:
    """Return what shows that a filter went by another query than the question: words that the query lost, or that all
    that the filter keeps is about something else."""
    lost_words = _list_lost_words(loss)
    if lost_words:
        return f"the query as it was sent lacks {quote_words(lost_words)}, which question and evidence share"
    if loss.is_query_known:
        return None
    names = _list_naming_words(loss.question) & _list_words(loss.texts)
    kept_texts = [text for text in map(loss.text_of, filtered.chunk_ids) if text]
    if not names or not kept_texts or any(names <= _list_words([text]) for text in kept_texts):
        return None
    return f"nothing that {filtered.name} keeps has “{', '.join(sorted(names))}”, which question and evidence share"


def _list_naming_words(question: str) -> set[str]:
    """Return the words of a question that name something: those of its names and codes, and those with a digit."""
    names = {word for entity in find_question_entities(question) for word in tokenise_text(entity)}
    return names | {word for word in tokenise_text(question) if any(letter.isdigit() for letter in word)}


def _list_lost_words(loss: LostEvidence) -> list[str]:
    """Return the words that question and unit share, and that the query as it was sent lacks."""
    if not loss.texts or not loss.question or loss.query == loss.question:
        return []
    return sorted((set(tokenise_text(loss.question)) & _list_words(loss.texts)) - set(tokenise_text(loss.query)))


def find_added_subjects(loss: LostEvidence, ranked: TraceStep) -> str | None:
    """Return what shows that a ranking went by other subjects than the question's: the query as it was sent adds at
    least as many words as the question has, and by them other chunks of the list come before the evidence."""
    if not loss.is_query_known or not loss.texts:
        return None
    asked, searched = _list_long_words(loss.question), _list_long_words(loss.query)
    added = searched - asked - _list_words(loss.texts)
    if not asked or len(added) < max(len(asked), _MIN_ADDED_WORDS):
        return None
    others = list_other_texts(loss, ranked)
    asked_rank = compute_lexical_rank(loss.question, loss.texts, others)
    searched_rank = compute_lexical_rank(loss.query, loss.texts, others)
    if asked_rank is None or searched_rank is None or searched_rank <= asked_rank:
        return None
    named = ", ".join(sorted(added)[:5])
    return f"the query as it was sent adds {len(added)} words, such as “{named}”, which question and evidence lack"


def report_added_subjects(evidence: tuple[str, ...], ranked: TraceStep) -> CauseFinding:
    """Return the finding that the query speaks of something else beside the question."""
    return CauseFinding("bm25_analyzer", ranked.name, evidence, "medium", ("reranker",), "query_rewriting")


def _list_long_words(text: str) -> set[str]:
    return {word for word in tokenise_text(text) if len(word) > 2}


def check_rewriting(loss: LostEvidence, lexical: TraceStep) -> CauseFinding | None:
    """The question shares words with the unit that the rewritten query has lost, and that would have found it."""
    lost_words = _list_lost_words(loss)
    if not lost_words:
        return None
    other_texts = list_other_texts(loss, lexical)
    asked_rank = compute_lexical_rank(loss.question, loss.texts, other_texts)
    searched_rank = compute_lexical_rank(loss.query, loss.texts, other_texts)
    if asked_rank is None or (searched_rank is not None and searched_rank <= asked_rank):
        return None
    evidence = (
        f"{loss.describe_rank(lexical)} in {lexical.name}",
        f"the query as it was sent lacks {quote_words(lost_words)}, which question and evidence share",
    )
    return CauseFinding("bm25_analyzer", lexical.name, evidence, "high", subcause="query_rewriting")


def _list_words(texts: Sequence[str]) -> set[str]:
    return {word for text in texts for word in tokenise_text(text)}
