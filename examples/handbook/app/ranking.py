"""Merging rankings, reranking what they found, and packing the context: each a function from rankings to a ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from examples.handbook.app.index import Entry, Index, Spelt
from examples.handbook.app.query import Concept, Question
from examples.handbook.app.records import Chunk, Hit, Ranking, order
from examples.handbook.app.text import count_tokens, fold, words

RRF_K = 60
VOTES = {"dense": 1.0, "bm25": 2.0, "entity": 6.0}
"""An id that was looked up is surer than words, and words are surer than trigrams that look alike."""
PRIOR = 0.2
"""What the place before reranking still counts, beside a relevance in [0, 1]."""
Weighted = Sequence[tuple[Concept, float]]


def weigh(question: Question, index: Index) -> Weighted:
    """Return the question's concepts with what each of them tells."""
    return [(concept, index.weight(concept)) for concept in question.concepts]


def coverage(concepts: Weighted, *texts: Spelt) -> float:
    """Return the share of the question, by weight, that the texts name between them; 0 for a question without words."""
    total = math.fsum(weight for _, weight in concepts)
    named = math.fsum(weight for concept, weight in concepts if any(text.has(concept) for text in texts))
    return named / total if total else 0.0


def merge(rankings: Mapping[str, Ranking], pool: int) -> Ranking:
    """Merge by reciprocal rank (Cormack, Clarke and Büttcher 2009): a vote adds 1 / (60 + rank); keep `pool` hits."""
    scores: dict[Chunk, float] = {}
    for name, ranking in rankings.items():
        for rank, hit in enumerate(ranking, start=1):
            scores[hit.chunk] = scores.get(hit.chunk, 0.0) + VOTES[name] / (RRF_K + rank)
    return order([Hit(chunk, round(score, 6)) for chunk, score in scores.items()])[:pool]


def relevance(question: Question, concepts: Weighted, entry: Entry) -> float:
    """Return how well one chunk fits the question, in [0, 1]: concepts, word pairs, closeness, heading.

    The weights were set by hand, once; nothing was fitted to them.
    """
    closest = max((coverage(concepts, each.spelt, entry.heading) for each in entry.statements), default=0.0)
    return (
        0.40 * coverage(concepts, entry.spelt)
        + 0.15 * _pairs(question, entry.spelt)
        + 0.30 * closest
        + 0.15 * coverage(concepts, entry.heading)
    )


def _pairs(question: Question, text: Spelt) -> float:
    """Return the share of the question's neighbouring words that are neighbours in the text too, diacritics aside."""
    asked = set(pairwise(map(fold, words(question.text))))
    return sum(f" {left} {right} " in text.folded for left, right in asked) / len(asked) if asked else 0.0


def rerank(question: Question, concepts: Weighted, candidates: Ranking, index: Index) -> Ranking:
    """Return the candidates by relevance; the earlier rank decides only between equals."""
    if not candidates:
        return []
    best = candidates[0].score or 1.0
    return order(
        [
            Hit(
                hit.chunk,
                round(relevance(question, concepts, index.entries[hit.chunk.chunk_id]) + PRIOR * hit.score / best, 6),
            )
            for hit in candidates
        ]
    )


def pack(ranking: Ranking, budget: int, most: int) -> Ranking:
    """Return the context: the best hits, at most `most`, that fit into the budget of tokens. A text is shown once."""
    packed: Ranking = []
    seen: set[str] = set()
    for hit in ranking:
        cost = count_tokens(hit.chunk.text)
        if hit.chunk.text not in seen and cost <= budget and len(packed) < most:
            packed.append(hit)
            seen.add(hit.chunk.text)
            budget -= cost
    return packed
