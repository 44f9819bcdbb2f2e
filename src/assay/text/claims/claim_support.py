"""Rules that estimate how well sources support a claim: a score, a label, the evidence and the missing facts.

The score is uncalibrated: use it for ranking, trends and triage. The label leaves most claims unknown. The rules do not
detect swapped roles, two statements merged into one, or numbers that must be derived from others
(docs/how-to/claims-and-support.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct, structs

from assay.text.claims.contradictions import Contradiction, MatchedClaim, find_contradiction
from assay.text.claims.found_words import is_misplaced, support_of_words
from assay.text.claims.passages import (
    ClaimGrams,
    IndexedSources,
    SupportingSentence,
    TermMatch,
    choose_evidence,
    join_spellings,
    locate_sentence,
    weigh_claim_grams,
)
from assay.text.claims.source_quantities import (
    ComparedQuantities,
    compare_quantities,
    find_displaced,
    has_other_quantity,
    list_claimed_quantities,
)
from assay.text.claims.source_support import MIDDLE_Z, SourceSupport, label_of, scale_support
from assay.text.claims.value_parts import find_moved
from assay.text.quantities.placed_quantities import spell_quantity
from assay.text.quantities.quantity_agreement import differ_in_unit
from assay.text.tokens import DocumentFrequencies, ParsedTerms, Term, parse_terms, spell_terms

# z = 0.04·logp − 0.4·fact + 1.5·c4 − dig − turn. The weights were set by hand on six public data sets; a trained
# regression ranks no better.
_LOGP, _FACT, _C4, _DIG, _TURN = 0.04, 0.4, 1.5, 1.0, 1.0
LONGEST_CLAIM = 4000
"""Characters of a claim that are compared with the sources; a scoring says if there are more."""
_KIND_WEIGHTS = {"number": 1.6, "id": 1.6, "name": 1.4}
_FACT_KINDS = ("number", "id", "name")


def score_support(claim: str, sources: IndexedSources) -> SourceSupport:
    """Return how well the sources together support a claim; pass `sources.only(ids)` to use some of them.

    The score combines five features: `logp`, how well each content word is matched among its neighbours; `fact`, the
    number of numbers, identifiers and names that are absent or appear among other words; `c4`, the share of the claim's
    character 4-grams, weighted by rarity, in at most three sentences; `dig`, the number of numbers that no source
    contains; `turn`, 1 if a negation or an opposite word reverses the claim, else 0. A claim whose terms appear in a
    source in the same order, without a gap, gets the best value of each. A claim without words is "unknown", and one of
    which no word is found is "not_found". If the claim has diacritics and no source does, or the reverse, they are
    taken to be in different languages, and the verdict is at best "unknown". Only the first 4,000 characters of the
    claim are read.

    >>> passages = [("hr", "Full-time staff get 12 days of annual leave.")]
    >>> sources = IndexedSources(passages, DocumentFrequencies.from_texts([]))
    >>> score_support("Staff get 12 days of annual leave", sources).verdict
    'supported'
    >>> wrong = score_support("Staff get 15 days of annual leave", sources)
    >>> wrong.verdict, wrong.contradictions, wrong.source
    ('contradicted', ('"15 days" where the source has "12 days"',), 'hr')
    """
    prepared = _prepare_claim(claim[:LONGEST_CLAIM], sources.idf)
    claim_terms, content = prepared.found, prepared.content
    if not content:
        return _build_support(_Features(0.0, 0.0, 0.0, 0.0, 0.0), (), z=MIDDLE_Z)
    verbatim_position = _find_verbatim(prepared, sources)
    if verbatim_position is not None and not _has_other_quantity(prepared, sources, verbatim_position):
        verbatim_sentence = locate_sentence(sources, sources.sentences_at([verbatim_position]).pop())
        return _build_support(_Features(0.0, 0.0, 1.0, 0.0, 0.0), (verbatim_sentence,))
    matched = _match_claim(prepared, sources)
    matches, best_sentences, compared = matched.matches, matched.best_sentences, matched.compared
    absent = [term for term, match in zip(content, matches, strict=True) if not match.positions]
    misplaced = [word for word in prepared.facts if word not in compared.units and is_misplaced(content, matches, word)]
    misplaced += [word for word in compared.exceeded if word not in misplaced]
    claimed = MatchedClaim(
        claim_terms, content, matches, prepared.weights, misplaced, prepared.quantities, compared.units
    )
    contradicted_by = find_contradiction(claimed, sources, best_sentences[0]) if best_sentences else _NO_CONTRADICTION
    # The parts of a date share one span and count once.
    absent_numbers = {(term.start, term.end) for term in absent if _is_explicit_number(term, claim_terms)}
    features = _Features(
        logp=_sum_log_supports(prepared, matches),
        fact=float(len(misplaced)),
        c4=_share_grams(matched.pieces, best_sentences, sources),
        dig=float(len(absent_numbers)),
        turn=float(contradicted_by.is_reversal),
    )
    missing = [
        (_spell_fact(claimed, term), term)
        for term in absent
        if term.kind in _FACT_KINDS and content.index(term) not in matched.displaced
    ]
    result = _build_support(
        features,
        tuple([locate_sentence(sources, sentence) for sentence in best_sentences]),
        missing=[fact for fact, _ in missing],
        contradicted_by=contradicted_by,
        other_units=_find_other_units(claimed, missing, sources, best_sentences),
    )
    if (
        result.verdict in ("not_found", "unknown")
        and sources.passages
        and claim_terms.has_diacritics != sources.has_diacritics
    ):
        return structs.replace(result, verdict="unknown")
    return result if best_sentences else structs.replace(result, verdict="not_found")


class _PreparedClaim:
    """A claim prepared for comparison with several sets of sources."""

    def __init__(self, claim: str, idf: DocumentFrequencies) -> None:
        self.found = claim_terms = parse_terms(claim)
        self.content = [term for term in claim_terms.items if term.kind != "stop"] or claim_terms.items
        self.weights = [idf.idf_weight(term.key) for term in self.content]
        self.kinds = [_KIND_WEIGHTS.get(term.kind, 1.0) for term in self.content]
        self.facts = [word for word, term in enumerate(self.content) if term.kind in _FACT_KINDS]
        self.quantities = list_claimed_quantities(claim_terms, self.content)
        self.lines = {
            marked: join_spellings(spell_terms(claim_terms.items, marked))
            for marked in {False, claim_terms.has_diacritics}
        }
        self._idf = idf
        self._pieces: dict[bool, ClaimGrams] = {}

    def pieces(self, marked: bool) -> ClaimGrams:
        """Return the claim's 4-grams; `marked`: diacritics count."""
        if marked not in self._pieces:
            self._pieces[marked] = weigh_claim_grams(self.found, marked, self._idf)
        return self._pieces[marked]


_prepare_claim = lru_cache(maxsize=256)(
    _PreparedClaim
)  # a claim is scored with the context, with all cited chunks and with each of them


_NO_CONTRADICTION = Contradiction()


class _MatchedWords(Struct, frozen=True):
    """Where the content words of a claim are in the sources, and the sentences that have most of them.

    `displaced` are the words whose quantity the sources have elsewhere, which count as not matched.
    """

    matches: list[TermMatch]
    best_sentences: list[int]
    pieces: ClaimGrams
    compared: ComparedQuantities
    displaced: set[int]


def _match_claim(prepared: _PreparedClaim, sources: IndexedSources) -> _MatchedWords:
    """Match the content words of a claim, its quantities by their values."""
    claim_terms, content = prepared.found, prepared.content
    matches = [sources.match_term(term, claim_terms.has_diacritics) for term in content]
    pieces = prepared.pieces(claim_terms.has_diacritics and sources.has_diacritics)
    best_sentences = choose_evidence(matches, prepared.weights, pieces, sources)
    compared = ComparedQuantities(matches)
    if prepared.quantities and sources.passages:
        compared = compare_quantities(prepared.quantities, matches, sources, best_sentences)
    if compared.matches != matches:
        matches = list(compared.matches)
        if compared.respelled:
            respelled = _respell_quantities(claim_terms, compared, sources)
            pieces = weigh_claim_grams(respelled, pieces.has_diacritics, sources.idf)
        best_sentences = choose_evidence(matches, prepared.weights, pieces, sources)
    displaced: set[int] = set()
    if prepared.quantities and best_sentences:
        displaced = find_displaced(prepared.quantities, content, matches, sources, best_sentences)
        displaced |= find_moved(prepared.quantities, claim_terms.text, content, matches, sources)
        matches = [TermMatch((), 0.0) if word in displaced else match for word, match in enumerate(matches)]
    return _MatchedWords(matches, best_sentences, pieces, compared, displaced)


def _sum_log_supports(prepared: _PreparedClaim, matches: Sequence[TermMatch]) -> float:
    """Return how well the content words are matched among their neighbours, as the sum of weighted logarithms."""
    log_supports = []
    word_supports = support_of_words(matches, prepared.weights)
    for kind_weight, word_support in zip(prepared.kinds, word_supports, strict=True):
        log_supports.append(kind_weight * math.log(max(_LEAST_SUPPORT, word_support)))
    return math.fsum(log_supports)


def _share_grams(pieces: ClaimGrams, sentences: Sequence[int], sources: IndexedSources) -> float:
    """Return the share of the claim's 4-grams that some sentences have."""
    grams = [sources.sentence_grams(sentence, pieces.has_diacritics) for sentence in sentences]
    return pieces.shared_weight(grams[0].union(*grams[1:]) if grams else frozenset())


class _Features(Struct, frozen=True):
    logp: float
    fact: float
    c4: float
    dig: float
    turn: float


def _build_support(
    features: _Features,
    evidence: tuple[SupportingSentence, ...],
    missing: Sequence[str] = (),
    contradicted_by: Contradiction = _NO_CONTRADICTION,
    other_units: tuple[tuple[str, str], ...] = (),
    z: float | None = None,
) -> SourceSupport:
    if z is None:
        z = _LOGP * features.logp - _FACT * features.fact + _C4 * features.c4 - _DIG * features.dig
        z -= _TURN * features.turn
    source, start, end = evidence[0] if evidence else (None, 0, 0)
    return SourceSupport(
        score=scale_support(z),
        z=z,
        verdict="contradicted" if contradicted_by.explanations else label_of(z),
        source=source,
        start=start,
        end=end,
        missing_facts=tuple(dict.fromkeys(missing)),
        contradictions=contradicted_by.explanations,
        **structs.asdict(features),
        evidence=evidence,
        stated_with_other_units=other_units,
    )


def _spell_fact(claimed: MatchedClaim, term: Term) -> str:
    """Return a fact of a claim as written, a number with its unit and what it counts per."""
    own = claimed.find_quantity(term)
    return spell_quantity(own, claimed.terms.text) if own is not None else claimed.text_of_term(term)


def _find_other_units(
    claimed: MatchedClaim, missing: Sequence[tuple[str, Term]], sources: IndexedSources, sentences: Sequence[int]
) -> tuple[tuple[str, str], ...]:
    """Return the missing facts that sentences have with another unit, each with what the first such sentence has."""
    own_quantities = [(fact, claimed.find_quantity(term)) for fact, term in missing]
    measured = [(fact, own) for fact, own in own_quantities if own is not None]
    instead: dict[str, str] = {}
    for sentence in sentences if measured else ():
        passage_index, sentence_index = sources.sentences[sentence]
        passage = sources.passages[passage_index]
        for stated, _ in passage.sentence_quantities(sentence_index):
            for fact, own in measured:
                if differ_in_unit(own, stated):
                    instead.setdefault(fact, spell_quantity(stated, passage.text))
    return tuple(instead.items())


def _find_verbatim(prepared: _PreparedClaim, sources: IndexedSources) -> int | None:
    """Return the first position where all terms of the claim appear in order, without a gap."""
    for passage, offset in zip(sources.passages, sources.offsets, strict=True):
        marked = prepared.found.has_diacritics and passage.has_diacritics
        position = passage.spelling_lines[marked].find(prepared.lines[marked])
        if position >= 0:
            return offset + passage.spelling_lines[marked].count(" ", 0, position)
    return None


def _has_other_quantity(prepared: _PreparedClaim, sources: IndexedSources, position: int) -> bool:
    positions = range(position, position + len(prepared.found.items))
    return bool(prepared.quantities) and has_other_quantity(prepared.quantities, sources, positions)


def _respell_quantities(terms: ParsedTerms, compared: ComparedQuantities, sources: IndexedSources) -> ParsedTerms:
    """Return the terms of a claim with the quantities that a source writes in another way as they are there."""
    items = list(terms.items)
    for quantity, positions in compared.respelled:
        stated = [sources.term_at(position) for position in positions]
        first = next(place for place, term in enumerate(items) if term.end > quantity.start)
        own = [place for place, term in enumerate(items) if quantity.start <= term.start < quantity.end]
        items[first : first + len(own)] = [
            structs.replace(term, start=quantity.start, end=quantity.end) for term in stated
        ]
    return structs.replace(terms, items=items)


_LEAST_SUPPORT = 0.05  # of a word


def _is_explicit_number(term: Term, claim_terms: ParsedTerms) -> bool:
    """Whether a term is an identifier, a number in digits, or a spelled-out number with a unit."""
    return term.kind == "id" or (
        term.kind == "number" and (bool(term.unit) or any(map(str.isdigit, claim_terms.text[term.start : term.end])))
    )
