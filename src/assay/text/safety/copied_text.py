"""Finds forbidden text in an answer: copied runs of words, revealing numbers and identifiers, and canary strings.

An index of many texts finds those from which an answer copies.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from decimal import Decimal
from functools import cached_property

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from assay.text.normalisation import fold_text
from assay.text.numbers import Date, Number
from assay.text.safety.stated_values import StatedValue, find_values, makes_public, spell_values
from assay.text.text_cache import cache_by_text
from assay.text.tokens import remove_separators, tokenise_text
from assay.text.word_runs import list_word_runs

TextNumbers = npt.NDArray[np.uint32]
Bools = npt.NDArray[np.bool_]
RunHashes = npt.NDArray[np.uint64]
_Indices = npt.NDArray[np.intp]

COPIED_RUN_LENGTH = 8
"""Length of a run, in words, from which shared text is a copy and not chance."""

_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd, with bits everywhere; 64-bit products wrap around on purpose
_MATCHES_PER_BLOCK = 1_000_000  # matches that are examined at once, where many texts share the same runs
_UNKNOWN_WORD = 0  # the number of a word that occurs in no text
_FILTER_BITS, _MOST_FILTER_BITS = 3, 20  # of a hash by which runs are told to occur in no text: a megabyte at most


class HashedRuns:
    """Runs of many texts by a 64-bit hash, each with the number of its text, in 12 bytes a run."""

    def __init__(self, hashes: RunHashes, texts: TextNumbers) -> None:
        order = np.argsort(hashes, kind="stable")
        self._sorted_hashes = hashes[order]
        self._text_of_hash: TextNumbers = texts[order]
        bits = min(len(hashes).bit_length() + _FILTER_BITS, _MOST_FILTER_BITS)
        self._beginning_shift = np.uint64(64 - bits)
        self._is_beginning: Bools = np.zeros(1 << bits, np.bool_)
        self._is_beginning[self._list_beginnings(hashes)] = True

    def _list_beginnings(self, hashes: RunHashes) -> _Indices:
        """Return the first bits of hashes, by which most of those that occur in no text are told without a search."""
        return (hashes >> self._beginning_shift).astype(np.intp)

    def find_hidden(self, hashes: RunHashes, is_visible: Callable[[TextNumbers], Bools]) -> list[tuple[int, list[int]]]:
        """Return the positions of the hashes that occur in texts, none of which is visible, with these texts."""
        candidates = np.flatnonzero(self._is_beginning[self._list_beginnings(hashes)])
        if not len(candidates):
            return []
        hashes = hashes[candidates]
        first_match = np.searchsorted(self._sorted_hashes, hashes, "left")
        is_match = self._sorted_hashes[np.minimum(first_match, len(self._sorted_hashes) - 1)] == hashes
        run_starts = candidates[is_match]
        if not len(run_starts):
            return []
        first_match = first_match[is_match]
        counts = np.searchsorted(self._sorted_hashes, hashes[is_match], "right") - first_match
        ends = np.cumsum(counts)
        secret_runs: list[tuple[int, list[int]]] = []
        begin = 0
        while begin < len(run_starts):
            stop = max(begin + 1, int(np.searchsorted(ends, ends[begin] + _MATCHES_PER_BLOCK)))
            block = slice(begin, stop)
            secret_runs += self._secret_runs(run_starts[block], first_match[block], counts[block], is_visible)
            begin = stop
        return secret_runs

    def find_texts(self, hashes: RunHashes) -> TextNumbers:
        """Return the texts in which any of the hashes occurs, each once, in order."""
        first_match = np.searchsorted(self._sorted_hashes, hashes, "left")
        end_match = np.searchsorted(self._sorted_hashes, hashes, "right")
        matches = [self._text_of_hash[first:end] for first, end in zip(first_match, end_match, strict=True)]
        if not matches:
            return self._text_of_hash[:0]
        distinct = set(np.concatenate(matches).tolist())  # `np.unique` imports masked arrays, which takes longer
        return np.array(sorted(distinct), self._text_of_hash.dtype)

    def _secret_runs(
        self,
        run_starts: _Indices,
        first_match: _Indices,
        counts: _Indices,
        is_visible: Callable[[TextNumbers], Bools],
    ) -> Iterator[tuple[int, list[int]]]:
        offsets = np.cumsum(counts) - counts
        matching_texts = self._text_of_hash[np.repeat(first_match - offsets, counts) + np.arange(counts.sum())]
        for run in np.flatnonzero(~np.logical_or.reduceat(is_visible(matching_texts), offsets)):
            yield int(run_starts[run]), matching_texts[offsets[run] : offsets[run] + counts[run]].tolist()


class CopiedRunIndex:
    """The runs of `run` folded tokens of many texts, in 12 bytes per word plus each distinct word once.

    Runs are identified by a 64-bit hash that does not depend on the process or its hash seed. Raises ValueError if
    `run` < 1.

    >>> index = CopiedRunIndex(["one two three four", "two three four five"], run=3)
    >>> index.find_hidden_runs(["zero", "one", "two", "three"], lambda texts: texts == 1)
    [(1, [0])]
    >>> index.find_hidden_runs(["two", "three", "four"], lambda texts: texts == 1)
    []
    """

    def __init__(self, texts: Iterable[str], run: int = COPIED_RUN_LENGTH) -> None:
        if run < 1:
            raise ValueError(f"run must be at least 1 (got {run})")
        self._run_length = run
        self._word_numbers: dict[str, int] = {}
        word_numbers = self._word_numbers
        words, sizes = array("q"), array("q")
        for text in texts:
            text_words = [word_numbers.setdefault(word, len(word_numbers) + 1) for word in tokenise_text(text)]
            words.extend(text_words)
            sizes.append(len(text_words))
        run_hashes = self._run_hashes(words)
        owner = np.repeat(np.arange(len(sizes), dtype=np.uint32), np.array(sizes, np.int64))
        # Runs that do not cross into the next text.
        run_starts = np.flatnonzero(owner[: len(run_hashes)] == owner[run - 1 :])
        self._runs = HashedRuns(run_hashes[run_starts], owner[run_starts])

    def find_hidden_runs(
        self, words: Sequence[str], is_visible: Callable[[TextNumbers], Bools]
    ) -> list[tuple[int, list[int]]]:
        """Return the runs of `words` (folded tokens) that occur in texts, none of which the user may see.

        Each is a pair of the index of the run's first word and the numbers of the texts, in order. `is_visible` takes
        an array of text numbers and returns a boolean array of the same shape.
        """
        hashes = self._run_hashes([self._word_numbers.get(word, _UNKNOWN_WORD) for word in words])
        return self._runs.find_hidden(hashes, is_visible)

    def _run_hashes(self, ids: Sequence[int] | array[int]) -> RunHashes:
        """Return the hash of the run that begins at each position; empty if there are fewer words than a run has."""
        numbers = np.array(ids, np.uint64)
        hashes = np.zeros(max(0, len(ids) - self._run_length + 1), np.uint64)
        for offset in range(self._run_length if len(hashes) else 0):
            hashes = hashes * _HASH_MULTIPLIER + numbers[offset : offset + len(hashes)]
        return hashes


_LEAST_DISTINCTIVE = 100  # a number without a unit is revealing from here on; a smaller one only with its unit
_YEARS = frozenset(range(1900, 2101))  # a range compares a decimal number with every year
LONG_CANARY = 8
"""Letters and digits from which a canary is found inside words and across spaces."""
_LONG_DIGITS = 5  # digits from which a code with a leading zero is an identifier


FindOpen = Callable[[Sequence[str], Set[Hashable]], tuple[Set[tuple[str, ...]], Set[Hashable]]]
"""Takes the words and the facts of a text, and returns which of its runs of words and which facts are open."""


def find_verbatim_leaks(
    answer: str,
    forbidden_texts: Sequence[str],
    allowed_texts: Sequence[str],
    question: str,
    run_length: int = COPIED_RUN_LENGTH,
    find_open: FindOpen | None = None,
) -> list[tuple[int, str]]:
    """Return what the answer reveals of each forbidden text, as pairs (index of the text, leaked words).

    A leak is a maximal run of at least `run_length` folded tokens, or an identifier, number or date, that occurs in the
    forbidden text and in the answer, but in no allowed text and not in the question. Numbers are compared by value;
    without a unit, numbers below 100 and years are ignored ("12 days" is compared, "12" is not), and a number that an
    allowed text has with another unit is another value (`makes_public`). `find_open` tells what
    is open besides, such as by an index of many texts. Raises ValueError if `run_length` < 1.

    >>> find_verbatim_leaks("Level E5 earns 45 triệu.", ["Band E5: 45.000.000 đồng"], [], "What does E5 earn?")
    [(0, '45 triệu')]
    """
    if run_length < 1:
        raise ValueError(f"run must be at least 1 (got {run_length})")
    answer_text, forbidden = _parse_text(answer), [_parse_text(text) for text in forbidden_texts]
    answer_runs = set(list_word_runs(answer_text.words, run_length))
    shared_runs = [answer_runs.intersection(list_word_runs(secret.words, run_length)) for secret in forbidden]
    facts = [answer_text.facts_shared_with(secret) for secret in forbidden]
    leaked_runs = set().union(*shared_runs)
    leaked_keys = {key for items in facts for item in items for key in item.keys}
    for number, text in enumerate((*allowed_texts, question)):
        if not leaked_runs and not leaked_keys:
            return []
        allowed = _parse_text(text)
        if leaked_runs:
            leaked_runs.difference_update(list_word_runs(allowed.words, run_length))
        is_of_case = number == len(allowed_texts)
        leaked_keys = {key for key in leaked_keys if not allowed.makes_public(key, is_of_case=is_of_case)}
    if find_open is not None and (leaked_runs or leaked_keys):
        open_runs, open_keys = find_open(answer_text.words, leaked_keys)
        leaked_runs, leaked_keys = leaked_runs - open_runs, leaked_keys - open_keys
    leaks: list[tuple[int, str]] = []
    for index in range(len(forbidden)):
        leaks.extend(
            (index, words) for words in _leaked_runs(answer_text.words, shared_runs[index] & leaked_runs, run_length)
        )
        leaked_facts = dict.fromkeys(item.words for item in facts[index] if item.keys <= leaked_keys)
        leaks.extend((index, words) for words in leaked_facts)
    return leaks


def find_canaries(text: str, forbidden_strings: Sequence[str]) -> list[str]:
    """Return the forbidden strings that occur in the text, ignoring case, accents, spaces and punctuation.

    A string of fewer than eight letters and digits must occur unbroken and at word boundaries. A string without letters
    and digits is searched for literally; an empty one is ignored.

    >>> find_canaries("the code is b l u e - h\\u200ber\\u00f3n!", ["BLUE-HERON", "red"])
    ['BLUE-HERON']
    """
    wide = unicodedata.normalize("NFKC", text)
    folded, squeezed = fold_text(wide), remove_separators(wide)
    return [
        string
        for string in forbidden_strings
        if _contains_string(folded, squeezed, unicodedata.normalize("NFKC", string))
    ]


def _contains_string(folded: str, squeezed: str, string: str) -> bool:
    letters = remove_separators(string)
    if len(letters) >= LONG_CANARY:
        return letters in squeezed
    plain = fold_text(string)
    if not letters:
        return bool(plain) and plain in folded
    return _holds_whole(folded, plain)


def _holds_whole(text: str, words: str) -> bool:
    """Return whether some words stand in a text with no letter or digit right before or after them."""
    start = text.find(words)
    while start >= 0:
        end = start + len(words)
        if not text[start - 1 : start].isalnum() and not text[end : end + 1].isalnum():
            return True
        start = text.find(words, start + 1)
    return False


YearMonthDay = tuple[int, int, int]


def _leaked_runs(words: Sequence[str], leaked_runs: Set[tuple[str, ...]], run: int) -> Iterator[str]:
    """Yield the maximal stretches of `words` of which every run is leaked."""
    first = None
    for i, gram in enumerate([*list_word_runs(words, run), ()]):
        if gram in leaked_runs:
            first = i if first is None else first
        elif first is not None:
            yield " ".join(words[first : i + run - 1])
            first = None


class _SharedFact(Struct, frozen=True):
    """A fact that two texts share: the words of one of them, and all its possible readings."""

    words: str
    keys: frozenset[Hashable]


class _ParsedText:
    """The tokens, identifiers, numbers and dates of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = tokenise_text(text)

    @cached_property
    def _spelled(self) -> str:
        return spell_values(self.text)

    @cached_property
    def _identifiers(self) -> dict[str, None]:
        return dict.fromkeys(word for word in self.words if not word.isalpha() and _is_identifier(word))

    @cached_property
    def _values(self) -> tuple[dict[Decimal, dict[str, Number]], dict[tuple[YearMonthDay, ...], Date]]:
        """The first number of each value and unit, and the dates by their readings."""
        items = find_values(self._spelled)
        numbers: dict[Decimal, dict[str, Number]] = {}
        for item in items:
            if isinstance(item, Number):
                for value in item.readings:
                    numbers.setdefault(value, {}).setdefault(item.unit, item)
        return numbers, {item.readings: item for item in items if isinstance(item, Date)}

    @cached_property
    def keys(self) -> frozenset[Hashable]:
        """All identifiers, values of numbers and readings of dates."""
        numbers, dates = self._values
        return frozenset((*self._identifiers, *numbers, *(date for values in dates for date in values)))

    def makes_public(self, fact: Hashable, *, is_of_case: bool = False) -> bool:
        """Return whether a fact that was shared with another text is public where this one is."""
        if isinstance(fact, StatedValue):
            return fact.value in self.keys and makes_public(self.text, fact, is_of_case=is_of_case)
        return fact in self.keys

    def facts_shared_with(self, secret: _ParsedText) -> list[_SharedFact]:
        """Return the identifiers, numbers and dates that this text shares with `secret`, as this text writes them."""
        facts = [_SharedFact(name, frozenset((name,))) for name in self._identifiers if name in secret._identifiers]
        numbers, dates = self._values
        if not numbers and not dates:
            return facts
        text = self._spelled
        secret_numbers, secret_dates = secret._values
        for value, number_by_unit in numbers.items():
            secret_units = secret_numbers.get(value, ())
            for unit, number in number_by_unit.items():
                if any(_is_distinctive(unit, secret_unit, value) for secret_unit in secret_units):
                    facts.append(_SharedFact(text[number.start : number.end], frozenset((StatedValue(value, unit),))))
        secret_readings = {reading for readings in secret_dates for reading in readings}
        for readings, date in dates.items():
            if not secret_readings.isdisjoint(readings):
                facts.append(_SharedFact(text[date.start : date.end], frozenset(readings)))
        return facts


def list_fact_keys(text: str) -> frozenset[Hashable]:
    """Return the identifiers, values of numbers and readings of dates in a text, by which facts are compared."""
    return _parse_text(text).keys


def is_public_fact(fact: Hashable, text: str) -> bool:
    """Return whether a fact, as `FindOpen` gets it, is public where everybody may read a text."""
    return _parse_text(text).makes_public(fact)


@cache_by_text(maxsize=256, longest=4000)
def _parse_text(text: str) -> _ParsedText:
    return _ParsedText(text)


def _is_identifier(token: str) -> bool:
    """Whether a token is an identifier: a letter first and a digit later, or a code of digits with a leading zero."""
    if token[0].isalpha():
        return any(c.isdigit() for c in token)
    return token.isdigit() and token[0] == "0" and len(token) >= _LONG_DIGITS


def _is_distinctive(unit: str, secret_unit: str, value: Decimal) -> bool:
    """Whether a shared value is more than chance: the units agree, or the number is large and not a year."""
    if unit and secret_unit:
        return unit == secret_unit
    return abs(value) >= _LEAST_DISTINCTIVE and value not in _YEARS
