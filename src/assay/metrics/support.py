"""Rules that estimate how well sources support a claim: a score, a label, the evidence and the missing facts.

The score is uncalibrated: use it for ranking, trends and triage. The label leaves most claims unknown. The rules do not
detect swapped roles, two statements merged into one, or numbers that must be derived from others
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
    """How well the sources support a claim.

    `score`: in [0, 1], rises with `z`; uncalibrated, for ranking and trends only.
    `verdict`: "supported" if the sources contain the claim almost verbatim; "contradicted" if the best sentence matches
    the claim except for another fact, a negation or an opposite word, which `contradictions` lists in words;
    "not_found" if the sources contain hardly any of the claim; otherwise "unknown", also where the support is low only
    because claim and sources are in different languages.
    `source`, `start`, `end`: the best sentence, which is the first of `evidence`; None, 0 and 0 without evidence.
    `unsupported`: spans, in the NFC claim, of words with little support.
    `missing`: numbers, dates, identifiers and names that no source contains, as written.
    `logp`, `fact`, `c4`, `dig`, `turn`: the features of the score, see `support`.
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


# z = 0.04·logp − 0.4·fact + 1.5·c4 − dig − turn. The weights were set by hand on six public data sets; a trained
# regression ranks no better.
_LOGP, _FACT, _C4, _DIG, _TURN = 0.04, 0.4, 1.5, 1.0, 1.0
_MIDDLE_Z, _SLOPE = 0.7, 4.0  # score = 1 / (1 + exp(−slope · (z − middle)))
_SUPPORTED, _NOT_FOUND = 1.4, -0.5  # "supported" from the first z on, "not_found" below the second
_LOWEST_Z = -100.0  # z below which the score is flat
_LONGEST_CLAIM = 4000  # characters of a claim that are read
_KIND_WEIGHTS = {"number": 1.6, "id": 1.6, "name": 1.4}
_FACT_KINDS = ("number", "id", "name")


def support(claim: str, sources: Sources) -> Support:
    """Return how well the sources together support a claim; pass `sources.only(ids)` to use some of them.

    The score combines five features: `logp`, how well each content word is matched among its neighbours; `fact`, the
    number of numbers, identifiers and names that are absent or appear among other words; `c4`, the share of the claim's
    character 4-grams, weighted by rarity, in at most three sentences; `dig`, the number of numbers that no source
    contains; `turn`, 1 if a negation or an opposite word reverses the claim, else 0. A claim whose terms appear in a
    source in the same order, without a gap, gets the best value of each. A claim without words is "unknown", and one of
    which no word is found is "not_found". If the claim has diacritics and no source does, or the reverse, they are
    taken to be in different languages, and the verdict is at best "unknown". Only the first 4,000 characters of the
    claim are read.

    >>> sources = Sources([("hr", "Full-time staff get 12 days of annual leave.")], Idf.of([]))
    >>> support("Staff get 12 days of annual leave", sources).verdict
    'supported'
    >>> wrong = support("Staff get 15 days of annual leave", sources)
    >>> wrong.verdict, wrong.contradictions, wrong.source
    ('contradicted', ('"15 days" where the source has "12 days"',), 'hr')
    """
    prepared = _prepare_claim(claim[:_LONGEST_CLAIM], sources.idf)
    claim_terms, content = prepared.found, prepared.content
    if not content:
        return _build_support(_Features(0.0, 0.0, 0.0, 0.0, 0.0), claim_terms, (), z=_MIDDLE_Z)
    verbatim_position = _find_verbatim(prepared, sources)
    if verbatim_position is not None:
        verbatim_sentence = sentence_of(sources, sources.sentences_at([verbatim_position]).pop())
        return _build_support(_Features(0.0, 0.0, 1.0, 0.0, 0.0), claim_terms, (verbatim_sentence,))
    matches = [sources.match(term, claim_terms.marked) for term in content]
    word_supports = _support_of_words(matches, prepared.weights)
    pieces = prepared.pieces(claim_terms.marked and sources.marked)
    best_sentences = choose(matches, prepared.weights, pieces, sources)
    absent = [term for term, match in zip(content, matches, strict=True) if not match.places]
    misplaced = [word for word in prepared.facts if _is_misplaced(content, matches, word)]
    claimed = Claimed(claim_terms, content, matches, prepared.weights, misplaced)
    contradicted_by = contradiction(claimed, sources, best_sentences[0]) if best_sentences else _NO_CONTRADICTION
    log_supports = []
    for kind_weight, word_support in zip(prepared.kinds, word_supports, strict=True):
        log_supports.append(kind_weight * math.log(max(_LEAST_SUPPORT, word_support)))
    evidence_grams = frozenset().union(*[sources.grams(sentence, pieces.marked) for sentence in best_sentences])
    # The parts of a date share one span and count once.
    absent_numbers = {(term.start, term.end) for term in absent if _is_explicit_number(term, claim_terms)}
    features = _Features(
        logp=sum(log_supports),
        fact=float(len(misplaced)),
        c4=pieces.share(evidence_grams),
        dig=float(len(absent_numbers)),
        turn=float(contradicted_by.turned),
    )
    result = _build_support(
        features,
        claim_terms,
        tuple([sentence_of(sources, sentence) for sentence in best_sentences]),
        weak=[term for term, value in zip(content, word_supports, strict=True) if value < _WEAK_SUPPORT],
        missing=[term for term in absent if term.kind in _FACT_KINDS],
        contradicted_by=contradicted_by,
    )
    if result.verdict in ("not_found", "unknown") and sources.passages and claim_terms.marked != sources.marked:
        return result._replace(verdict="unknown")
    return result if best_sentences else result._replace(verdict="not_found")


class _PreparedClaim:
    """A claim prepared for comparison with several sets of sources."""

    def __init__(self, claim: str, idf: Idf) -> None:
        self.found = claim_terms = terms(claim)
        self.content = [term for term in claim_terms.items if term.kind != "stop"] or claim_terms.items
        self.weights = [idf.weight(term.key) for term in self.content]
        self.kinds = [_KIND_WEIGHTS.get(term.kind, 1.0) for term in self.content]
        self.facts = [word for word, term in enumerate(self.content) if term.kind in _FACT_KINDS]
        self.lines = {marked: line_of(spellings(claim_terms.items, marked)) for marked in {False, claim_terms.marked}}
        self._idf = idf
        self._pieces: dict[bool, Pieces] = {}

    def pieces(self, marked: bool) -> Pieces:
        """Return the claim's 4-grams; `marked`: diacritics count."""
        if marked not in self._pieces:
            self._pieces[marked] = pieces_of(self.found, marked, self._idf)
        return self._pieces[marked]


_prepare_claim = lru_cache(maxsize=256)(
    _PreparedClaim
)  # a claim is scored with the context, with all cited chunks and with each of them


_NO_CONTRADICTION = Contradiction()


class _Features(NamedTuple):
    logp: float
    fact: float
    c4: float
    dig: float
    turn: float


def _build_support(
    features: _Features,
    claim_terms: Terms,
    evidence: tuple[Evidence, ...],
    weak: Sequence[Term] = (),
    missing: Sequence[Term] = (),
    contradicted_by: Contradiction = _NO_CONTRADICTION,
    z: float | None = None,
) -> Support:
    if z is None:
        z = _LOGP * features.logp - _FACT * features.fact + _C4 * features.c4 - _DIG * features.dig
        z -= _TURN * features.turn
    score = 1.0 / (1.0 + math.exp(-_SLOPE * (max(z, _LOWEST_Z) - _MIDDLE_Z)))
    source, start, end = evidence[0] if evidence else (None, 0, 0)
    return Support(
        score=score,
        z=z,
        verdict="contradicted" if contradicted_by.words else _label_of(z),
        source=source,
        start=start,
        end=end,
        unsupported=tuple(dict.fromkeys((term.start, term.end) for term in weak)),
        missing=tuple(dict.fromkeys(claim_terms.text[term.start : term.end] for term in missing)),
        contradictions=contradicted_by.words,
        **features._asdict(),
        evidence=evidence,
    )


def _label_of(z: float) -> Verdict:
    if z >= _SUPPORTED:
        return "supported"
    if z < _NOT_FOUND:
        return "not_found"
    return "unknown"


def _find_verbatim(prepared: _PreparedClaim, sources: Sources) -> int | None:
    """Return the first position where all terms of the claim appear in order, without a gap."""
    for passage, offset in zip(sources.passages, sources.offsets, strict=True):
        marked = prepared.found.marked and passage.marked
        position = passage.lines[marked].find(prepared.lines[marked])
        if position >= 0:
            return offset + passage.lines[marked].count(" ", 0, position)
    return None


# ── features ─────────────────────────────────────────────────────────────────────────────────────────────────────

_LEAST_SUPPORT = 0.05  # of a word
_WEAK_SUPPORT = 0.5  # support below which a word is reported
_SUPPORT_ALONE = 0.4  # support of a word that is found without its neighbours
_NEIGHBOURS, _DISTANCE_DECAY = 3, 0.3  # words on either side of a word; more distant ones count less
_CLOSENESS = (1.0,) * 9 + (0.7,) * 8 + (0.35,) * 16  # the weight of a neighbour by its distance in terms
_FAR_DISTANCE = len(_CLOSENESS)
_MOST_POSITIONS = 40  # positions of a term that are examined
_FACT_NEIGHBOURS, _FACT_DISTANCE = 2, 12


def _support_of_words(matches: Sequence[Match], weights: Sequence[float]) -> list[float]:
    """Return the support of each content word: its match quality, times 0.4 to 1 by how many neighbours are near."""
    word_supports = []
    for word, match in enumerate(matches):
        if not match.places:
            word_supports.append(0.0)
            continue
        neighbours_found: list[tuple[Sequence[int], float]] = []
        total_weight = reachable_weight = 0.0
        for neighbour in range(max(0, word - _NEIGHBOURS), min(len(matches), word + _NEIGHBOURS + 1)):
            if neighbour != word:
                weight = weights[neighbour] / (1 + _DISTANCE_DECAY * (abs(neighbour - word) - 1))
                total_weight += weight
                if matches[neighbour].places:
                    neighbours_found.append((matches[neighbour].places, weight))
                    reachable_weight += weight
        best_share = 0.0 if total_weight else 1.0
        for position in match.places[:_MOST_POSITIONS] if neighbours_found else ():
            best_share = max(best_share, _nearby_weight(position, neighbours_found) / total_weight)
            if best_share * total_weight >= reachable_weight:
                break
        word_supports.append(match.quality * (_SUPPORT_ALONE + (1 - _SUPPORT_ALONE) * best_share))
    return word_supports


def _nearby_weight(position: int, neighbours_found: Sequence[tuple[Sequence[int], float]]) -> float:
    """Return the total weight of the neighbours, each scaled by the distance of its nearest position."""
    weight_near = 0.0
    for positions, weight in neighbours_found:
        index = bisect_left(positions, position)
        distance = position - positions[index - 1] if index else _FAR_DISTANCE
        if index < len(positions) and positions[index] == position:
            index += 1  # a word is not its own neighbour
        if index < len(positions) and positions[index] - position < distance:
            distance = positions[index] - position
        if distance < _FAR_DISTANCE:
            weight_near += weight * _CLOSENESS[distance]
    return weight_near


def _is_misplaced(content: Sequence[Term], matches: Sequence[Match], word: int) -> bool:
    """Whether a number, identifier or name is absent, or present without any of its neighbours nearby."""
    positions = matches[word].places
    if not positions:
        return True
    neighbours = range(max(0, word - _FACT_NEIGHBOURS), min(len(content), word + _FACT_NEIGHBOURS + 1))
    neighbour_positions = [
        matches[neighbour].places for neighbour in neighbours if neighbour != word and matches[neighbour].places
    ]
    return bool(neighbour_positions) and not any(
        _has_position_within(position, other_positions, _FACT_DISTANCE)
        for position in positions[: 2 * _MOST_POSITIONS]
        for other_positions in neighbour_positions
    )


def _has_position_within(position: int, positions: Sequence[int], distance: int) -> bool:
    """Whether one of `positions` lies within `distance` of `position`, other than `position` itself."""
    index = bisect_left(positions, position - distance)
    while index < len(positions) and positions[index] <= position + distance:
        if positions[index] != position:
            return True
        index += 1
    return False


def _is_explicit_number(term: Term, claim_terms: Terms) -> bool:
    """Whether a term is an identifier, a number in digits, or a spelled-out number with a unit."""
    return term.kind == "id" or (
        term.kind == "number" and (bool(term.unit) or any(map(str.isdigit, claim_terms.text[term.start : term.end])))
    )
