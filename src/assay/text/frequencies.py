"""How often something happens, in words: "daily", "every other week", "twice a month". The texts are folded."""

from __future__ import annotations

from fractions import Fraction

from assay.text.late_pattern import LatePattern

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
}
_FREQUENCY = LatePattern(
    r"\b(?:(?P<count>once|one time|twice|two times) (?:a|an|per|each|every|in every)"
    r"(?P<other> (?:other|second|two))? (?P<counted>hour|day|week|month|year)s?"
    r"|(?:each and every|every single|each|every)(?P<second> (?:other|second|two))?"
    r" (?P<every>hour|day|week|month|year)s?"
    r"|(?:twice(?P<double> ))?(?P<adverb>hourly|daily|weekly|monthly|yearly|annually)"
    r"|(?:moi|hang) (?P<vi>ngay|tuan|thang|nam|gio)(?: mot lan)?|cach (?P<vi_other>ngay))\b"
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
    return None if match is None else _read_frequency(match.groupdict())


def _read_frequency(parts: dict[str, str | None]) -> tuple[Fraction, str]:
    named = next(parts[name] for name in ("counted", "every", "adverb", "vi", "vi_other") if parts[name])
    times = Fraction(2 if parts["double"] or parts["count"] in ("twice", "two times") else 1)
    if parts["other"] or parts["second"] or parts["vi_other"]:
        times /= 2
    return times, _UNITS.get(named or "", named or "")
