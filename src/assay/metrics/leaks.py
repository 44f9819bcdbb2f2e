"""Find forbidden text in an answer: copied runs of words, revealing numbers and identifiers, and canary strings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterator, Sequence, Set
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import NamedTuple

from assay.metrics.folding import fold, nfc
from assay.metrics.quantities import Date, Number, quantities
from assay.metrics.runs import RUN
from assay.metrics.text import squeeze, tokens

_LEAST_TELLING = 100  # a number without a unit is revealing from here on; a smaller one only with its unit
_YEARS = range(1900, 2101)
_LONG_CANARY = 8  # letters and digits from which a canary is found inside words and across spaces
_LONG_DIGITS = 5  # digits from which a code with a leading zero is an identifier


def verbatim(
    answer: str, forbidden_texts: Sequence[str], allowed_texts: Sequence[str], question: str, run: int = RUN
) -> list[tuple[int, str]]:
    """Return what the answer reveals of each forbidden text, as pairs (index of the text, leaked words).

    A leak is a maximal run of at least `run` folded tokens, or an identifier, number or date, that occurs in the
    forbidden text and in the answer, but in no allowed text and not in the question. Numbers are compared by value;
    without a unit, numbers below 100 and years are ignored ("12 days" is compared, "12" is not). Raises ValueError if
    `run` < 1.

    >>> verbatim("Level E5 earns 45 triệu.", ["Band E5: 45.000.000 đồng"], [], "What does E5 earn?")
    [(0, '45 triệu')]
    """
    if run < 1:
        raise ValueError(f"run must be at least 1 (got {run})")
    answer_text, forbidden = _parse_text(answer), [_parse_text(text) for text in forbidden_texts]
    answer_runs = set(_word_runs(answer_text.words, run))
    shared_runs = [answer_runs.intersection(_word_runs(secret.words, run)) for secret in forbidden]
    facts = [answer_text.facts_shared_with(secret) for secret in forbidden]
    leaked_runs = set().union(*shared_runs)
    leaked_keys = {key for items in facts for item in items for key in item.keys}
    for text in (*allowed_texts, question):
        if not leaked_runs and not leaked_keys:
            return []
        allowed = _parse_text(text)
        if leaked_runs:
            leaked_runs.difference_update(_word_runs(allowed.words, run))
        if leaked_keys:
            leaked_keys -= allowed.keys
    leaks: list[tuple[int, str]] = []
    for index in range(len(forbidden)):
        leaks.extend((index, words) for words in _leaked_runs(answer_text.words, shared_runs[index] & leaked_runs, run))
        leaked_facts = dict.fromkeys(item.words for item in facts[index] if item.keys <= leaked_keys)
        leaks.extend((index, words) for words in leaked_facts)
    return leaks


def canaries(text: str, forbidden_strings: Sequence[str]) -> list[str]:
    """Return the forbidden strings that occur in the text, ignoring case, accents, spaces and punctuation.

    A string of fewer than eight letters and digits must occur unbroken and at word boundaries. A string without letters
    and digits is searched for literally; an empty one is ignored.

    >>> canaries("the code is b l u e - h\\u200ber\\u00f3n!", ["BLUE-HERON", "red"])
    ['BLUE-HERON']
    """
    wide = unicodedata.normalize("NFKC", text)
    folded, squeezed = fold(wide), squeeze(wide)
    return [
        string
        for string in forbidden_strings
        if _contains_string(folded, squeezed, unicodedata.normalize("NFKC", string))
    ]


def _contains_string(folded: str, squeezed: str, string: str) -> bool:
    letters = squeeze(string)
    if len(letters) >= _LONG_CANARY:
        return letters in squeezed
    plain = fold(string)
    if not letters:
        return bool(plain) and plain in folded
    return re.search(rf"(?<![^\W_]){re.escape(plain)}(?![^\W_])", folded) is not None


Ymd = tuple[int, int, int]


def _word_runs(words: Sequence[str], run: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + run]) for i in range(len(words) - run + 1)]


def _leaked_runs(words: Sequence[str], leaked_runs: Set[tuple[str, ...]], run: int) -> Iterator[str]:
    """Yield the maximal stretches of `words` of which every run is leaked."""
    first = None
    for i, gram in enumerate([*_word_runs(words, run), ()]):
        if gram in leaked_runs:
            first = i if first is None else first
        elif first is not None:
            yield " ".join(words[first : i + run - 1])
            first = None


class _SharedFact(NamedTuple):
    """A fact that two texts share: the words of one of them, and all its possible readings."""

    words: str
    keys: frozenset[Hashable]


class _ParsedText:
    """The tokens, identifiers, numbers and dates of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = tokens(text)

    @cached_property
    def _identifiers(self) -> dict[str, None]:
        return dict.fromkeys(word for word in self.words if not word.isalpha() and _is_identifier(word))

    @cached_property
    def _values(self) -> tuple[dict[Decimal, dict[str, Number]], dict[tuple[Ymd, ...], Date]]:
        """The first number of each value and unit, and the dates by their readings."""
        items = quantities(self.text)
        numbers: dict[Decimal, dict[str, Number]] = {}
        for item in items:
            if isinstance(item, Number):
                for value in item.values:
                    numbers.setdefault(value, {}).setdefault(item.unit, item)
        return numbers, {item.values: item for item in items if isinstance(item, Date)}

    @cached_property
    def keys(self) -> frozenset[Hashable]:
        """All identifiers, values of numbers and readings of dates."""
        numbers, dates = self._values
        return frozenset((*self._identifiers, *numbers, *(date for values in dates for date in values)))

    def facts_shared_with(self, secret: _ParsedText) -> list[_SharedFact]:
        """Return the identifiers, numbers and dates that this text shares with `secret`, as this text writes them."""
        facts = [_SharedFact(name, frozenset((name,))) for name in self._identifiers if name in secret._identifiers]
        numbers, dates = self._values
        if not numbers and not dates:
            return facts
        text = nfc(self.text)
        secret_numbers, secret_dates = secret._values
        for value, number_by_unit in numbers.items():
            secret_units = secret_numbers.get(value, ())
            for unit, number in number_by_unit.items():
                if any(_is_telling(unit, secret_unit, value) for secret_unit in secret_units):
                    facts.append(_SharedFact(text[number.start : number.end], frozenset((value,))))
        secret_readings = {reading for readings in secret_dates for reading in readings}
        for readings, date in dates.items():
            if not secret_readings.isdisjoint(readings):
                facts.append(_SharedFact(text[date.start : date.end], frozenset(readings)))
        return facts


_parse_cached = lru_cache(maxsize=256)(_ParsedText)
_LONGEST_CACHED = 4000  # characters of a text that is cached for the next answer


def _parse_text(text: str) -> _ParsedText:
    return _parse_cached(text) if len(text) <= _LONGEST_CACHED else _ParsedText(text)


def _is_identifier(token: str) -> bool:
    """Whether a token is an identifier: a letter first and a digit later, or a code of digits with a leading zero."""
    if token[0].isalpha():
        return any(c.isdigit() for c in token)
    return token.isdigit() and token[0] == "0" and len(token) >= _LONG_DIGITS


def _is_telling(unit: str, secret_unit: str, value: Decimal) -> bool:
    """Whether a shared value is more than chance: the units agree, or the number is large and not a year."""
    if unit and secret_unit:
        return unit == secret_unit
    return abs(value) >= _LEAST_TELLING and value not in _YEARS
