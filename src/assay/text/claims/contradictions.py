"""Whether a sentence contradicts a claim with which it shares its words: by a fact, a negation or an opposite word.

Only a sentence that contains nearly all other words of the claim can contradict it: by another number, date, unit or
identifier in the same position, a negation on one side only, or an opposite word. Elsewhere these signs are hardly
better than chance.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from math import fsum

from msgspec import Struct

from assay.text.antonyms import find_antonym
from assay.text.claims.passages import IndexedPassage, IndexedSources, PlacedRow, TermMatch
from assay.text.claims.source_quantities import ClaimedQuantity, find_rival_quantity
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.measures import find_measures
from assay.text.quantities.placed_quantities import PlacedQuantity, spell_quantity
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.quantity_agreement import is_same_quantity
from assay.text.tokens import ParsedTerms, Term, iterate_index_keys, make_lookup_keys

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
_YEAR = compile_pattern(r"#(?:1[5-9]|20|21)\d\d")


class Contradiction(Struct, frozen=True):
    """The contradictions of a claim, in words. `is_reversal`: a negation or an opposite word, not another fact."""

    explanations: tuple[str, ...] = ()
    is_reversal: bool = False


class MatchedClaim(Struct, frozen=True):
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
    """Return what in a sentence, given by its index in `sources.sentences`, contradicts a claim.

    In a table the row that the claim names is compared with it, and no other one.
    """
    table = sources.list_table(sentence)
    named = sources.find_named_row(sentence, claimed.matches) if table else None
    if table and named is None:
        return Contradiction()
    comparison = _SentenceComparison(claimed, sources, sentence, named)
    absent_facts = [
        q for q, term in enumerate(claimed.content) if term.kind in _CODES_AND_NUMBERS and not comparison.places[q]
    ]
    absent_facts = [q for q in absent_facts if not comparison.agrees_in_value(claimed.content[q])]
    if absent_facts:
        if comparison.shared_weight([*absent_facts, *claimed.units]) < _LEAST_SHARE_FOR_FACT:
            return Contradiction()
        misplaced_facts = [q for q in absent_facts if q in claimed.misplaced or comparison.has_columns]
        return Contradiction(tuple(dict.fromkeys(comparison.find_rival_facts(misplaced_facts))))
    reversal = "" if comparison.has_columns else comparison.find_reversal()
    if not reversal:
        return Contradiction()
    shared_positions = [claimed.matches[q].positions for q, places in enumerate(comparison.places) if places]
    other_sentences = set.intersection(*map(sources.sentences_at, shared_positions)) - {sentence}
    for other_sentence in sorted(other_sentences):
        if not _SentenceComparison(claimed, sources, other_sentence).find_reversal():
            return Contradiction()  # this sentence shares the same words and agrees with the claim
    return Contradiction((reversal,), True)


_CODES_AND_NUMBERS = ("number", "id")
_CELLS_OF_A_PAIR = 2  # a name and its value: a row of them is read as a sentence
_SPLIT_UNITS = 4  # characters by which spans may differ where units are split from their numbers


class _SentenceComparison:
    """A claim compared with one sentence of the sources."""

    def __init__(
        self, claimed: MatchedClaim, sources: IndexedSources, sentence: int, row: PlacedRow | None = None
    ) -> None:
        """`row`: the row of a table in the sentence with which the claim is compared instead."""
        passage_index, sentence_index = sources.sentences[sentence]
        self.claimed, self.passage = claimed, sources.passages[passage_index]
        self.row = row
        self.first, self.last = self.passage.sentence_ranges[sentence_index] if row is None else (row.first, row.last)
        offset = sources.offsets[passage_index]
        self.quantities: Sequence[PlacedQuantity] = []
        if claimed.quantities and row is None:
            self.quantities = self.passage.sentence_quantities(sentence_index)
        elif claimed.quantities:
            self.quantities = self.passage.read_quantities(self.first, self.last)
        self.places: list[list[int]] = []  # for each content word, its positions in the sentence
        for match in claimed.matches:
            in_sentence = _positions_between(match.positions, offset + self.first, offset + self.last)
            self.places.append([position - offset for position in in_sentence])
        self.columns: list[set[int]] = [set() for _ in self.places]
        """For each content word, the cells of the row over which it is written."""
        self.has_columns = row is not None and len(row.row.cells) > _CELLS_OF_A_PAIR
        if row is not None:
            self._read_columns(row, sources.list_table(sentence)[0], offset)

    def _read_columns(self, row: PlacedRow, header: PlacedRow, offset: int) -> None:
        """Count a word of the header of a table as one of the row, where the cell below it begins."""
        for q, match in enumerate(self.claimed.matches):
            for position in _positions_between(match.positions, offset + header.first, offset + header.last):
                cell = self.passage.cell_of(header, position - offset)
                below = self.passage.list_cell(row, cell)
                if below:
                    self.columns[q].add(cell)
                    self.places[q].append(below[0])
            self.places[q] = sorted(set(self.places[q]))

    def shared_weight(self, excluded: Collection[int]) -> float:
        """Return the weighted share of the claim's words that the sentence contains, without those at `excluded`.

        0 where it contains fewer than two of them.
        """
        compared = [q for q in range(len(self.places)) if q not in excluded]
        shared_weights = [self.claimed.weights[q] for q in compared if self.places[q]]
        if len(shared_weights) < _FEWEST_SHARED_WORDS:
            return 0.0
        return fsum(shared_weights) / fsum([self.claimed.weights[q] for q in compared])

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
            for position in self._list_comparable_positions(q):
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

    def _list_comparable_positions(self, q: int) -> Sequence[int]:
        """Return the positions of the sentence; of a row with columns, those below the words next to a fact."""
        positions = range(self.first, self.last)
        if self.row is None or not self.has_columns:
            return positions
        cells: set[int] = set().union(*[self.columns[word] for word in self._list_company(q)])
        return [position for position in positions if self.passage.cell_of(self.row, position) in cells]

    def _list_company(self, q: int) -> list[int]:
        """Return the words next to a fact of the claim, and next to its unit."""
        own = next((words for _, words in self.claimed.quantities if q in words), (q,))
        first, last = min(q, *own), max(q, *own)
        neighbours = range(max(0, first - _FACT_COMPANY), min(len(self.places), last + _FACT_COMPANY + 1))
        return [neighbour for neighbour in neighbours if neighbour not in own]

    def _list_neighbours(self, q: int) -> list[int]:
        """Return the positions of the words next to a fact of the claim, and next to its unit."""
        return [place for neighbour in self._list_company(q) for place in self.places[neighbour]]

    def _find_rival_quantity(self, q: int) -> str:
        """Return the quantity that the sentence has in place of the claim's, in words; "" if there is none."""
        comparable = self._list_comparable_positions(q)
        stated = [quantity for quantity in self.quantities if quantity.terms[0] in comparable]
        rival = find_rival_quantity(self.claimed.quantities, q, stated, self._list_neighbours(q))
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


_SPLIT_BEFORE, _SPLIT_AFTER = compile_pattern(r"\d\. $"), compile_pattern(r"\. \d")


def _is_split_decimal(passage: IndexedPassage, term: Term) -> bool:
    """Whether a number is one half of a decimal that tokenisation has split ("98. 7")."""
    before = passage.text[max(0, term.start - 3) : term.start]
    return bool(_SPLIT_BEFORE.search(before) or _SPLIT_AFTER.match(passage.text, term.end))
