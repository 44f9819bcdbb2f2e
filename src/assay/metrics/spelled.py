"""Numbers written as words in English and Vietnamese, with or without diacritics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

_ENGLISH = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_ENGLISH |= {"nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15}
_ENGLISH |= {"sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40}
_ENGLISH |= {"fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_VIETNAMESE = {"mot": 1, "hai": 2, "ba": 3, "bon": 4, "tu": 4, "nam": 5, "lam": 5, "sau": 6, "bay": 7, "tam": 8}
_VIETNAMESE |= {"chin": 9}
_DIGITS = {**_ENGLISH, **_VIETNAMESE}
_SPELLED_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_SPELLED_SCALES |= {"nghin": 10**3, "ngan": 10**3, "trieu": 10**6, "ty": 10**9}
_HUNDREDS = ("hundred", "tram")
_FILLERS = ("and", "linh", "le")
# The Vietnamese words with diacritics; without them, "sau" (after) and "nam" (male) are other words.
_VIETNAMESE_SPELLINGS = {
    "một",
    "mốt",
    "hai",
    "ba",
    "bốn",
    "tư",
    "năm",
    "lăm",
    "sáu",
    "bảy",
    "bẩy",
    "tám",
    "chín",
    "mười",
    "mươi",
}
_VIETNAMESE_SPELLINGS |= {"trăm", "nghìn", "ngàn", "triệu", "tỷ", "tỉ", "linh", "lẻ"}
# A single word is a number if it can hardly be another word …
_UNAMBIGUOUS = (_VIETNAMESE_SPELLINGS & {"hai", "ba", "bốn", "sáu", "bảy", "bẩy", "tám", "chín", "mười"}) | (
    _ENGLISH.keys() - {"one"}
)
# … and these, which also mean "a", "year", "table" or "mature", only before a unit. "sau ngày" is "after the day".
_NUMBERS_BEFORE_UNITS = frozenset(("one", "mot", "một", "năm", "nam", "bon", "bay", "tam", "chin", "muoi"))

WORD = rf"(?:{'|'.join(sorted((*_DIGITS, *_SPELLED_SCALES, *_HUNDREDS, 'muoi'), key=len, reverse=True))})(?![^\W_])"
"""Pattern of a word in flat text that may begin a number."""

PATTERN = rf"{WORD}(?:[\ -](?:(?:and|linh|le)\ )?{WORD}){{0,11}}+"
"""Pattern of a run of number words in flat text; `spelled_value` returns its value."""


def spelled_value(folded: str, written: str, unit_follows: bool) -> int | None:
    """Return the number at the end of a run of number words, or None if there is none.

    `folded` is the run in flat text, `written` the same run as written, of the same length. Words before the number
    that do not belong to it are dropped: "sau ba (ngày)" is 3.

    >>> spelled_value("two hundred and fifty", "two hundred and fifty", False)
    250
    >>> spelled_value("hai muoi lam", "hai mươi lăm", False), spelled_value("sau muoi", "sau mười", True)
    (25, 10)
    >>> spelled_value("nam", "năm", False), spelled_value("nam", "năm", True)
    (None, 5)
    """
    words = re.split("[ -]", folded)
    ends = list(accumulate(len(word) + 1 for word in words))  # the written text may have other dashes and spaces
    forms = [written[end - len(word) - 1 : end - 1].lower() for word, end in zip(words, ends, strict=True)]
    for first in range(len(words)):
        value = _parse_words(words[first:], forms[first:], unit_follows)
        if value is not None:
            return value
    return None


def _parse_words(words: Sequence[str], forms: Sequence[str], unit_follows: bool) -> int | None:
    if len(words) == 1:
        is_number = forms[0] in _UNAMBIGUOUS or (unit_follows and forms[0] in _NUMBERS_BEFORE_UNITS)
        return {**_DIGITS, "muoi": 10}.get(words[0]) if is_number else None
    if words != forms and any(
        word not in _ENGLISH and form not in _VIETNAMESE_SPELLINGS for word, form in zip(words, forms, strict=True)
    ):
        return None
    total = group = last = 0
    for word in words:
        if word in _SPELLED_SCALES:
            total, group, last = total + (group or 1) * _SPELLED_SCALES[word], 0, 0
        elif word in _HUNDREDS:
            group, last = (group or 1) * 100, 0
        elif word == "muoi":
            if last > 9:
                return None
            group, last = group + (9 * last if last else 10), 10
        elif word not in _FILLERS:
            digit = _DIGITS[word]
            if last and (last % 10 or digit > 9):
                return None  # "hai ba", "two three": a list, not one number
            group, last = group + digit, digit
    return total + group
