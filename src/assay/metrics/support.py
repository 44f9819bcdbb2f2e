"""How far sources support a claim, by rules alone: a score that ranks, a verdict, the evidence, and what is missing.

The score is uncalibrated: it is for ranking, trends and triage, and the verdict leaves most claims unknown. It does not
see swapped roles, two statements fused into one, or numbers that follow from others
(docs/how-to/claims-and-support.md).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from assay.metrics.contradiction import Claimed, Contradiction, contradiction
from assay.metrics.evidence import Evidence, Pieces, choose, pieces_of, sentence_of
from assay.metrics.idf import Idf
from assay.metrics.passages import Match, Sources, line_of
from assay.metrics.terms import Term, Terms, spellings, terms

__all__ = ["Evidence", "Idf", "Sources", "Support", "Verdict", "support"]

Verdict = Literal["supported", "contradicted", "not_found", "unknown"]


class Support(NamedTuple):
    """What the sources say to a claim.

    `score` in [0, 1] rises with `z` (uncalibrated: ranking and trend only). `verdict`: supported where the claim stands
    there next to verbatim; contradicted where the best sentence says almost the same with another fact or turned round,
    as `contradictions` says in words; not found where hardly anything of it is there; most others are unknown, as is
    what is low only because claim and sources are not in the same language.
    `source`, `start`, `end`: the best sentence, the first of `evidence` (None and 0 where there is none).
    `unsupported`: spans in the NFC claim of words with little support; `missing`: numbers, dates, identifiers and
    names that no source has, as written.
    """

    score: float
    z: float
    verdict: Verdict
    source: str | None
    start: int
    end: int
    unsupported: tuple[tuple[int, int], ...]
    missing: tuple[str, ...]
    contradictions: tuple[str, ...]
    logp: float
    fact: float
    c4: float
    dig: float
    turn: float
    evidence: tuple[Evidence, ...]


# z = 0.04·logp − 0.4·fact + 1.5·c4 − dig − turn, with weights set by hand on six public sets: a trained regression
# ranks alike.
_LOGP, _FACT, _C4, _DIG, _TURN = 0.04, 0.4, 1.5, 1.0, 1.0
_MIDDLE, _SLOPE = 0.7, 4.0  # score = 1 / (1 + exp(−slope · (z − middle)))
_SUPPORTED, _NOT_FOUND = 1.4, -0.5  # z from which, and below which, the verdict is not unknown
_LOWEST = -100.0  # z below which the score is flat
_LONGEST = 4000  # characters of a claim that are read
_WEIGHTS = {"number": 1.6, "id": 1.6, "name": 1.4}
_FACTS = ("number", "id", "name")


def support(claim: str, sources: Sources) -> Support:
    """Return how far the sources support a claim, jointly; `sources.only(ids)` asks some of them.

    Five features: `logp`, how well each content word is found among its neighbours; `fact`, numbers, identifiers and
    names that are absent or in other company; `c4`, the share of the claim's 4-grams, weighted by rarity, in at most
    three sentences; `dig`, numbers that no source has; `turn`, whether a negation or an opposite word turns the claim
    round. A claim whose terms stand in a source in a row has the best of all. A claim without a word is unknown; one of
    which nothing is found is not found. Where the claim bears diacritics and no source does, or all sources do and the
    claim does not, they are in different languages: unknown at best. Of an endless claim the first 4,000 characters
    count.

    >>> sources = Sources([("hr", "Full-time staff get 12 days of annual leave.")], Idf.of([]))
    >>> support("Staff get 12 days of annual leave", sources).verdict
    'supported'
    >>> wrong = support("Staff get 15 days of annual leave", sources)
    >>> wrong.verdict, wrong.contradictions, wrong.source
    ('contradicted', ('"15 days" where the source has "12 days"',), 'hr')
    """
    asked = _asked(claim[:_LONGEST], sources.idf)
    found, content = asked.found, asked.content
    if not content:
        return _made(_Features(0.0, 0.0, 0.0, 0.0, 0.0), found, (), z=_MIDDLE)
    place = _verbatim(asked, sources)
    if place is not None:
        whole = sentence_of(sources, sources.sentences_at([place]).pop())
        return _made(_Features(0.0, 0.0, 1.0, 0.0, 0.0), found, (whole,))
    matches = [sources.match(term, found.marked) for term in content]
    supports = _supports(matches, asked.weights)
    pieces = asked.pieces(found.marked and sources.marked)
    chosen = choose(matches, asked.weights, pieces, sources)
    absent = [term for term, match in zip(content, matches, strict=True) if not match.places]
    misplaced = [q for q in asked.facts if _misplaced(content, matches, q)]
    claimed = Claimed(found, content, matches, asked.weights, misplaced)
    against = contradiction(claimed, sources, chosen[0]) if chosen else _NOTHING_AGAINST
    features = _Features(
        sum([weight * math.log(max(_FLOOR, s)) for weight, s in zip(asked.kinds, supports, strict=True)]),
        float(len(misplaced)),
        pieces.share(frozenset().union(*[sources.grams(sentence, pieces.marked) for sentence in chosen])),
        float(len({(term.start, term.end) for term in absent if _is_digits(term, found)})),
        float(against.turned),
    )
    made = _made(
        features,
        found,
        tuple([sentence_of(sources, sentence) for sentence in chosen]),
        weak=[term for term, value in zip(content, supports, strict=True) if value < _WEAK],
        missing=[term for term in absent if term.kind in _FACTS],
        against=against,
    )
    if made.verdict in ("not_found", "unknown") and sources.passages and found.marked != sources.marked:
        return made._replace(verdict="unknown")
    return made if chosen else made._replace(verdict="not_found")


class _Asked:
    """A claim made ready to be held against several sources."""

    def __init__(self, claim: str, idf: Idf) -> None:
        self.found = found = terms(claim)
        self.content = [term for term in found.items if term.kind != "stop"] or found.items
        self.weights = [idf.weight(term.key) for term in self.content]
        self.kinds = [_WEIGHTS.get(term.kind, 1.0) for term in self.content]
        self.facts = [q for q, term in enumerate(self.content) if term.kind in _FACTS]
        self.lines = {marked: line_of(spellings(found.items, marked)) for marked in {False, found.marked}}
        self._idf = idf
        self._pieces: dict[bool, Pieces] = {}

    def pieces(self, marked: bool) -> Pieces:
        """Return the claim's 4-grams; `marked`: diacritics count."""
        if marked not in self._pieces:
            self._pieces[marked] = pieces_of(self.found, marked, self._idf)
        return self._pieces[marked]


_asked = lru_cache(maxsize=256)(_Asked)  # claims meet the context, what is cited, and each citation


_NOTHING_AGAINST = Contradiction()


class _Features(NamedTuple):
    logp: float
    fact: float
    c4: float
    dig: float
    turn: float


def _made(
    features: _Features,
    found: Terms,
    evidence: tuple[Evidence, ...],
    weak: Sequence[Term] = (),
    missing: Sequence[Term] = (),
    against: Contradiction = _NOTHING_AGAINST,
    z: float | None = None,
) -> Support:
    if z is None:
        z = _LOGP * features.logp - _FACT * features.fact + _C4 * features.c4 - _DIG * features.dig
        z -= _TURN * features.turn
    score = 1.0 / (1.0 + math.exp(-_SLOPE * (max(z, _LOWEST) - _MIDDLE)))
    source, start, end = evidence[0] if evidence else (None, 0, 0)
    return Support(
        score=score,
        z=z,
        verdict="contradicted" if against.words else _verdict(z),
        source=source,
        start=start,
        end=end,
        unsupported=tuple(dict.fromkeys((term.start, term.end) for term in weak)),
        missing=tuple(dict.fromkeys(found.text[term.start : term.end] for term in missing)),
        contradictions=against.words,
        **features._asdict(),
        evidence=evidence,
    )


def _verdict(z: float) -> Verdict:
    return "supported" if z >= _SUPPORTED else "not_found" if z < _NOT_FOUND else "unknown"


def _verbatim(asked: _Asked, sources: Sources) -> int | None:
    """Return the first place where all terms of the claim stand in a row."""
    for passage, offset in zip(sources.passages, sources.offsets, strict=True):
        marked = asked.found.marked and passage.marked
        at = passage.lines[marked].find(asked.lines[marked])
        if at >= 0:
            return offset + passage.lines[marked].count(" ", 0, at)
    return None


# ── features ─────────────────────────────────────────────────────────────────────────────────────────────────────

_FLOOR = 0.05  # the least support of a word
_WEAK = 0.5  # support below which a word is shown
_ALONE = 0.4  # support of a word that is found in other company
_NEIGHBOURS, _FADING = 3, 0.3  # words on either side that are its company; the farther ones count less
_CLOSENESS = (1.0,) * 9 + (0.7,) * 8 + (0.35,) * 16  # what company counts at a distance of so many terms
_FAR = len(_CLOSENESS)
_MOST = 40  # places of a term that are looked at
_FACT_NEIGHBOURS, _FACT_NEAR = 2, 12


def _supports(matches: Sequence[Match], weights: Sequence[float]) -> list[float]:
    """Return the support of each content word: how well it agrees, times .4 to 1 by how much of its company is near."""
    supports = []
    for q, match in enumerate(matches):
        if not match.places:
            supports.append(0.0)
            continue
        present: list[tuple[Sequence[int], float]] = []
        total = reachable = 0.0
        for z in range(max(0, q - _NEIGHBOURS), min(len(matches), q + _NEIGHBOURS + 1)):
            if z != q:
                weight = weights[z] / (1 + _FADING * (abs(z - q) - 1))
                total += weight
                if matches[z].places:
                    present.append((matches[z].places, weight))
                    reachable += weight
        best = 0.0 if total else 1.0
        for place in match.places[:_MOST] if present else ():
            best = max(best, _company_near(place, present) / total)
            if best * total >= reachable:
                break
        supports.append(match.quality * (_ALONE + (1 - _ALONE) * best))
    return supports


def _company_near(place: int, company: Sequence[tuple[Sequence[int], float]]) -> float:
    """Return the weight of the company, each word counted by how near the nearest of its places is."""
    near = 0.0
    for places, weight in company:
        at = bisect_left(places, place)
        distance = place - places[at - 1] if at else _FAR
        if at < len(places) and places[at] == place:
            at += 1  # the word itself is no company of its own
        if at < len(places) and places[at] - place < distance:
            distance = places[at] - place
        if distance < _FAR:
            near += weight * _CLOSENESS[distance]
    return near


def _misplaced(content: Sequence[Term], matches: Sequence[Match], q: int) -> bool:
    """Whether a number, identifier or name is absent, or present with none of its neighbours near."""
    places = matches[q].places
    if not places:
        return True
    near = range(max(0, q - _FACT_NEIGHBOURS), min(len(content), q + _FACT_NEIGHBOURS + 1))
    others = [matches[z].places for z in near if z != q and matches[z].places]
    return bool(others) and not any(
        _within(place, other, _FACT_NEAR) for place in places[: 2 * _MOST] for other in others
    )


def _within(place: int, places: Sequence[int], distance: int) -> bool:
    """Whether one of the places is near another, but not the same."""
    at = bisect_left(places, place - distance)
    while at < len(places) and places[at] <= place + distance:
        if places[at] != place:
            return True
        at += 1
    return False


def _is_digits(term: Term, found: Terms) -> bool:
    """Whether a term is a number in digits, an identifier, or a number that is spelled out but has a unit."""
    return term.kind == "id" or (
        term.kind == "number" and (bool(term.unit) or any(map(str.isdigit, found.text[term.start : term.end])))
    )
