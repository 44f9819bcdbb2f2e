"""The unit that follows a number, and numbers that are written together with their unit."""

from __future__ import annotations

import re

from assay.text.languages import guess_language
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.german_forms import write_german_forms
from assay.text.quantities.romance_forms import write_romance_numbers
from assay.text.quantities.spoken_numbers import write_spoken_numbers
from assay.text.quantities.units import MONEY, UNITS, Unit
from assay.text.quantities.vietnamese_forms import write_vietnamese_forms
from assay.text.quantities.written_forms import write_other_forms
from assay.text.text_cache import cache_by_text

_MAY_BE_GLUED = compile_pattern(r"\d[.,]*[A-Za-z/°²]|[A-Z]\d")


_MAY_FOLLOW = compile_pattern(r"[A-Za-z/°²2]+")
_GLUED = LatePattern(
    r"(?<![\w.,-])(\d[\d.,]*)(" + "|".join(
        sorted((re.escape(name) for name in UNITS if _MAY_FOLLOW.fullmatch(name) and name[0] not in "hH"
                and name not in ("m", "l", "g", "d", "mo", "do", "t", "A", "V", "W")),
               key=len, reverse=True)
    ) + r"|[mglVW])(?![\w/])"
)  # fmt: skip


CURRENCY_CODES = tuple(
    name
    for name in UNITS
    if len(name) == 3 and name.isascii() and name.isupper() and UNITS[name].dimension.startswith(MONEY)
)


_MILLIONS = LatePattern(
    r"(?<![\w.,-])(\d[\d.,]*)m(?= (?:people|persons|visitors|guests|users|customers|members|inhabitants|residents"
    r"|passengers|tourists|households|subscribers|readers|jobs|copies|downloads|views|euros|dollars|pounds)\b)"
)
"""Millions of what nobody counts in metres."""
_GLUED_CURRENCY = LatePattern(rf"\b({'|'.join(CURRENCY_CODES)})(?=\d)")


_SYMBOLS = frozenset(name for name in UNITS if name != name.lower() or not name.isascii() or len(name) <= 2)


def _group_name_lengths() -> dict[str, list[int]]:
    """Return the lengths of the names of units that begin with a character, the longest first."""
    lengths: dict[str, set[int]] = {}
    for name in UNITS:
        lengths.setdefault(name[0], set()).add(len(name))
    return {first: sorted(of_first, reverse=True) for first, of_first in lengths.items()}


_NAME_LENGTHS = _group_name_lengths()


_KIND_BEFORE_UNIT = compile_pattern(r"(?:working|business|calendar|full|us|square) (?=\w)")


_WORD_GOES_ON = compile_pattern(r"[^\W_]|/|\.m\b")


LONGEST_CACHED = 2000


@cache_by_text(maxsize=1024, longest=LONGEST_CACHED)
def split_glued_units(text: str) -> str:
    """Return the text with spoken numbers as digits, and a space between a number and a unit that are written together.

    >>> split_glued_units("9.6kWh and 500MB, not A4 or 2FA")
    '9.6 kWh and 500 MB, not A4 or 2FA'
    """
    text = write_german_forms(write_romance_numbers(write_vietnamese_forms(write_other_forms(text))))
    text = write_spoken_numbers(text)
    if not _MAY_BE_GLUED.search(text):
        return text
    text = _MILLIONS.sub(r"\1 million", text)
    return _GLUED.sub(r"\1 \2", _GLUED_CURRENCY.sub(r"\1 ", text))


_ENGLISH_TOO = frozenset(("can", "do", "tan", "dam", "met", "lit"))
"""Units of Vietnamese that are other words in English: "turned twelve can be …" are no kilograms."""


def find_unit(text: str, plain: str, position: int) -> tuple[Unit, int] | None:
    """Return the unit that follows a number, and where it ends; symbols as written, words in lower case."""
    name, end = read_unit_name(text, position)
    if not name:
        name, end = read_unit_name(plain, position)
        if not name or (name in _SYMBOLS - {"°C", "°F"} and not _is_kilogram(text, name, end)):
            return None
    if name in _ENGLISH_TOO and text.isascii() and guess_language(text) == "en":
        return None
    return UNITS[name], end


def read_unit_name(text: str, position: int) -> tuple[str, int]:
    """Return the longest name of a unit after a position, and where it ends; "" if none.

    A space or hyphen may come before it, and a kind ("working days"). An expression of all names would take a hundredth
    of a small run to compile.

    >>> read_unit_name("12 working days", 2), read_unit_name("12 daylights", 2)
    (('days', 15), ('', 2))
    """
    start = position + text.startswith((" ", "-"), position)
    kind = _KIND_BEFORE_UNIT.match(text, start)
    for name_start in (start,) if kind is None else (start, kind.end()):
        for length in _NAME_LENGTHS.get(text[name_start : name_start + 1], ()):
            name = text[name_start : name_start + length]
            if name in UNITS and not _WORD_GOES_ON.match(text, name_start + len(name)):
                return name, name_start + len(name)
    return "", position


def _is_kilogram(text: str, name: str, end: int) -> bool:
    """Whether a unit is "ký", a kilogram; "kỳ" (a term) is folded alike."""
    return name == "ky" and text[end - len(name) : end].lower() == "ký"
