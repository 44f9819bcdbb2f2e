"""A text as the rules for facts read it: without markup, as words, quantities and clauses."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import ParamSpec, TypeVar, cast

from msgspec import Struct, structs

from assay.text.abbreviations import spell_abbreviations
from assay.text.citation_markers import remove_citation_markers
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.link_cues import AND_VERB, CONTRAST, IN_FACT, NOT_THIS, RATHER_THAN
from assay.text.facts.cues.word_classes import ONLY_VIETNAMESE
from assay.text.facts.reading.version_marks import spell_versions
from assay.text.languages import GRAMMAR_BY_LANGUAGE, guess_european
from assay.text.late_pattern import LatePattern
from assay.text.markup import remove_markup, spell_table_rows
from assay.text.normalisation import MOST_READ, fold_digits, fold_in_place, normalise_nfc
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.unit_names import split_glued_units
from assay.text.quantities.weekdays import spell_other_days
from assay.text.tokens import classify_word, count_shared_letters, find_token_spans, is_unmarked_stop

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Word(Struct, frozen=True):
    """A word: its kind and key (`classify_word`), its lost diacritics, its folded form and its span."""

    kind: str
    key: str
    marks: str  # diacritics that folding removed
    folded: str
    is_capitalised: bool
    start: int
    end: int


def get_start(span: Word | ClauseSpan) -> int:
    """Return where a word or clause starts, as a key for `bisect`."""
    return span.start


class ClauseSpan(Struct, frozen=True):
    """A clause of an answer: its span, and that of its sentence."""

    start: int
    end: int
    sentence_start: int
    sentence_end: int


CLAUSE_REACH = 400
"""Characters on either side of a position that are examined."""


def narrow_clause(clause: ClauseSpan, position: int) -> ClauseSpan:
    """Return the part of a clause and its sentence near a position, so that the work on endless ones is bounded."""
    low, high = position - CLAUSE_REACH, position + CLAUSE_REACH
    return ClauseSpan(
        max(clause.start, low), min(clause.end, high), max(clause.sentence_start, low), min(clause.sentence_end, high)
    )


_ELISION = compile_pattern(r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)['’](?=[^\W\d_]{4})", re.IGNORECASE)
"""What French and Italian write together with the next word: "l'arrivée"."""


class ReadText:
    """A text without markup: its words outside of quantities, its quantities and its clauses.

    `plain`: folded, on one line; `lined`: the same with its line ends.
    """

    def __init__(self, text: str) -> None:
        written = normalise_nfc(remove_markup(spell_table_rows(remove_citation_markers(text, only_sure=True))))
        self.text = split_glued_units(spell_other_days(spell_abbreviations(spell_versions(fold_digits(written)))))
        self.plain = fold_in_place(self.text)
        self.lined = _restore_line_ends(self.plain, self.text)
        self.quantities = find_measures(self.text)
        self.words = list(self._read_words())
        self.has_marks = any(word.marks for word in self.words)
        language = guess_european(self.text)
        if _is_unmarked_vietnamese(self.plain, self.words) or (self.has_marks and language is None):
            self.words = list(self._correct_kinds())
        elif language is not None:
            grammar = GRAMMAR_BY_LANGUAGE[language]
            self.words = [structs.replace(word, kind="stop") if word.folded in grammar else word for word in self.words]
        self._word_starts = [word.start for word in self.words]
        self._clauses: list[ClauseSpan] | None = None
        self._positions: dict[str, list[int]] | None = None
        self._keys: dict[str, list[str]] | None = None

    def _read_words(self) -> Iterator[Word]:
        pending = iter(self.quantities)
        quantity = next(pending, None)
        may_elide = "'" in self.text or "’" in self.text
        for start, end in find_token_spans(self.plain):
            while quantity is not None and quantity.end <= start:
                quantity = next(pending, None)
            if quantity is not None and quantity.start < end and not quantity.is_spelled_one:
                continue
            elision = _ELISION.match(self.text, start, end) if may_elide else None
            start = start if elision is None else elision.end()
            raw = self.text[start:end]
            kind, key, marked = classify_word(raw)
            yield Word(
                kind, key, marked.rpartition("~")[2], self.plain[start:end], raw[:1].isupper(), start, end
            )  # fmt: skip

    def _correct_kinds(self) -> Iterator[Word]:
        """Yield the words of a Vietnamese text, those of grammar as such where they are written without diacritics."""
        kinds = ("word",) if self.has_marks else ("word", "name")
        for word in self.words:
            is_stop = not word.marks and word.kind in kinds and is_unmarked_stop(word.folded, has_marks=self.has_marks)
            yield structs.replace(word, kind="stop") if is_stop else word

    @property
    def clauses(self) -> list[ClauseSpan]:
        """The clauses in order."""
        if self._clauses is None:
            self._clauses = list(_split_clauses(self.text, self.plain, self.quantities))
        return self._clauses

    def clause_at(self, position: int) -> ClauseSpan:
        """Return the clause that holds a position."""
        index = bisect_right(self.clauses, position, key=get_start) - 1
        return self.clauses[max(index, 0)]

    def find_index(self, position: int) -> int:
        """Return the index of the first word that starts at a position or after it."""
        return bisect_left(self._word_starts, position)

    def list_words(self, low: int, high: int) -> list[Word]:
        """Return the words that start between two positions."""
        return self.words[self.find_index(low) : self.find_index(high)]

    def list_following(self, position: int, most: int) -> list[Word]:
        """Return the words that start at a position or after it, at most some."""
        index = self.find_index(position)
        return self.words[index : index + most]

    def take_next_word(self, position: int) -> Word | None:
        """Return the first word that starts at a position or after it, None without one."""
        return next(iter(self.list_following(position, 1)), None)

    def word_at(self, position: int) -> Word | None:
        """Return the word that starts at a position, None if none does."""
        word = self.take_next_word(position)
        return word if word is not None and word.start == position else None

    def find_word(self, word: Word, ignore_marks: bool) -> list[int]:
        """Return the indices of the words that are the same word, perhaps inflected."""
        if self._positions is None:
            self._positions = {}
            for index, own in enumerate(self.words):
                self._positions.setdefault(own.key, []).append(index)
        indices = self._positions.get(word.key, [])
        if indices and (not ignore_marks and (word.marks or self.has_marks)):
            indices = [index for index in indices if self.words[index].marks == word.marks]
        if indices or len(word.key) < _SHORTEST_SIMILAR or word.kind == "id":
            return indices
        if self._keys is None:
            self._keys = {}
            for key in self._positions:
                self._keys.setdefault(key[:_SHARED_PREFIX], []).append(key)
        near = self._keys.get(word.key[:_SHARED_PREFIX])
        if near is None:
            return []
        similar = [key for key in near if _is_similar(key, word.key)]
        indices = sorted(index for key in similar for index in self._positions[key])
        return [index for index in indices if not _is_other_agent(word.folded, self.words[index].folded)]


def _restore_line_ends(plain: str, text: str) -> str:
    if "\n" not in text:
        return plain
    lines, start = [], 0
    for written in text.split("\n"):
        lines.append(plain[start : start + len(written)])
        start += len(written) + 1
    return "\n".join(lines)


_VIETNAMESE = compile_pattern(rf"\b(?:{'|'.join(sorted(ONLY_VIETNAMESE))})\b")
_FEWEST_VIETNAMESE, _LEAST_VIETNAMESE = 2, 1 / 6


def _is_unmarked_vietnamese(plain: str, words: Sequence[Word]) -> bool:
    """Whether a text without diacritics is Vietnamese, by words that hardly any other language has."""
    if _VIETNAMESE.search(plain) is None:
        return False
    count = sum(word.folded in ONLY_VIETNAMESE for word in words)
    return count >= _FEWEST_VIETNAMESE and count >= _LEAST_VIETNAMESE * len(words)


_SHORTEST_SIMILAR, _SHARED_PREFIX, _LEAST_SHARED = 5, 4, 0.67


def _is_similar(key: str, other: str) -> bool:
    """Whether two stems share most of their letters from the first: "approv" and "approval"."""
    return count_shared_letters(key, other) >= _LEAST_SHARED * max(len(key), len(other))


def _is_other_agent(word: str, other: str) -> bool:
    """Whether two words name who does and to whom it is done: "employer" and "employee"."""
    endings = {name.removesuffix("s")[-2:] for name in (word, other)}
    return "ee" in endings and not endings.isdisjoint(("er", "or"))


_SENTENCE_END = compile_pattern(r"(?<!\bmr)(?<!\bms)(?<!\bdr)(?<!\bmrs)[.!?…](?=[\s\"')]|$)|[;；。！？]")
# A line that is wrapped within a sentence goes on with a small letter. List items and rows of tables begin with others.
_LINE_END = LatePattern(r"(?<=[:.;!?])\s*\n|\n\s*(?=\n|$|[A-Z\d\"'($€£]|[^\W\d_a-zà-ỹ])")
_CLAUSE_CUT = build_pattern(
    rf"[:,]? (?={CONTRAST}\b)|,? (?={IN_FACT}\b)|: | - |, (?={NOT_THIS}\b)|,? (?={RATHER_THAN})"
    rf"| (?=and (?:{AND_VERB})\b)|, (?=(?:or|hoặc) )"
).compiled


def _get_match_end(match: re.Match[str]) -> int:
    return match.end()


def _split_clauses(text: str, plain: str, quantities: Sequence[Quantity]) -> Iterator[ClauseSpan]:
    start = 0
    inside = [(quantity.start, quantity.end) for quantity in quantities]
    ends: list[re.Match[str]] = list(_SENTENCE_END.finditer(plain))
    if "\n" in text:
        ends = sorted([*ends, *_LINE_END.finditer(text)], key=_get_match_end)
    for match in (*ends, None):
        end = match.end() if match is not None else len(plain)
        index = bisect_right(inside, (end,)) - 1
        if match is not None and index >= 0 and inside[index][0] < end < inside[index][1]:
            continue  # the point of "2.15 p.m."
        if plain[start:end].strip():
            cuts = [cut.end() for cut in _CLAUSE_CUT.finditer(plain, start, end)]
            for first, last in pairwise([start, *cuts, end]):
                if first < last:
                    yield ClauseSpan(first, last, start, end)
        start = end


_LONGEST_CACHED = 4000
_read_cached = lru_cache(maxsize=4096)(ReadText)  # facts of the golden set meet many answers, and an answer many facts
_forget_results: list[Callable[[], None]] = []
"""What empties the caches of functions of read texts."""


@lru_cache(maxsize=2)  # a long answer meets as many facts; it and a long reference are in use at a time
def _read_long(text: str) -> ReadText:
    for forget in _forget_results:
        forget()  # the words of a text take fifty times its own memory
    return ReadText(text)


def cache_of_texts(maxsize: int) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Return a decorator that keeps the last results of a function of read texts until another long text is read, which
    `lru_cache` would keep alive with its words."""

    def decorate(compute: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        cached = lru_cache(maxsize)(compute)
        _forget_results.append(cached.cache_clear)
        return cast("Callable[Parameters, Result]", cached)

    return decorate


def read_text(text: str) -> ReadText:
    """Return a text as it is read; of a long one the first 200,000 characters."""
    return _read_cached(text) if len(text) <= _LONGEST_CACHED else _read_long(text[:MOST_READ])


def list_written(text: ReadText) -> list[tuple[Quantity, str]]:
    """Return the quantities of a text with how they are written.

    >>> [written for _, written in list_written(read_text("2.000 seats for 3 days"))]
    ['2.000', '3 days']
    """
    return [(quantity, text.text[quantity.start : quantity.end]) for quantity in text.quantities]
