"""Contradictions between a claim and a similar sentence of the sources: another number, date, unit or identifier in
the same position, a negation on one side only, or an opposite word.

Only a sentence that contains nearly all other words of the claim can contradict it; elsewhere these signs are hardly
better than chance.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from assay.metrics.opposites import denials, is_denial, opposite
from assay.metrics.passages import Match, Passage, Sources
from assay.metrics.terms import Term, Terms, stored, wanted

# Share of the claim's other words, weighted by rarity, that a sentence must contain to contradict a fact …
_LEAST_SHARE_FOR_FACT = 0.75
_LEAST_SHARE_FOR_REVERSAL = 0.9  # … and to contradict the claim by a negation or an opposite word
_FEWEST_SHARED_WORDS = 2  # other words that it must contain
_FACT_COMPANY, _NEAR = 1, 3  # neighbours of a fact in the claim, and how far from the rival fact one of them may be
_MOST_EXTRA_TERMS = 3  # between the first and the last shared term, terms that the sentence may have beyond the claim's
_TERMS_BEFORE = 1  # terms before the first shared one in which a negation still applies to it
_YEAR = re.compile(r"#(?:1[5-9]|20|21)\d\d")


class Contradiction(NamedTuple):
    """The contradictions of a claim, in words. `turned`: a negation or an opposite word, not another fact."""

    words: tuple[str, ...] = ()
    turned: bool = False


class Claimed(NamedTuple):
    """A claim compared with sources: its content terms, each with its match in the sources and its rarity weight.

    `misplaced`: indices of numbers, identifiers and names that are absent, or present without their neighbours.
    """

    found: Terms
    content: Sequence[Term]
    matches: Sequence[Match]
    weights: Sequence[float]
    misplaced: Collection[int]

    def written(self, term: Term) -> str:
        """Return a term of the claim as written."""
        return self.found.text[term.start : term.end]


def contradiction(claimed: Claimed, sources: Sources, sentence: int) -> Contradiction:
    """Return what in a sentence, given by its index in `sources.sentences`, contradicts a claim."""
    comparison = _SentenceComparison(claimed, sources, sentence)
    absent_facts = [q for q, term in enumerate(claimed.content) if term.kind in _FACTS and not comparison.places[q]]
    if absent_facts:
        if comparison.shared_weight(absent_facts) < _LEAST_SHARE_FOR_FACT:
            return Contradiction()
        misplaced_facts = [q for q in absent_facts if q in claimed.misplaced]
        return Contradiction(tuple(dict.fromkeys(comparison.find_rival_facts(misplaced_facts))))
    reversal = comparison.find_reversal()
    if not reversal:
        return Contradiction()
    shared_positions = [claimed.matches[q].places for q, places in enumerate(comparison.places) if places]
    other_sentences = set.intersection(*map(sources.sentences_at, shared_positions)) - {sentence}
    for other_sentence in sorted(other_sentences):
        if not _SentenceComparison(claimed, sources, other_sentence).find_reversal():
            return Contradiction()  # this sentence shares the same words and agrees with the claim
    return Contradiction((reversal,), True)


_FACTS = ("number", "id")


class _SentenceComparison:
    """A claim compared with one sentence of the sources."""

    def __init__(self, claimed: Claimed, sources: Sources, sentence: int) -> None:
        passage_index, sentence_index = sources.sentences[sentence]
        self.claimed, self.passage = claimed, sources.passages[passage_index]
        self.first, self.last = self.passage.sentences[sentence_index]
        offset = sources.offsets[passage_index]
        self.places: list[list[int]] = []  # for each content word, its positions in the sentence
        for match in claimed.matches:
            in_sentence = _positions_between(match.places, offset + self.first, offset + self.last)
            self.places.append([position - offset for position in in_sentence])

    def shared_weight(self, excluded: Collection[int]) -> float:
        """Return the weighted share of the claim's words that the sentence contains, without those at `excluded`.

        0 where it contains fewer than two of them.
        """
        compared = [q for q in range(len(self.places)) if q not in excluded]
        shared_weights = [self.claimed.weights[q] for q in compared if self.places[q]]
        if len(shared_weights) < _FEWEST_SHARED_WORDS:
            return 0.0
        return sum(shared_weights) / sum([self.claimed.weights[q] for q in compared])

    # ── facts ────────────────────────────────────────────────────────────────────────────────────────────────────

    def find_rival_facts(self, misplaced: Collection[int]) -> Iterator[str]:
        """Yield, for each misplaced fact of the claim, the comparable fact that the sentence has in its position."""
        facts = [term for term in self.claimed.content if term.kind in _FACTS]
        claimed_keys = {key for term in facts for key in wanted(term, False)}
        for q in misplaced:
            fact = self.claimed.content[q]
            neighbour_positions: list[int] = []
            for neighbour in range(max(0, q - _FACT_COMPANY), min(len(self.places), q + _FACT_COMPANY + 1)):
                if neighbour != q:
                    neighbour_positions += self.places[neighbour]
            for position in range(self.first, self.last):
                term = self.passage.items[position]
                if (
                    _is_comparable(fact, term)
                    and claimed_keys.isdisjoint(stored(term, False))
                    and any(abs(position - other) <= _NEAR for other in neighbour_positions)
                    and not _is_split_decimal(self.passage, term)
                ):
                    source_words = self.passage.text[term.start : term.end]
                    yield f'"{self.claimed.written(fact)}" where the source has "{source_words}"'
                    break

    # ── negations and opposites ──────────────────────────────────────────────────────────────────────────────────

    def find_reversal(self) -> str:
        """Return the negation or the opposite word that reverses the claim, in words; "" if there is none."""
        content, claim_terms = self.claimed.content, self.claimed.found
        denying = [q for q, term in enumerate(content) if is_denial(self.claimed.written(term).lower())]
        shared = [q for q, positions in enumerate(self.places) if positions and q not in denying]
        missing = [q for q, positions in enumerate(self.places) if not positions and q not in denying]
        if not shared or len(missing) > 1:
            return ""
        if self.shared_weight([*missing, *denying]) < _LEAST_SHARE_FOR_REVERSAL:
            return ""
        claim_positions = [claim_terms.items.index(content[q]) for q in shared]
        sentence_positions = [position for q in shared for position in self.places[q]]
        claim_window = _term_window(claim_terms.items, 0, claim_positions)
        sentence_window = _term_window(self.passage.items, self.first, sentence_positions)
        if len(sentence_window) > len(claim_terms.items) + _TERMS_BEFORE + _MOST_EXTRA_TERMS:
            return ""
        claim_words = [self.claimed.written(term).lower() for term in claim_window]
        sentence_words = [self.passage.text[term.start : term.end].lower() for term in sentence_window]
        claim_denials, sentence_denials = denials(claim_words), denials(sentence_words)
        if claim_denials is None or sentence_denials is None:
            return ""
        if claim_denials != sentence_denials:
            negated_side = "claim" if claim_denials else "source"
            return f"a negation only in the {negated_side}" if not missing else ""
        for word in claim_words:
            opposite_word = opposite(word, sentence_words)
            if opposite_word:
                return f'"{word}" where the source has "{opposite_word}"'
        return ""


def _term_window(items: Sequence[Term], least: int, positions: Sequence[int]) -> Sequence[Term]:
    """Return the terms from just before the first position to the last; a negation outside may deny something else."""
    return items[max(least, min(positions) - _TERMS_BEFORE) : max(positions) + 1]


def _positions_between(positions: Sequence[int], first: int, last: int) -> Sequence[int]:
    index = bisect_left(positions, first)
    return positions[index : bisect_left(positions, last, index)]


def _is_comparable(fact: Term, other_fact: Term) -> bool:
    """Whether two facts exclude each other: of one kind, so neither a year and a count nor days and euros."""
    if fact.kind != other_fact.kind:
        return False
    if fact.kind == "id":
        return _identifier_shape(fact.key) == _identifier_shape(other_fact.key)
    if fact.key[0] != other_fact.key[0] or bool(_YEAR.fullmatch(fact.key)) != bool(_YEAR.fullmatch(other_fact.key)):
        return False
    if fact.key in (other_fact.key, *other_fact.others):
        return bool(fact.unit and other_fact.unit)  # 12 days and 12 weeks
    return fact.unit == other_fact.unit


def _identifier_shape(key: str) -> str:
    """Return an identifier with every number as 0, so that "err-429" and "err-430" have one shape."""
    return re.sub(r"\d+", "0", key)


_SPLIT_BEFORE, _SPLIT_AFTER = re.compile(r"\d\. $"), re.compile(r"\. \d")


def _is_split_decimal(passage: Passage, term: Term) -> bool:
    """Whether a number is one half of a decimal that tokenisation has split ("98. 7")."""
    before = passage.text[max(0, term.start - 3) : term.start]
    return bool(_SPLIT_BEFORE.search(before) or _SPLIT_AFTER.match(passage.text, term.end))
