"""The sentences of the sources that hold the most of a claim, found by its words and its 4-grams."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from typing import NamedTuple

from assay.metrics.idf import Idf
from assay.metrics.passages import Gram, Match, Sources, grams, line_of
from assay.metrics.terms import Terms, spellings

_SENTENCES = 3  # of evidence, at most
_CANDIDATES = 12  # sentences that share the most words with the claim
_LEAST_GAIN = 0.02
_MOST = 400  # places of a term that are looked at
_PIECES_FIRST, _PIECES_LATER = 0.3, 0.1  # what shared 4-grams count beside shared words


class Evidence(NamedTuple):
    """A sentence of a source: the source's id and the span in its NFC text."""

    source: str
    start: int
    end: int


class Pieces(NamedTuple):
    """The 4-grams of a claim, each with the weight of the rarest word that it touches."""

    weights: dict[Gram, float]
    total: float
    marked: bool

    def share(self, there: Set[Gram]) -> float:
        """Return the weighted share of the claim's 4-grams that are there."""
        return sum([weight for piece, weight in self.weights.items() if piece in there]) / self.total


def pieces_of(found: Terms, marked: bool, idf: Idf) -> Pieces:
    """Return the 4-grams of a claim; a word weighs the square root of how rare it is. `marked`: diacritics count."""
    spelled = spellings(found.items, marked)
    letters = [0.0]
    for term, word in zip(found.items, spelled, strict=True):
        letters += [math.sqrt(idf.weight(term.key))] * len(word)
        letters.append(0.0)
    weights: dict[Gram, float] = {}
    for piece, around in zip(grams(line_of(spelled)), grams(letters), strict=True):
        weight = max(around)
        if weight > weights.get(piece, 0.0):
            weights[piece] = weight
    return Pieces(weights, sum(weights.values()) or 1.0, marked)


def choose(matches: Sequence[Match], weights: Sequence[float], pieces: Pieces, sources: Sources) -> list[int]:
    """Return at most three sentences that together hold the most of the claim, the best first."""
    holds: dict[int, list[int]] = {}  # the content words that each sentence holds
    for q, match in enumerate(matches):
        for sentence in sources.sentences_at(match.places[:_MOST]) if match.places else ():
            holds.setdefault(sentence, []).append(q)
    total = sum(weights)
    new = {sentence: sum([weights[q] for q in words]) / total for sentence, words in holds.items()}
    left = sorted(new, key=lambda sentence: (-new[sentence], sentence))[:_CANDIDATES]
    shares: dict[int, float] = {}
    chosen: list[int] = []
    covered: set[int] = set()
    while len(chosen) < _SENTENCES:
        counts = _PIECES_LATER if chosen else _PIECES_FIRST
        best, gain = -1, _LEAST_GAIN
        for sentence in left:
            if new[sentence] + counts <= gain:
                break  # not even with all 4-grams
            if sentence not in shares:
                shares[sentence] = pieces.share(sources.grams(sentence, pieces.marked))
            value = new[sentence] + counts * shares[sentence]
            if value > gain:
                best, gain = sentence, value
        if best < 0:
            break
        chosen.append(best)
        covered.update(holds[best])
        left.remove(best)
        new = {s: sum([weights[q] for q in holds[s] if q not in covered]) / total for s in left}
        left.sort(key=lambda s: (-new[s], s))
    return chosen


def sentence_of(sources: Sources, sentence: int) -> Evidence:
    """Return a sentence by its number in `sources.sentences`."""
    number, within = sources.sentences[sentence]
    return Evidence(sources.chunks[number][0], *sources.passages[number].span(within))
