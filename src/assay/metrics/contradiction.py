"""What makes a claim say something else than the sentence that says almost the same: another number, date, unit or
identifier in its place, a negation on one side only, or the opposite word.

Only a sentence that holds nearly all other words of the claim can contradict it: elsewhere these signs are near chance.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from assay.metrics.opposites import denials, is_denial, opposite
from assay.metrics.passages import Match, Passage, Sources
from assay.metrics.terms import Term, Terms, stored, wanted

_BESIDE_FACT = 0.75  # share of the claim's other words, by rarity, that a sentence must hold to contradict a fact …
_BESIDE_TURN = 0.9  # … and to contradict it by a negation or an opposite
_FEWEST = 2  # other words that it must hold
_COMPANY, _NEAR = 1, 3  # neighbours of a fact of the claim, and how far from its rival one of them may stand
_LOOSER = 3  # terms that the sentence may have more than the claim between the first and the last that they share
_BEFORE = 1  # terms before the first of them in which a negation belongs to them
_YEAR = re.compile(r"#(?:1[5-9]|20|21)\d\d")


class Contradiction(NamedTuple):
    """What contradicts a claim, in words; `turned`: it is a negation or an opposite, not a fact."""

    words: tuple[str, ...] = ()
    turned: bool = False


class Claimed(NamedTuple):
    """A claim held against sources: its terms that carry content, each with where it stands and how rare it is.

    `misplaced`: those that are numbers, identifiers or names and stand nowhere, or in other company.
    """

    found: Terms
    content: Sequence[Term]
    matches: Sequence[Match]
    weights: Sequence[float]
    misplaced: Collection[int]

    def written(self, term: Term) -> str:
        """Return one of its terms as it is written."""
        return self.found.text[term.start : term.end]


def contradiction(claimed: Claimed, sources: Sources, sentence: int) -> Contradiction:
    """Return what makes the best sentence, by its number in `sources.sentences`, contradict a claim."""
    beside = _Beside(claimed, sources, sentence)
    lacking = [q for q, term in enumerate(claimed.content) if term.kind in _FACTS and not beside.places[q]]
    if lacking:
        wrong = [q for q in lacking if q in claimed.misplaced]
        rivals = beside.rivals(wrong) if beside.share(lacking) >= _BESIDE_FACT else ()
        return Contradiction(tuple(dict.fromkeys(rivals)))
    turned = beside.turned()
    if not turned:
        return Contradiction()
    held = [claimed.matches[q].places for q, places in enumerate(beside.places) if places]
    others = set.intersection(*map(sources.sentences_at, held)) - {sentence}
    if any(not _Beside(claimed, sources, other).turned() for other in sorted(others)):
        return Contradiction()  # another sentence holds as much and says the same
    return Contradiction((turned,), True)


_FACTS = ("number", "id")


class _Beside:
    """A claim beside one sentence of the sources."""

    def __init__(self, claimed: Claimed, sources: Sources, sentence: int) -> None:
        number, within = sources.sentences[sentence]
        self.claimed, self.passage = claimed, sources.passages[number]
        self.first, self.last = self.passage.sentences[within]
        offset = sources.offsets[number]
        self.places = [
            [place - offset for place in _between(match.places, offset + self.first, offset + self.last)]
            for match in claimed.matches
        ]

    def share(self, but: Collection[int]) -> float:
        """Return how much of the claim, some words aside, the sentence holds; 0 where that is hardly anything."""
        others = [q for q in range(len(self.places)) if q not in but]
        held = [self.claimed.weights[q] for q in others if self.places[q]]
        return sum(held) / sum([self.claimed.weights[q] for q in others]) if len(held) >= _FEWEST else 0.0

    # ── facts ────────────────────────────────────────────────────────────────────────────────────────────────────

    def rivals(self, lacking: Collection[int]) -> Iterator[str]:
        """Yield what stands in the sentence where these numbers and identifiers of the claim should."""
        facts = [term for term in self.claimed.content if term.kind in _FACTS]
        said = {key for term in facts for key in wanted(term, False)}
        for q in lacking:
            around = range(max(0, q - _COMPANY), min(len(self.places), q + _COMPANY + 1))
            company = [place for z in around if z != q for place in self.places[z]]
            for place in range(self.first, self.last):
                term = self.passage.items[place]
                if (
                    _compares(self.claimed.content[q], term)
                    and said.isdisjoint(stored(term, False))
                    and any(abs(place - other) <= _NEAR for other in company)
                    and not _torn(self.passage, term)
                ):
                    there = self.passage.text[term.start : term.end]
                    yield f'"{self.claimed.written(self.claimed.content[q])}" where the source has "{there}"'
                    break

    # ── negations and opposites ──────────────────────────────────────────────────────────────────────────────────

    def turned(self) -> str:
        """Return the negation or the opposite word that turns the claim round; nothing where none does."""
        content, found = self.claimed.content, self.claimed.found
        denying = [q for q, term in enumerate(content) if is_denial(self.claimed.written(term).lower())]
        held = [q for q, places in enumerate(self.places) if places and q not in denying]
        missing = [q for q, places in enumerate(self.places) if not places and q not in denying]
        if not held or len(missing) > 1 or self.share([*missing, *denying]) < _BESIDE_TURN:
            return ""
        shared = [place for q in held for place in self.places[q]]
        ours = _stretch(found.items, 0, *_ends([found.items.index(content[q]) for q in held]))
        theirs = _stretch(self.passage.items, self.first, *_ends(shared))
        if len(theirs) > len(found.items) + _BEFORE + _LOOSER:
            return ""
        words = [self.passage.text[term.start : term.end].lower() for term in theirs]
        said = [self.claimed.written(term).lower() for term in ours]
        denied, denies = denials(said), denials(words)
        if denied is None or denies is None:
            return ""
        if denied != denies:
            where = "claim" if denied else "source"
            return f"a negation only in the {where}" if not missing else ""
        pairs = ((word, opposite(word, words)) for word in said)
        return next((f'"{word}" where the source has "{other}"' for word, other in pairs if other), "")


def _ends(places: Sequence[int]) -> tuple[int, int]:
    return min(places), max(places)


def _stretch(items: Sequence[Term], least: int, first: int, last: int) -> Sequence[Term]:
    """Return the terms from a little before the first to the last: what stands beyond may deny something else."""
    return items[max(least, first - _BEFORE) : last + 1]


def _between(places: Sequence[int], first: int, last: int) -> Sequence[int]:
    at = bisect_left(places, first)
    return places[at : bisect_left(places, last, at)]


def _compares(one: Term, other: Term) -> bool:
    """Whether two facts are of one kind, so that one excludes the other: not a year and a count, nor days and euros."""
    if one.kind != other.kind:
        return False
    if one.kind == "id":
        return _shape(one.key) == _shape(other.key)
    if one.key[0] != other.key[0] or bool(_YEAR.fullmatch(one.key)) != bool(_YEAR.fullmatch(other.key)):
        return False
    if one.key in (other.key, *other.others):
        return bool(one.unit and other.unit)  # 12 days and 12 weeks
    return one.unit == other.unit


def _shape(key: str) -> str:
    """Return an identifier with every number as 0: "err-429" and "err-430" name things of one kind."""
    return re.sub(r"\d+", "0", key)


_TORN_BEFORE, _TORN_BEHIND = re.compile(r"\d\. $"), re.compile(r"\. \d")


def _torn(passage: Passage, term: Term) -> bool:
    """Whether a number is half of a decimal that a tokenised text has torn apart: "98. 7"."""
    before = passage.text[max(0, term.start - 3) : term.start]
    return bool(_TORN_BEFORE.search(before) or _TORN_BEHIND.match(passage.text, term.end))
