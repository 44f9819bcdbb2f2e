"""How often something happens, in words: "daily", "every other week", "twice a month". The texts are folded."""

from __future__ import annotations

from fractions import Fraction

from assay.text.late_pattern import LatePattern
from assay.text.number_words import CARDINALS, VIETNAMESE_DIGITS

_UNITS = {
    "ngay": "day",
    "tuan": "week",
    "thang": "month",
    "nam": "year",
    "gio": "hour",
    "hourly": "hour",
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "annually": "year",
    "quarterly": "quarter",
}
_COUNTS = {word: number for number, word in enumerate(CARDINALS[:13]) if number > 1}
_SIZES = {"hour": Fraction(1, 24), "day": Fraction(1), "week": Fraction(7), "month": Fraction(1), "year": Fraction(12)}
"""Hours and weeks in days, years in months."""
_VIETNAMESE_COUNTS = {**VIETNAMESE_DIGITS, "muoi": 10}
_VIETNAMESE_COUNT = rf"(?:\d{{1,2}}|{'|'.join(_VIETNAMESE_COUNTS)})"
_MONTHS_OF_A_QUARTER = 3
_ENGLISH_UNIT = "hour|day|week|month|quarter|year"
_FREQUENCY = LatePattern(
    r"\b(?:(?P<count>(?P<once>once|one time|1 ?x|1 time)|twice|two times|2 ?x|2 times"
    rf"|(?P<many>[3-9]|1[0-2]|{'|'.join(_COUNTS)})(?: times| ?x))"
    r"(?:/| (?:a|an|per|each|every|in every) )(?P<other>(?:other|second|two) )?"
    rf"(?P<counted>{_ENGLISH_UNIT})s?"
    r"|(?:each and every|every single|each|every)(?P<second> (?:other|second|two))?"
    rf" (?P<every>{_ENGLISH_UNIT})s?"
    r"|(?:(?:twice|two times|2 ?x|2 times)(?P<double> ))?"
    r"(?P<adverb>hourly|daily|weekly|monthly|quarterly|yearly|annually)"
    rf"|every (?P<span>\d{{1,2}}|{'|'.join(_COUNTS)}) (?P<spanned>{_ENGLISH_UNIT})s"
    r"|(?:moi|hang) (?P<vi>ngay|tuan|thang|nam|gio)(?: mot lan)?(?! (?:\d|hai|ba|bon|nam|sau|tam) lan)"
    rf"|(?:moi )?(?:(?P<vi_span>{_VIETNAMESE_COUNT}) )?(?P<vi_spanned>ngay|tuan|thang|nam|gio|quy) (?:mot|1) lan"
    rf"|(?:(?:mot|1|moi|hang) )?(?P<vi_in>ngay|tuan|thang|nam|quy) (?P<vi_times>{_VIETNAMESE_COUNT}) lan"
    rf"|(?P<vi_count>{_VIETNAMESE_COUNT}) lan(?: ?/ ?| (?:mot|1|moi|trong|trong mot) )"
    r"(?P<vi_per>ngay|tuan|thang|nam|quy)"
    r"|cach (?P<vi_other>ngay))\b"
)


def find_frequencies(plain: str) -> list[tuple[Fraction, str]]:
    """Return the frequencies that a folded text names, each as times and unit: twice a week is (2, "week").

    >>> find_frequencies("daily, or every other week"), find_frequencies("moi thang mot lan")
    ([(Fraction(1, 1), 'day'), (Fraction(1, 2), 'week')], [(Fraction(1, 1), 'month')])
    """
    return [_read_frequency(match.groupdict()) for match in _FREQUENCY.finditer(plain)]


def read_frequency(plain: str) -> tuple[Fraction, str] | None:
    """Return the frequency that a folded text consists of; None if it says anything else.

    >>> read_frequency("every day."), read_frequency("every day from 9 to 5")
    ((Fraction(1, 1), 'day'), None)
    """
    match = _FREQUENCY.fullmatch(plain.strip(" .!"))
    is_quantity = match is not None and any(match[name] for name in ("span", "vi_span", "vi_times", "vi_count"))
    return None if match is None or is_quantity else _read_frequency(match.groupdict())


def read_interval(plain: str) -> tuple[Fraction, str] | None:
    """Return the frequency of a folded text that only says after which span something is done again; None of others.

    >>> read_interval("every 3 months"), read_interval("3 months")
    ((Fraction(1, 3), 'month'), None)
    """
    match = _FREQUENCY.fullmatch(plain.strip(" .!")) if "every " in plain else None
    return _read_frequency(match.groupdict()) if match is not None and match["span"] else None


def is_same_frequency(first: tuple[Fraction, str], second: tuple[Fraction, str]) -> bool:
    """Return whether two frequencies are the same: twice a year is every six months.

    >>> is_same_frequency((Fraction(2), "year"), (Fraction(1, 6), "month"))
    True
    """
    (times, unit), (other_times, other_unit) = first, second
    if unit == other_unit:
        return times == other_times
    is_calendar, is_other_calendar = (name in ("month", "year") for name in (unit, other_unit))
    return is_calendar == is_other_calendar and times / _SIZES[unit] == other_times / _SIZES[other_unit]


def _read_frequency(parts: dict[str, str | None]) -> tuple[Fraction, str]:
    span = parts["span"]
    if span:
        return _in_months(Fraction(1, int(span) if span.isdecimal() else _COUNTS[span]), parts["spanned"] or "")
    vietnamese = next((parts[name] for name in ("vi_spanned", "vi_in", "vi_per") if parts[name]), None)
    if vietnamese:
        return _read_vietnamese(parts, vietnamese)
    named = next(parts[name] for name in ("counted", "every", "adverb", "vi", "vi_other") if parts[name])
    many = parts["many"]
    if many:
        times = Fraction(int(many) if many.isdecimal() else _COUNTS[many])
    else:
        times = Fraction(2 if parts["double"] or (parts["count"] and not parts["once"]) else 1)
    if parts["other"] or parts["second"] or parts["vi_other"]:
        times /= 2
    return _in_months(times, _UNITS.get(named or "", named or ""))


def _in_months(times: Fraction, unit: str) -> tuple[Fraction, str]:
    """Return how often, by the month where it is by the quarter."""
    return (times / _MONTHS_OF_A_QUARTER, "month") if unit == "quarter" else (times, unit)


def _read_vietnamese(parts: dict[str, str | None], unit: str) -> tuple[Fraction, str]:
    """Return how often "6 tháng một lần", "một năm hai lần" and "quý một lần" are."""
    span, times = (
        _read_count(parts[one] or parts[other]) for one, other in (("vi_span", "vi_span"), ("vi_times", "vi_count"))
    )
    return _in_months(Fraction(times, span), "quarter" if unit == "quy" else _UNITS[unit])


def _read_count(word: str | None) -> int:
    if not word:
        return 1
    return int(word) if word.isdecimal() else _VIETNAMESE_COUNTS[word]
