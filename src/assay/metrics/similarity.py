"""How near an answer is to a reference in the rare words that they share, the question's own words aside."""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import lru_cache

from assay.metrics.idf import Idf
from assay.metrics.terms import Term, Terms, spellings, stored, terms, wanted

_terms_cached = lru_cache(maxsize=8192)(terms)  # references and questions meet the answers of many configurations


def answer_similarity(answer: str, reference: str, question: str, idf: Idf) -> float | None:
    """Return the F1 of the words and numbers that answer and reference share, each weighted by how rare it is.

    Words are stems without stop words, numbers count by value and unit, and what the question says is left out on
    both sides. Range [0, 1]; None where the reference says nothing beyond the question; 0 where only the answer does
    not. `idf`: over the references of the golden set. It measures overlap, not truth: a wrong number costs no more
    than a wrong word.

    >>> answer_similarity("You get 15 days.", "Staff get twelve days", "How much leave?", Idf.of([]))
    0.4
    """
    answer_terms, reference_terms, question_terms = terms(answer), _terms_cached(reference), _terms_cached(question)
    marked = answer_terms.marked and reference_terms.marked
    question_keys = _index_keys(question_terms.items, question_terms.marked)
    answer_content = _content_terms(answer_terms, question_keys, marked and question_terms.marked)
    reference_content = _content_terms(reference_terms, question_keys, marked and question_terms.marked)
    if not reference_content:
        return None
    shared_in_answer = _total_weight(answer_content, idf, _index_keys(reference_content, marked), marked)
    shared_in_reference = _total_weight(reference_content, idf, _index_keys(answer_content, marked), marked)
    if not shared_in_answer or not shared_in_reference:
        return 0.0
    precision, recall = (
        shared_in_answer / _total_weight(answer_content, idf),
        shared_in_reference / _total_weight(reference_content, idf),
    )
    return min(1.0, 2 * precision * recall / (precision + recall))


def _index_keys(items: Iterable[Term], marked: bool) -> set[str]:
    return {key for term in items for key in stored(term, marked)}


def _content_terms(text_terms: Terms, question_keys: Set[str], marked: bool) -> list[Term]:
    """Return the terms that say something beyond the question, each once."""
    items = [
        term for term in text_terms.items if term.kind != "stop" and question_keys.isdisjoint(wanted(term, marked))
    ]
    return list(dict(zip(spellings(items, text_terms.marked), items, strict=True)).values())


def _total_weight(items: Iterable[Term], idf: Idf, index: Set[str] | None = None, marked: bool = False) -> float:
    """Return the weight of the terms, or of those that stand in an index."""
    return sum([idf.weight(t.key) for t in items if index is None or not index.isdisjoint(wanted(t, marked))])
