"""Indexes source texts by their terms, and chooses the sentences that cover most of a claim.

Coverage counts words and character 4-grams. The terms of many claims are looked up at once.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import compress
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct, structs

from assay.text.claims.table_rows import TableRow, find_cell, list_table_rows, part_cells
from assay.text.normalisation import normalise_nfc
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.placed_quantities import PlacedQuantity, holds_number, place_quantities
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.quantity_index import QuantityIndex
from assay.text.segmentation import Span, segment_sentences
from assay.text.text_cache import cache_by_text
from assay.text.tokens import (
    DocumentFrequencies,
    ParsedTerms,
    Term,
    count_shared_letters,
    iterate_index_keys,
    make_lookup_keys,
    parse_terms,
    spell_terms,
    tokenise_text,
)

_LONGEST_SENTENCE = 80  # terms; longer ones (lists without punctuation, transcripts) are split
_SOURCE_GAP = 64  # positions between two sources, so that their terms are never close


class TermMatch(Struct, frozen=True):
    """The positions of a claim's term in the sources, ascending, and the quality of the match in [0, 1]."""

    positions: Sequence[int]
    quality: float


NO_TERM_MATCH = TermMatch((), 0.0)


Gram = str
"""Four consecutive characters, the unit in which a claim is compared with its evidence."""
_GRAM_LENGTH = 4


def list_four_grams(line: str) -> list[Gram]:
    """Return every four consecutive characters.

    >>> list_four_grams(" leav ")
    [' lea', 'leav', 'eav ']
    """
    return list(map("".join, zip(*[line[offset:] for offset in range(_GRAM_LENGTH)], strict=False)))


def join_spellings(spelled: Iterable[str]) -> str:
    """Return spellings as one line, each surrounded by spaces."""
    return f" {' '.join(spelled)} "


class PlacedRow(Struct, frozen=True):
    """A row of a table with the range of its terms in a text."""

    row: TableRow
    first: int
    last: int


class IndexedPassage:
    """One indexed source text: its terms by key, its sentences as ranges of terms, and its keys as one line.

    In a text written with diacritics, words are also stored as "key~diacritics", or "key~" if they have none.
    """

    def __init__(self, text: str) -> None:
        text = normalise_nfc(text)
        table_rows = list_table_rows(text)
        parsed = parse_terms(part_cells(text, table_rows))
        self.text, self.terms, self.has_diacritics = parsed.text, parsed.items, parsed.has_diacritics
        self.positions_by_key: dict[str, list[int]] = {}
        for position, term in enumerate(self.terms):
            keys: Iterable[str] = (term.key,)
            if term.kind == "number":
                keys = iterate_index_keys(term, self.has_diacritics)
            elif self.has_diacritics:
                keys = (term.key, term.diacritic_key or f"{term.key}~")
            for key in keys:
                if key in self.positions_by_key:
                    self.positions_by_key[key].append(position)
                else:
                    self.positions_by_key[key] = [position]
        self._store_split_decimals()
        self._spelled = {False: spell_terms(self.terms, False)}
        if self.has_diacritics:
            self._spelled[True] = spell_terms(self.terms, True)
        self.spelling_lines = {
            marked: join_spellings(spellings_of_terms) for marked, spellings_of_terms in self._spelled.items()
        }
        self.sentence_ranges = list(_sentence_ranges(parsed))  # ranges of terms
        self.rows = list(self._place_rows(table_rows))
        """The rows of its tables, in order. A sentence may hold several."""
        self._stems: list[str] | None = None
        self._grams: dict[tuple[int, bool], frozenset[Gram]] = {}
        self._quantities: dict[int, list[PlacedQuantity]] = {}

    def _place_rows(self, table_rows: Sequence[TableRow]) -> Iterator[PlacedRow]:
        for row in table_rows:
            first, last = (bisect_left(self.terms, at, key=_term_start) for at in (row.start, row.end))
            if first < last:
                yield PlacedRow(row, first, last)

    def list_table(self, sentence: int) -> list[PlacedRow]:
        """Return the rows of the table of which a sentence has a row, the header first; none for other sentences."""
        first, last = self.sentence_ranges[sentence]
        table = next((own.row.table for own in self.rows if own.first < last and first < own.last), None)
        return [own for own in self.rows if own.row.table == table]

    def list_cell(self, own: PlacedRow, cell: int) -> list[int]:
        """Return the positions of the terms in a cell of a row."""
        return [place for place in range(own.first, own.last) if self.cell_of(own, place) == cell]

    def cell_of(self, own: PlacedRow, position: int) -> int:
        """Return the number of the cell in which the term at a position of a row is."""
        return find_cell(own.row, self.terms[position].start)

    def _store_split_decimals(self) -> None:
        """Store "98. 7" also as 98.7, at the position of its first part: tokenised texts write decimals like this."""
        for point in _SPLIT_DECIMAL.finditer(self.text):
            position = bisect_right(self.terms, point.start(), key=_term_start) - 1
            if position < 0 or position + 1 >= len(self.terms):
                continue
            first, second = self.terms[position : position + 2]
            if first.end == point.start() and second.start == point.end():
                joined = self.text[first.start : first.end] + "." + self.text[second.start : second.end]
                for term in parse_terms(joined).items[:1]:
                    for key in iterate_index_keys(term, self.has_diacritics):
                        insort(self.positions_by_key.setdefault(key, []), position)

    def sentence_span(self, sentence: int) -> Span:
        """Return the span of a sentence in the text, from its first term to its last."""
        first, last = self.sentence_ranges[sentence]
        return self.terms[first].start, max([term.end for term in self.terms[first:last]])

    def sentence_grams(self, sentence: int, marked: bool) -> frozenset[Gram]:
        """Return the 4-grams of a sentence; `marked`: with diacritics, only for texts written with them."""
        cached = self._grams.get((sentence, marked))
        if cached is None:
            first, last = self.sentence_ranges[sentence]
            cached = self._grams[sentence, marked] = frozenset(
                list_four_grams(join_spellings(self._spelled[marked][first:last]))
            )
        return cached

    def sentence_quantities(self, sentence: int) -> list[PlacedQuantity]:
        """Return the quantities of a sentence, each with the places of its terms in the text.

        The halves of decimals that tokenisation has split are left out.
        """
        cached = self._quantities.get(sentence)
        if cached is None:
            first, last = self.sentence_ranges[sentence]
            cached = self._quantities[sentence] = self.read_quantities(first, last)
        return cached

    def read_quantities(self, first: int, last: int) -> list[PlacedQuantity]:
        """Return the quantities of a range of terms, as `sentence_quantities` does."""
        if not holds_number(self.text, self.terms[first:last]):
            return []
        start = self.terms[first - 1].end if first else 0  # a sign of a currency is no term
        end = self.terms[last].start if last < len(self.terms) else len(self.text)
        terms = [
            structs.replace(term, start=term.start - start, end=term.end - start) for term in self.terms[first:last]
        ]
        read: list[PlacedQuantity] = []
        for quantity, places in place_quantities(self.text[start:end], terms):
            if _SPLIT_DECIMAL.search(self.text, max(start, start + quantity.start - 3), start + quantity.end + 3):
                continue  # half of a number
            rate_span = quantity.rate_span
            if quantity.rate:
                rate_span = (rate_span[0] + start, rate_span[1] + start)
            moved = structs.replace(
                quantity, start=quantity.start + start, end=quantity.end + start, rate_span=rate_span
            )
            read.append(PlacedQuantity(moved, tuple([first + place for place in places])))
        return read

    def find_similar_stems(self, stem: str) -> list[str]:
        """Return the stems that begin with the same letters as `stem`, in alphabetical order."""
        if self._stems is None:
            self._stems = sorted([key for key in self.positions_by_key if len(key) >= SHORTEST_SIMILAR_STEM])
        first = bisect_left(self._stems, stem[:SHARED_PREFIX_LENGTH])
        return self._stems[first : bisect_left(self._stems, stem[:SHARED_PREFIX_LENGTH] + _LAST, first)]


_LAST = "\U0010ffff"
SHORTEST_SIMILAR_STEM, SHARED_PREFIX_LENGTH = 5, 4
"""Least length of a stem that may match a similar one, and of the beginning that they must share."""


_SPLIT_DECIMAL = compile_pattern(r"(?<=\d)\. (?=\d)")


def _term_start(term: Term) -> int:
    return term.start


def _sentence_ranges(text_terms: ParsedTerms) -> Iterator[Span]:
    """Yield the sentences of a text as ranges of its terms, none empty."""
    first = position = 0
    for _, end in segment_sentences(text_terms.text):
        while position < len(text_terms.items) and text_terms.items[position].start < end:
            position += 1
        for start in range(first, position, _LONGEST_SENTENCE):
            yield start, min(start + _LONGEST_SENTENCE, position)
        first = position
    for start in range(first, len(text_terms.items), _LONGEST_SENTENCE):
        yield start, min(start + _LONGEST_SENTENCE, len(text_terms.items))


_NO_PASSAGES: Mapping[str, IndexedPassage] = MappingProxyType({})


@cache_by_text(maxsize=128, longest=4000)  # about 0.2 MB each
def _index_passage(text: str) -> IndexedPassage:
    return IndexedPassage(text)


class IndexedSources:
    """The sources of an answer as (id, text), indexed once for many claims. Their order does not matter.

    Positions of terms are numbered through all sources in the order of their ids.
    """

    def __init__(
        self,
        chunks: Sequence[tuple[str, str]],
        idf: DocumentFrequencies,
        indexed: Mapping[str, IndexedPassage] = _NO_PASSAGES,
    ) -> None:
        """Index the chunks; `indexed` holds texts that are indexed already."""
        self.chunks = sorted(set(chunks))
        self.idf = idf
        self.passages = [indexed.get(text) or _index_passage(text) for _, text in self.chunks]
        self.has_diacritics = bool(self.passages) and all(passage.has_diacritics for passage in self.passages)
        self.offsets: list[int] = []
        self.sentences: list[tuple[int, int]] = []  # index of the passage, and of the sentence in it
        self._starts: list[int] = []  # the position of the first term of each sentence
        offset = 0
        for number, passage in enumerate(self.passages):
            self.offsets.append(offset)
            self.sentences += [(number, sentence) for sentence in range(len(passage.sentence_ranges))]
            self._starts += [offset + first for first, _ in passage.sentence_ranges]
            offset += len(passage.terms) + _SOURCE_GAP
        self._matches: dict[tuple[str, str, str, bool], TermMatch] = {}
        self._large_numbers_cache: list[tuple[float, str, int]] | None = None  # value, unit, place

    def select_sources(self, ids: Collection[str]) -> IndexedSources:
        """Return only the sources with these ids."""
        selected = [chunk for chunk in self.chunks if chunk[0] in ids]
        if len(selected) == len(self.chunks):
            return self
        texts = [text for _, text in self.chunks]
        return IndexedSources(selected, self.idf, dict(zip(texts, self.passages, strict=True)))

    def positions_in(self, sentence: int, match: TermMatch) -> Sequence[int]:
        """Return the positions of a match that are in a sentence, given by its index in `sentences`."""
        positions = match.positions
        if not positions:
            return ()
        first = bisect_left(positions, self._starts[sentence])
        is_last = sentence + 1 == len(self._starts)
        return positions[first : None if is_last else bisect_left(positions, self._starts[sentence + 1], first)]

    def list_table(self, sentence: int) -> list[PlacedRow]:
        """Return the rows of the table of which a sentence has a row, the header first; none for other sentences."""
        passage, within = self.sentences[sentence]
        return self.passages[passage].list_table(within)

    def find_named_row(self, sentence: int, matches: Sequence[TermMatch]) -> PlacedRow | None:
        """Return the row of the table of a sentence that a claim names: the only one, or that of which the claim has
        each word of the first cell; None if it names none, or several.

        Of "City" and "City Plus" a claim with both words names the second.
        """
        passage, within = self.sentences[sentence]
        indexed, offset = self.passages[passage], self.offsets[passage]
        rows = [own for own in indexed.list_table(within) if not own.row.is_header]
        claimed = {position - offset for match in matches for position in match.positions}
        named: dict[int, list[PlacedRow]] = {}
        for own in rows:
            name = _list_name(indexed, own)
            if claimed.issuperset(name):
                named.setdefault(len(name), []).append(own)
        best = rows if len(rows) == 1 else named[max(named)] if named else []
        return best[0] if len(best) == 1 else None

    @cached_property
    def stated_quantities(self) -> tuple[list[int], QuantityIndex]:
        """The quantities of all sentences, and the sentence of each."""
        holders: list[int] = []
        stated: list[Quantity] = []
        for number, (passage, within) in enumerate(self.sentences):
            for placed in self.passages[passage].sentence_quantities(within):
                holders.append(number)
                stated.append(placed.quantity)
        return holders, QuantityIndex(stated)

    def sentences_at(self, places: Iterable[int]) -> set[int]:
        """Return the indices, in `segment_sentences`, of the sentences that contain the given positions."""
        starts = self._starts
        return {bisect_right(starts, position) - 1 for position in places}

    def term_at(self, position: int) -> Term:
        """Return the term at a position in the sources."""
        passage = bisect_right(self.offsets, position) - 1
        return self.passages[passage].terms[position - self.offsets[passage]]

    def sentence_grams(self, sentence: int, marked: bool) -> frozenset[Gram]:
        """Return the 4-grams of a sentence, given by its index in `segment_sentences`."""
        passage, within = self.sentences[sentence]
        return self.passages[passage].sentence_grams(within, marked)

    def match_term(self, term: Term, marked: bool) -> TermMatch:
        """Return the match of a claim's term. `marked`: the claim is written with diacritics.

        Numbers match by any of their readings if their units agree or one has no unit. Roundings of numbers from 3,000
        on (by at most 1%), words that share most of their letters from the first, and names without their diacritics
        match with quality 0.8.
        """
        cache_key = (term.kind, term.key, term.unit or term.diacritic_key, marked)
        match = self._matches.get(cache_key)
        if match is None:
            match = self._matches[cache_key] = self._find_match(term, marked)
        return match

    def _find_match(self, term: Term, marked: bool) -> TermMatch:
        if term.kind == "number":
            positions = self._find_positions(make_lookup_keys(term, False), None)
            return TermMatch(positions, 1.0) if positions else self._match_rounded(term)
        positions = self._find_positions([term.key], make_lookup_keys(term, True)[0] if marked else None)
        if positions:
            return TermMatch(positions, 1.0)
        if term.kind == "name" and marked:
            positions = self._find_positions([term.key], None)
        elif term.kind in ("word", "name") and len(term.key) >= SHORTEST_SIMILAR_STEM and not marked:
            positions = self._find_positions(self._similar_stems(term.key), None)
        return TermMatch(positions, SIMILAR_MATCH_QUALITY) if positions else NO_TERM_MATCH

    def _find_positions(self, keys: Sequence[str], marked_key: str | None) -> list[int]:
        """Return the positions of any of the keys, or of `marked_key`, if given, in texts written with diacritics."""
        positions: list[int] = []
        for passage, offset in zip(self.passages, self.offsets, strict=True):
            for key in (marked_key,) if marked_key and passage.has_diacritics else keys:
                in_passage = passage.positions_by_key.get(key)
                if in_passage is not None:
                    positions += [offset + position for position in in_passage]
        return sorted(set(positions)) if len(keys) > 1 else positions

    def _similar_stems(self, stem: str) -> list[str]:
        """Return the stem in the sources that shares the longest beginning, if it is most of both words."""
        best, best_share = "", _LEAST_SHARED_STEM
        for key in sorted({key for passage in self.passages for key in passage.find_similar_stems(stem)}):
            share = count_shared_letters(stem, key) / max(len(stem), len(key))
            if share > best_share or (share == best_share and not best):
                best, best_share = key, share
        return [best] if best else []

    def _match_rounded(self, term: Term) -> TermMatch:
        """Return the positions of numbers that round to this one."""
        if self._large_numbers_cache is None:
            self._large_numbers_cache = list(self._large_numbers())
        values = [float(key[1:]) for key in (term.key, *term.other_readings) if key[0] == "#"]
        positions: set[int] = set()
        for value, unit, position in self._large_numbers_cache:
            if unit and term.unit and unit != term.unit:
                continue
            for number in values:
                if abs(value - number) <= _ROUNDING * abs(number) and _is_rounding_of(value, number):
                    positions.add(position)
        return TermMatch(sorted(positions), SIMILAR_MATCH_QUALITY) if positions else NO_TERM_MATCH

    def _large_numbers(self) -> Iterator[tuple[float, str, int]]:
        for passage, offset in zip(self.passages, self.offsets, strict=True):
            for position, term in enumerate(passage.terms):
                if term.kind == "number" and term.key[0] == "#":
                    for key in (term.key, *term.other_readings):
                        value = float(key[1:])
                        if abs(value) >= _LEAST_ROUNDED:
                            yield value, term.unit, position + offset


def _list_name(passage: IndexedPassage, own: PlacedRow) -> list[int]:
    """Return the positions of the words in the first cell of a row that has any."""
    inside = passage.list_cell(own, passage.cell_of(own, own.first))
    return [place for place in inside if passage.terms[place].kind != "stop"] or inside


SIMILAR_MATCH_QUALITY = 0.8
"""Quality of the match of a term that is only similar."""

_LEAST_SHARED_STEM = 0.6  # share of the longer stem
_ROUNDING = 0.01
_LEAST_ROUNDED = 3000.0  # below it are years


def _is_rounding_of(value: float, number: float) -> bool:
    """Whether `number` is `value` rounded to fewer digits."""
    digits = f"{number:.0f}"
    zeros = len(digits) - len(digits.rstrip("0"))
    return zeros > 0 and round(value, -zeros) == number


_MOST_SENTENCES = 3  # of evidence
_CANDIDATES = 12  # sentences that share the most words with the claim
_LEAST_GAIN = 0.02
_MOST_POSITIONS = 400  # positions of a term that are examined
_GRAM_WEIGHT_FIRST, _GRAM_WEIGHT_LATER = 0.3, 0.1  # weight of shared 4-grams relative to shared words


class SupportingSentence(NamedTuple):
    """A sentence of a source: the source's id and the span in its NFC text."""

    source: str
    start: int
    end: int


class ClaimGrams(Struct, frozen=True):
    """The character 4-grams of a claim, each with the weight of the rarest word that it overlaps."""

    weights: dict[Gram, float]
    total: float
    has_diacritics: bool

    def shared_weight(self, present: Set[Gram]) -> float:
        """Return the weighted share of the claim's 4-grams that are present."""
        return math.fsum(compress(self.weights.values(), map(present.__contains__, self.weights))) / self.total


def weigh_claim_grams(terms: ParsedTerms, marked: bool, idf: DocumentFrequencies) -> ClaimGrams:
    """Return the 4-grams of a claim; a word has the square root of its idf as weight. `marked`: keep diacritics."""
    word_spellings = spell_terms(terms.items, marked)
    letter_weights = [0.0]
    for term, word in zip(terms.items, word_spellings, strict=True):
        letter_weights += [math.sqrt(idf.idf_weight(term.key))] * len(word)
        letter_weights.append(0.0)
    later_weights = [letter_weights[offset:] for offset in range(1, _GRAM_LENGTH)]
    gram_weights = map(max, letter_weights, *later_weights)
    weights: dict[Gram, float] = {}
    for gram, weight in zip(list_four_grams(join_spellings(word_spellings)), gram_weights, strict=True):
        if weight > weights.get(gram, 0.0):
            weights[gram] = weight
    return ClaimGrams(weights, math.fsum(weights.values()) or 1.0, marked)


def choose_evidence(
    matches: Sequence[TermMatch], weights: Sequence[float], pieces: ClaimGrams, sources: IndexedSources
) -> list[int]:
    """Return the indices of at most three sentences that together cover most of the claim, the best first.

    Greedy: each step adds the sentence with the largest gain, counting only words that are not covered yet.
    """
    words_by_sentence: dict[int, list[int]] = {}  # the indices of the content words in each sentence
    for word, match in enumerate(matches):
        for sentence in sources.sentences_at(match.positions[:_MOST_POSITIONS]) if match.positions else ():
            words_by_sentence.setdefault(sentence, []).append(word)
    total = math.fsum(weights)
    new_share: dict[int, float] = {}  # of each sentence: the weighted share of the claim that it alone covers
    for sentence, words in words_by_sentence.items():
        new_share[sentence] = math.fsum([weights[word] for word in words]) / total
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
                gram_shares[sentence] = pieces.shared_weight(sources.sentence_grams(sentence, pieces.has_diacritics))
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
            new_share[sentence] = math.fsum([weights[word] for word in uncovered]) / total
        candidates.sort(key=lambda s: (-new_share[s], s))
    return chosen


def locate_sentence(sources: IndexedSources, sentence: int) -> SupportingSentence:
    """Return a sentence by its index in `sources.sentences`."""
    passage_number, sentence_number = sources.sentences[sentence]
    return SupportingSentence(
        sources.chunks[passage_number][0], *sources.passages[passage_number].sentence_span(sentence_number)
    )


def _split_words(text: str) -> tuple[list[str], list[list[str]]]:
    words = [(word, tokenise_text(word)) for word in text.split()]
    return [word for word, tokens in words if tokens], [tokens for _, tokens in words if tokens]


def quote_difference(text: str, other: str, most_words: int = 12) -> str:
    """Return the passage of a text that another text does not have, as it is written, from the first word that differs.

    What both begin and end with is left out; of a long passage the first words are returned, with "…" after them.

    >>> quote_difference("Leave is 12 days. Ask the manager, who decides.", "Leave is 12 days.")
    'Ask the manager, who decides.'
    >>> quote_difference("Leave is 15 days a year.", "Leave is 12 days a year.")
    '15'
    """
    # What has no letters and digits, such as the marks of a table, is no difference.
    words, folded = _split_words(text)
    others, other_folded = _split_words(other)
    shortest = min(len(words), len(others))
    start = next((number for number in range(shortest) if folded[number] != other_folded[number]), shortest)
    end = 0
    while end < shortest - start and folded[-1 - end] == other_folded[-1 - end]:
        end += 1
    passage = words[start : len(words) - end]
    return " ".join(passage[:most_words]) + (" …" if len(passage) > most_words else "")
