"""Similarity of an answer to a reference, by the rare words that they share beyond the question."""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import lru_cache

from assay.text.markup import remove_markup
from assay.text.tokens import (
    DocumentFrequencies,
    ParsedTerms,
    Term,
    iterate_index_keys,
    make_lookup_keys,
    parse_terms,
    spell_terms,
)


@lru_cache(maxsize=8192)
def _terms_cached(text: str) -> ParsedTerms:
    """Return the terms of a reference or a question, which are compared with the answers of many configurations."""
    return parse_terms(remove_markup(text))


def compute_answer_similarity(answer: str, reference: str, question: str, idf: DocumentFrequencies) -> float | None:
    """Return the F1 of the words and numbers that answer and reference share, weighted by their rarity.

    Words are compared as stems without stop words, numbers by value and unit; words of the question are ignored on both
    sides. Range [0, 1]; None if the reference adds nothing to the question, 0 if only the answer adds nothing. `idf`:
    over the references of the golden set. Measures overlap, not correctness: a wrong number costs no more than a wrong
    word.

    >>> frequencies = DocumentFrequencies.from_texts([])
    >>> compute_answer_similarity("You get 15 days.", "Staff get twelve days", "How much leave?", frequencies)
    0.4
    """
    answer_terms, reference_terms, question_terms = (
        parse_terms(remove_markup(answer)),
        _terms_cached(reference),
        _terms_cached(question),
    )
    marked = answer_terms.has_diacritics and reference_terms.has_diacritics
    question_keys = _index_keys(question_terms.items, question_terms.has_diacritics)
    answer_content = _content_terms(answer_terms, question_keys, marked and question_terms.has_diacritics)
    reference_content = _content_terms(reference_terms, question_keys, marked and question_terms.has_diacritics)
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
    return {key for term in items for key in iterate_index_keys(term, marked)}


def _content_terms(text_terms: ParsedTerms, question_keys: Set[str], marked: bool) -> list[Term]:
    """Return the terms that are not in the question, without stop words and duplicates."""
    items = [
        term
        for term in text_terms.items
        if term.kind != "stop" and question_keys.isdisjoint(make_lookup_keys(term, marked))
    ]
    return list(dict(zip(spell_terms(items, text_terms.has_diacritics), items, strict=True)).values())


def _total_weight(
    items: Iterable[Term], idf: DocumentFrequencies, index: Set[str] | None = None, marked: bool = False
) -> float:
    """Return the total weight of the terms, or of those in `index` if it is given."""
    return sum(
        [idf.idf_weight(t.key) for t in items if index is None or not index.isdisjoint(make_lookup_keys(t, marked))]
    )
