"""Days of the week in folded text, English and Vietnamese: named, in a range, or several of them together.

Those of German, French and Spanish are spelled in English first, so that "mittwochs" says Wednesday.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.text.late_pattern import LatePattern
from assay.text.number_words import WEEKDAYS
from assay.text.pattern_cache import compile_pattern

WEEKDAY = compile_pattern(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:thu (?:hai|ba|tu|nam|sau|bay)|chu nhat)\b"
)
"""A day of the week."""
WEEK = LatePattern(
    r"\b(?:weekdays?|weekends?|every ?day|daily|all week|days? a week|hang ngay|moi ngay|cuoi tuan|ngay thuong"
    r"|(?:ngay )?trong tuan)\b"
)
"""What names several days together."""
_VIETNAMESE_WEEKDAYS = ("thu hai", "thu ba", "thu tu", "thu nam", "thu sau", "thu bay", "chu nhat")
_DAY_RANGE = LatePattern(r" ?(?:to|through|until|till|-|den) ?")

_OTHER_NAMES = (
    "Montag|lundi|lunes",
    "Dienstag|mardi|martes",
    "Mittwoch|mercredi|miércoles",
    "Donnerstag|jeudi|jueves",
    "Freitag|vendredi|viernes",
    "Samstag|Sonnabend|samedi|sábado",
    "Sonntag|dimanche|domingo",
)
_OTHER_DAYS = {
    spelled: day.capitalize()
    for day, names in zip(WEEKDAYS, _OTHER_NAMES, strict=True)
    for name in names.split("|")
    for spelled in (name, f"{name}s", *((f"{name.lower()}s",) if name[0].isupper() else ()))
}
"""As written: "Domingo" is a name of persons too, and "freitag" no German noun."""
_OTHER_DAY = LatePattern(rf"\b(?:{'|'.join(sorted(_OTHER_DAYS, key=len, reverse=True))})\b")


_SHORT_DAYS = {day[:3].capitalize(): day.capitalize() for day in WEEKDAYS}
_SHORT_DAYS |= {"Tues": "Tuesday", "Thur": "Thursday", "Thurs": "Thursday"}
_SHORT = "|".join(sorted(_SHORT_DAYS, key=len, reverse=True))
_SHORT_DAY = LatePattern(
    rf"(?<![\w.'-])(?P<after>(?:on|On|every|Every|each) )(?P<day>{_SHORT})\b(?:\.(?= ?[\da-z]))?"
    rf"|(?<![\w.'])(?P<alone>{_SHORT})\b(?:\.(?= ?[\da-z]))?"
    rf"(?=\s*(?:[:;|)/&+–-]|$)|,? \d|,? ?(?:to|and|until|till|through|from|at|or|[-–&+]) ?(?:\d|{_SHORT}|[A-Z]\w+day))"
)
"""As written: "Sat" begins a sentence too, and "Sun" is a name."""


def _spell_short_day(match: re.Match[str]) -> str:
    return f"{match['after'] or ''}{_SHORT_DAYS[match['day'] or match['alone']]}"


def spell_other_days(text: str) -> str:
    """Return a text with the weekdays of German, French and Spanish in English, and short ones in full.

    >>> spell_other_days("Mon-Fri 9 to 5, Sat: closed. Open on Sun. The Sun shines")
    'Monday-Friday 9 to 5, Saturday: closed. Open on Sunday. The Sun shines'

    >>> spell_other_days("Mittwochs zu, le jeudi et Montag bis 8; Placido Domingo")
    'Wednesday zu, le Thursday et Monday bis 8; Placido Domingo'
    """
    return _SHORT_DAY.sub(_spell_short_day, _OTHER_DAY.sub(_spell_other_day, text))


def _spell_other_day(match: re.Match[str]) -> str:
    return _OTHER_DAYS[match[0]]


def list_days(plain: str, start: int, end: int) -> Iterator[str]:
    """Yield the weekdays of a stretch of text, with those between the ends of a range: "Monday to Friday"."""
    last: re.Match[str] | None = None
    for match in WEEKDAY.finditer(plain, start, end):
        if last is not None and _DAY_RANGE.fullmatch(plain, last.end(), match.start()):
            for week in (WEEKDAYS, _VIETNAMESE_WEEKDAYS):
                if name_day(last[0]) in week and name_day(match[0]) in week:
                    low, high = week.index(name_day(last[0])), week.index(name_day(match[0]))
                    yield from (week[low:high] if low < high else (*week[low:], *week[:high]))
        yield name_day(match[0])
        last = match


def name_day(day: str) -> str:
    """Return the name of a day without the ending of the plural."""
    return day.removesuffix("s")
