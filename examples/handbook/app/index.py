"""The index: what every later step needs to know about a chunk, computed once."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from examples.handbook.app.bm25 import Analyzer, Field
from examples.handbook.app.embedding import Embedder, Matrix
from examples.handbook.app.query import Concept
from examples.handbook.app.records import Chunk, Hit, Ranking, order
from examples.handbook.app.text import ENTITY, fold, language_of, statements, without_marks, words

_NUMBER = re.compile(r"^\d+\. ")

FOLDED_WEIGHT = 0.5
"""A match that needs folding counts half of an exact one; an exact match scores in both columns."""


@dataclass(frozen=True, slots=True)
class Spelt:
    """Text as spaced words, with and without diacritics, so that a phrase is found by `in`."""

    exact: str
    folded: str

    @classmethod
    def of(cls, text: str) -> Spelt:
        """Return the words of the text."""
        found = words(text)
        return cls(f" {' '.join(found)} ", f" {' '.join(map(fold, found))} ")

    def has(self, concept: Concept) -> bool:
        """Whether the text names the concept in any of its forms."""
        for form in concept.exact:  # a plain loop: this is the innermost step of every question
            if form in self.exact:
                return True
        return any(form in self.folded for form in concept.folded)


@dataclass(frozen=True, slots=True)
class Stated:
    """One statement as it may be quoted: a table row says where it stands, a statement under an id names the id."""

    text: str
    spelt: Spelt
    language: str
    row: bool

    @classmethod
    def of(cls, text: str, section: str, row: bool) -> Stated:
        """Return the statement of that section, fit to be read alone; a row is found by its own words only."""
        missing = [entity for entity in ENTITY.findall(section) if entity not in text]
        if row:
            title = _NUMBER.sub("", section.split(" > ")[-1])
            return cls(f"{title} – {text}.", Spelt.of(text), language_of(text), row)
        if missing:
            text = f"{', '.join(missing)}: {text}"
        return cls(text, Spelt.of(text), language_of(text), row)


@dataclass(frozen=True, slots=True)
class Entry:
    """One indexed chunk: its words, its heading's words, its statements, and which ids it mentions together."""

    chunk: Chunk
    spelt: Spelt
    heading: Spelt
    statements: tuple[Stated, ...]
    links: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, chunk: Chunk) -> Entry:
        """Analyse one chunk; each of its `links` holds the ids of one statement, as it would be quoted."""
        stated = tuple(Stated.of(text, chunk.section, row) for text, row in statements(chunk.text))
        return cls(
            chunk,
            Spelt.of(chunk.section + "\n" + chunk.text),
            Spelt.of(chunk.section),
            stated,
            tuple(frozenset(entities_in(each.text)) for each in stated),
        )


def entities_in(text: str) -> set[str]:
    """Return the structured ids of a text, in upper case."""
    return {match.upper() for match in ENTITY.findall(text)}


class Index:
    """Every chunk of the handbook, whoever may see it: the filters are applied by whoever searches."""

    def __init__(self, chunks: Sequence[Chunk], embedder: Embedder, analyze: Analyzer) -> None:
        self.entries = {chunk.chunk_id: Entry.of(chunk) for chunk in chunks}
        self._embedder = embedder
        self._row = {chunk.chunk_id: row for row, chunk in enumerate(chunks)}
        plain = [without_marks(chunk.text) for chunk in chunks]
        self._vectors = embedder.embed(plain)
        self._analyze = analyze
        analysed = [analyze(text) for text in plain]
        self._exact = Field([terms.exact for terms in analysed])
        self._folded = Field([terms.folded for terms in analysed])

    def weight(self, concept: Concept) -> float:
        """Return how much the concept tells: the rarer in the handbook, the more; unknown words tell most."""
        having = sum(entry.spelt.has(concept) for entry in self.entries.values())
        return math.log((len(self.entries) + 1) / (having + 0.5))

    def embed(self, query: str) -> Matrix:
        """Return the vector of a query, of shape (1, dimensions)."""
        return self._embedder.embed([query])

    def dense(self, vector: Matrix, allowed: Iterable[Chunk], limit: int) -> Ranking:
        """Return the allowed chunks nearest to the vector by cosine similarity."""
        chunks = list(allowed)
        similar = self._vectors[[self._row[chunk.chunk_id] for chunk in chunks]] @ vector[0]
        # Rounded so that the last bits of a linear-algebra library never decide the order.
        hits = [Hit(chunk, round(float(score), 6)) for chunk, score in zip(chunks, np.asarray(similar), strict=True)]
        return order(hits)[:limit]

    def bm25(self, query: str, allowed: Iterable[Chunk], limit: int) -> Ranking:
        """Return the allowed chunks that share words with the query, by BM25 over the exact and the folded column."""
        terms = self._analyze(query)
        hits = []
        for chunk in allowed:
            row = self._row[chunk.chunk_id]
            score = self._exact.score(terms.exact, row) + FOLDED_WEIGHT * self._folded.score(terms.folded, row)
            if score > 0:
                hits.append(Hit(chunk, round(score, 6)))
        return order(hits)[:limit]
