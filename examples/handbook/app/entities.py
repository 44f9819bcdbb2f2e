"""Entity-linked retrieval: structured ids are looked up in every document, and followed from one to the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from examples.handbook.app.index import Entry, Index, Spelt, entities_in
from examples.handbook.app.query import Concept, Question
from examples.handbook.app.ranking import Weighted
from examples.handbook.app.records import Hit, Ranking, order

LINKED = 0.6
"""An id found beside an id of the question counts this much of it; one found beside that, this much again."""
KINDS = {
    "INC": Concept((" incident ", " sự cố "), (" su co ",)),
    "CVE": Concept((" vulnerability ", " lỗ hổng "), (" lo hong ",)),
    "PROJ": Concept((" project ", " dự án "), (" du an ",)),
    "SRV": Concept((" server ", " máy chủ "), (" may chu ",)),
}
"""How a question speaks of each kind of id."""
MENTIONED = 0.5
"""A chunk that only mentions an id counts this much of the one whose heading names it."""


def link(question: Question, entries: Iterable[Entry]) -> dict[str, float]:
    """Return the ids of the question with weight 1, and those that the handbook names beside them with less.

    The last step only leads to the kinds of id that the question wants, if it wants any; none leads to another id of a
    kind that it names by id: nobody asked for a second incident.
    """
    weights = dict.fromkeys(question.entities, 1.0)
    others = set(KINDS) - {_kind(entity) for entity in weights}
    groups = [group for entry in entries for group in entry.links]
    frontier = set(weights)
    for hop, wanted in ((1, others), (2, wanted_kinds(question) or others)):
        beside = set().union(*(group for group in groups if not frontier.isdisjoint(group)))
        frontier = {entity for entity in beside if entity not in weights and _kind(entity) in wanted}
        weights |= dict.fromkeys(sorted(frontier), LINKED**hop)
    return weights


def wanted_kinds(question: Question) -> set[str]:
    """Return the kinds that the question speaks of without an id, as in "which project is behind INC-2026-001?"."""
    text = Spelt.of(question.text)
    spoken = {kind for kind, concept in KINDS.items() if text.has(concept)}
    return spoken - {_kind(entity) for entity in question.entities}


def _kind(entity: str) -> str:
    return entity.split("-")[0]


def search(weights: Mapping[str, float], entries: Iterable[Entry], limit: int) -> Ranking:
    """Return the chunks that name any of the ids, each chunk once; the weights of all its ids add up, so that a chunk
    shared by several ids of the question comes before one that only a single id leads to."""
    hits = []
    for entry in entries:
        heading, named = entities_in(entry.chunk.section), frozenset().union(*entry.links)
        score = sum(
            weight * (1 if entity in heading else MENTIONED) for entity, weight in weights.items() if entity in named
        )
        if score:
            hits.append(Hit(entry.chunk, round(score, 6)))
    return order(hits)[:limit]


def concepts(weights: Mapping[str, float], index: Index) -> Weighted:
    """Return the ids as concepts, each telling as much as its rarity says, times its weight."""
    named = [(Concept((f" {entity.lower()} ",)), weight) for entity, weight in weights.items()]
    return [(concept, weight * index.weight(concept)) for concept, weight in named]
