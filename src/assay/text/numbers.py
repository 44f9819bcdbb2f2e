"""Numbers and dates in English and Vietnamese text, as exact values with their units and spans.

Numbers written as words are read with or without diacritics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from itertools import accumulate

from msgspec import Struct, structs

from assay.text.late_pattern import squeeze_pattern
from assay.text.normalisation import fold_in_place, normalise_nfc
from assay.text.number_conventions import guess_style, read_money_beside
from assay.text.number_words import CARDINALS, SHORT_MONTHS, TENS, VIETNAMESE_DIGITS
from assay.text.pattern_cache import compile_pattern
from assay.text.text_cache import cache_by_text

_ENGLISH = {word: number for number, word in enumerate(CARDINALS)}
_ENGLISH |= {word: 10 * number for number, word in enumerate(TENS, 2)}
_VIETNAMESE = {**VIETNAMESE_DIGITS, "lam": 5}
_DIGITS = {**_ENGLISH, **_VIETNAMESE}
_SPELLED_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_SPELLED_SCALES |= {"nghin": 10**3, "ngan": 10**3, "trieu": 10**6, "ty": 10**9}
_HUNDREDS = ("hundred", "tram")
_TENS = "chuc"
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
_VIETNAMESE_SPELLINGS |= {"trăm", "chục", "nghìn", "ngàn", "triệu", "tỷ", "tỉ", "linh", "lẻ"}
# A single word is a number if it can hardly be another word …
_UNAMBIGUOUS = (_VIETNAMESE_SPELLINGS & {"hai", "ba", "bốn", "sáu", "bảy", "bẩy", "tám", "chín", "mười"}) | (
    _ENGLISH.keys() - {"one"}
)
# … and these, which also mean "a", "year", "table" or "mature", only before a unit. "sau ngày" is "after the day".
_NUMBERS_BEFORE_UNITS = frozenset(("one", "mot", "một", "năm", "nam", "bon", "bay", "tam", "chin", "muoi"))

NUMBER_WORD_PATTERN = (
    rf"(?:{'|'.join(sorted((*_DIGITS, *_SPELLED_SCALES, *_HUNDREDS, _TENS, 'muoi'), key=len, reverse=True))})(?![^\W_])"
)
"""Pattern of a word in flat text that may begin a number."""

_INNER_WORD = r"(?:(?:(?<=hundred\ )|(?<=thousand\ )|(?<=illion\ ))and|linh|le)\ "
"""A word inside a number: "two hundred and fifty" is one, "two and fifty" are two."""
SPELLED_NUMBER_PATTERN = rf"{NUMBER_WORD_PATTERN}(?>(?:[\ -](?:{_INNER_WORD})?{NUMBER_WORD_PATTERN}){{0,11}})"
"""Pattern of a run of number words in flat text; `parse_spelled_number` returns its value."""


@lru_cache(maxsize=4096)
def parse_spelled_number(folded: str, written: str, unit_follows: bool) -> int | None:
    """Return the number at the end of a run of number words, or None if there is none.

    `folded` is the run in flat text, `written` the same run as written, of the same length. Words before the number
    that do not belong to it are dropped: "sau ba (ngày)" is 3.

    >>> parse_spelled_number("two hundred and fifty", "two hundred and fifty", False)
    250
    >>> parse_spelled_number("hai muoi lam", "hai mươi lăm", False), parse_spelled_number("sau muoi", "sau mười", True)
    (25, 10)
    >>> parse_spelled_number("nam", "năm", False), parse_spelled_number("nam", "năm", True)
    (None, 5)
    """
    words = folded.replace("-", " ").split(" ")
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
        elif word == _TENS:
            group, last = (group or 1) * 10, 10
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


class Number(Struct, frozen=True):
    """A number in a text.

    `readings`: its possible readings (two for "26.000"). `unit`: "" if none is stated. `start`, `end`: its span in the
    NFC text. `is_spelled_out`: whether it is written as words ("twelve").
    """

    readings: tuple[Decimal, ...]
    unit: str
    start: int
    end: int
    is_spelled_out: bool = False


def share_value(first: Sequence[Decimal], second: Sequence[Decimal]) -> bool:
    """Return whether two numbers, given by their readings, can have one value.

    Two that may each be one number or two ("1 300" and "1 200") are read alike: the first halves alone say nothing. One
    that may be a thousand times as much ("2.000") has the value of another only if both readings agree.

    >>> one, other, half = (find_quantities(text)[0].readings for text in ("1 300", "1 200", "300"))
    >>> share_value(one, other), share_value(one, half)
    (False, True)
    """
    if is_split_number(first) and is_split_number(second):
        return first[0] == second[0]
    if _is_open(first) or _is_open(second):
        return first[0] == second[0] and first[-1] == second[-1]
    return not set(first).isdisjoint(second)


def _is_open(readings: Sequence[Decimal]) -> bool:
    """Whether readings are those of a number whose mark begins decimals or groups thousands: "2.000"."""
    return len(readings) == 2 and max(readings) == _THOUSAND * min(readings)


def is_split_number(readings: Sequence[Decimal]) -> bool:
    """Return whether the readings are those of one number and of the two that it may be instead: "26 150"."""
    return len(readings) == 3 and readings[0] == _THOUSAND * readings[1] + readings[2]


_THOUSAND = Decimal(1000)


class Date(Struct, frozen=True):
    """A date with its possible readings (year, month, day; day 0 if none is stated) and its span in the NFC text."""

    readings: tuple[tuple[int, int, int], ...]
    start: int
    end: int


CURRENCY_UNITS = frozenset(("USD", "VND", "EUR", "GBP"))
_MAX_DIGITS = 18  # longer runs of digits are identifiers
_SCALES = {
    **dict.fromkeys(("k", "thousand", "nghin", "ngan"), 10**3),
    **dict.fromkeys(("m", "mn", "mln", "mio", "million", "tr", "trieu"), 10**6),
    **dict.fromkeys(("chuc nghin", "chuc ngan"), 10**4),
    "chuc trieu": 10**7,
    **dict.fromkeys(("b", "bn", "billion", "ty"), 10**9),
}
_VIETNAMESE_SCALES = frozenset(("nghin", "ngan", "tr", "trieu", "ty", "chuc nghin", "chuc ngan", "chuc trieu"))
UNIT_BY_NAME = {
    **dict.fromkeys(("%", "percent", "per cent", "phan tram"), "%"),
    **dict.fromkeys(("$", "us$", "usd", "dollar", "dollars", "do la"), "USD"),
    **dict.fromkeys(("₫", "vnd", "dong", "d"), "VND"),  # "d" only where it is written "đ"
    **dict.fromkeys(("€", "eur", "euro", "euros"), "EUR"),
    **dict.fromkeys(("£", "gbp", "pounds"), "GBP"),
    **dict.fromkeys(("ms", "milliseconds"), "millisecond"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "giay"), "second"),
    **dict.fromkeys(("min", "mins", "minute", "minutes", "phut"), "minute"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "gio", "tieng"), "hour"),
    **dict.fromkeys(("day", "days", "ngay"), "day"),
    **dict.fromkeys(("week", "weeks", "tuan"), "week"),
    **dict.fromkeys(("month", "months", "thang"), "month"),
    **dict.fromkeys(("year", "years", "nam"), "year"),
    **dict.fromkeys(("character", "characters", "chars", "ky tu"), "character"),
    **dict.fromkeys(("time", "times", "lan"), "time"),
    **dict.fromkeys(("person", "people", "nguoi"), "person"),
    **dict.fromkeys(("st", "nd", "rd", "th"), "ordinal"),
    **{size: size for size in ("kb", "mb", "gb", "tb")},
}
"""The unit that a folded word or symbol names."""


def _any_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_CURRENCY_PREFIX = r"(?:us\$|[$€£₫]|(?:usd|vnd|eur|gbp)\ )"
_UNIT = (  # "10 working days" are days; in "quý 4 năm 2027" the year belongs to the next number
    r"(?>(?:[\ -]?(?:(?:working|business|calendar|consecutive|full)\ )?"
    rf"(?P<{{0}}>{_any_of(UNIT_BY_NAME)})(?<!\ nam(?=\ (?:[0-9]{{{{4}}}}|nay|sau|truoc)))(?![^\W_]))?)"
)
_MONTH = rf"(?:{'|'.join(SHORT_MONTHS)})[a-z]{{0,6}}+\.?"
_BOUNDARY = r"(?![^\W_]|[-/.:,][0-9])"
_WORD = r"[^\W_]++(?:(?![-_.,:/])|(?>(?:(?:[-_]|(?<=[0-9])[.,:/](?=[0-9]))[^\W_]++)*))"  # few words go on
_QUANTITY_START = rf"(?:[0-9]|us\$|usd\ |vnd\ |eur\ |gbp\ |thang\ |{'|'.join(SHORT_MONTHS)}|{NUMBER_WORD_PATTERN})"
# Alternatives in order of precedence. The last one consumes whole words, identifiers, versions and times of day, so
# that no digit inside them is read as a number, and all further words that begin no number or date. Each alternative is
# bounded or possessive, so that scanning is linear; the lookahead at the first character is for speed.
_ITEM = rf"""(?<![^\W_])(?:
    (?=[0-9])(?P<ymd>[0-9]{{4}}(?P<s1>[-/.])[0-9]{{1,2}}(?P=s1)[0-9]{{1,2}}|[0-9]{{4}}-[0-9]{{2}}){_BOUNDARY}
  | (?=[0-9])(?P<dmy>(?:[0-9]{{1,2}}(?P<s2>[-/.])[0-9]{{1,2}}(?P=s2)|[0-9]{{1,2}}/)[0-9]{{4}}){_BOUNDARY}
  | (?=[0-9t])(?P<vietnamese>(?:[0-9]{{1,2}}\ )?thang\ [0-9]{{1,2}},?\ nam\ [0-9]{{4}}){_BOUNDARY}
  | (?=[0-9jfmasond])(?P<english>(?:[0-9]{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?)?{_MONTH},?\ [0-9]{{4}}
      |{_MONTH}\ [0-9]{{1,2}}(?:st|nd|rd|th)?,?\ [0-9]{{4}}){_BOUNDARY}
  | (?=[-0-9$€£₫uveg])(?P<front>{_CURRENCY_PREFIX})?(?P<sign>(?<![^\s(])-)?(?P<front2>{_CURRENCY_PREFIX})?
    (?P<digits>[1-9][0-9]{{0,2}}(?>(?:\ [0-9]{{3}})+)[.,][0-9]{{1,2}}(?![^\W_]|[.,'][0-9])
      |[1-9][0-9]{{0,2}}(?>(?:,?\ [0-9]{{3}}(?![^\W_]|[.,'][0-9]))+)
      |[1-9][0-9]{{0,2}}(?>(?:'[0-9]{{3}})+)(?:[.,][0-9]{{1,2}})?(?![^\W_]|[.,'][0-9])
      |[0-9]++(?>(?:[.,][0-9]++)*))
    (?>(?:\ ?(?P<scale>{_any_of(_SCALES)})(?![^\W_]))?){_UNIT.format("unit")}(?![^\W_]|[:/][0-9])
  | (?=[bcefhlmnostz])(?P<spelled>{SPELLED_NUMBER_PATTERN})(?={_UNIT.format("spelled_unit")})
  | {_WORD}(?>(?:[^\w$€£₫-]++(?!{_QUANTITY_START}){_WORD})*)
    )"""
# "năm" is five and year. After a number it is the year: 25 is "hai mươi lăm", and "một triệu năm" is 1.5 million.
_PER_ONE = compile_pattern(r"(.*\b(?:nghin|ngan|trieu|ty)) mot")
"""An amount per one of something: "năm mươi nghìn một vé" is no 50,001."""
_COUNTED_YEARS = compile_pattern(r"((?:.*\ )?(?:mot|hai|ba|bon|nam|sau|bay|tam|chin|muoi))\ nam")
_RANGE_WORDS = frozenset(("-", "to", "or", "den", "toi", "hoac", "hay"))
_RANGE_WIDTH = 6
_INTEGERS = compile_pattern(r"[0-9]+")
_MONTH_NAME = compile_pattern("|".join(SHORT_MONTHS))


@cache
def _item_pattern() -> re.Pattern[str]:
    return compile_pattern(squeeze_pattern(_ITEM))  # compiled on first use, because it takes long


def find_dates(text: str) -> list[Date]:
    """Return the dates of a text, in order.

    Formats are ISO dates, day/month/year (with both readings if the month could come first), month with year,
    "31 December 2026", "December 31, 2026" and "ngày 31 tháng 12 năm 2026". A year alone is a number.

    >>> [d.readings for d in find_dates("Từ tháng 2 năm 2026 đến 31/12/2026")]
    [((2026, 2, 0),), ((2026, 12, 31),)]
    """
    return [item for item in find_quantities(text) if isinstance(item, Date)]


def find_quantities(text: str) -> list[Number | Date]:
    """Return the numbers with their units and the dates of a text in one list, in order.

    Dates, versions, times of day and identifiers are not numbers. A point before exactly three digits has two readings
    ("26.000" is 26 and 26 000) unless money ("26.000 đồng") or a language with a decimal comma settles it. A comma
    there separates thousands ("26,000"); before a Vietnamese scale word, and without money in a language with a decimal
    comma, it too has two readings. "26, 000" is one number, and "26, 150" may be one or two. Spelled-out numbers are
    parsed up to billions; words with another meaning ("năm", "muoi") count only before a unit. In "30m" the m is not a
    scale: a lower-case m or b is a scale only with a currency. In "10-12 days" both numbers have the unit "day".

    >>> text = "$1.4M, 12 phần trăm, mười hai ngày, 1,5 triệu đồng, ERR-429"
    >>> [(str(number.readings[0]), number.unit) for number in find_quantities(text)]
    [('1400000.0', 'USD'), ('12', '%'), ('12', 'day'), ('1500000.0', 'VND')]
    """
    return list(_scan_quantities(text))


# All metrics of a row look for quantities in the same few texts; those of a long one take many times its length.
@cache_by_text(maxsize=512, longest=4000, long_texts=4)
def _scan_quantities(text: str) -> tuple[Number | Date, ...]:
    nfc_text = normalise_nfc(text)
    plain = fold_in_place(nfc_text)
    items: list[Number | Date] = []
    for match in _item_pattern().finditer(plain):
        if match.lastgroup:  # otherwise it matched words
            item = _parse_match(match, nfc_text)
            if item is not None:
                items.append(item)
    # The first number of a range takes the unit of the second.
    for i in range(len(items) - 2, -1, -1):
        first, second = items[i : i + 2]
        if isinstance(first, Number) and isinstance(second, Number) and second.unit and not first.unit:
            gap = plain[first.end : second.start]
            if gap.strip() in _RANGE_WORDS and len(gap) <= _RANGE_WIDTH:
                items[i] = structs.replace(first, unit=second.unit)
    return tuple(items)


def _parse_match(match: re.Match[str], nfc_text: str) -> Number | Date | None:
    if match["digits"]:
        return _parse_number(match, nfc_text)
    if match["spelled"]:
        start, end = match.span("spelled")
        years = _COUNTED_YEARS.fullmatch(match["spelled"]) if match["spelled_unit"] is None else None
        if years is not None:
            count = match["spelled"][: years.end(1)]
            value = parse_spelled_number(count, nfc_text[start : start + len(count)], True)
            return None if value is None else Number((Decimal(value),), "year", start, end, is_spelled_out=True)
        amount = _PER_ONE.fullmatch(match["spelled"])
        if amount is not None:
            end = start + amount.end(1)
            value = parse_spelled_number(amount[1], nfc_text[start:end], False)
            return None if value is None else Number((Decimal(value),), "", start, end, is_spelled_out=True)
        value = _parse_round_number(match) or parse_spelled_number(
            match["spelled"], nfc_text[start:end], match["spelled_unit"] is not None
        )
        unit = UNIT_BY_NAME.get(match["spelled_unit"] or "", "")
        end = max(end, match.end("spelled_unit"))  # -1 where none follows
        return None if value is None else Number((Decimal(value),), unit, start, end, is_spelled_out=True)
    return _parse_date(match)


_ROUND_NUMBERS = {"hundred": 100} | {word: _SPELLED_SCALES[word] for word in ("thousand", "million", "billion")}
_ONE_OF_A_KIND = compile_pattern(r"(?<![^\W_])an? \Z")
_PART_OF_ONE = compile_pattern(r"(?<![^\W_])(?:half|of|many|such|quite) an? \Z")


def _parse_round_number(match: re.Match[str]) -> int | None:
    """Return the value of "a hundred" or "a thousand"; None for "half a million" and without an article."""
    value = _ROUND_NUMBERS.get(match["spelled"])
    low, start = max(0, match.start("spelled") - _RANGE_WIDTH - 4), match.start("spelled")
    if value is None or _ONE_OF_A_KIND.search(match.string, low, start) is None:
        return None
    return None if _PART_OF_ONE.search(match.string, low, start) is not None else value


def _parse_number(match: re.Match[str], nfc_text: str) -> Number | None:
    values = _parse_digits(match["digits"])
    front, unit, scale = match["front"] or match["front2"], match["unit"], match["scale"]
    currency = UNIT_BY_NAME.get((front or "").strip(), "")
    if unit == "d" and nfc_text[match.end("unit") - 1] not in "đĐ":
        unit = None
    stated_unit = currency or UNIT_BY_NAME.get(unit or "", "")
    if scale in ("m", "b") and stated_unit not in CURRENCY_UNITS and nfc_text[match.end("scale") - 1].islower():
        scale = None
    if len(values) > 1 or _COMMA_GROUP.fullmatch(match["digits"]) is not None:
        values = _settle_marks(values, match, nfc_text, stated_unit, scale or "")
    if scale:
        values = tuple(value * _SCALES[scale] for value in values)
    if match["sign"]:
        values = tuple(-value for value in values)
    return Number(values, stated_unit, match.start(), match.end()) if values else None


_GROUPED_DECIMALS = compile_pattern(r"([0-9]+(?:[ '][0-9]{3})+)[.,]([0-9]{1,2})")
_COMMA_GROUP = compile_pattern(r"[1-9][0-9]{0,2},[0-9]{3}")


def _settle_marks(
    values: tuple[Decimal, ...], match: re.Match[str], nfc_text: str, unit: str, scale: str
) -> tuple[Decimal, ...]:
    """Return the readings of digits in groups that the unit, a currency or the language of the text leave.

    An amount of money has no three decimals, a percentage no thousands, and before "million" stands a decimal. In a
    language with a decimal comma, a dot and a space group thousands, and a comma before three digits may do so too.
    """
    digits = match["digits"]
    if scale in _VIETNAMESE_SCALES:
        return (*values, *(value / 1000 for value in values)) if "," in digits and len(values) == 1 else values
    fraction, thousands = min(values), max(values)
    if "," in digits and len(values) == 1:  # "1,200": one number in English
        style = guess_style(nfc_text)
        is_open = style.mark == "comma" and not style.is_vietnamese and not _read_money(match, nfc_text)
        return (thousands, thousands / 1000) if is_open else values
    is_split = is_split_number(values)
    if is_split and "," in digits.split(" ")[0]:
        return values  # "26, 150" may be a list
    if not is_split and (unit == "%" or scale):
        return (fraction,)
    money = _read_money(match, nfc_text)
    is_hard = is_split and _HARD_SPACE.search(nfc_text, *match.span("digits")) is not None
    if is_hard or money == "whole" or (money and not is_split):
        return (thousands,)
    style = guess_style(nfc_text)
    return (thousands,) if style.mark == "comma" and not (is_split and style.is_vietnamese) else values


_HARD_SPACE = compile_pattern(r"[0-9][\u00a0\u202f\u2009\u2007][0-9]")


def _read_money(match: re.Match[str], nfc_text: str) -> str:
    """Return what `read_money_beside` says of a number, or of a sign that its pattern read before it."""
    return read_money_beside(nfc_text, match.start("digits"), match.end("digits"))


_GROUP_END = compile_pattern(r",? |[.,']")


@lru_cache(maxsize=4096)
def _parse_digits(digits: str) -> tuple[Decimal, ...]:
    """Return the possible values of digits with separators; empty for versions, codes and very long runs."""
    if len(digits) > _MAX_DIGITS * 2:
        return ()
    groups = _GROUP_END.split(digits)
    if sum(map(len, groups)) > _MAX_DIGITS or (len(groups[0]) > 2 and digits[0] == "0"):
        return ()
    all_digits, marks = "".join(groups), [c for c in digits if c in ".,"]
    if len(groups) == 1:
        return (Decimal(digits),)
    decimals = _GROUPED_DECIMALS.fullmatch(digits)
    if decimals is not None:
        whole, rest = _parse_digits(decimals[1]), Decimal(f"0.{decimals[2]}")
        return tuple(value if place == 1 else value + rest for place, value in enumerate(whole))
    if "'" in digits:
        return (Decimal(all_digits),)
    if " " in digits:
        separate_numbers = () if len(groups) > 2 or groups[1] == "000" else tuple(map(Decimal, groups))
        return (Decimal(all_digits), *separate_numbers)
    may_group_thousands = len(groups[0]) <= 3 and digits[0] != "0"
    fraction = Decimal("".join(groups[:-1]) + "." + groups[-1])
    if len(groups) == 2:
        if not may_group_thousands or len(groups[1]) != 3:
            return (fraction,)
        return (Decimal(all_digits),) if marks[0] == "," else (fraction, Decimal(all_digits))
    if not may_group_thousands or any(len(group) != 3 for group in groups[1:-1]):
        return ()
    if len(set(marks)) == 1:
        return (Decimal(all_digits),) if len(groups[-1]) == 3 else ()
    return (fraction,) if len(set(marks[:-1])) == 1 and marks[-1] != marks[0] else ()


def _parse_date(match: re.Match[str]) -> Date | None:
    for kind in ("ymd", "dmy", "vietnamese", "english"):
        if match[kind]:
            fields = [int(part) for part in _INTEGERS.findall(match[kind])]
            break
    else:
        return None
    if kind == "ymd":
        readings = [(fields[0], fields[1], fields[2] if len(fields) == 3 else 0)]
    elif kind == "english":
        month = SHORT_MONTHS.index(_MONTH_NAME.search(match[kind])[0]) + 1  # type: ignore[index]  # it matched one
        readings = [(fields[-1], month, fields[0] if len(fields) == 2 else 0)]
    else:
        day, month = (fields[0], fields[1]) if len(fields) == 3 else (0, fields[0])
        readings = [(fields[-1], month, day)]
        if kind == "dmy" and day not in (0, month):
            readings.append((fields[-1], day, month))
    valid = tuple(ymd for ymd in readings if 1900 <= ymd[0] <= 2100 and 1 <= ymd[1] <= 12 and ymd[2] <= 31)
    return Date(valid, match.start(), match.end()) if valid else None
