"""Similarity of an answer to a reference, by the rare words that they share beyond the question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from functools import lru_cache
from math import fsum

from assay.text.markup import remove_markup
from assay.text.tokens import (
    DocumentFrequencies,
    TermKeys,
    iterate_index_keys,
    make_lookup_keys,
    parse_term_keys,
    spell_terms,
)

_REMEMBERED = 8192  # references and questions, which are compared with the answers of many configurations


@lru_cache(maxsize=_REMEMBERED)
def _terms_cached(text: str) -> tuple[list[TermKeys], bool]:
    return parse_term_keys(remove_markup(text))


@lru_cache(maxsize=_REMEMBERED)
def _question_keys(question: str) -> set[str]:
    items, has_diacritics = _terms_cached(question)
    return _index_keys(items, has_diacritics)


@lru_cache(maxsize=_REMEMBERED)
def _reference_content(reference: str, question: str, answer_has_diacritics: bool) -> tuple[list[TermKeys], set[str]]:
    """Return the terms that a reference adds to the question, and the keys under which an answer's are looked up."""
    items, has_diacritics = _terms_cached(reference)
    marked = answer_has_diacritics and has_diacritics
    content = _content_terms(items, has_diacritics, _question_keys(question), marked and _terms_cached(question)[1])
    return content, _index_keys(content, marked)


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
    answer_items, has_diacritics = parse_term_keys(remove_markup(answer))
    reference_content, reference_keys = _reference_content(reference, question, has_diacritics)
    if not reference_content:
        return None
    marked = has_diacritics and _terms_cached(reference)[1]
    question_marked = marked and _terms_cached(question)[1]
    answer_content = _content_terms(answer_items, has_diacritics, _question_keys(question), question_marked)
    shared_in_answer = _keep_indexed(answer_content, reference_keys, marked)
    shared_in_reference = _keep_indexed(reference_content, _index_keys(answer_content, marked), marked)
    precision, recall = _total_weight(shared_in_answer, idf), _total_weight(shared_in_reference, idf)
    if not precision or not recall:
        return 0.0
    precision /= _total_weight(answer_content, idf)
    recall /= _total_weight(reference_content, idf)
    return min(1.0, 2 * precision * recall / (precision + recall))


def _index_keys(items: Sequence[TermKeys], marked: bool) -> set[str]:
    if marked:
        return {key for term in items for key in iterate_index_keys(term, marked)}
    keys = {term.key for term in items}
    for term in items:
        if term.kind == "number":
            keys.update(iterate_index_keys(term, marked))
    return keys


def _content_terms(
    items: Sequence[TermKeys], has_diacritics: bool, question_keys: Set[str], marked: bool
) -> list[TermKeys]:
    """Return the terms that are not in the question, without stop words and duplicates."""
    content = [term for term in items if term.kind != "stop" and not _is_indexed(term, question_keys, marked)]
    return list(dict(zip(spell_terms(content, has_diacritics), content, strict=True)).values())


def _keep_indexed(items: Iterable[TermKeys], index: Set[str], marked: bool) -> list[TermKeys]:
    return [term for term in items if _is_indexed(term, index, marked)]


def _is_indexed(term: TermKeys, index: Set[str], marked: bool) -> bool:
    if marked or term.kind == "number":
        return not index.isdisjoint(make_lookup_keys(term, marked))
    return term.key in index


def _total_weight(items: Iterable[TermKeys], idf: DocumentFrequencies) -> float:
    return fsum(idf.idf_weights([term.key for term in items]))
