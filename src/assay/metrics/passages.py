"""Index source texts by their terms, to look up the terms of many claims and the sentences that contain them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from assay.metrics.idf import Idf
from assay.metrics.segments import Span, sentences
from assay.metrics.terms import Term, Terms, spellings, stored, terms, wanted

_LONGEST_SENTENCE = 80  # terms; longer ones (lists without punctuation, transcripts) are split
_SOURCE_GAP = 64  # positions between two sources, so that their terms are never close


class Match(NamedTuple):
    """The positions of a claim's term in the sources, ascending, and the quality of the match in [0, 1]."""

    places: Sequence[int]
    quality: float


NO_MATCH = Match((), 0.0)


Gram = tuple[str, str, str, str]
"""Four consecutive characters, the unit in which a claim is compared with its evidence."""
T = TypeVar("T")


def grams(items: Sequence[T]) -> Iterator[tuple[T, T, T, T]]:
    """Yield every four consecutive items.

    >>> ["".join(gram) for gram in grams(" leav ")]
    [' lea', 'leav', 'eav ']
    """
    return zip(items, items[1:], items[2:], items[3:], strict=False)


def line_of(spelled: Iterable[str]) -> str:
    """Return spellings as one line, each surrounded by spaces."""
    return f" {' '.join(spelled)} "


class Passage:
    """One indexed source text: its terms by key, its sentences as ranges of terms, and its keys as one line.

    In a text written with diacritics, words are also stored as "key~diacritics", or "key~" if they have none.
    """

    def __init__(self, text: str) -> None:
        text_terms = terms(text)
        self.text, self.items, self.marked = text_terms
        self.places: dict[str, list[int]] = {}
        for position, term in enumerate(self.items):
            for key in stored(term, self.marked) if self.marked or term.kind == "number" else (term.key,):
                if key in self.places:
                    self.places[key].append(position)
                else:
                    self.places[key] = [position]
        self._store_split_decimals()
        self._spelled = {False: spellings(self.items, False)}
        if self.marked:
            self._spelled[True] = spellings(self.items, True)
        self.lines = {marked: line_of(spellings_of_terms) for marked, spellings_of_terms in self._spelled.items()}
        self.sentences = list(_sentence_ranges(text_terms))  # ranges of terms
        self._stems: list[str] | None = None
        self._grams: dict[tuple[int, bool], frozenset[Gram]] = {}

    def _store_split_decimals(self) -> None:
        """Store "98. 7" also as 98.7, at the position of its first part: tokenised texts write decimals like this."""
        for point in _SPLIT_DECIMAL.finditer(self.text):
            position = bisect_right(self.items, point.start(), key=_term_start) - 1
            if position < 0 or position + 1 >= len(self.items):
                continue
            first, second = self.items[position : position + 2]
            if first.end == point.start() and second.start == point.end():
                joined = self.text[first.start : first.end] + "." + self.text[second.start : second.end]
                for term in terms(joined).items[:1]:
                    for key in stored(term, self.marked):
                        insort(self.places.setdefault(key, []), position)

    def span(self, sentence: int) -> Span:
        """Return the span of a sentence in the text, from its first term to its last."""
        first, last = self.sentences[sentence]
        return self.items[first].start, max(term.end for term in self.items[first:last])

    def grams(self, sentence: int, marked: bool) -> frozenset[Gram]:
        """Return the 4-grams of a sentence; `marked`: with diacritics, only for texts written with them."""
        cached = self._grams.get((sentence, marked))
        if cached is None:
            first, last = self.sentences[sentence]
            cached = self._grams[sentence, marked] = frozenset(grams(line_of(self._spelled[marked][first:last])))
        return cached

    def similar(self, stem: str) -> list[str]:
        """Return the stems that begin with the same letters as `stem`, in alphabetical order."""
        if self._stems is None:
            self._stems = sorted([key for key in self.places if len(key) >= SHORTEST])
        first = bisect_left(self._stems, stem[:PREFIX])
        return self._stems[first : bisect_left(self._stems, stem[:PREFIX] + _LAST, first)]


_LAST = "\U0010ffff"
SHORTEST, PREFIX = 5, 4
"""Least length of a stem that may match a similar one, and of the beginning that they must share."""


_SPLIT_DECIMAL = re.compile(r"(?<=\d)\. (?=\d)")


def _term_start(term: Term) -> int:
    return term.start


def _sentence_ranges(text_terms: Terms) -> Iterator[Span]:
    """Yield the sentences of a text as ranges of its terms, none empty."""
    first = position = 0
    for _, end in sentences(text_terms.text):
        while position < len(text_terms.items) and text_terms.items[position].start < end:
            position += 1
        for start in range(first, position, _LONGEST_SENTENCE):
            yield start, min(start + _LONGEST_SENTENCE, position)
        first = position
    for start in range(first, len(text_terms.items), _LONGEST_SENTENCE):
        yield start, min(start + _LONGEST_SENTENCE, len(text_terms.items))


_prepare_cached = lru_cache(maxsize=128)(Passage)  # about 0.2 MB each
_LONGEST_CACHED = 4000  # characters of a text that is kept prepared for the next answer
_NO_PASSAGES: Mapping[str, Passage] = MappingProxyType({})


def _prepare_passage(text: str) -> Passage:
    return _prepare_cached(text) if len(text) <= _LONGEST_CACHED else Passage(text)


class Sources:
    """The sources of an answer as (id, text), indexed once for many claims. Their order does not matter.

    Positions of terms are numbered through all sources in the order of their ids.
    """

    def __init__(
        self, chunks: Sequence[tuple[str, str]], idf: Idf, known: Mapping[str, Passage] = _NO_PASSAGES
    ) -> None:
        """Index the chunks; `known` holds texts that are indexed already."""
        self.chunks = sorted(set(chunks))
        self.idf = idf
        self.passages = [known.get(text) or _prepare_passage(text) for _, text in self.chunks]
        self.marked = bool(self.passages) and all(passage.marked for passage in self.passages)
        self.offsets: list[int] = []
        self.sentences: list[tuple[int, int]] = []  # index of the passage, and of the sentence in it
        self._starts: list[int] = []  # the position of the first term of each sentence
        offset = 0
        for number, passage in enumerate(self.passages):
            self.offsets.append(offset)
            self.sentences += [(number, sentence) for sentence in range(len(passage.sentences))]
            self._starts += [offset + first for first, _ in passage.sentences]
            offset += len(passage.items) + _SOURCE_GAP
        self._matches: dict[tuple[str, str, str, bool], Match] = {}
        self._large_numbers_cache: list[tuple[float, str, int]] | None = None  # value, unit, place

    def only(self, ids: Collection[str]) -> Sources:
        """Return only the sources with these ids."""
        selected = [chunk for chunk in self.chunks if chunk[0] in ids]
        if len(selected) == len(self.chunks):
            return self
        texts = [text for _, text in self.chunks]
        return Sources(selected, self.idf, dict(zip(texts, self.passages, strict=True)))

    def sentences_at(self, places: Iterable[int]) -> set[int]:
        """Return the indices, in `sentences`, of the sentences that contain the given positions."""
        starts = self._starts
        return {bisect_right(starts, position) - 1 for position in places}

    def grams(self, sentence: int, marked: bool) -> frozenset[Gram]:
        """Return the 4-grams of a sentence, given by its index in `sentences`."""
        passage, within = self.sentences[sentence]
        return self.passages[passage].grams(within, marked)

    def match(self, term: Term, marked: bool) -> Match:
        """Return the match of a claim's term. `marked`: the claim is written with diacritics.

        Numbers match by any of their readings if their units agree or one has no unit. Roundings of numbers from 3,000
        on (by at most 1%), words that share most of their letters from the first, and names without their diacritics
        match with quality 0.8.
        """
        cache_key = (term.kind, term.key, term.unit or term.marked, marked)
        match = self._matches.get(cache_key)
        if match is None:
            match = self._matches[cache_key] = self._find_match(term, marked)
        return match

    def _find_match(self, term: Term, marked: bool) -> Match:
        if term.kind == "number":
            positions = self._find_positions(wanted(term, False), None)
            return Match(positions, 1.0) if positions else self._match_rounded(term)
        positions = self._find_positions([term.key], wanted(term, True)[0] if marked else None)
        if positions:
            return Match(positions, 1.0)
        if term.kind == "name" and marked:
            positions = self._find_positions([term.key], None)
        elif term.kind in ("word", "name") and len(term.key) >= SHORTEST and not marked:
            positions = self._find_positions(self._similar_stems(term.key), None)
        return Match(positions, SIMILAR) if positions else NO_MATCH

    def _find_positions(self, keys: Sequence[str], marked_key: str | None) -> list[int]:
        """Return the positions of any of the keys, or of `marked_key`, if given, in texts written with diacritics."""
        positions: list[int] = []
        for passage, offset in zip(self.passages, self.offsets, strict=True):
            for key in (marked_key,) if marked_key and passage.marked else keys:
                positions += [offset + position for position in passage.places.get(key, ())]
        return sorted(set(positions)) if len(keys) > 1 else positions

    def _similar_stems(self, stem: str) -> list[str]:
        """Return the stem in the sources that shares the longest beginning, if it is most of both words."""
        best, best_share = "", _LEAST_SHARED_STEM
        for key in sorted({key for passage in self.passages for key in passage.similar(stem)}):
            share = _common_prefix_length(stem, key) / max(len(stem), len(key))
            if share > best_share or (share == best_share and not best):
                best, best_share = key, share
        return [best] if best else []

    def _match_rounded(self, term: Term) -> Match:
        """Return the positions of numbers that round to this one."""
        if self._large_numbers_cache is None:
            self._large_numbers_cache = list(self._large_numbers())
        values = [float(key[1:]) for key in (term.key, *term.others) if key[0] == "#"]
        positions: set[int] = set()
        for value, unit, position in self._large_numbers_cache:
            if unit and term.unit and unit != term.unit:
                continue
            for number in values:
                if abs(value - number) <= _ROUNDING * abs(number) and _is_rounding_of(value, number):
                    positions.add(position)
        return Match(sorted(positions), SIMILAR) if positions else NO_MATCH

    def _large_numbers(self) -> Iterator[tuple[float, str, int]]:
        for passage, offset in zip(self.passages, self.offsets, strict=True):
            for position, term in enumerate(passage.items):
                if term.kind == "number" and term.key[0] == "#":
                    for key in (term.key, *term.others):
                        value = float(key[1:])
                        if abs(value) >= _LEAST_ROUNDED:
                            yield value, term.unit, position + offset


SIMILAR = 0.8
"""Quality of the match of a term that is only similar."""

_LEAST_SHARED_STEM = 0.6  # share of the longer stem
_ROUNDING = 0.01
_LEAST_ROUNDED = 3000.0  # below it are years


def _common_prefix_length(word: str, other_word: str) -> int:
    """Return the length of the longest common prefix of two words."""
    count = 0
    for a, b in zip(word, other_word, strict=False):
        if a != b:
            break
        count += 1
    return count


def _is_rounding_of(value: float, number: float) -> bool:
    """Whether `number` is `value` rounded to fewer digits."""
    digits = f"{number:.0f}"
    zeros = len(digits) - len(digits.rstrip("0"))
    return zeros > 0 and round(value, -zeros) == number
