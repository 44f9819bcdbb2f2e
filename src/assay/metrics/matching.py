"""Phrases found in an answer by their words and by the value of their numbers, with the company they keep."""

from __future__ import annotations

import unicodedata
from collections import deque
from functools import lru_cache
from typing import NamedTuple

from assay.metrics.folding import flat, nfc
from assay.metrics.quantities import CURRENCIES, Date, Number, quantities
from assay.metrics.text import token_spans


class Word(NamedTuple):
    """A word or identifier: folded, with the diacritics that folding took away, and its span in the NFC text."""

    folded: str
    marks: str
    start: int
    end: int


Element = Word | Number | Date


class Elements(NamedTuple):
    """A text as words, numbers and dates; `plain` is its flat text (same positions), `bare` if it has no diacritics."""

    items: list[Element]
    plain: str
    bare: bool


_ONES = ("one", "mot")


def elements(text: str) -> Elements:
    """Return the words, numbers and dates of a text in order.

    >>> [item[0] for item in elements("Nghỉ mười hai ngày").items]
    ['nghi', (Decimal('12'),)]
    """
    written = nfc(text)
    plain = flat(written)
    found = deque(quantities(written))
    items: list[Element] = []
    for start, end in token_spans(plain):
        while found and found[0].end <= start:
            items.append(found.popleft())
        if not (found and found[0].start < end):
            items.append(Word(plain[start:end], _marks(written[start:end]), start, end))
    items.extend(found)
    return Elements(items, plain, not any(isinstance(item, Word) and item.marks for item in items))


@lru_cache(maxsize=8192)
def _marks(word: str) -> str:
    """Return the diacritics of a word, sorted, so that "hoà" and "hòa" have the same."""
    if word.isascii():
        return ""
    decomposed = unicodedata.normalize("NFD", word.lower())
    return "".join(sorted(c for c in decomposed if c == "đ" or unicodedata.category(c) == "Mn"))


def same_number(wanted: Number, found: Number, *, unit_required: bool) -> bool:
    """Return whether two numbers have a reading in common and units that agree.

    Units must agree where both are stated; with `unit_required` a stated unit of `wanted` (but not a currency) must
    be stated by `found` too.
    """
    if not set(wanted.values) & set(found.values):
        return False
    optional = not unit_required or wanted.unit in CURRENCIES
    return not wanted.unit or wanted.unit == found.unit or (optional and not found.unit)


def same_date(wanted: Date, found: Date) -> bool:
    """Return whether two dates can be the same; a day that `wanted` leaves open may be any."""
    return any(w == f or (w[2] == 0 and w[:2] == f[:2]) for w in wanted.values for f in found.values)


def occurrences(phrase: Elements, answer: Elements) -> list[tuple[int, int]]:
    """Return where the phrase's elements stand together in the answer, as ranges of its items.

    Words are equal folded, and in their diacritics unless the phrase or the answer is written without any.
    """
    wanted, items = phrase.items, answer.items
    loose = phrase.bare or answer.bare
    if not wanted:
        return []
    return [
        (i, i + len(wanted))
        for i in range(len(items) - len(wanted) + 1)
        if _equal(wanted[0], items[i], loose)
        and all(_equal(w, f, loose) for w, f in zip(wanted[1:], items[i + 1 : i + len(wanted)], strict=True))
    ]


def _equal(wanted: Element, found: Element, loose: bool) -> bool:
    if isinstance(wanted, Word):
        if isinstance(found, Word):
            return wanted.folded == found.folded and (loose or wanted.marks == found.marks)
        return wanted.folded in _ONES and isinstance(found, Number) and 1 in found.values
    if isinstance(wanted, Number):
        if isinstance(found, Number):
            return same_number(wanted, found, unit_required=True)
        return isinstance(found, Word) and not wanted.unit and found.folded in _ONES and 1 in wanted.values
    return isinstance(found, Date) and same_date(wanted, found)
