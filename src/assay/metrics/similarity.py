"""Similarity of an answer to a reference, by the rare words that they share beyond the question."""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import lru_cache

from assay.metrics.idf import Idf
from assay.metrics.terms import Term, Terms, spellings, stored, terms, wanted

_terms_cached = lru_cache(maxsize=8192)(
    terms
)  # references and questions are compared with the answers of many configurations


def answer_similarity(answer: str, reference: str, question: str, idf: Idf) -> float | None:
    """Return the F1 of the words and numbers that answer and reference share, weighted by their rarity.

    Words are compared as stems without stop words, numbers by value and unit; words of the question are ignored on both
    sides. Range [0, 1]; None if the reference adds nothing to the question, 0 if only the answer adds nothing. `idf`:
    over the references of the golden set. Measures overlap, not correctness: a wrong number costs no more than a wrong
    word.

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
    """Return the terms that are not in the question, without stop words and duplicates."""
    items = [
        term for term in text_terms.items if term.kind != "stop" and question_keys.isdisjoint(wanted(term, marked))
    ]
    return list(dict(zip(spellings(items, text_terms.marked), items, strict=True)).values())


def _total_weight(items: Iterable[Term], idf: Idf, index: Set[str] | None = None, marked: bool = False) -> float:
    """Return the total weight of the terms, or of those in `index` if it is given."""
    return sum([idf.weight(t.key) for t in items if index is None or not index.isdisjoint(wanted(t, marked))])
