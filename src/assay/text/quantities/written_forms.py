"""Prices and times as French, Spanish and Japanese write them, rewritten in the form that is read: "2€20", "10時半"."""

from __future__ import annotations

import re

from assay.text.late_pattern import LatePattern

_FORM = LatePattern(
    r"(?<![\w.,])(?P<whole>\d{1,4})€(?P<cents>\d{2})(?![\w.,]\d|\w)"
    r"|(?P<half>午前|午後)?(?<!\d)(?P<hour>[01]?\d|2[0-4])時(?!間)(?:(?P<minutes>[0-5]?\d)分|(?P<half_hour>半))?"
)
_HOUR = r"(?:[01]?\d|2[0-4])"
_HOURS = LatePattern(
    rf"(?<![\w.,-])(?P<first>{_HOUR})(?P<joined> (?:à|a|et|y|e|às|(?:a|y|hasta) las|alle) )(?P<last>{_HOUR}) ?h"
    r"(?!\w| ?\d|[.,]\d)"
)
"""Two hours of the day with one sign: "de 10 a 14 h"."""
_NOON = 12


def write_other_forms(text: str) -> str:
    """Return a text with such prices and times in the form that is read; other texts as they are.

    >>> write_other_forms("2€20 le café, 午後3時半まで, 24時間")
    '2,20 € le café, 15:30 まで, 24時間'
    >>> write_other_forms("El sábado de 10 a 14 h, de 9 à 12 h 30")
    'El sábado de 10h a 14h, de 9 à 12 h 30'
    """
    if "h" in text:
        text = _HOURS.sub(r"\g<first>h\g<joined>\g<last>h", text)
    return _FORM.sub(_write, text) if "€" in text or "時" in text else text


def _write(match: re.Match[str]) -> str:
    if match["whole"] is not None:
        return f"{match['whole']},{match['cents']} €"
    hour = int(match["hour"])
    if match["half"] == "午後" and hour < _NOON:
        hour += _NOON
    minutes = 30 if match["half_hour"] else int(match["minutes"] or 0)
    before = "" if match.start() == 0 or match.string[match.start() - 1].isspace() else " "
    morning = "am " if match["half"] == "午前" and 0 < hour < _NOON else ""
    return f"{before}{hour}:{minutes:02} {morning}"
