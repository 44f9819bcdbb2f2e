"""Times of day, dates that `numbers` does not read, halves and other fractions, dozens and telephone numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache

from assay.text.late_pattern import LatePattern, squeeze_pattern
from assay.text.normalisation import fold_in_place
from assay.text.number_words import CARDINALS, ORDINALS, SHORT_MONTHS, VIETNAMESE_DIGITS
from assay.text.numbers import SPELLED_NUMBER_PATTERN, parse_spelled_number
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.quantity import CODE, INTERNATIONAL_CODE, Quantity, make_point
from assay.text.quantities.unit_names import find_unit
from assay.text.quantities.units import PLAIN, SHARE, TIME, UNITS

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)


_VIETNAMESE_MONTHS = ("gieng", "hai", "ba", "tu", "nam", "sau", "bay", "tam", "chin", "muoi", "muoi mot", "muoi hai")


_VIETNAMESE_HOURS = {word: number for word, number in VIETNAMESE_DIGITS.items() if word != "tu"} | {"muoi": 10}


_VIETNAMESE_HOUR = "|".join(_VIETNAMESE_HOURS)


_PARTS_OF_DAY = {"sang": 0, "trua": 12, "chieu": 12, "toi": 12, "dem": 12, "am": 0, "pm": 12}


_FRACTION_WORDS = {"half": "50", "third": "33.33", "quarter": "25", "fifth": "20", "tenth": "10"}


_HALF_UNITS = {
    "year": ("calendar", 12), "nam": ("calendar", 12), "hour": ("duration", 3600), "gio": ("duration", 3600),
    "tieng": ("duration", 3600), "day": ("duration", 86400), "ngay": ("duration", 86400),
    "month": ("calendar", 1), "thang": ("calendar", 1),
}  # fmt: skip


_QUARTER_OF_HOUR = 15 * 60
_HALF_UNIT = "|".join(_HALF_UNITS)


_SINGLE_UNITS = ("minute", "hour", "day", "week", "fortnight", "month", "year", "decade", "century")


_FEWEST_CODE_DIGITS = 9


_FEWEST_HOTLINE_DIGITS = 8


_ENGLISH_COUNTS = {word: number for number, word in enumerate(CARDINALS[:13]) if number}
_ENGLISH_COUNT = "|".join(_ENGLISH_COUNTS)
COUNTS = _ENGLISH_COUNTS | {"a": 1, "mot": 1, "hai": 2, "ba": 3, "bon": 4, "nam": 5}


_COUNT = "|".join(sorted(COUNTS, key=len, reverse=True))


_MAJOR_UNITS = {"dollar": "money:USD", "pound": "money:GBP", "euro": "money:EUR"}


_OFTEN = {"once": 1, "twice": 2, "thrice": 3}


_PART = "sang|trua|chieu|toi|dem"


_DAY_HALF = r"(?:\ (?P<pa_half>[ap]\.?m\b\.?|in\ the\ (?:morning|afternoon|evening)|at\ night))?"


_MINUTES = {"half": 30, "a quarter": 15, "quarter": 15, "five": 5, "ten": 10, "twenty": 20, "twenty five": 25}
_MINUTES |= {"twenty-five": 25, "nam": 5, "muoi": 10, "muoi lam": 15, "hai muoi": 20}


_SPECIAL_START = (
    rf"\d|\+\d|\(\d|noon|mid(?:day|night)|thang\ |(?:ngay|mong)\ |nua|half|quarter|third|fifth|tenth|fifty"
    rf"|nam\ muoi|{'|'.join(SHORT_MONTHS)}"
    rf"|{'|'.join(ORDINALS)}|twice|thrice|once|(?:{_VIETNAMESE_HOUR})\ (?:gio\ )?ruoi"
    rf"|(?:muoi\ )?(?:{_VIETNAMESE_HOUR})\ gio"
    rf"|(?:an?|{_COUNT})\ (?:[htqfymdngiaow]|past|dollar|pound|euro)"
    r"|(?:five|ten|twenty)(?:[\ -]five)?(?:\ minutes)?\ (?:past|after|to)\b"
)


_SPECIAL = rf"""(?<![\w.,/])(?={_SPECIAL_START})(?:
    (?P<code>(?!\d\d?(?P<cd_sign>[./-])\d\d?(?:(?P=cd_sign)\d{{2,4}})?(?![\d/-]|\.\d))
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
  | (?P<evens>(?:fifty[\ -]fifty|50\ ?[-/:]\ ?50(?!\d)|nam\ muoi[\ -]nam\ muoi)\b(?![/-]\d))
  | (?P<clock>(?P<hour>[01]?\d|2[0-3])[:.h](?P<minute>[0-5]\d)(?::[0-5]\d)?(?:\ ?(?P<half>[ap])\.?m\b\.?)?
      (?=(?:,?\ (?P<cl_part>in\ the\ (?:morning|afternoon|evening)|this\ (?:morning|afternoon|evening)|at\ night
        |tonight|(?:buoi\ )?(?:{_PART}))\b)?))
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
  | (?P<dash>(?<=ngay\ )(?P<d_day>\d{{1,2}})-(?P<d_month>\d{{1,2}})(?![\w/-]|[.,]\d|\ thang)
      |(?<!-)(?P<d_padded>[0-3]\d)-(?P<d_padded_month>0[1-9])(?![\w/-]|[.,]\d))
  | (?P<iso>(?P<i_year>\d{{4}})-(?P<i_month>\d{{2}})-(?P<i_day>\d{{2}})(?=t\d))
  | (?P<quarter_unit>(?:an?\ )?quarter[\ -]hour\b)
  | (?P<half_unit>(?:half\ an?|nua|(?<!and\ a\ )(?<!and-a-)half(?=[\ -]hour\b))[\ -](?P<hu_unit>{_HALF_UNIT})s?\b)
  | (?P<and_half>(?P<ah_count>\d+|an|{_COUNT})\ (?P<ah_unit>{_HALF_UNIT})s?
      \ (?:and\ a\ (?:half|(?P<ah_quarter>quarter))|ruoi)\b)
  | (?P<a_unit>an?\ (?:full\ |whole\ )?(?P<au_unit>{"|".join(_SINGLE_UNITS)})\b(?:'s)?)
  | (?P<in_words>one\ in\ (?P<in_count>{_ENGLISH_COUNT}|\d+)\b)
  | (?P<fraction>(?:(?P<f_count>an?|one|two|three|four)\ )?(?P<f_word>half|third|quarter|fifth|tenth)s?\b
      (?!\ (?:year|of\ {_MONTH}|day|time|party)))
  | (?P<nua>(?:mot\ )?nua)\b
    )"""


@cache
def _special_pattern() -> re.Pattern[str]:
    return compile_pattern(squeeze_pattern(_SPECIAL))  # compiled on first use, because it takes long


_SPECIAL_WORDS = (
    *("thang", "gio", " in the ", " past ", " after ", " at night", "noon", "midday", "midnight", "o'clock"),
    *("nua", "ruoi", "half", "halv", "third", "quarter", "fifth", "tenth", "one in ", "once", "twice", "thrice"),
    *("dozen", "dollar", "pound", "euro"),
    *("fifty", "nam muoi", "50-50", "50 - 50", "50/50", "50:50"),
)


_MAY_BE_SPECIAL = compile_pattern(
    r"\d(?: ?[x×]| ?[:.hap]\.?[\dm]|h|/\d|-\d|t\d)|[(+]\d"
    rf"|\b(?:0\d+[ /.-]?\d|\d{{3}}[.-]\d{{3}}[.-]\d|1[89]00[ .-]?\d|ta\b|{'|'.join(SHORT_MONTHS)})"
    r"|(?:five|ten|twenty)(?: minutes)? to | an? (?:full |whole )?[dwhmyn]|^an? "
)


def find_worded_quantities(text: str, plain: str) -> Iterator[Quantity]:
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
        or (None if _is_modal_verb(match, text) else _read_date(match, names))
        or _read_count(match, names, text)
        or _read_fraction(match, names, text)
    )


_DIAL_BEFORE = LatePattern(
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
    return Quantity((make_point(INTERNATIONAL_CODE if is_abroad else CODE, int(digits)),), *match.span())


_SINGLE_BEFORE = compile_pattern(
    r"(?:^|[.!?:;(\n] ?|\b(?:for|within|takes?|lasts?|lasting|after|only|just|about|up to|than|at least|at most|is|it's"
    r"|least|until|till|with|without|needs?|requires?|(?<!\d )(?<!times )(?<!s )in) )$"
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
    return Quantity((make_point(unit.dimension, unit.sizes[0]),), *match.span(), unit_size=unit.sizes[0])


def _read_count(match: re.Match[str], names: set[str], text: str) -> Quantity | None:
    """Return the number of dozens or of times that words state; "ta" is a dozen only where it is written "tá"."""
    if "often" in names:
        return Quantity((make_point("times", _OFTEN[match["often"]]),), *match.span())
    if "times" in names:
        return Quantity((make_point("times", int(match["tm_count"])),), *match.span())
    if "dozen" not in names or (match[0].endswith("ta") and not text[: match.end()].lower().endswith("tá")):
        return None
    count = 12 * (Decimal("0.5") if match["dz_half"] else Decimal(_read_counted(match["dz_count"])))
    following = find_unit(text, match.string, match.end())
    if following is None:
        return Quantity((make_point(PLAIN, count),), *match.span())
    unit, end = following
    return Quantity(tuple(make_point(unit.dimension, count * size) for size in unit.sizes), match.start(), end)


def _read_counted(word: str) -> int:
    return int(word) if word.isdecimal() else COUNTS["a" if word == "an" else word]


def _read_clock_words(match: re.Match[str], names: set[str]) -> Quantity | None:
    """Return a time of day in words: "half past nine in the evening", "9 in the morning", "8 rưỡi sáng"."""
    if "past" in names:
        minutes = -15 if match["to_quarter"] else _read_minutes(match["pa_minutes"] or match["to_minutes"])
        if match["to_minutes"]:
            if not _is_minutes_to_hour(match):
                return None
            minutes = -minutes
        elif match["pa_minutes"] and _counts_what_follows(match):
            return None
        return _make_worded_time(_read_counted(match["pa_hour"]), minutes, match["pa_half"], match.span())
    if "in_the" in names:
        if match.string[max(0, match.start() - 2) : match.start()].strip()[-1:] in _CURRENCY_SIGNS:
            return None  # "€8 in the morning" is a price
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


_COUNTED_AFTER = LatePattern(
    r" (?!(?:sharp|prompt|exactly|daily|today|tonight|tomorrow|local|am|pm|o'clock|and|but|or|so|on|in|at|of|for|from"
    r"|to|if|when|with|while|is|are|was|were|has|have|had|can|may|must|will|would|should|you|it|they|he|she|we|i|not|then"
    r"|because|since|as|by|before|after|until|till|a|an|the|this|that|every|each|only|already|now)\b)[a-z]"
)


def _counts_what_follows(match: re.Match[str]) -> bool:
    """Whether the hour of "thirty minutes after 5" counts what follows: "after 5 failed logins"."""
    is_of_clock = " past " in match[0] and " minutes" not in match[0] and not match["pa_minutes"].isdecimal()
    if match["pa_half"] or is_of_clock or match[0].endswith("o'clock"):
        return False
    return _COUNTED_AFTER.match(match.string, match.end()) is not None


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
        readings = (make_point(TIME, hour * 60 + minute), make_point("duration", hour * 3600 + minute * 60))
        return Quantity(readings, *span)
    return None


def _read_major_and_minor(match: re.Match[str]) -> Quantity | None:
    """Read "a dollar fifty" and "two pounds twenty"."""
    count_text, minor_text = match["mj_count"], match["mj_minor"].replace("-", " ")
    count = 1 if count_text in ("a", "an") else int(count_text) if count_text.isdecimal() else _read_counted(count_text)
    minor = int(minor_text) if minor_text.isdecimal() else _read_spelled(minor_text)
    if minor is None or not 10 <= minor <= 99:
        return None
    return Quantity((make_point(_MAJOR_UNITS[match["mj_unit"]], count + Decimal(minor) / 100),), *match.span())


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
    if hour < _HALF_OF_HOURS and _is_in_later_half(match, text):
        readings = [make_point(TIME, hour * 60 + minute), make_point(TIME, (hour + _HALF_OF_HOURS) * 60 + minute)]
        return Quantity(tuple(readings), *match.span())
    if mark == ".":
        if text[max(0, match.start() - 1) : match.start()] in _CURRENCY_SIGNS:
            return None
        decimal = Decimal(f"{hour}.{match['minute']}")
        return None if hour < 10 and len(match["hour"]) == 1 else Quantity(
            (make_point(PLAIN, decimal), make_point(TIME, hour * 60 + minute)), *match.span()
        )  # fmt: skip
    readings = [make_point(TIME, hour * 60 + minute)]
    if mark in "hH":
        readings.append(make_point("duration", hour * 3600 + minute * 60))
    return Quantity(tuple(readings), *match.span())


_HALF_OF_HOURS = 12
_LATEST_SMALL_HOUR = 5
_WRITTEN_PARTS = frozenset(("trưa", "chiều", "tối", "đêm"))


def _is_in_later_half(match: re.Match[str], text: str) -> bool:
    """Whether a time is followed by a part of the day after noon.

    "Tôi" is another word than "tối", and one at night may be an hour of the morning.
    """
    part = match["cl_part"]
    if not part or part.endswith("morning"):
        return False
    word = part.removeprefix("buoi ")
    if word in ("dem", "at night", "tonight") and int(match["hour"]) <= _LATEST_SMALL_HOUR:
        return False
    if word not in _PARTS_OF_DAY:
        return True
    written = text[: match.end("cl_part")].rpartition(" ")[2].lower()
    is_unmarked = written.isascii() and text.isascii() and word != "toi"
    return written in _WRITTEN_PARTS or (is_unmarked and word != "sang")


def _make_time(minutes: Iterable[int], span: tuple[int, int]) -> Quantity:
    return Quantity(tuple(make_point(TIME, value) for value in minutes), *span)


_VERB_AFTER = LatePattern(r" [a-z]+")
_DATE_BEFORE = LatePattern(r"\b(?:on|by|until|till|from|since|of|before|after|to|between|and|ends?|starts?) $")


def _is_modal_verb(match: re.Match[str], text: str) -> bool:
    """Whether the "may" of "14 may drive" is a verb: written small, with another word after it."""
    if match["dm_month"] != "may" or match["dm_year"] or text[slice(*match.span("dm_month"))] != "may":
        return False
    is_dated = _DATE_BEFORE.search(match.string, max(0, match.start() - 10), match.start()) is not None
    return not is_dated and _VERB_AFTER.match(match.string, match.end()) is not None


def _read_date(match: re.Match[str], names: set[str]) -> Quantity | None:
    span = match.span()
    if "day_month" in names:
        day_text = match["dm_day"]
        day = int(day_text) if day_text.isdecimal() else ORDINALS.index(day_text) + 1
        return _make_date(match["dm_year"], SHORT_MONTHS.index(match["dm_month"][:3]) + 1, day, span)
    if "month_day" in names:
        return _make_date(match["md_year"], SHORT_MONTHS.index(match["md_month"][:3]) + 1, int(match["md_day"]), span)
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
    if "dash" in names:
        return _read_dashed(match)
    if "iso" in names:
        return _make_date(match["i_year"], int(match["i_month"]), int(match["i_day"]), span)
    return None


def _read_dashed(match: re.Match[str]) -> Quantity | None:
    """Return a day and a month with a dash, which elsewhere is a range: "ngày 1-12", and "15-05", which descends."""
    if match["d_day"] is not None:
        return _make_date(None, int(match["d_month"]), int(match["d_day"]), match.span())
    day, month = int(match["d_padded"]), int(match["d_padded_month"])
    return _make_date(None, month, day, match.span()) if day > month else None


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


_OF_A = compile_pattern(r" (?:of )?an? (?=\w)")


def _take_part_of_unit(share: Decimal, match: re.Match[str], text: str, *, needs_article: bool) -> Quantity | None:
    """Return the part of a unit that follows a fraction, such as "a quarter of an hour"; None without a unit."""
    plain = fold_in_place(text)
    article = _OF_A.match(plain, match.end())
    if article is None and needs_article:
        return None
    following = find_unit(text, plain, article.end() if article is not None else match.end())
    if following is None or following[0].dimension == SHARE:
        return None
    unit, end = following
    readings = tuple(make_point(unit.dimension, share / 100 * size) for size in unit.sizes)
    return Quantity(readings, match.start(), end, unit_size=unit.sizes[0])


def _make_share(share: Decimal, span: tuple[int, int]) -> Quantity:
    """Return a share; "half" is 50%, and 0.5 of what is counted."""
    return Quantity((make_point(SHARE, share), make_point(PLAIN, share / 100)), *span)


def _read_fraction(match: re.Match[str], names: set[str], text: str) -> Quantity | None:
    span = match.span()
    if "quarter_unit" in names:
        return Quantity((make_point("duration", _QUARTER_OF_HOUR),), *span)
    if "half_unit" in names:
        dimension, size = _HALF_UNITS[match["hu_unit"]]
        return Quantity((make_point(dimension, Decimal(size) / 2),), *span)
    if "and_half" in names:
        dimension, size = _HALF_UNITS[match["ah_unit"]]
        count = _read_counted(match["ah_count"])
        part = Decimal("0.25") if match["ah_quarter"] else Decimal("0.5")
        return Quantity((make_point(dimension, (count + part) * size),), *span) if count else None
    if "evens" in names:
        return _make_share(Decimal(50), span)
    if "in_words" in names:
        count = _read_counted(match["in_count"])
        return Quantity((make_point(SHARE, Decimal(100) / count),), *span) if count else None
    if "fraction" in names and (match["f_count"] or match["f_word"] == "half"):
        value = Decimal(_FRACTION_WORDS[match["f_word"]]) * _read_counted(match["f_count"] or "a")
        return _take_part_of_unit(value, match, text, needs_article=True) or _make_share(value, span)
    if "nua" in names:
        return _take_part_of_unit(Decimal(50), match, text, needs_article=False) or _make_share(Decimal(50), span)
    return None
