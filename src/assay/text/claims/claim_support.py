"""Rules that estimate how well sources support a claim: a score, a label, the evidence and the missing facts.

The score is uncalibrated: use it for ranking, trends and triage. The label leaves most claims unknown. The rules do not
detect swapped roles, two statements merged into one, or numbers that must be derived from others
(docs/how-to/claims-and-support.md).

Only a sentence that contains nearly all other words of the claim can contradict it: by another number, date, unit or
identifier in the same position, a negation on one side only, or an opposite word. Elsewhere these signs are hardly
better than chance.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from assay.text.antonyms import find_antonym
from assay.text.claims.passages import (
    ClaimGrams,
    IndexedPassage,
    IndexedSources,
    SupportingSentence,
    TermMatch,
    choose_evidence,
    join_spellings,
    locate_sentence,
    weigh_claim_grams,
)
from assay.text.claims.source_quantities import (
    ClaimedQuantity,
    ComparedQuantities,
    compare_quantities,
    find_displaced,
    find_rival_quantity,
    has_other_quantity,
    list_claimed_quantities,
)
from assay.text.claims.value_parts import find_moved
from assay.text.quantities.measures import find_measures
from assay.text.quantities.placed_quantities import spell_quantity
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.quantity_agreement import differ_in_unit, is_same_quantity
from assay.text.tokens import (
    DocumentFrequencies,
    ParsedTerms,
    Term,
    iterate_index_keys,
    make_lookup_keys,
    parse_terms,
    spell_terms,
)

_DENYING = frozenset(
    ("not", "no", "never", "none", "nobody", "nothing", "without", "cannot", "không", "khong", "chưa", "chẳng")
)
_BOUNDS = frozenset(
    "more less fewer later earlier longer sooner only just least most quá chỉ những".split()
)  # "no more than", "không quá" and "not only" deny nothing
_HEDGES = frozenset(
    "unless until except only if but however although trừ ngoại chỉ nếu nhưng tuy".split()
)  # next to these, a negation does not deny the whole statement


def count_denials(words: Sequence[str]) -> int | None:
    """Return 1 if lower-case words contain an odd number of negations, 0 if an even number, and None if unclear.

    >>> texts = ("staff may not wait", "no later than friday", "not if")
    >>> tuple(count_denials(text.split()) for text in texts)
    (1, 0, None)
    """
    if not _HEDGES.isdisjoint(words):
        return None
    count = 0
    for word, next_word in zip(words, (*words[1:], ""), strict=True):
        count += is_denial(word) and next_word not in _BOUNDS
    return count % 2


def is_denial(word: str) -> bool:
    """Return whether a lower-case word is a negation."""
    return word in _DENYING or word.endswith(("n't", "n’t"))


# Share of the claim's other words, weighted by rarity, that a sentence must contain to contradict a fact …
_LEAST_SHARE_FOR_FACT = 0.75
_LEAST_SHARE_FOR_REVERSAL = 0.9  # … and to contradict the claim by a negation or an opposite word
_FEWEST_SHARED_WORDS = 2  # other words that it must contain
_FACT_COMPANY, _NEAR = 1, 3  # neighbours of a fact in the claim, and how far from the rival fact one of them may be
_MOST_EXTRA_TERMS = 3  # between the first and the last shared term, terms that the sentence may have beyond the claim's
_TERMS_BEFORE = 1  # terms before the first shared one in which a negation still applies to it
_YEAR = re.compile(r"#(?:1[5-9]|20|21)\d\d")


class Contradiction(NamedTuple):
    """The contradictions of a claim, in words. `is_reversal`: a negation or an opposite word, not another fact."""

    explanations: tuple[str, ...] = ()
    is_reversal: bool = False


class MatchedClaim(NamedTuple):
    """A claim compared with sources: its content terms, each with its match in the sources and its rarity weight.

    `misplaced`: indices of numbers, identifiers and names that are absent, or present without their neighbours.
    `quantities`: those of the claim, and `units`: indices of the units of those that are absent.
    """

    terms: ParsedTerms
    content: Sequence[Term]
    matches: Sequence[TermMatch]
    weights: Sequence[float]
    misplaced: Collection[int]
    quantities: Sequence[ClaimedQuantity] = ()
    units: Collection[int] = ()

    def text_of_term(self, term: Term) -> str:
        """Return a term of the claim as written."""
        return self.terms.text[term.start : term.end]

    def find_quantity(self, term: Term) -> Quantity | None:
        """Return the quantity of the claim of which a term is a part, None if there is none."""
        index = self.content.index(term)
        return next((quantity for quantity, words in self.quantities if index in words), None)


def find_contradiction(claimed: MatchedClaim, sources: IndexedSources, sentence: int) -> Contradiction:
    """Return what in a sentence, given by its index in `sources.sentences`, contradicts a claim."""
    comparison = _SentenceComparison(claimed, sources, sentence)
    absent_facts = [
        q for q, term in enumerate(claimed.content) if term.kind in _CODES_AND_NUMBERS and not comparison.places[q]
    ]
    absent_facts = [q for q in absent_facts if not comparison.agrees_in_value(claimed.content[q])]
    if absent_facts:
        if comparison.shared_weight([*absent_facts, *claimed.units]) < _LEAST_SHARE_FOR_FACT:
            return Contradiction()
        misplaced_facts = [q for q in absent_facts if q in claimed.misplaced]
        return Contradiction(tuple(dict.fromkeys(comparison.find_rival_facts(misplaced_facts))))
    reversal = comparison.find_reversal()
    if not reversal:
        return Contradiction()
    shared_positions = [claimed.matches[q].positions for q, places in enumerate(comparison.places) if places]
    other_sentences = set.intersection(*map(sources.sentences_at, shared_positions)) - {sentence}
    for other_sentence in sorted(other_sentences):
        if not _SentenceComparison(claimed, sources, other_sentence).find_reversal():
            return Contradiction()  # this sentence shares the same words and agrees with the claim
    return Contradiction((reversal,), True)


_CODES_AND_NUMBERS = ("number", "id")
_SPLIT_UNITS = 4  # characters by which spans may differ where units are split from their numbers


class _SentenceComparison:
    """A claim compared with one sentence of the sources."""

    def __init__(self, claimed: MatchedClaim, sources: IndexedSources, sentence: int) -> None:
        passage_index, sentence_index = sources.sentences[sentence]
        self.claimed, self.passage = claimed, sources.passages[passage_index]
        self.first, self.last = self.passage.sentence_ranges[sentence_index]
        offset = sources.offsets[passage_index]
        self.quantities = self.passage.sentence_quantities(sentence_index) if claimed.quantities else []
        self.places: list[list[int]] = []  # for each content word, its positions in the sentence
        for match in claimed.matches:
            in_sentence = _positions_between(match.positions, offset + self.first, offset + self.last)
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

    def agrees_in_value(self, fact: Term) -> bool:
        """Whether the sentence has a quantity that agrees with that of a number: 116 with "more than 100"."""
        if fact.kind != "number":
            return False
        terms = self.passage.terms
        text = self.passage.text[terms[self.first].start : terms[self.last - 1].end]
        for quantity in find_measures(self.claimed.terms.text):
            if quantity.start - _SPLIT_UNITS <= fact.start < quantity.end:
                return any(is_same_quantity(quantity, other) for other in find_measures(text))
        return False

    # ── facts ────────────────────────────────────────────────────────────────────────────────────────────────────

    def find_rival_facts(self, misplaced: Collection[int]) -> Iterator[str]:
        """Yield, for each misplaced fact of the claim, the comparable fact that the sentence has in its position."""
        facts = [term for term in self.claimed.content if term.kind in _CODES_AND_NUMBERS]
        claimed_keys = {key for term in facts for key in make_lookup_keys(term, False)}
        for q in misplaced:
            fact = self.claimed.content[q]
            neighbour_positions = self._list_neighbours(q)
            rival = self._find_rival_quantity(q)
            if rival:
                yield rival
                continue
            for position in range(self.first, self.last):
                term = self.passage.terms[position]
                if (
                    _is_comparable(fact, term)
                    and claimed_keys.isdisjoint(iterate_index_keys(term, False))
                    and any(abs(position - other) <= _NEAR for other in neighbour_positions)
                    and not _is_split_decimal(self.passage, term)
                ):
                    source_words = self.passage.text[term.start : term.end]
                    yield f'"{self.claimed.text_of_term(fact)}" where the source has "{source_words}"'
                    break

    def _list_neighbours(self, q: int) -> list[int]:
        """Return the positions of the words next to a fact of the claim, and next to its unit."""
        own = next((words for _, words in self.claimed.quantities if q in words), (q,))
        first, last = min(q, *own), max(q, *own)
        neighbours = range(max(0, first - _FACT_COMPANY), min(len(self.places), last + _FACT_COMPANY + 1))
        return [place for neighbour in neighbours if neighbour not in own for place in self.places[neighbour]]

    def _find_rival_quantity(self, q: int) -> str:
        """Return the quantity that the sentence has in place of the claim's, in words; "" if there is none."""
        rival = find_rival_quantity(self.claimed.quantities, q, self.quantities, self._list_neighbours(q))
        if rival is None:
            return ""
        quantity = next(quantity for quantity, words in self.claimed.quantities if q in words)
        claim_words = spell_quantity(quantity, self.claimed.terms.text)
        source_words = spell_quantity(rival, self.passage.text)
        return f'"{claim_words}" where the source has "{source_words}"'

    # ── negations and opposites ──────────────────────────────────────────────────────────────────────────────────

    def find_reversal(self) -> str:
        """Return the negation or the opposite word that reverses the claim, in words; "" if there is none."""
        content, claim_terms = self.claimed.content, self.claimed.terms
        denying = [q for q, term in enumerate(content) if is_denial(self.claimed.text_of_term(term).lower())]
        shared = [q for q, positions in enumerate(self.places) if positions and q not in denying]
        missing = [q for q, positions in enumerate(self.places) if not positions and q not in denying]
        if not shared or len(missing) > 1:
            return ""
        if self.shared_weight([*missing, *denying]) < _LEAST_SHARE_FOR_REVERSAL:
            return ""
        claim_positions = [claim_terms.items.index(content[q]) for q in shared]
        sentence_positions = [position for q in shared for position in self.places[q]]
        claim_window = _term_window(claim_terms.items, 0, claim_positions)
        sentence_window = _term_window(self.passage.terms, self.first, sentence_positions)
        if len(sentence_window) > len(claim_terms.items) + _TERMS_BEFORE + _MOST_EXTRA_TERMS:
            return ""
        claim_words = [self.claimed.text_of_term(term).lower() for term in claim_window]
        sentence_words = [self.passage.text[term.start : term.end].lower() for term in sentence_window]
        claim_denials, sentence_denials = count_denials(claim_words), count_denials(sentence_words)
        if claim_denials is None or sentence_denials is None:
            return ""
        if claim_denials != sentence_denials:
            negated_side = "claim" if claim_denials else "source"
            return f"a negation only in the {negated_side}" if not missing else ""
        for place, word in enumerate(claim_words):
            opposite_word = find_antonym(word, sentence_words)
            if opposite_word is None:
                continue
            if not _is_converse(claim_window, place, sentence_window, sentence_words.index(opposite_word)):
                return f'"{word}" where the source has "{opposite_word}"'
        return ""


def _is_converse(claim: Sequence[Term], place: int, sentence: Sequence[Term], other_place: int) -> bool:
    """Whether an antonym says the same of things in the other order: "A is before B" and "B is after A"."""
    before, after = _list_keys(claim[:place]), _list_keys(claim[place + 1 :])
    other_before, other_after = _list_keys(sentence[:other_place]), _list_keys(sentence[other_place + 1 :])
    return not before.isdisjoint(other_after) and not after.isdisjoint(other_before)


def _list_keys(terms: Sequence[Term]) -> set[str]:
    return {term.key for term in terms if term.kind != "stop"}


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
    if fact.key in (other_fact.key, *other_fact.other_readings):
        return bool(fact.unit and other_fact.unit)  # 12 days and 12 weeks
    return fact.unit == other_fact.unit


def _identifier_shape(key: str) -> str:
    """Return an identifier with every number as 0, so that "err-429" and "err-430" have one shape."""
    return re.sub(r"\d+", "0", key)


_SPLIT_BEFORE, _SPLIT_AFTER = re.compile(r"\d\. $"), re.compile(r"\. \d")


def _is_split_decimal(passage: IndexedPassage, term: Term) -> bool:
    """Whether a number is one half of a decimal that tokenisation has split ("98. 7")."""
    before = passage.text[max(0, term.start - 3) : term.start]
    return bool(_SPLIT_BEFORE.search(before) or _SPLIT_AFTER.match(passage.text, term.end))


SupportLabel = Literal["supported", "contradicted", "not_found", "unknown"]


class SourceSupport(NamedTuple):
    """How well the sources support a claim.

    `score`: in [0, 1], rises with `z`; uncalibrated, for ranking and trends only.
    `verdict`: "supported" if the sources contain the claim almost verbatim; "contradicted" if the best sentence matches
    the claim except for another fact, a negation or an opposite word, which `contradictions` lists in words;
    "not_found" if the sources contain hardly any of the claim; otherwise "unknown", also where the support is low only
    because claim and sources are in different languages.
    `source`, `start`, `end`: the best sentence, which is the first of `evidence`; None, 0 and 0 without evidence.
    `missing_facts`: numbers with their units, dates, identifiers and names that no source contains, as written.
    `stated_with_other_units`: for those of them that a source near the claim has with another unit, what it has.
    `logp`, `fact`, `c4`, `dig`, `turn`: the features of the score, see `score_support`.
    """

    score: float
    z: float
    verdict: SupportLabel
    source: str | None
    start: int
    end: int
    missing_facts: tuple[str, ...]
    contradictions: tuple[str, ...]
    logp: float
    fact: float
    c4: float
    dig: float
    turn: float
    evidence: tuple[SupportingSentence, ...]
    stated_with_other_units: tuple[tuple[str, str], ...] = ()

    def describe_missing(self) -> list[str]:
        """Return the missing facts, each with what a source has in another unit, unless a contradiction says it."""
        instead = dict(self.stated_with_other_units)
        descriptions = []
        for fact in self.missing_facts:
            is_told = any(text.startswith(f'"{fact}" where ') for text in self.contradictions)
            tells_more = fact in instead and not is_told
            descriptions.append(f'{fact} (a source has "{instead[fact]}")' if tells_more else fact)
        return descriptions


# z = 0.04·logp − 0.4·fact + 1.5·c4 − dig − turn. The weights were set by hand on six public data sets; a trained
# regression ranks no better.
_LOGP, _FACT, _C4, _DIG, _TURN = 0.04, 0.4, 1.5, 1.0, 1.0
_MIDDLE_Z, _SLOPE = 0.7, 4.0  # score = 1 / (1 + exp(−slope · (z − middle)))
_SUPPORTED, _NOT_FOUND = 1.4, -0.5  # "supported" from the first z on, "not_found" below the second
_LOWEST_Z = -100.0  # z below which the score is flat
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
        return _build_support(_Features(0.0, 0.0, 0.0, 0.0, 0.0), (), z=_MIDDLE_Z)
    verbatim_position = _find_verbatim(prepared, sources)
    if verbatim_position is not None and not _has_other_quantity(prepared, sources, verbatim_position):
        verbatim_sentence = locate_sentence(sources, sources.sentences_at([verbatim_position]).pop())
        return _build_support(_Features(0.0, 0.0, 1.0, 0.0, 0.0), (verbatim_sentence,))
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
    word_supports = _support_of_words(matches, prepared.weights)
    absent = [term for term, match in zip(content, matches, strict=True) if not match.positions]
    misplaced = [
        word for word in prepared.facts if word not in compared.units and _is_misplaced(content, matches, word)
    ]
    misplaced += [word for word in compared.exceeded if word not in misplaced]
    claimed = MatchedClaim(
        claim_terms, content, matches, prepared.weights, misplaced, prepared.quantities, compared.units
    )
    contradicted_by = find_contradiction(claimed, sources, best_sentences[0]) if best_sentences else _NO_CONTRADICTION
    log_supports = []
    for kind_weight, word_support in zip(prepared.kinds, word_supports, strict=True):
        log_supports.append(kind_weight * math.log(max(_LEAST_SUPPORT, word_support)))
    evidence_grams = frozenset().union(
        *[sources.sentence_grams(sentence, pieces.has_diacritics) for sentence in best_sentences]
    )
    # The parts of a date share one span and count once.
    absent_numbers = {(term.start, term.end) for term in absent if _is_explicit_number(term, claim_terms)}
    features = _Features(
        logp=sum(log_supports),
        fact=float(len(misplaced)),
        c4=pieces.shared_weight(evidence_grams),
        dig=float(len(absent_numbers)),
        turn=float(contradicted_by.is_reversal),
    )
    missing = [
        (_spell_fact(claimed, term), term)
        for term in absent
        if term.kind in _FACT_KINDS and content.index(term) not in displaced
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
        return result._replace(verdict="unknown")
    return result if best_sentences else result._replace(verdict="not_found")


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


class _Features(NamedTuple):
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
        verdict="contradicted" if contradicted_by.explanations else _label_of(z),
        source=source,
        start=start,
        end=end,
        missing_facts=tuple(dict.fromkeys(missing)),
        contradictions=contradicted_by.explanations,
        **features._asdict(),
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


def scale_support(z: float) -> float:
    """Return the score in [0, 1] of a claim's z; it rises with z.

    >>> scale_support(0.7)
    0.5
    """
    return 1.0 / (1.0 + math.exp(-_SLOPE * (max(z, _LOWEST_Z) - _MIDDLE_Z)))


def _label_of(z: float) -> SupportLabel:
    if z >= _SUPPORTED:
        return "supported"
    if z < _NOT_FOUND:
        return "not_found"
    return "unknown"


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
        items[first : first + len(own)] = [term._replace(start=quantity.start, end=quantity.end) for term in stated]
    return terms._replace(items=items)


# ── features ─────────────────────────────────────────────────────────────────────────────────────────────────────

_LEAST_SUPPORT = 0.05  # of a word
_SUPPORT_ALONE = 0.4  # support of a word that is found without its neighbours
_NEIGHBOURS, _DISTANCE_DECAY = 3, 0.3  # words on either side of a word; more distant ones count less
_CLOSENESS = (1.0,) * 9 + (0.7,) * 8 + (0.35,) * 16  # the weight of a neighbour by its distance in terms
_FAR_DISTANCE = len(_CLOSENESS)
_MOST_POSITIONS = 40  # positions of a term that are examined
_FACT_NEIGHBOURS, _FACT_DISTANCE = 2, 12


def _support_of_words(matches: Sequence[TermMatch], weights: Sequence[float]) -> list[float]:
    """Return the support of each content word: its match quality, times 0.4 to 1 by how many neighbours are near."""
    word_supports = []
    for word, match in enumerate(matches):
        if not match.positions:
            word_supports.append(0.0)
            continue
        neighbours_found: list[tuple[Sequence[int], float]] = []
        total_weight = reachable_weight = 0.0
        for neighbour in range(max(0, word - _NEIGHBOURS), min(len(matches), word + _NEIGHBOURS + 1)):
            if neighbour != word:
                weight = weights[neighbour] / (1 + _DISTANCE_DECAY * (abs(neighbour - word) - 1))
                total_weight += weight
                if matches[neighbour].positions:
                    neighbours_found.append((matches[neighbour].positions, weight))
                    reachable_weight += weight
        best_share = 0.0 if total_weight else 1.0
        for position in match.positions[:_MOST_POSITIONS] if neighbours_found else ():
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


def _is_misplaced(content: Sequence[Term], matches: Sequence[TermMatch], word: int) -> bool:
    """Whether a number, identifier or name is absent, or present without any of its neighbours nearby."""
    positions = matches[word].positions
    if not positions:
        return True
    neighbours = range(max(0, word - _FACT_NEIGHBOURS), min(len(content), word + _FACT_NEIGHBOURS + 1))
    neighbour_positions = [
        matches[neighbour].positions for neighbour in neighbours if neighbour != word and matches[neighbour].positions
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


def _is_explicit_number(term: Term, claim_terms: ParsedTerms) -> bool:
    """Whether a term is an identifier, a number in digits, or a spelled-out number with a unit."""
    return term.kind == "id" or (
        term.kind == "number" and (bool(term.unit) or any(map(str.isdigit, claim_terms.text[term.start : term.end])))
    )
