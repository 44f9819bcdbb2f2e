"""Forbidden text in an answer: copied runs, telling numbers and identifiers, canaries."""

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

_TELLING = 100  # a bare number says something from here on; a smaller one only with its unit
_YEARS = range(1900, 2101)
_LONG_CANARY = 8  # letters and digits from which a canary is found inside words and across spaces
_LONG_DIGITS = 5  # digits from which a code with a leading zero is an identifier


def verbatim(
    answer: str, forbidden_texts: Sequence[str], allowed_texts: Sequence[str], question: str, run: int = RUN
) -> list[tuple[int, str]]:
    """Return what the answer gives away of each forbidden text: (index of the text, the leaked words).

    That is every longest run of at least `run` folded tokens, and every identifier, number or date, that stands in
    the forbidden text and in the answer but in no allowed text and not in the question. Numbers are compared by value;
    a bare number below 100 or a bare year tells nothing, one with a unit ("12 days") does. ValueError where
    `run` < 1.

    >>> verbatim("Level E5 earns 45 triệu.", ["Band E5: 45.000.000 đồng"], [], "What does E5 earn?")
    [(0, '45 triệu')]
    """
    if run < 1:
        raise ValueError(f"run must be at least 1 (got {run})")
    said, secrets = _read(answer), [_read(text) for text in forbidden_texts]
    spoken = set(_grams(said.words, run))
    shared = [spoken.intersection(_grams(secret.words, run)) for secret in secrets]
    facts = [said.shared(secret) for secret in secrets]
    grams = set().union(*shared)
    keys = {key for items in facts for item in items for key in item.keys}
    for text in (*allowed_texts, question):
        if not grams and not keys:
            return []
        known = _read(text)
        if grams:
            grams.difference_update(_grams(known.words, run))
        if keys:
            keys -= known.keys
    found: list[tuple[int, str]] = []
    for index in range(len(secrets)):
        found.extend((index, words) for words in _runs(said.words, shared[index] & grams, run))
        told = dict.fromkeys(item.words for item in facts[index] if item.keys <= keys)
        found.extend((index, words) for words in told)
    return found


def canaries(text: str, forbidden_strings: Sequence[str]) -> list[str]:
    """Return the forbidden strings that stand in the text, however they are cased, accented, spaced or punctuated.

    A string of fewer than eight letters and digits must stand as one piece at word boundaries. One without any is
    looked for as it is; an empty one is left out.

    >>> canaries("the code is b l u e - h\\u200ber\\u00f3n!", ["BLUE-HERON", "red"])
    ['BLUE-HERON']
    """
    wide = unicodedata.normalize("NFKC", text)
    folded, squeezed = fold(wide), squeeze(wide)
    return [string for string in forbidden_strings if _holds(folded, squeezed, unicodedata.normalize("NFKC", string))]


def _holds(folded: str, squeezed: str, string: str) -> bool:
    letters = squeeze(string)
    if len(letters) >= _LONG_CANARY:
        return letters in squeezed
    plain = fold(string)
    if not letters:
        return bool(plain) and plain in folded
    return re.search(rf"(?<![^\W_]){re.escape(plain)}(?![^\W_])", folded) is not None


Ymd = tuple[int, int, int]


def _grams(words: Sequence[str], run: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + run]) for i in range(len(words) - run + 1)]


def _runs(said: Sequence[str], secret: Set[tuple[str, ...]], run: int) -> Iterator[str]:
    """Yield the longest stretches of `said` whose every gram is secret."""
    first = None
    for i, gram in enumerate([*_grams(said, run), ()]):
        if gram in secret:
            first = i if first is None else first
        elif first is not None:
            yield " ".join(said[first : i + run - 1])
            first = None


class _Fact(NamedTuple):
    """What two texts share, as one of them writes it, and all that it may be read as."""

    words: str
    keys: frozenset[Hashable]


class _Text:
    """The tokens of one text, and its identifiers, numbers and dates."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = tokens(text)

    @cached_property
    def _ids(self) -> dict[str, None]:
        return dict.fromkeys(word for word in self.words if not word.isalpha() and _is_id(word))

    @cached_property
    def _quantities(self) -> tuple[dict[Decimal, dict[str, Number]], dict[tuple[Ymd, ...], Date]]:
        """The numbers by value and unit, the first of each, and the dates by their readings."""
        found = quantities(self.text)
        numbers: dict[Decimal, dict[str, Number]] = {}
        for item in found:
            if isinstance(item, Number):
                for value in item.values:
                    numbers.setdefault(value, {}).setdefault(item.unit, item)
        return numbers, {item.values: item for item in found if isinstance(item, Date)}

    @cached_property
    def keys(self) -> frozenset[Hashable]:
        """All identifiers, values of numbers, and readings of dates."""
        numbers, dates = self._quantities
        return frozenset((*self._ids, *numbers, *(date for values in dates for date in values)))

    def shared(self, secret: _Text) -> list[_Fact]:
        """Return what this text shares with another one, as it is written here, whether or not others say it too."""
        facts = [_Fact(name, frozenset((name,))) for name in self._ids if name in secret._ids]
        numbers, dates = self._quantities
        if not numbers and not dates:
            return facts
        written = nfc(self.text)
        for value, items in numbers.items():
            theirs = secret._quantities[0].get(value, ())
            facts += [
                _Fact(written[item.start : item.end], frozenset((value,)))
                for unit, item in items.items()
                if any(_tells(unit, other, value) for other in theirs)
            ]
        secret_dates = {date for values in secret._quantities[1] for date in values}
        facts += [
            _Fact(written[item.start : item.end], frozenset(values))
            for values, item in dates.items()
            if not secret_dates.isdisjoint(values)
        ]
        return facts


_kept = lru_cache(maxsize=256)(_Text)
_LONGEST_KEPT = 4000  # characters of a text that is kept read for the next answer


def _read(text: str) -> _Text:
    return _kept(text) if len(text) <= _LONGEST_KEPT else _Text(text)


def _is_id(token: str) -> bool:
    """Whether a token is an identifier: letters first and a digit, or a code of digits with a leading zero."""
    if token[0].isalpha():
        return any(c.isdigit() for c in token)
    return token.isdigit() and token[0] == "0" and len(token) >= _LONG_DIGITS


def _tells(said: str, secret: str, value: Decimal) -> bool:
    """Whether a value shared by numbers of these units is more than chance: one unit, or a large number."""
    if said and secret:
        return said == secret
    return abs(value) >= _TELLING and value not in _YEARS
