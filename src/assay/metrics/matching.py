"""Find phrases in an answer by their words and by the values of their numbers and dates."""

from __future__ import annotations

import unicodedata
from collections import deque
from functools import lru_cache
from typing import NamedTuple

from assay.metrics.folding import flat, nfc
from assay.metrics.quantities import CURRENCIES, Date, Number, quantities
from assay.metrics.text import token_spans


class Word(NamedTuple):
    """A word or identifier: its folded form, the diacritics that folding removed, and its span in the NFC text."""

    folded: str
    marks: str
    start: int
    end: int


Element = Word | Number | Date


class Elements(NamedTuple):
    """A text as words, numbers and dates. `plain`: the text folded in place. `bare`: no word has diacritics."""

    items: list[Element]
    plain: str
    bare: bool


_ONE_WORDS = ("one", "mot")


def elements(text: str) -> Elements:
    """Return the words, numbers and dates of a text in order.

    >>> [item[0] for item in elements("Nghỉ mười hai ngày").items]
    ['nghi', (Decimal('12'),)]
    """
    nfc_text = nfc(text)
    plain = flat(nfc_text)
    pending = deque(quantities(nfc_text))
    items: list[Element] = []
    for start, end in token_spans(plain):
        while pending and pending[0].end <= start:
            items.append(pending.popleft())
        if not (pending and pending[0].start < end):
            items.append(Word(plain[start:end], _diacritics(nfc_text[start:end]), start, end))
    items.extend(pending)
    return Elements(items, plain, not any(isinstance(item, Word) and item.marks for item in items))


@lru_cache(maxsize=8192)
def _diacritics(word: str) -> str:
    """Return the diacritics of a word, sorted, so that "hoà" and "hòa" have the same."""
    if word.isascii():
        return ""
    decomposed = unicodedata.normalize("NFD", word.lower())
    return "".join(sorted(c for c in decomposed if c == "đ" or unicodedata.category(c) == "Mn"))


def same_number(wanted: Number, found: Number, *, unit_required: bool) -> bool:
    """Return whether two numbers share a reading and their units agree.

    Units must agree if both are stated. With `unit_required`, a unit of `wanted` other than a currency must also be
    stated by `found`.
    """
    if not set(wanted.values) & set(found.values):
        return False
    optional = not unit_required or wanted.unit in CURRENCIES
    return not wanted.unit or wanted.unit == found.unit or (optional and not found.unit)


def same_date(wanted: Date, found: Date) -> bool:
    """Return whether two dates can be the same; if `wanted` has no day, any day matches."""
    return any(w == f or (w[2] == 0 and w[:2] == f[:2]) for w in wanted.values for f in found.values)


def occurrences(phrase: Elements, answer: Elements) -> list[tuple[int, int]]:
    """Return where the elements of the phrase occur in sequence in the answer, as (start, end) indices of its items.

    Words are compared folded, and by their diacritics unless the phrase or the answer has none.
    """
    phrase_items, answer_items = phrase.items, answer.items
    ignore_marks = phrase.bare or answer.bare
    if not phrase_items:
        return []
    ranges = []
    for start in range(len(answer_items) - len(phrase_items) + 1):
        candidates = answer_items[start : start + len(phrase_items)]
        pairs = zip(phrase_items, candidates, strict=True)
        if all(_is_same_element(wanted, candidate, ignore_marks) for wanted, candidate in pairs):
            ranges.append((start, start + len(phrase_items)))
    return ranges


def _is_same_element(wanted: Element, found: Element, ignore_marks: bool) -> bool:
    if isinstance(wanted, Word):
        if isinstance(found, Word):
            return wanted.folded == found.folded and (ignore_marks or wanted.marks == found.marks)
        return wanted.folded in _ONE_WORDS and isinstance(found, Number) and 1 in found.values
    if isinstance(wanted, Number):
        if isinstance(found, Number):
            return same_number(wanted, found, unit_required=True)
        return isinstance(found, Word) and not wanted.unit and found.folded in _ONE_WORDS and 1 in wanted.values
    return isinstance(found, Date) and same_date(wanted, found)
