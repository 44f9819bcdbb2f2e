"""Choose the source sentences that cover most of a claim, by its words and its character 4-grams."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from typing import NamedTuple

from assay.metrics.idf import Idf
from assay.metrics.passages import Gram, Match, Sources, grams, line_of
from assay.metrics.terms import Terms, spellings

_MOST_SENTENCES = 3  # of evidence
_CANDIDATES = 12  # sentences that share the most words with the claim
_LEAST_GAIN = 0.02
_MOST_POSITIONS = 400  # positions of a term that are examined
_GRAM_WEIGHT_FIRST, _GRAM_WEIGHT_LATER = 0.3, 0.1  # weight of shared 4-grams relative to shared words


class Evidence(NamedTuple):
    """A sentence of a source: the source's id and the span in its NFC text."""

    source: str
    start: int
    end: int


class Pieces(NamedTuple):
    """The character 4-grams of a claim, each with the weight of the rarest word that it overlaps."""

    weights: dict[Gram, float]
    total: float
    marked: bool

    def share(self, present: Set[Gram]) -> float:
        """Return the weighted share of the claim's 4-grams that are present."""
        return sum([weight for gram, weight in self.weights.items() if gram in present]) / self.total


def pieces_of(found: Terms, marked: bool, idf: Idf) -> Pieces:
    """Return the 4-grams of a claim; a word has the square root of its idf as weight. `marked`: keep diacritics."""
    word_spellings = spellings(found.items, marked)
    letter_weights = [0.0]
    for term, word in zip(found.items, word_spellings, strict=True):
        letter_weights += [math.sqrt(idf.weight(term.key))] * len(word)
        letter_weights.append(0.0)
    weights: dict[Gram, float] = {}
    for gram, gram_weights in zip(grams(line_of(word_spellings)), grams(letter_weights), strict=True):
        weight = max(gram_weights)
        if weight > weights.get(gram, 0.0):
            weights[gram] = weight
    return Pieces(weights, sum(weights.values()) or 1.0, marked)


def choose(matches: Sequence[Match], weights: Sequence[float], pieces: Pieces, sources: Sources) -> list[int]:
    """Return the indices of at most three sentences that together cover most of the claim, the best first.

    Greedy: each step adds the sentence with the largest gain, counting only words that are not covered yet.
    """
    words_by_sentence: dict[int, list[int]] = {}  # the indices of the content words in each sentence
    for word, match in enumerate(matches):
        for sentence in sources.sentences_at(match.places[:_MOST_POSITIONS]) if match.places else ():
            words_by_sentence.setdefault(sentence, []).append(word)
    total = sum(weights)
    new_share: dict[int, float] = {}  # of each sentence: the weighted share of the claim that it alone covers
    for sentence, words in words_by_sentence.items():
        new_share[sentence] = sum([weights[word] for word in words]) / total
    candidates = sorted(new_share, key=lambda sentence: (-new_share[sentence], sentence))[:_CANDIDATES]
    gram_shares: dict[int, float] = {}
    chosen: list[int] = []
    covered: set[int] = set()
    while len(chosen) < _MOST_SENTENCES:
        gram_weight = _GRAM_WEIGHT_LATER if chosen else _GRAM_WEIGHT_FIRST
        best, gain = -1, _LEAST_GAIN
        for sentence in candidates:
            if new_share[sentence] + gram_weight <= gain:
                break  # sorted by share: no later sentence can gain more, even with all 4-grams
            if sentence not in gram_shares:
                gram_shares[sentence] = pieces.share(sources.grams(sentence, pieces.marked))
            value = new_share[sentence] + gram_weight * gram_shares[sentence]
            if value > gain:
                best, gain = sentence, value
        if best < 0:
            break
        chosen.append(best)
        covered.update(words_by_sentence[best])
        candidates.remove(best)
        for sentence in candidates:
            uncovered = [word for word in words_by_sentence[sentence] if word not in covered]
            new_share[sentence] = sum([weights[word] for word in uncovered]) / total
        candidates.sort(key=lambda s: (-new_share[s], s))
    return chosen


def sentence_of(sources: Sources, sentence: int) -> Evidence:
    """Return a sentence by its index in `sources.sentences`."""
    passage_number, sentence_number = sources.sentences[sentence]
    return Evidence(sources.chunks[passage_number][0], *sources.passages[passage_number].span(sentence_number))
