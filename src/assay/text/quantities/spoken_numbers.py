"""Numbers as people write and say them, rewritten as digits: "1½", "two and a half", "minus 18", "seven point four".

English and Vietnamese. What may also mean something else stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from assay.text.late_pattern import LatePattern, squeeze_pattern
from assay.text.normalisation import fold_in_place
from assay.text.number_words import CARDINALS, ORDINALS, TENS, VIETNAMESE_DIGITS
from assay.text.pattern_cache import compile_pattern

_ENGLISH = {word: number for number, word in enumerate(CARDINALS[:13])}
_VIETNAMESE = {"khong": 0, **VIETNAMESE_DIGITS, "muoi": 10, "lam": 5}
_VULGAR = {"½": "0.5", "¼": "0.25", "¾": "0.75", "⅓": "0.333", "⅔": "0.667", "⅛": "0.125", "⅜": "0.375", "⅝": "0.625"}
_WORD = "|".join(sorted(_ENGLISH, key=len, reverse=True))
_VIETNAMESE_WORD = "|".join(sorted(_VIETNAMESE, key=len, reverse=True))
_PART_OF = (
    r"(?=\ (?:of|an?|the|cup|teaspoon|tablespoon|tsp|tbsp|pint|inch|mile|hour|day|week|month|year|lit(?:re|er)|pound"
    r"|ounce|kilo|kg|gram|metre|meter|page|coc|thia|muong|chen|ly|gio|ngay|nam|can|lit|met)s?\b)"
)
_SPOKEN_ITEM = rf"""(?<![\w.,/-])(?:
    (?P<mixed>(?P<whole>\d{{1,6}})\ (?P<top>[1-9])/(?P<bottom>[2-9])(?![\w/]|[.,]\d))
  | (?P<fraction>(?P<f_top>[1-9])/(?P<f_bottom>[2-9])(?![\w/]|[.,]\d){_PART_OF})
  | (?P<and_half>(?P<h_count>\d{{1,6}}|{_WORD})\ and\ (?:a|one)\ (?P<h_part>half|quarter|third)\b)
  | (?P<point>(?P<p_whole>{_WORD})\ point\ (?P<p_rest>(?:{_WORD})(?:\ (?:{_WORD})){{0,5}})\b)
  | (?P<comma>(?P<c_whole>\d{{1,6}}|{_VIETNAMESE_WORD})\ phay\ (?P<c_rest>\d{{1,6}}|{_VIETNAMESE_WORD})\b)
  | (?P<between>between\ (?P<bt_low>{_WORD})\ and\ (?P<bt_high>{_WORD})\b)
  | (?P<minus>(?:minus|negative|am)\ (?=\d))
  | (?P<below>(?P<b_number>\d{{1,4}}(?:[.,]\d{{1,3}})?)
      (?=\ ?(?:degrees?\b|°)[^.;\n]{{0,14}}\ below\ (?:zero|freezing)\b))
    )"""
_SPOKEN = LatePattern(squeeze_pattern(_SPOKEN_ITEM))
_VULGAR_FRACTION = LatePattern(rf"(?<![\w.,/])(?P<whole>\d{{1,6}})?\ ?(?P<vulgar>[{''.join(_VULGAR)}])")
_MAY_BE_SPOKEN = compile_pattern(
    r"\d/\d| and (?:a|one) (?:half|quarter|third)|between | point | phay |minus|negative|\bam \d|below"
)
_PARTS = {"half": Decimal("0.5"), "quarter": Decimal("0.25"), "third": Decimal("0.333")}
_CALCULATION = LatePattern(r"[\d)] ?$")
"""What stands before a minus that subtracts."""
_DATE_BEFORE = LatePattern(r"\b(?:ngay|mong|hom|on|by|until|from|to|tu|den) $")


_ORDINAL_NUMBERS = {word: number for number, word in enumerate(ORDINALS[:12], 1)}
_ORDINAL = LatePattern(
    rf"(?<![\w-])(?P<ordinal>{'|'.join(_ORDINAL_NUMBERS)})(?= (?:floor|storey|level|class|row|grade|year|week|month"
    r"|quarter|line|page|chapter|edition|gate|stage|platform|attempt|offen[cs]e|reminder|birthday|anniversary|instal+ment)s?\b)",
    re.IGNORECASE,
)
"""An ordinal before what is counted; elsewhere "second" may be a time and "first" an adverb."""
_NTH = LatePattern(r"(?<![\w.,])(?P<number>\d{1,2})(?:st|nd|rd|th)\b")


def find_ordinal_word(written: str) -> str:
    """Return the word for the ordinal with which a text begins in digits, "" if it begins with none up to twelve.

    >>> find_ordinal_word("3rd floor"), find_ordinal_word("3 floors")
    ('third', '')
    """
    match = _NTH.match(written)
    number = int(match["number"]) if match is not None else 0
    return next((word for word, own in _ORDINAL_NUMBERS.items() if own == number), "")


_GERMAN_ORDINALS = "erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft".split()


def _name_german_ordinal(number: str, written: str) -> str:
    """Return a pattern of the word for "1." where a text writes a number so, before a noun; "" elsewhere."""
    if not number.isdecimal() or not 0 < int(number) <= len(_GERMAN_ORDINALS):
        return ""
    is_written = re.search(rf"(?<![\w.,]){number}\. [A-ZÄÖÜ]", written) is not None
    return f"{_GERMAN_ORDINALS[int(number) - 1]}e[nrms]?" if is_written else ""


def is_ordinal_among(number: str, written: str, texts: Iterable[str]) -> bool:
    """Return whether a number, as a text was respelled, is an ordinal that this text or one of others has in words.

    >>> is_ordinal_among("1st", "From the first month on.", ["We rehearse in May."])
    True
    >>> [is_ordinal_among("1st", "On the 1st.", [text]) for text in ("On the first of May.", "May")]
    [True, False]
    >>> is_ordinal_among("1", "Im 1. Semester", ["Im ersten Semester"])
    True
    """
    word = find_ordinal_word(number) or _name_german_ordinal(number, written)
    if not word:
        return False
    pattern = re.compile(rf"\b{word}\b", re.IGNORECASE)
    return any(pattern.search(text) is not None for text in (written, *texts))


_UNDER_FIVES = LatePattern(r"\b(?P<side>under|over)[ -](?P<age>\d{1,2})'?s\b", re.IGNORECASE)
"""Ages: the "5s" of "under 5s" are no seconds."""
_CUES = ("first ", "second ", "third ", "th ", "under", "over")
"""What a folded text with such an ordinal or age holds; most texts hold none."""


def _write_ordinal(match: re.Match[str]) -> str:
    number = _ORDINAL_NUMBERS[match["ordinal"].lower()]
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number, "th")
    return f"{number}{ending}"


def write_spoken_numbers(text: str) -> str:
    """Return a text with numbers in words, mixed fractions and ordinals as digits; ages without their "s".

    >>> write_spoken_numbers("between two and eight degrees")
    'between 2 and 8 degrees'
    >>> write_spoken_numbers("1½ inches, two and a half years, minus 18 °C, a pH of seven point four")
    '1.5 inches, 2.5 years, -18 °C, a pH of 7.4'
    """
    if not text.isascii() and any(sign in text for sign in _VULGAR):
        text = _VULGAR_FRACTION.sub(_write_vulgar, text)
    plain = fold_in_place(text)
    if any(cue in plain for cue in _CUES):
        text = _UNDER_FIVES.sub(r"\g<side> \g<age>", _ORDINAL.sub(_write_ordinal, text))
        plain = fold_in_place(text)
    if len(plain) != len(text) or _MAY_BE_SPOKEN.search(plain) is None:
        return text
    pieces, position = [], 0
    for match in _SPOKEN.finditer(plain):
        written = _write(match, text, plain)
        if written is not None:
            pieces += [text[position : match.start()], written]
            position = match.end()
    return "".join((*pieces, text[position:]))


def _write_vulgar(match: re.Match[str]) -> str:
    return str(Decimal(match["whole"] or 0) + Decimal(_VULGAR[match["vulgar"]]))


def _write(match: re.Match[str], text: str, plain: str) -> str | None:
    """Return the digits of one match, None where it is something else."""
    before = plain[max(0, match.start() - 12) : match.start()]
    if match["mixed"] is not None:
        top, bottom = int(match["top"]), int(match["bottom"])
        is_date = _DATE_BEFORE.search(before) is not None or top >= bottom
        return None if is_date else str(int(match["whole"]) + _divide(top, bottom))
    if match["fraction"] is not None:
        top, bottom = int(match["f_top"]), int(match["f_bottom"])
        return None if _DATE_BEFORE.search(before) or top >= bottom else str(_divide(top, bottom))
    if match["and_half"] is not None:
        return str(_read(match["h_count"]) + _PARTS[match["h_part"]])
    if match["between"] is not None:
        return f"between {_read(match['bt_low'])} and {_read(match['bt_high'])}"
    if match["point"] is not None:
        return f"{_read(match['p_whole'])}." + "".join(str(_read(word)) for word in match["p_rest"].split())
    if match["comma"] is not None:
        return f"{_read(match['c_whole'])},{_read(match['c_rest'])}"
    if match["below"] is not None:
        return f"-{text[match.start() : match.end()]}"
    is_sign = match["minus"] != "am " or text[match.start() : match.start() + 2].lower() == "âm"
    return "-" if is_sign and not _CALCULATION.search(before) else None


def spell_price(amount: Decimal) -> str:
    """Return an expression for how an amount of money is said without its unit, "" for one that is not said so.

    >>> spell_price(Decimal("12.50")), spell_price(Decimal("4.99")), spell_price(Decimal("12"))
    ('twelve[ -]fifty', 'four[ -]ninety[ -]nine', '')
    """
    whole, hundredths = divmod(int(amount * 100), 100)
    if not 1 <= whole <= 99 or hundredths < 10 or amount * 100 != int(amount * 100):
        return ""
    return f"{_spell_below_hundred(whole)}[ -]{_spell_below_hundred(hundredths)}"


def _spell_below_hundred(number: int) -> str:
    if number < len(CARDINALS):
        return CARDINALS[number]
    tens, ones = divmod(number, 10)
    return TENS[tens - 2] + (f"[ -]{CARDINALS[ones]}" if ones else "")


def _divide(top: int, bottom: int) -> Decimal:
    return round(Decimal(top) / bottom, 3).normalize()


def _read(word: str) -> int:
    return int(word) if word.isdecimal() else _ENGLISH.get(word, _VIETNAMESE.get(word, 0))
