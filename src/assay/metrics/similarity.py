"""How near an answer is to a reference in the rare words that they share, the question's own words aside."""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import lru_cache

from assay.metrics.idf import Idf
from assay.metrics.terms import Term, Terms, spellings, stored, terms, wanted

_known = lru_cache(maxsize=8192)(terms)  # references and questions meet the answers of many configurations


def answer_similarity(answer: str, reference: str, question: str, idf: Idf) -> float | None:
    """Return the F1 of the words and numbers that answer and reference share, each weighted by how rare it is.

    Words are stems without stop words, numbers count by value and unit, and what the question says is left out on
    both sides. Range [0, 1]; None where the reference says nothing beyond the question; 0 where only the answer does
    not. `idf`: over the references of the golden set. It measures overlap, not truth: a wrong number costs no more
    than a wrong word.

    >>> answer_similarity("You get 15 days.", "Staff get twelve days", "How much leave?", Idf.of([]))
    0.4
    """
    said, expected, asked = terms(answer), _known(reference), _known(question)
    marked = said.marked and expected.marked
    known = _index(asked.items, asked.marked)
    claims = _content(said, known, marked and asked.marked)
    facts = _content(expected, known, marked and asked.marked)
    if not facts:
        return None
    hit = _weight(claims, idf, _index(facts, marked), marked)
    recalled = _weight(facts, idf, _index(claims, marked), marked)
    if not hit or not recalled:
        return 0.0
    precision, recall = hit / _weight(claims, idf), recalled / _weight(facts, idf)
    return min(1.0, 2 * precision * recall / (precision + recall))


def _index(items: Iterable[Term], marked: bool) -> set[str]:
    return {key for term in items for key in stored(term, marked)}


def _content(found: Terms, known: Set[str], marked: bool) -> list[Term]:
    """Return the terms that say something beyond the question, each once."""
    items = [term for term in found.items if term.kind != "stop" and known.isdisjoint(wanted(term, marked))]
    return list(dict(zip(spellings(items, found.marked), items, strict=True)).values())


def _weight(items: Iterable[Term], idf: Idf, index: Set[str] | None = None, marked: bool = False) -> float:
    """Return the weight of the terms, or of those that stand in an index."""
    return sum([idf.weight(t.key) for t in items if index is None or not index.isdisjoint(wanted(t, marked))])
