"""Quantities that can be compared: numbers with units, ranges and bounds, times of day, dates, money and shares.

A quantity has readings, because "26.000" is 26 or 26 000 and "1h30" a time or a duration. Each is an interval in the
base unit of its dimension (`assay.text.units`). English and Vietnamese, on text without markup.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from assay.text.languages import guess_language
from assay.text.late_pattern import LatePattern, squeeze_pattern
from assay.text.normalisation import fold_in_place, normalise_nfc
from assay.text.numbers import (
    SPELLED_NUMBER_PATTERN,
    Date,
    Number,
    find_quantities,
    is_split_number,
    parse_spelled_number,
)
from assay.text.spoken_numbers import write_spoken_numbers
from assay.text.units import MONEY, NAMED_UNITS, PLAIN, SHARE, TIME, UNITS, Unit
from assay.text.vietnamese_forms import write_vietnamese_forms

Bound = Literal["", ">", ">=", "<", "<="]
"""The side on which a bound leaves a quantity open: ">" more than, ">=" at least; "" is no bound."""


class Reading(NamedTuple):
    """One meaning of a quantity: from `low` to `high` in the base unit of `dimension`; equal unless it is a range."""

    dimension: str
    low: Decimal
    high: Decimal


class Quantity(NamedTuple):
    """A quantity in a text.

    `date`: the dates that it may be (year, month, day; 0 where none is stated). `unit_size`: the size of its unit in
    the base unit. `is_spelled_one`: it is the word "one" without a unit, which is rarely meant as a number. `rate`: per
    what it counts ("hour" for "$2 an hour", "copy" for "5 cents each copy"), and `rate_span`: the words that say so.
    `rate_size`: the dimension and the amount of a measure that it counts, such as 10 kg for "5 ml per 10 kg".
    """

    readings: tuple[Reading, ...]
    start: int
    end: int
    bound: Bound = ""
    is_approximate: bool = False
    is_spelled_one: bool = False
    date: tuple[tuple[int, int, int], ...] = ()
    unit_size: Decimal = Decimal(1)
    rate: str = ""
    rate_span: tuple[int, int] = (0, 0)
    rate_size: tuple[str, Decimal] | None = None

    @property
    def is_range(self) -> bool:
        """Whether it has two ends."""
        return any(reading.low != reading.high for reading in self.readings)


# ── comparison ───────────────────────────────────────────────────────────────────────────────────────────────────

CODE, INTERNATIONAL_CODE = "code", "code abroad"
"""Dimensions of telephone numbers, as dialled in their country (without the first 0) and from abroad."""
ANGLE = "angle"
WEEKDAY_NUMBER = "weekday"
"""The dimension of Vietnamese days of the week, which are numbered: "thứ 6" is "thứ Sáu" (Friday)."""
_DEGREES = frozenset((ANGLE, "celsius", "fahrenheit"))
_MOST_ROUNDING = Decimal("0.03")  # share of a value by which "about" may differ from it


def is_same_quantity(
    expected: Quantity, stated: Quantity, tolerance: Decimal = Decimal(0), *, unit_required: bool = False
) -> bool:
    """Return whether what is stated agrees with what is expected.

    Values agree within a dimension: 24 months are 2 years, 9.6 kWh are not 9.6 MWh. A range agrees with the same range
    only; a bound ("more than 100") with every value on its side, and with the same bound. "At least"
    and "at most" agree with their own value, "more than" and "less than" do not. "About" agrees with values that round
    to it. A number without a unit agrees with one that has a unit; with `unit_required`, only with money. What is
    stated per hour does not agree with the same per day. `tolerance` is absolute, in plain numbers.

    >>> two_years, months, more = (find_measures(text)[0] for text in ("2 years", "24 months", "more than 2 years"))
    >>> is_same_quantity(two_years, months), is_same_quantity(two_years, more)
    (True, False)
    """
    if expected.date or stated.date:
        return _is_same_date(expected, stated)
    if is_telephone_number(expected) and is_telephone_number(stated):
        return _is_same_telephone_number(expected, stated)
    if have_different_rates(expected, stated):
        return False
    if expected.rate_size and stated.rate_size:
        if expected.rate_size[0] != stated.rate_size[0]:
            return False
        stated = _scale(stated, expected.rate_size[1] / stated.rate_size[1])
    expected, stated = _read_alike(expected, stated)
    margin = tolerance * expected.unit_size
    for wanted in expected.readings:
        for reading in stated.readings:
            if not _has_same_dimension(wanted.dimension, reading.dimension, unit_required):
                continue
            if wanted.dimension == PLAIN != reading.dimension:
                agrees = _agrees(expected, wanted, stated, _without_unit(reading, stated), margin)
            elif reading.dimension == PLAIN != wanted.dimension:
                agrees = _agrees(expected, _without_unit(wanted, expected), stated, reading, tolerance)
            else:
                agrees = _agrees(expected, wanted, stated, reading, margin)
            if agrees:
                return True
    return False


def _read_alike(first: Quantity, second: Quantity) -> tuple[Quantity, Quantity]:
    """Return two quantities as one number each, if both may be two next to each other: "1 300" and "1 200"."""
    if all(is_split_number([reading.low for reading in quantity.readings]) for quantity in (first, second)):
        return first._replace(readings=first.readings[:1]), second._replace(readings=second.readings[:1])
    return first, second


def _scale(quantity: Quantity, factor: Decimal) -> Quantity:
    """Return a quantity with its values times a factor: 0.5 ml per kg are 5 ml per 10 kg."""
    readings = tuple(
        reading._replace(low=reading.low * factor, high=reading.high * factor) for reading in quantity.readings
    )
    return quantity._replace(readings=readings)


def apply_rate(rated: Quantity, measure: Quantity) -> Quantity | None:
    """Return what a quantity per a measure is for an amount of it, None for another measure.

    >>> rated, weight = find_measures("5 ml per 10 kg")[0], find_measures("15 kg")[0]
    >>> str(apply_rate(rated, weight).readings[0].low / rated.unit_size)
    '7.5'
    """
    if rated.rate_size is None:
        return None
    dimension, size = rated.rate_size
    amount = next((reading.low for reading in measure.readings if reading.dimension == dimension), None)
    if amount is None or measure.is_range:
        return None
    return _scale(rated, amount / size)._replace(rate="", rate_span=(0, 0), rate_size=None)


def have_different_rates(first: Quantity, second: Quantity) -> bool:
    """Return whether two quantities count per different spans of time: "$2 an hour" and "$2 a day"."""
    return first.rate != second.rate and first.rate in _TIMES_OF_RATES and second.rate in _TIMES_OF_RATES


def have_different_rate_sizes(first: Quantity, second: Quantity) -> bool:
    """Return whether two quantities count per different measures: "5 ml per kg" and "5 ml per 10 kg"."""
    return None not in (first.rate_size, second.rate_size) and first.rate_size != second.rate_size


def differ_in_unit(first: Quantity, second: Quantity) -> bool:
    """Return whether two quantities have one number with different units, or per different spans of time.

    >>> [differ_in_unit(find_measures("12 kg")[0], find_measures(text)[0]) for text in ("12 grams", "0.012 t", "12")]
    [True, False, False]
    """
    if first.date or second.date:
        return False
    own, other = first._replace(bound=""), second._replace(bound="")
    if is_same_quantity(own, other):
        return False
    number = own._replace(readings=tuple(_without_unit(reading, own) for reading in own.readings), rate="")
    return is_same_quantity(number._replace(rate_size=None, unit_size=Decimal(1)), other._replace(rate=""))


def _without_unit(reading: Reading, quantity: Quantity) -> Reading:
    """Return a reading as the number that is written before its unit."""
    return Reading(PLAIN, reading.low / quantity.unit_size, reading.high / quantity.unit_size)


def _is_same_date(expected: Quantity, stated: Quantity) -> bool:
    for year, month, day in expected.date:
        for other_year, other_month, other_day in stated.date:
            if year in (0, other_year) and month == other_month and day in (0, other_day):
                return True
    return False


def is_telephone_number(quantity: Quantity) -> bool:
    """Return whether a quantity is a telephone number or another code of digits in groups."""
    return bool(quantity.readings) and quantity.readings[0].dimension in (CODE, INTERNATIONAL_CODE)


_LONGEST_COUNTRY_CODE = 3
_FEWEST_LOCAL_DIGITS = 7


def _is_same_telephone_number(expected: Quantity, stated: Quantity) -> bool:
    """Return whether two numbers reach one telephone: a country code stands for the first 0 of a national number.

    Two countries are two telephones. A national number does not say its country, so that any may be meant.
    """
    first, second = expected.readings[0], stated.readings[0]
    if first.dimension == second.dimension or first.low == second.low:
        return first.low == second.low
    national, abroad = (str(reading.low) for reading in sorted((first, second)))
    if not abroad.endswith(national) or len(national) < _FEWEST_LOCAL_DIGITS:
        return False
    # Some countries keep the 0 after their code, which `int` took off the national number.
    country = abroad.removesuffix(national).removesuffix("0")
    return 1 <= len(country) <= _LONGEST_COUNTRY_CODE


def _has_same_dimension(expected: str, stated: str, unit_required: bool) -> bool:
    if expected == stated:
        return True
    if ANGLE in (expected, stated) and {expected, stated} <= _DEGREES:
        return True  # "40 degrees" leaves open of what
    if TIME in (expected, stated) or WEEKDAY_NUMBER in (expected, stated):
        return False
    if expected == PLAIN:
        return True
    return stated == PLAIN and (not unit_required or expected.startswith(MONEY))


def _agrees(expected: Quantity, wanted: Reading, stated: Quantity, reading: Reading, tolerance: Decimal) -> bool:
    if expected.is_range or stated.is_range:
        return abs(wanted.low - reading.low) <= tolerance and abs(wanted.high - reading.high) <= tolerance
    value, other = wanted.low, reading.low
    if expected.bound:
        return _is_within_bound(expected.bound, value, stated.bound, other)
    if stated.bound in ("<", ">"):
        return False
    if abs(value - other) <= tolerance:
        return True
    return (expected.is_approximate and _rounds_to(other, value)) or (
        stated.is_approximate and _rounds_to(value, other)
    )


def _is_within_bound(bound: Bound, limit: Decimal, stated_bound: Bound, value: Decimal) -> bool:
    if stated_bound:
        return stated_bound[0] == bound[0] and value == limit
    if value == limit:
        return len(bound) == 2
    return value > limit if bound[0] == ">" else value < limit


def _rounds_to(value: Decimal, rounded: Decimal) -> bool:
    """Whether a value, rounded to the digits that `rounded` shows, is `rounded`."""
    if not rounded or abs(value - rounded) > _MOST_ROUNDING * abs(rounded):
        return False
    exponent = rounded.normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return abs(value - rounded) <= Decimal((0, (5,), exponent - 1))


def split_range(quantity: Quantity) -> tuple[Quantity, ...]:
    """Return the lower and the upper end of a range, none for a single value.

    >>> [end.readings[0].low for end in split_range(find_measures("from 10am to 4pm")[0])]
    [Decimal('600'), Decimal('960')]
    """
    if not quantity.is_range:
        return ()
    lows = tuple(reading._replace(high=reading.low) for reading in quantity.readings)
    highs = tuple(reading._replace(low=reading.high) for reading in quantity.readings)
    return quantity._replace(readings=lows), quantity._replace(readings=highs)


def is_plain(quantity: Quantity) -> bool:
    """Return whether a quantity is a number without a unit."""
    return not quantity.date and all(reading.dimension == PLAIN for reading in quantity.readings)


def is_time(quantity: Quantity) -> bool:
    """Return whether a quantity may be a time of day."""
    return any(reading.dimension == TIME for reading in quantity.readings)


# ── times of day, dates without a year, fractions ────────────────────────────────────────────────────────────────

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
ORDINALS = [
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"),
    *("twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
    "twentieth",
]
_VIETNAMESE_MONTHS = ("gieng", "hai", "ba", "tu", "nam", "sau", "bay", "tam", "chin", "muoi", "muoi mot", "muoi hai")
_VIETNAMESE_HOURS = dict(zip("mot hai ba bon nam sau bay tam chin muoi".split(), range(1, 11), strict=True))
_VIETNAMESE_HOUR = "|".join(_VIETNAMESE_HOURS)
_PARTS_OF_DAY = {"sang": 0, "trua": 12, "chieu": 12, "toi": 12, "dem": 12, "am": 0, "pm": 12}
_FRACTION_WORDS = {"half": "50", "third": "33.33", "quarter": "25", "fifth": "20", "tenth": "10"}
_SMALL_NUMBERS = {
    "mot": 1,
    "hai": 2,
    "ba": 3,
    "bon": 4,
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "ten": 10,
}
_HALF_UNITS = {
    "year": ("calendar", 12), "nam": ("calendar", 12), "hour": ("duration", 3600), "gio": ("duration", 3600),
    "tieng": ("duration", 3600), "day": ("duration", 86400), "ngay": ("duration", 86400),
    "month": ("calendar", 1), "thang": ("calendar", 1),
}  # fmt: skip
_HALF_UNIT = "|".join(_HALF_UNITS)
_SINGLE_UNITS = ("minute", "hour", "day", "week", "fortnight", "month", "year")
_FEWEST_CODE_DIGITS = 9
_FEWEST_HOTLINE_DIGITS = 8
_COUNTS = dict(zip("one two three four five six seven eight nine ten eleven twelve".split(), range(1, 13), strict=True))
_COUNTS |= {"a": 1, "mot": 1, "hai": 2, "ba": 3, "bon": 4, "nam": 5}
_COUNT = "|".join(sorted(_COUNTS, key=len, reverse=True))
_MAJOR_UNITS = {"dollar": "money:USD", "pound": "money:GBP", "euro": "money:EUR"}
_OFTEN = {"once": 1, "twice": 2, "thrice": 3}
_PART = "sang|trua|chieu|toi|dem"
_DAY_HALF = r"(?:\ (?P<pa_half>[ap]\.?m\b\.?|in\ the\ (?:morning|afternoon|evening)|at\ night))?"
_MINUTES = {"half": 30, "a quarter": 15, "quarter": 15, "five": 5, "ten": 10, "twenty": 20, "twenty five": 25}
_MINUTES |= {"twenty-five": 25, "nam": 5, "muoi": 10, "muoi lam": 15, "hai muoi": 20}
_SPECIAL_START = (
    rf"\d|\+\d|\(\d|noon|mid(?:day|night)|thang\ |(?:ngay|mong)\ |nua|half|quarter|third|fifth|tenth|{'|'.join(MONTHS)}"
    rf"|{'|'.join(ORDINALS)}|twice|thrice|once|(?:{_VIETNAMESE_HOUR})\ (?:gio\ )?ruoi"
    rf"|(?:muoi\ )?(?:{_VIETNAMESE_HOUR})\ gio"
    rf"|(?:an?|{_COUNT})\ (?:[htqfymdngiaow]|past|dollar|pound|euro)"
    r"|(?:five|ten|twenty)(?:[\ -]five)?(?:\ minutes)?\ (?:past|after|to)\b"
)
_SPECIAL = rf"""(?<![\w.,/])(?={_SPECIAL_START})(?:
    (?P<code>(?!\d\d?(?P<cd_sign>[./-])\d\d?(?:(?P=cd_sign)\d{{2,4}})?(?![\d./-]))
      (?:(?:\+\d{{1,3}}[\ .-]?(?:\(0\)[\ .-]?)?\d{{1,5}}|\(0\d{{1,4}}\)|0\d{{1,4}})(?:[\ /.-]\d{{2,8}}){{1,5}}
      |(?:\+|0)\d{{8,13}}|(?:\(\d{{3}}\)\ ?|\d{{3}}[.-])\d{{3}}[.-]\d{{4}}|1[89]00(?:[\ .-]?\d{{3,4}}){{1,2}})
      (?![\w]|[./,:]\d))
  | (?P<major>(?P<mj_count>an?|\d+|{_COUNT})\ (?P<mj_unit>dollar|pound|euro)s?\ (?:and\ )?
      (?P<mj_minor>\d\d|[a-z]{{3,9}}(?:[-\ ](?:one|two|three|four|five|six|seven|eight|nine))?)
      (?:\ (?:cents|pence))?(?=[.,;:!?)]|$
        |\ (?:per|an?|each|every|for|and|to|plus|is|are|at|in|on|if|when|will|would|extra)\b))
  | (?P<dozen>(?:(?P<dz_half>half\ an?|nua)|(?P<dz_count>\d{{1,6}}|{_COUNT}))\ (?:dozen|ta)\b)
  | (?P<often>twice|thrice|once(?=\ (?:an?|per|every|each|daily|weekly|monthly|yearly|annually|only)\b))\b(?!\ as\b)
  | (?P<times>(?P<tm_count>\d{{1,3}})\ ?[x×])(?!\ ?\d)
      (?=/|[.,;:!?)]|$|\ (?:an?|per|each|every|daily|weekly|monthly|yearly|annually)\b)
  | (?P<past>(?:(?P<pa_minutes>half|(?:a\ )?quarter|five|ten|twenty(?:[\ -]five)?|[0-5]?\d)(?:\ minutes)?
        \ (?:past|after)|(?P<to_quarter>(?:a\ )?quarter)\ (?:to|before)
        |(?P<to_minutes>five|ten|twenty(?:[\ -]five)?)(?:\ minutes)?\ to)
      \ (?P<pa_hour>{_COUNT}|1[0-2]|[1-9])\b(?:\ o'clock)?{_DAY_HALF})
  | (?P<in_the>(?P<it_hour>{_COUNT}|1[0-2]|[1-9])(?:\ o'clock)?
      \ (?P<it_half>in\ the\ (?:morning|afternoon|evening)|at\ night)\b)
  | (?P<ruoi>(?P<ru_hour>[01]?\d|2[0-3])(?P<ru_gio>\ ?gio|h)?\ ruoi(?:\ (?P<ru_part>{_PART})\b)?)
  | (?P<ruoi_word>(?P<rw_hour>{_VIETNAMESE_HOUR})(?:\ gio)?\ ruoi\ (?P<rw_part>{_PART})\b)
  | (?P<gio_word>(?P<gw_hour>muoi\ (?:mot|hai)|{_VIETNAMESE_HOUR})\ gio\ (?P<gw_part>{_PART})\b)
  | (?P<kem>(?P<ke_hour>[01]?\d|2[0-3])(?:\ ?gio|h)\ kem\ (?P<ke_minutes>[0-5]?\d|muoi\ lam|hai\ muoi|muoi|nam)
      (?:\ phut)?(?:\ (?P<ke_part>{_PART})\b)?)
  | (?P<clock>(?P<hour>[01]?\d|2[0-3])[:.h](?P<minute>[0-5]\d)(?::[0-5]\d)?(?:\ ?(?P<half>[ap])\.?m\b\.?)?)
      (?![\d:/]|[.,]\d)
  | (?P<am>(?P<am_hour>1[0-2]|0?[1-9])(?:\ o'clock)?\ ?(?P<am_half>[ap])\.?m\b\.?)
  | (?P<oclock>(?P<oclock_hour>{_COUNT}|1[0-2]|[1-9])\ o'clock)
  | (?P<gio>(?P<gio_hour>[01]?\d|2[0-3])(?:\ ?gio|h)(?:\ ?(?P<gio_minute>[0-5]?\d)(?:\ ?phut)?)?
      \ (?P<part>sang|trua|chieu|toi|dem)\b)
  | (?P<gio_only>(?P<only_hour>[01]?\d|2[0-3])(?:\ gio\ |h)(?P<only_minute>[0-5]\d)?(?:\ phut)?\b(?!\ ?[\d/]))
  | (?P<noon>(?:12\ )?noon|midday)\b
  | (?P<midnight>midnight)\b
  | (?P<day_month>(?P<dm_day>\d{{1,2}}|{"|".join(ORDINALS)})(?:st|nd|rd|th)?\ (?:of\ )?(?P<dm_month>{_MONTH})
      (?:,?\ (?P<dm_year>\d{{4}}|'\d\d)\b)?)
  | (?P<month_day>(?P<md_month>{_MONTH})\ (?:the\ )?(?P<md_day>\d{{1,2}})(?:st|nd|rd|th)?
      (?:,?\ (?P<md_year>\d{{4}}|'\d\d))?\b(?![:/.,]\d|%))
  | (?P<ngay_thang>(?:ngay\ |mong\ )*(?P<nt_day>\d{{1,2}})\ thang\ (?P<nt_month>\d{{1,2}})
      (?:(?:,?\ nam\ |/)(?P<nt_year>\d{{4}}))?\b)
  | (?P<thang>thang\ (?P<t_month>\d{{1,2}}|{"|".join(reversed(_VIETNAMESE_MONTHS))})(?:/|,?\ nam\ )
      (?P<t_year>\d{{4}})\b)
  | (?P<slash>(?P<s_day>\d{{1,2}})/(?P<s_month>\d{{1,2}})(?:/(?P<s_year>\d\d))?(?!/|\d))
  | (?P<iso>(?P<i_year>\d{{4}})-(?P<i_month>\d{{2}})-(?P<i_day>\d{{2}})(?=t\d))
  | (?P<half_unit>(?:half\ an?|nua)\ (?P<hu_unit>{_HALF_UNIT})s?\b)
  | (?P<and_half>(?P<ah_count>\d+|an?|one|two|three|four|five|ten|mot|hai|ba|bon)\ (?P<ah_unit>{_HALF_UNIT})s?
      \ (?:and\ a\ (?:half|(?P<ah_quarter>quarter))|ruoi)\b)
  | (?P<a_unit>an?\ (?:full\ |whole\ )?(?P<au_unit>{"|".join(_SINGLE_UNITS)})\b(?:'s)?)
  | (?P<in_words>one\ in\ (?P<in_count>two|three|four|five|ten|\d+)\b)
  | (?P<fraction>(?:(?P<f_count>an?|one|two|three|four)\ )?(?P<f_word>half|third|quarter|fifth|tenth)s?\b
      (?!\ (?:year|of\ {_MONTH}|day|time|party)))
  | (?P<nua>(?:mot\ )?nua)\b
    )"""


@cache
def _special_pattern() -> re.Pattern[str]:
    return re.compile(squeeze_pattern(_SPECIAL))  # compiled on first use, because it takes long


_SPECIAL_WORDS = (
    *("thang", "gio", " in the ", " past ", " after ", " at night", "noon", "midday", "midnight", "o'clock"),
    *("nua", "ruoi", "half", "halv", "third", "quarter", "fifth", "tenth", "one in ", "once", "twice", "thrice"),
    *("dozen", "dollar", "pound", "euro", *ORDINALS),
)
_MAY_BE_SPECIAL = re.compile(
    r"\d(?: ?[x×]| ?[:.hap]\.?[\dm]|h|/\d|t\d)|[(+]\d"
    rf"|\b(?:0\d+[ /.-]?\d|\d{{3}}[.-]\d{{3}}[.-]\d|1[89]00[ .-]?\d|ta\b|{'|'.join(MONTHS)})"
    r"|(?:five|ten|twenty)(?: minutes)? to | an? (?:full |whole )?[dwhmyn]|^an? "
)


def _find_special(text: str, plain: str) -> Iterator[Quantity]:
    """Yield times of day, dates that numbers.py does not read, halves and other fractions."""
    if not any(word in plain for word in _SPECIAL_WORDS) and not _MAY_BE_SPECIAL.search(plain):
        return
    for match in _special_pattern().finditer(plain):
        quantity = _read_special(match, text)
        if quantity is not None:
            yield quantity


def _read_special(match: re.Match[str], text: str) -> Quantity | None:
    names = {name for name, value in match.groupdict().items() if value is not None}
    if "major" in names:
        return _read_major_and_minor(match)
    if "code" in names:
        return _read_code(match)
    if "a_unit" in names:
        return _read_single_unit(match)
    return (
        _read_clock_words(match, names)
        or _read_time(match, names, text)
        or _read_date(match, names)
        or _read_count(match, names, text)
        or _read_fraction(match, names, text)
    )


_DIAL_BEFORE = re.compile(
    r"\b(?:call|phone|ring|dial|tel\.?|hotline|number|line|goi|so|tong dai|dien thoai|alo)\W*(?:is |la )?$"
)


def _read_code(match: re.Match[str]) -> Quantity | None:
    """Return a telephone number, or another code in groups of digits; "1900 1234" may be two numbers."""
    written = match["code"].replace("(0)", "")
    digits = re.sub(r"\D", "", written)
    is_hotline = match["code"].startswith(("1800", "1900"))
    if is_hotline:
        before = match.string[max(0, match.start() - 20) : match.start()]
        is_sure = digits == match["code"] or len(digits) >= _FEWEST_CODE_DIGITS
        is_sure = is_sure or not before.strip() or _DIAL_BEFORE.search(before) is not None
        if not is_sure or len(digits) < _FEWEST_HOTLINE_DIGITS:
            return None
    elif len(digits) < _FEWEST_CODE_DIGITS:
        return None
    is_abroad = written.startswith("+") or (digits.startswith("00") and len(digits) > _FEWEST_CODE_DIGITS)
    return Quantity((_point(INTERNATIONAL_CODE if is_abroad else CODE, int(digits)),), *match.span())


_SINGLE_BEFORE = re.compile(
    r"(?:^|[.!?:;(\n] ?|\b(?:for|within|takes?|lasts?|lasting|after|only|just|about|up to|than|at least|at most|is|it's"
    r"|least|with|without|needs?|requires?|(?<!\d )(?<!times )(?<!s )in) )$"
)
_SINGLE_AFTER = LatePattern(
    r" ?(?:$|[^\w ]|(?:and(?! a )|but|before|after|from|of|in|at|to|on|for|if|when|until|prior|ahead|notice|later"
    r"|earlier|left|away|long|once|unless|as|so)\b)"
)


def _read_single_unit(match: re.Match[str]) -> Quantity | None:
    """Return the span of time of "valid for a day"; "£5 a day" is a rate, "a day pass" a thing."""
    plain = match.string
    if not _SINGLE_BEFORE.search(plain[max(0, match.start() - 12) : match.start()]):
        return None
    unit = UNITS[match["au_unit"]]
    if not match[0].endswith("'s") and not _SINGLE_AFTER.match(plain, match.end()):
        return None
    return Quantity((_point(unit.dimension, unit.sizes[0]),), *match.span(), unit_size=unit.sizes[0])


def _read_count(match: re.Match[str], names: set[str], text: str) -> Quantity | None:
    """Return the number of dozens or of times that words state; "ta" is a dozen only where it is written "tá"."""
    if "often" in names:
        return Quantity((_point("times", _OFTEN[match["often"]]),), *match.span())
    if "times" in names:
        return Quantity((_point("times", int(match["tm_count"])),), *match.span())
    if "dozen" not in names or (match[0].endswith("ta") and not text[: match.end()].lower().endswith("tá")):
        return None
    count = 12 * (Decimal("0.5") if match["dz_half"] else Decimal(_read_counted(match["dz_count"])))
    following = _find_unit(text, match.string, match.end())
    if following is None:
        return Quantity((_point(PLAIN, count),), *match.span())
    unit, end = following
    return Quantity(tuple(_point(unit.dimension, count * size) for size in unit.sizes), match.start(), end)


def _read_counted(word: str) -> int:
    return int(word) if word.isdecimal() else _COUNTS[word]


def _read_clock_words(match: re.Match[str], names: set[str]) -> Quantity | None:
    """Return a time of day in words: "half past nine in the evening", "9 in the morning", "8 rưỡi sáng"."""
    if "past" in names:
        minutes = -15 if match["to_quarter"] else _read_minutes(match["pa_minutes"] or match["to_minutes"])
        if match["to_minutes"]:
            if not _is_minutes_to_hour(match):
                return None
            minutes = -minutes
        return _make_worded_time(_read_counted(match["pa_hour"]), minutes, match["pa_half"], match.span())
    if "in_the" in names:
        return _make_worded_time(_read_counted(match["it_hour"]), 0, match["it_half"], match.span())
    if "ruoi" in names and (match["ru_gio"] or match["ru_part"]):
        return _make_worded_time(int(match["ru_hour"]), 30, match["ru_part"], match.span())
    if "ruoi_word" in names:
        return _make_worded_time(_VIETNAMESE_HOURS[match["rw_hour"]], 30, match["rw_part"], match.span())
    if "gio_word" in names:
        hours = {"muoi mot": 11, "muoi hai": 12}.get(match["gw_hour"]) or _VIETNAMESE_HOURS[match["gw_hour"]]
        return _make_worded_time(hours, 0, match["gw_part"], match.span())
    if "kem" in names:
        return _make_worded_time(
            int(match["ke_hour"]), -_read_minutes(match["ke_minutes"]), match["ke_part"], match.span()
        )
    return None


_AT_BEFORE = LatePattern(r"\b(?:at|by|until|till|about|around|since|is|it's|before) $")
_FROM_BEFORE = LatePattern(r"\b(?:from|between|open|opens) $")
_NO_NOUN_AFTER = LatePattern(r" ?(?:$|[^\w ]|(?:and|but|or|so|sharp|on|if|when|every|each|today|tomorrow|daily)\b)")


def _is_minutes_to_hour(match: re.Match[str]) -> bool:
    """Whether "ten to seven" is a time of day and no range: ranges ascend, and a noun follows them."""
    plain, before = match.string, match.string[max(0, match.start() - 10) : match.start()]
    if match["pa_half"]:
        return True
    if _FROM_BEFORE.search(before) or not _NO_NOUN_AFTER.match(plain, match.end()):
        return False
    is_descending = _read_minutes(match["to_minutes"]) > _read_counted(match["pa_hour"])
    return is_descending or _AT_BEFORE.search(before) is not None


def _read_minutes(word: str) -> int:
    return int(word) if word.isdecimal() else _MINUTES[word]


def _make_worded_time(hour: int, minutes: int, part: str | None, span: tuple[int, int]) -> Quantity | None:
    """Return a time; both halves of the day are meant where nothing tells which."""
    if hour > 24:
        return None
    if part is None:
        hours = [hour] if hour > 12 else [hour % 12, hour % 12 + 12]
    else:
        is_morning = (part.startswith(("a", "sang")) and part != "at night") or part.endswith("morning")
        is_later = not is_morning and not (part == "trua" and hour in (10, 11))
        hours = [hour if hour > 12 else _add_half(hour, is_later)]
    return _make_time([(value * 60 + minutes) % 1440 for value in hours], span)


def _read_time(match: re.Match[str], names: set[str], text: str) -> Quantity | None:
    span = match.span()
    if "noon" in names:
        return _make_time([12 * 60], span)
    if "midnight" in names:
        return _make_time([0, 24 * 60], span)
    if "clock" in names:
        return _read_clock(match, text)
    if "am" in names:
        return _make_time([_add_half(int(match["am_hour"]), match["am_half"] == "p") * 60], span)
    if "oclock" in names:
        hour = _read_counted(match["oclock_hour"])
        return _make_time([hour % 12 * 60, (hour % 12 + 12) * 60], span)
    if "gio" in names:
        hour, minute = int(match["gio_hour"]), int(match["gio_minute"] or 0)
        is_later = _PARTS_OF_DAY[match["part"]] == 12 and not (match["part"] == "trua" and hour in (10, 11))
        return _make_time([(_add_half(hour, is_later) if hour <= 12 else hour) * 60 + minute], span)
    if "gio_only" in names and (match["only_minute"] or "h" in match[0]):
        hour, minute = int(match["only_hour"]), int(match["only_minute"] or 0)
        readings = (_point(TIME, hour * 60 + minute), _point("duration", hour * 3600 + minute * 60))
        return Quantity(readings, *span)
    return None


def _read_major_and_minor(match: re.Match[str]) -> Quantity | None:
    """Read "a dollar fifty" and "two pounds twenty"."""
    count_text, minor_text = match["mj_count"], match["mj_minor"].replace("-", " ")
    count = 1 if count_text in ("a", "an") else int(count_text) if count_text.isdecimal() else _read_counted(count_text)
    minor = int(minor_text) if minor_text.isdecimal() else _read_spelled(minor_text)
    if minor is None or not 10 <= minor <= 99:
        return None
    return Quantity((_point(_MAJOR_UNITS[match["mj_unit"]], count + Decimal(minor) / 100),), *match.span())


def _read_spelled(text: str) -> int | None:
    return parse_spelled_number(text, text, False) if _SPELLED.fullmatch(text) else None


_SPELLED = LatePattern(squeeze_pattern(SPELLED_NUMBER_PATTERN))


def _add_half(hour: int, is_later: bool) -> int:
    """Return the hour of the day of an hour on a clock of twelve hours."""
    return hour % 12 + (12 if is_later else 0)


_CURRENCY_SIGNS = ("$", "€", "£", "₫", "¥")


def _read_clock(match: re.Match[str], text: str) -> Quantity | None:
    hour, minute, half = int(match["hour"]), int(match["minute"]), match["half"]
    mark = text[match.end("hour")]
    if half is not None:
        return _make_time([_add_half(hour, half == "p") * 60 + minute], match.span())
    if mark == ".":
        if text[max(0, match.start() - 1) : match.start()] in _CURRENCY_SIGNS:
            return None
        decimal = Decimal(f"{hour}.{match['minute']}")
        return None if hour < 10 and len(match["hour"]) == 1 else Quantity(
            (_point(PLAIN, decimal), _point(TIME, hour * 60 + minute)), *match.span()
        )  # fmt: skip
    readings = [_point(TIME, hour * 60 + minute)]
    if mark in "hH":
        readings.append(_point("duration", hour * 3600 + minute * 60))
    return Quantity(tuple(readings), *match.span())


def _make_time(minutes: Iterable[int], span: tuple[int, int]) -> Quantity:
    return Quantity(tuple(_point(TIME, value) for value in minutes), *span)


def _read_date(match: re.Match[str], names: set[str]) -> Quantity | None:
    span = match.span()
    if "day_month" in names:
        day_text = match["dm_day"]
        day = int(day_text) if day_text.isdecimal() else ORDINALS.index(day_text) + 1
        return _make_date(match["dm_year"], MONTHS.index(match["dm_month"][:3]) + 1, day, span)
    if "month_day" in names:
        return _make_date(match["md_year"], MONTHS.index(match["md_month"][:3]) + 1, int(match["md_day"]), span)
    if "ngay_thang" in names:
        return _make_date(match["nt_year"], int(match["nt_month"]), int(match["nt_day"]), span)
    if "thang" in names:
        month = match["t_month"]
        number = int(month) if month.isdecimal() else _VIETNAMESE_MONTHS.index(month) + 1
        return _make_date(match["t_year"], number, 0, span)
    if "slash" in names:
        date = _make_date(match["s_year"], int(match["s_month"]), int(match["s_day"]), span)
        other = _make_date(match["s_year"], int(match["s_day"]), int(match["s_month"]), span)
        dates = (*(date.date if date else ()), *(other.date if other else ()))
        return Quantity((), *span, date=dates) if dates else None
    if "iso" in names:
        return _make_date(match["i_year"], int(match["i_month"]), int(match["i_day"]), span)
    return None


def _make_date(year: str | None, month: int, day: int, span: tuple[int, int]) -> Quantity | None:
    if not 1 <= month <= 12 or day > 31:
        return None
    number = int((year or "0").lstrip("'"))
    if year is not None and len(year) <= _SHORT_YEAR:
        number += 2000 if number < _FIRST_OF_LAST_CENTURY else 1900
    return Quantity((), *span, date=((number, month, day),))


_SHORT_YEAR = 3
"""Characters of "'25"."""
_FIRST_OF_LAST_CENTURY = 70


_OF_A = re.compile(r" (?:of )?an? (?=\w)")


def _take_part_of_unit(share: Decimal, match: re.Match[str], text: str, *, needs_article: bool) -> Quantity | None:
    """Return the part of a unit that follows a fraction, such as "a quarter of an hour"; None without a unit."""
    plain = fold_in_place(text)
    article = _OF_A.match(plain, match.end())
    if article is None and needs_article:
        return None
    following = _find_unit(text, plain, article.end() if article is not None else match.end())
    if following is None or following[0].dimension == SHARE:
        return None
    unit, end = following
    readings = tuple(_point(unit.dimension, share / 100 * size) for size in unit.sizes)
    return Quantity(readings, match.start(), end, unit_size=unit.sizes[0])


def _make_share(share: Decimal, span: tuple[int, int]) -> Quantity:
    """Return a share; "half" is 50%, and 0.5 of what is counted."""
    return Quantity((_point(SHARE, share), _point(PLAIN, share / 100)), *span)


def _read_fraction(match: re.Match[str], names: set[str], text: str) -> Quantity | None:
    span = match.span()
    if "half_unit" in names:
        dimension, size = _HALF_UNITS[match["hu_unit"]]
        return Quantity((_point(dimension, Decimal(size) / 2),), *span)
    if "and_half" in names:
        dimension, size = _HALF_UNITS[match["ah_unit"]]
        count_text = match["ah_count"]
        count = int(count_text) if count_text.isdecimal() else _SMALL_NUMBERS.get(count_text, 0)
        part = Decimal("0.25") if match["ah_quarter"] else Decimal("0.5")
        return Quantity((_point(dimension, (count + part) * size),), *span) if count else None
    if "in_words" in names:
        count_text = match["in_count"]
        count = int(count_text) if count_text.isdecimal() else _SMALL_NUMBERS[count_text]
        return Quantity((_point(SHARE, Decimal(100) / count),), *span) if count else None
    if "fraction" in names and (match["f_count"] or match["f_word"] == "half"):
        value = Decimal(_FRACTION_WORDS[match["f_word"]]) * _SMALL_NUMBERS[match["f_count"] or "a"]
        return _take_part_of_unit(value, match, text, needs_article=True) or _make_share(value, span)
    if "nua" in names:
        return _take_part_of_unit(Decimal(50), match, text, needs_article=False) or _make_share(Decimal(50), span)
    return None


def _point(dimension: str, value: Decimal | int) -> Reading:
    return Reading(dimension, Decimal(value), Decimal(value))


# ── numbers with units ───────────────────────────────────────────────────────────────────────────────────────────

_MAY_BE_GLUED = re.compile(r"\d[.,]*[A-Za-z/°²]|[A-Z]\d")
_GLUED = LatePattern(
    r"(?<![\w.,-])(\d[\d.,]*)(" + "|".join(
        sorted((re.escape(name) for name in UNITS if re.fullmatch(r"[A-Za-z/°²2]+", name) and name[0] not in "hH"
                and name not in ("m", "l", "g", "d", "mo", "do", "t", "A", "V", "W")),
               key=len, reverse=True)
    ) + r"|[mglVW])(?![\w/])"
)  # fmt: skip
_CURRENCY_CODES = tuple(
    name for name in UNITS if re.fullmatch(r"[A-Z]{3}", name) and UNITS[name].dimension.startswith(MONEY)
)
_GLUED_CURRENCY = LatePattern(rf"\b({'|'.join(_CURRENCY_CODES)})(?=\d)")
_CODE_BEFORE = re.compile(rf"\b({'|'.join(_CURRENCY_CODES)}) $")
_WORDY = sorted((name for name in UNITS if name.isascii()), key=len, reverse=True)
_SYMBOLS = frozenset(name for name in UNITS if name != name.lower() or not name.isascii() or len(name) <= 2)


def _group_name_lengths() -> dict[str, list[int]]:
    """Return the lengths of the names of units that begin with a character, the longest first."""
    lengths: dict[str, set[int]] = {}
    for name in UNITS:
        lengths.setdefault(name[0], set()).add(len(name))
    return {first: sorted(of_first, reverse=True) for first, of_first in lengths.items()}


_NAME_LENGTHS = _group_name_lengths()
_KIND_BEFORE_UNIT = re.compile(r"(?:working|business|calendar|full|us|square) (?=\w)")
_WORD_GOES_ON = re.compile(r"[^\W_]|/|\.m\b")


def split_glued_units(text: str) -> str:
    """Return the text with spoken numbers as digits, and a space between a number and a unit that are written together.

    >>> split_glued_units("9.6kWh and 500MB, not A4 or 2FA")
    '9.6 kWh and 500 MB, not A4 or 2FA'
    """
    return _split_and_keep(text) if len(text) <= _LONGEST_CACHED else _split_glued_units(text)


def _split_glued_units(text: str) -> str:
    text = write_spoken_numbers(write_vietnamese_forms(text))
    if not _MAY_BE_GLUED.search(text):
        return text
    return _GLUED.sub(r"\1 \2", _GLUED_CURRENCY.sub(r"\1 ", text))


_LONGEST_CACHED = 2000
_split_and_keep = lru_cache(maxsize=1024)(_split_glued_units)


_ENGLISH_TOO = frozenset(("can", "do", "tan", "dam", "met", "lit"))
"""Units of Vietnamese that are other words in English: "turned twelve can be …" are no kilograms."""


def _find_unit(text: str, plain: str, position: int) -> tuple[Unit, int] | None:
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


_REJECTED_SCALE = re.compile(r"(?<=\d) ?[mb]$")


def _make_measure(number: Number, text: str, plain: str) -> Quantity:
    day = _WEEKDAY_NUMBER.match(plain, number.start)
    if day is not None and _WEEKDAY_BEFORE.search(text, max(0, number.start - _BEFORE), number.start):
        values = [value for value in number.readings if value in _WEEKDAY_NUMBERS]
        if values:
            return Quantity(tuple(_point(WEEKDAY_NUMBER, value) for value in values), number.start, day.end())
    unit = NAMED_UNITS.get(number.unit)
    end = number.end
    if unit is None:
        # In "60 m/s" the m was looked at as a scale ("million"), and is no part of the number.
        rejected_scale = _REJECTED_SCALE.search(text, number.start, number.end)
        digits_end = rejected_scale.start() if rejected_scale else number.end
        following = _find_unit(text, plain, digits_end)
        if following is not None:
            unit, end = following
        elif plain[number.start - 1 : number.start] == "¥":
            unit = UNITS["¥"]
        else:
            code = _CODE_BEFORE.search(text, max(0, number.start - 4), number.start)
            unit = UNITS[code[1]] if code is not None else None
    if unit is None:
        is_one = number.is_spelled_out and Decimal(1) in number.readings
        points = tuple(_point(PLAIN, value) for value in number.readings)
        return Quantity(points, number.start, end, is_spelled_one=is_one)
    readings = tuple(
        _point(dimension, value * size)
        for dimension in (unit.dimension, *unit.other_dimensions)
        for value in number.readings
        for size in unit.sizes
    )
    if plain.endswith("gio", number.start, end) and _TIME_BEFORE.search(plain[max(0, number.start - 8) : number.start]):
        times = [value for value in number.readings if value == int(value) and 0 <= value <= 24]
        readings += tuple(_point(TIME, value * 60) for value in times)
    return Quantity(readings, number.start, end, unit_size=unit.sizes[0])


_WEEKDAY_BEFORE = re.compile(r"(?<!lần )(?<!người )(?<!tầng )(?<!tuần )(?<!ngày )(?<!hàng )\bthứ $", re.IGNORECASE)
_WEEKDAY_NUMBER = re.compile(r"[2-7]\b|(?:hai|ba|tu|nam|sau|bay)\b")
_WEEKDAY_NUMBERS = frozenset(range(2, 8))
"""A Vietnamese day of the week: "thứ Sáu" (Friday) is neither the number six nor a part of "sáu tuần" (six weeks)."""

_TIME_BEFORE = re.compile(r"(?:^|\b(?:luc|tu|den|toi|vao|truoc|sau) |- ?)$")
"""Words before which "7 giờ" may be a time of day and not seven hours."""


# ── ranges, bounds and "about" ───────────────────────────────────────────────────────────────────────────────────

_RANGE_GAP = re.compile(r" ?(?:-|to|till?|until|den|toi|~) ?(?:us)?[$€£¥]?")
_BETWEEN_GAP = re.compile(r" (?:and|va|den) (?:us)?[$€£¥]?")
_BETWEEN_BEFORE = re.compile(r"\b(?:between|giua) ?(?:us)?[$€£¥]?$")
_BOUND_BEFORE = re.compile(
    r"(?:(?P<negation>\b(?:no|not|never|nothing|nobody|none|khong|chua) (?:\w+ )?)?"
    r"(?:(?P<more>\b(?:more than|over(?! by\b)|above|exceed(?:s|ed|ing)?|greater than|larger than|longer than"
    r"|higher than|faster than|heavier than|taller than|bigger than|older than|wider than|deeper than"
    r"|upwards of|beyond|north of|hon|tren|vuot|vuot qua|nhieu hon|lon hon|dai hon|cao hon))"
    r"|(?P<less>\b(?:less than|fewer than|under|below|smaller than|shorter than|lower than|slower than"
    r"|lighter than|younger than|short of|duoi|it hon|nho hon"
    r"|thap hon|chua den|chua toi|ngan hon)))"
    r"|(?P<least>\b(?:at least|(?:a )?minimum(?: of)?|min\.?|not less than|no earlier than|not earlier than"
    r"|not before|from at least|it nhat|toi thieu)|>=|≥)"
    r"|(?P<most>\b(?:at most|(?:a )?maximum(?: of)?|max\.?|up to|within|no later than|not later than"
    r"|khong qua|toi da|nhieu nhat"
    r"|trong vong)|<=|≤)"
    r"|(?P<gt>>)|(?P<lt><))(?: (?:the|a|an|of|by|about))? ?(?:us)?[$€£¥]?$"
)
_BOUND_AFTER = re.compile(
    r"(?P<least> (?:or|and) (?:(?:well|far|way|even) )?(?:more|above|over|beyond|longer|later|higher|older|taller"
    r"|heavier|larger|up(?:wards)?)\b|\+| (?:tro len|hoac hon)| (?:at the (?:very )?(?:least|earliest)|at least"
    r"|at minimum|minimum)\b)"
    r"|(?P<most> (?:or|and) (?:(?:well|far|way|even) )?(?:less|fewer|below|under|shorter|younger|smaller|lighter)\b"
    r"| (?:tro xuong|hoac it hon)| (?:at the (?:very )?(?:most|latest)|at most|at maximum|maximum|max|tops)\b)"
)
_NAMED_BOUND = re.compile(
    r" (?:is|are|being|la) (?:the |your |our )?(?:absolute |upper |lower )?"
    r"(?:(?P<least>minimum|least|toi thieu)|(?P<most>maximum|most|limit|toi da))\b"
)
"""What says after a quantity which bound it is: "19 hours is the minimum"."""
_COUNTED_BOUND = re.compile(r" [a-z]+(?: [a-z]+)? tro (?:(?P<least>len)|(?P<most>xuong))\b")
"""A bound after the noun that is counted: "6 tuổi trở lên"."""
_ABOUT_BEFORE = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|circa|ca\.?|some|nearly|almost|close to|just (?:over|under)"
    r"|khoang|gan|xap xi|chung|tam)|[~≈]) ?(?:us)?[$€£¥]?$"
)
_LAST_WORDS = frozenset(
    """
    before than over above exceed exceeds exceeded exceeding of beyond hon tren vuot qua under below duoi den toi
    least minimum min min. nhat thieu most maximum max max. to within da vong the a an by about around approximately
    approx approx. roughly circa ca ca. some nearly almost khoang gan xap xi chung tam
    """.split()
)
_BEFORE = 36  # characters before a quantity that are searched for bounds


def find_measures(text: str) -> list[Quantity]:
    """Return the quantities of a text without markup, in order; their spans are in `split_glued_units` of its NFC form.

    >>> [(str(q.readings[0].low), q.bound) for q in find_measures("more than 2 days, 9.6kWh, at most 5 MB")]
    [('172800', '>'), ('9600.0', ''), ('5000000', '<=')]
    """
    return list(_find_cached(text) if len(text) <= _LONGEST_CACHED else _find(text))


_UNTIL = re.compile(r"\btới\b|\btoi(?= \d{1,2} ?(?:h|gio|giờ)\b)", re.IGNORECASE)


def _respell_until(text: str, plain: str) -> str:
    """Return folded text in which "tới" (until) is no "tối" (evening), which is folded alike: "8h tới 17h"."""
    if "toi" not in plain:
        return plain
    for match in _UNTIL.finditer(text):
        plain = f"{plain[: match.start()]}den{plain[match.end() :]}"
    return plain


def _find(text: str) -> tuple[Quantity, ...]:
    text = split_glued_units(normalise_nfc(text))
    plain = _respell_until(text, fold_in_place(text))
    special = list(_find_special(text, plain))
    quantities = special + [quantity for quantity in _find_plain(text, plain) if not _overlaps_any(quantity, special)]
    quantities.sort(key=lambda quantity: quantity.start)
    quantities = _join_ranges(_join_compounds(quantities, plain), plain)
    rated = _read_rates(quantities, plain)
    return tuple(_read_surroundings(quantity, plain) for quantity in rated)


_find_cached = lru_cache(maxsize=4096)(_find)


def _find_plain(text: str, plain: str) -> Iterator[Quantity]:
    for item in find_quantities(text):
        if isinstance(item, Date):
            yield Quantity((), item.start, item.end, date=item.readings)
        else:
            yield _make_measure(item, text, plain)


def _overlaps_any(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    """Whether a quantity overlaps one of others, which are in order and disjoint."""
    index = bisect_left(others, quantity.end, key=lambda other: other.start) - 1
    return index >= 0 and quantity.start < others[index].end


def _join_compounds(quantities: Sequence[Quantity], plain: str) -> list[Quantity]:
    """Join the parts of one amount: "1 hour 30 minutes", "2 years and 3 months", "1 kg 250 g", "3 pounds 20 pence"."""
    joined: list[Quantity] = []
    for quantity in quantities:
        previous = joined[-1] if joined else None
        total = _add_part(previous, quantity, plain) if previous is not None else None
        if total is not None:
            joined[-1] = total
        else:
            joined.append(quantity)
    return joined


_COMPOUND_GAPS = {
    **dict.fromkeys(("duration", "calendar"), re.compile(r",? (?:and )?")),
    **dict.fromkeys(("length", "mass", "volume"), re.compile(r" ")),
    "money": re.compile(r" (?:and )?"),
}
"""What may stand between the parts of an amount, by dimension; a comma lists lengths and weights."""
_IN_METRES = LatePattern(r"\d{1,3} ?met")


def _add_part(whole: Quantity, part: Quantity, plain: str) -> Quantity | None:
    """Return the sum of two parts of one amount, None if they are two amounts."""
    gap = plain[whole.end : part.start]
    if gap == " " and _IN_METRES.fullmatch(plain, whole.start, whole.end):
        hundredths = _read_hundredths(plain[part.start : part.end])
        if hundredths is not None and len(whole.readings) == 1:
            total = _point("length", whole.readings[0].low + hundredths)
            return Quantity((total,), whole.start, part.end)
    for reading in whole.readings:
        pattern = _COMPOUND_GAPS.get(reading.dimension.partition(":")[0])
        if pattern is None or reading.low != reading.high or not pattern.fullmatch(gap):
            continue
        for addition in part.readings:
            if addition.dimension == reading.dimension and _is_smaller_part(part, addition, whole, reading):
                total = _point(reading.dimension, reading.low + addition.low)
                return Quantity((total,), whole.start, part.end)
    return None


def _read_hundredths(digits: str) -> Decimal | None:
    """Return the metres that one or two digits after "1 mét" add: "1 mét 20" is 1.2 m, "1 mét 6" is 1.6 m."""
    return Decimal(f"0.{digits}") if re.fullmatch(r"\d{1,2}", digits) else None


def _is_smaller_part(part: Quantity, addition: Reading, whole: Quantity, reading: Reading) -> bool:
    if reading.dimension in ("duration", "calendar"):
        return addition.low < reading.low
    return part.unit_size < whole.unit_size and addition.low < whole.unit_size


def _join_ranges(quantities: Sequence[Quantity], plain: str) -> list[Quantity]:
    joined: list[Quantity] = []
    for quantity in quantities:
        previous = joined[-1] if joined else None
        combined = _join_range(previous, quantity, plain) if previous is not None else None
        if combined is not None:
            joined[-1] = combined
        else:
            joined.append(quantity)
    return joined


_CHANGE_REACH = 60
_CHANGE_BEFORE = re.compile(
    r"\b(?:rose|risen|ris(?:es|ing)|rais(?:ed|es|ing)|increas(?:ed|es|ing)|grew|gr?own|grows|fell|fallen|falls|dropp?(?:ed|s)"
    r"|chang(?:ed|es|ing)|went|goes|mov(?:ed|es)|cut|reduc(?:ed|es)|extend(?:ed|s)|climb(?:ed|s)|declin(?:ed|es)"
    r"|lower(?:ed|s)|shrank|shrunk|jump(?:ed|s)|tang|giam|nang|ha|doi|chuyen)\b[^.;\n]{0,30} (?:from|tu) [$€£¥]?$"
)
"""Words of a change before its first value: "rose from 10 to 12" states both values, and no range."""


def _join_range(first: Quantity, second: Quantity, plain: str) -> Quantity | None:
    if first.is_range or first.date or second.date:
        return None
    gap = first.end, second.start
    is_range = _RANGE_GAP.fullmatch(plain, *gap) is not None or (
        _BETWEEN_GAP.fullmatch(plain, *gap) is not None
        and _BETWEEN_BEFORE.search(plain[max(0, first.start - 12) : first.start]) is not None
    )
    if not is_range or _CHANGE_BEFORE.search(plain[max(0, first.start - _CHANGE_REACH) : first.start]):
        return None
    readings = []
    for low in first.readings:
        for high in second.readings:
            if high.dimension == TIME:
                readings += _join_times(low, high, plain[first.start : first.end], plain[second.start : second.end])
                continue
            scaled = _take_unit(low, high, second)
            if scaled is not None and scaled.low < high.high:
                readings.append(Reading(high.dimension, scaled.low, high.high))
    if _HOURS_BEFORE.search(plain, max(0, first.start - _BEFORE), first.start):
        readings += _read_hours(plain[first.start : first.end], plain[second.start : second.end])
    return Quantity(tuple(readings), first.start, second.end) if readings else None


_HOURS_BEFORE = re.compile(r"\b(?:from|between|open|hours|times)[ :]+$")
_LATEST_HOUR = 24


def _read_hours(low_text: str, high_text: str) -> list[Reading]:
    """Return the times of day that two bare numbers may be: "from 9 to 17", "open 9 to 5"."""
    if not (low_text.isdecimal() and high_text.isdecimal() and max(int(low_text), int(high_text)) <= _LATEST_HOUR):
        return []
    return _join_times(_point(TIME, int(low_text) * 60), _point(TIME, int(high_text) * 60), low_text, high_text)


_HALF_DAY = Decimal(12 * 60)
_OPEN_CLOCK = re.compile(r"(?:1[0-2]|[1-9])(?:[:.][0-5]\d)?")
"""A time that may be before or after noon."""


def _join_times(low: Reading, high: Reading, low_text: str, high_text: str) -> list[Reading]:
    """Return the ranges that two times may be; "1-5 pm" begins at 1 pm, "12:30 to 1:15" ends at 13:15."""
    if low.dimension == PLAIN and (low_text.isdecimal() or low_text in _COUNTS):
        low = _point(TIME, low.low * 60)
    if low.dimension != TIME:
        return []
    is_low_open, is_high_open = (
        text in _COUNTS or _OPEN_CLOCK.fullmatch(text) is not None for text in (low_text, high_text)
    )
    if is_low_open and not is_high_open:
        begins = low.low % _HALF_DAY
        begins = begins + _HALF_DAY if begins + _HALF_DAY < high.low else begins
        return [Reading(TIME, begins, high.low)] if begins < high.low else []
    if not is_high_open:
        return [Reading(TIME, low.low, high.low)] if low.low < high.low else []
    ranges = [(low.low, high.low), (low.low, high.low + _HALF_DAY)]
    if is_low_open:
        ranges.append((low.low + _HALF_DAY, high.low + _HALF_DAY))
    return [Reading(TIME, begins, ends) for begins, ends in ranges if begins < ends <= begins + _HALF_DAY]


def _take_unit(low: Reading, high: Reading, second: Quantity) -> Reading | None:
    """Return the lower end of a range in the dimension of the upper one; a plain number takes its unit."""
    if low.dimension == high.dimension:
        return low
    if low.dimension != PLAIN:
        return None
    return _point(high.dimension, low.low * second.unit_size)


_TIMES_OF_RATES = {
    "hour",
    "half hour",
    "minute",
    "second",
    "day",
    "night",
    "week",
    "month",
    "quarter",
    "year",
    "decade",
}
_RATE_NOUNS = {
    **dict.fromkeys(("hr", "hrs", "h", "gio", "tieng", "hourly"), "hour"),
    **dict.fromkeys(("min", "mins", "phut"), "minute"),
    **dict.fromkeys(("s", "sec", "giay"), "second"),
    **dict.fromkeys(("ngay", "daily"), "day"),
    **dict.fromkeys(("dem", "nightly"), "night"),
    **dict.fromkeys(("tuan", "wk", "weekly"), "week"),
    **dict.fromkeys(("thang", "mo", "monthly"), "month"),
    **dict.fromkeys(("quy", "quarterly"), "quarter"),
    **dict.fromkeys(("nam", "annum", "yr", "yearly", "annually", "pa"), "year"),
    **dict.fromkeys(("head", "people", "nguoi"), "person"),
    **dict.fromkeys(("lan", "luot"), "time"),
    **dict.fromkeys(("piece", "chiec", "cai"), "item"),
}
"""What a rate is per, by the words for it; other nouns stand for themselves."""
_TIME_NOUN = "|".join(
    sorted((noun for noun, rate in _RATE_NOUNS.items() if rate in _TIMES_OF_RATES and len(noun) > 2), key=len)
)
_RATE = re.compile(
    r"(?: ?/ ?| (?:(?!(?:and|or|if|when|but|for|to|before|after|until|va|neu|khi|den|cho)\b)[a-z]+ ){0,3}?"
    r"(?:per|each|every|moi|hang)(?: an?)? | (?:for (?:each|every|an?|one)|cho (?:moi|mot|tung)|an?|mot) )"
    r"(?:(?:started|begun|commenced|full|whole|complete|single|calendar|further|additional|extra) (?=[a-z]))?"
    r"(?P<half>half(?:[- ]an?)?[- ]|nua )?(?P<noun>[a-z]+)"
    r"| (?P<adverb>hourly|daily|nightly|weekly|monthly|quarterly|yearly|annually)\b"
)
_RATE_WITH_NOUN = re.compile(
    rf" (?:(?!(?:and|or|if|for|to|in|after|before|than)\b)[a-z]+ ){{1,2}}an? (?P<half>)(?P<noun>{_TIME_NOUN}|hour"
    r"|minute|second|day|night|week|month|quarter|year)\b(?P<adverb>)"
)
"""A rate after the thing that is counted: "600 calls a minute"."""


def _read_rates(quantities: Sequence[Quantity], plain: str) -> Iterator[Quantity]:
    """Yield quantities with what they are per; the "một giờ" of "5.000đ một giờ" is no quantity of its own."""
    done = 0
    for place, quantity in enumerate(quantities):
        if quantity.start < done:
            continue
        following = quantities[place + 1] if place + 1 < len(quantities) else None
        counted = _read_counted_rate(quantity, following, plain)
        if counted is not None and following is not None:
            done = following.end
            yield counted
            continue
        match = _RATE.match(plain, quantity.end) or _RATE_WITH_NOUN.match(plain, quantity.end)
        if match is not None and following is not None and following.start < match.end():
            # "once every ninety days" is a number of times, and ninety days: only "one hour" may be inside a rate
            match = match if plain.startswith(("one ", "mot ", "half", "a ", "an "), following.start) else None
        if match is None or quantity.date or quantity.is_spelled_one:
            yield quantity
            continue
        done = match.end()
        yield _make_speed(quantity, _name_rate(match), done) or quantity._replace(
            rate=_name_rate(match), rate_span=match.span(), rate_size=_read_rate_size(match["noun"])
        )


_COUNTED_RATE = re.compile(
    r"(?: (?!(?:and|or|if|when|but|to|before|after|until|va|neu|khi|den)\b)[a-z]+){0,3} (?:per|each|every|moi|tung) "
    r"| ?/ ?"
)
_MEASURES_OF_RATES = frozenset(("mass", "volume", "length", "area", "data", "energy"))


def _read_counted_rate(quantity: Quantity, following: Quantity | None, plain: str) -> Quantity | None:
    """Return a quantity per a measure: "5 ml per 10 kg"; None if none follows."""
    if following is None or quantity.date or quantity.is_range or following.is_range or not following.readings:
        return None
    if _COUNTED_RATE.fullmatch(plain, quantity.end, following.start) is None:
        return None
    reading = following.readings[0]
    if reading.dimension not in _MEASURES_OF_RATES or reading.low <= 0:
        return None
    return quantity._replace(
        rate=plain[following.start : following.end],
        rate_span=(quantity.end, following.end),
        rate_size=(reading.dimension, reading.low),
    )


def _read_rate_size(noun: str | None) -> tuple[str, Decimal] | None:
    """Return the dimension and size of the unit that a rate is per: "kg" of "5 ml per kg"; None for what is no unit."""
    unit = UNITS.get(noun or "")
    if unit is None or unit.dimension not in _MEASURES_OF_RATES:
        return None
    return unit.dimension, unit.sizes[0]


_SECONDS_OF_RATES = {"hour": 3600, "minute": 60, "second": 1}
_SPEEDS = {"length": ("speed", Decimal(1000)), "volume": ("flow", Decimal(1))}
"""The dimension of a length and of a volume per span of time, and how many of their base units its base unit has."""


def _make_speed(quantity: Quantity, rate: str, end: int) -> Quantity | None:
    """Return "225 kilometres an hour" as the speed that it is, None for other rates."""
    seconds = _SECONDS_OF_RATES.get(rate)
    dimensions = {reading.dimension for reading in quantity.readings}
    speed = _SPEEDS.get(dimensions.pop()) if len(dimensions) == 1 else None
    if seconds is None or speed is None:
        return None
    dimension, size = speed
    factor = Decimal(3600) / seconds / size
    readings = tuple(Reading(dimension, reading.low * factor, reading.high * factor) for reading in quantity.readings)
    return quantity._replace(readings=readings, end=end, unit_size=quantity.unit_size * factor)


def _name_rate(match: re.Match[str]) -> str:
    noun = match["noun"] or match["adverb"]
    name = name_rate_noun(noun)
    return f"half {name}" if match["half"] else name


def is_time_rate(rate: str) -> bool:
    """Return whether a rate is per a span of time, so that another span is another rate."""
    return rate in _TIMES_OF_RATES


def name_rate_noun(word: str) -> str:
    """Return what a rate is per whose noun is a folded word: "year" for "annum"."""
    return _RATE_NOUNS.get(word) or word.removesuffix("s")


def _read_surroundings(quantity: Quantity, plain: str) -> Quantity:
    """Return the quantity with the bound or "about" that is written around it, as a part of it."""
    before = plain[max(0, quantity.start - _BEFORE) : quantity.start].rstrip(" $€£¥")
    # Most quantities follow no such word; looking at the last word alone saves most of the time.
    may_be_bound = before.rpartition(" ")[2] in _LAST_WORDS or before[-1:] in "><≥≤=~≈"
    match = _BOUND_BEFORE.search(before) if before and may_be_bound else None
    window_start = max(0, quantity.start - _BEFORE)
    lead = _LEAD_TIME.match(plain, quantity.end) if _is_duration(quantity) else None
    if match is not None:
        bound = _read_bound(match)
        if lead is not None and _LATEST.match(match[0].lstrip()):
            bound = _OPPOSITE[bound]
        return quantity._replace(bound=bound, start=window_start + match.start())
    after = _BOUND_AFTER.match(plain, quantity.end)
    if after is not None:
        return quantity._replace(bound=">=" if after["least"] else "<=", end=after.end())
    named = _NAMED_BOUND.match(plain, max(quantity.end, quantity.rate_span[1])) or _COUNTED_BOUND.match(
        plain, quantity.end
    )
    if named is not None:
        return quantity._replace(bound=">=" if named["least"] else "<=")
    if lead is not None and lead["limit"]:
        return quantity._replace(bound=">=" if lead["limit"].endswith(("latest", "later")) else "<=")
    about = _ABOUT_BEFORE.search(before) if before and may_be_bound else None
    if about is not None:
        return quantity._replace(is_approximate=True, start=window_start + about.start())
    return quantity


_LEAD_TIME = re.compile(
    r"(?: left| to go)? (?:before|prior to|ahead of|in advance)\b"
    r"(?:[\w' ]{0,30}? (?P<limit>at the (?:latest|earliest)|or (?:earlier|later)))?"
)
_LATEST = LatePattern(r"(?:no|not) (?:later|earlier) than|not before|up to")
_OPPOSITE: dict[Bound, Bound] = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "": ""}
"""No later than 45 minutes before a departure are at least 45 minutes."""


def _is_duration(quantity: Quantity) -> bool:
    return any(reading.dimension in ("duration", "calendar") for reading in quantity.readings)


def _read_bound(match: re.Match[str]) -> Bound:
    if match["least"]:
        return ">="
    if match["most"]:
        return "<="
    is_more = match["more"] is not None or match["gt"] is not None
    if match["negation"]:
        return "<=" if is_more else ">="
    return ">" if is_more else "<"
