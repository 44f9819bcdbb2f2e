"""Days of the week in folded text, English and Vietnamese: named, in a range, or several of them together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.text.late_pattern import LatePattern

WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:thu (?:hai|ba|tu|nam|sau|bay)|chu nhat)\b")
"""A day of the week."""
WEEK = LatePattern(
    r"\b(?:weekdays?|weekends?|every ?day|daily|all week|days? a week|hang ngay|moi ngay|cuoi tuan|ngay thuong"
    r"|(?:ngay )?trong tuan)\b"
)
"""What names several days together."""
_WEEK_ORDER = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEK_ORDER_VIETNAMESE = ("thu hai", "thu ba", "thu tu", "thu nam", "thu sau", "thu bay", "chu nhat")
_DAY_RANGE = LatePattern(r" ?(?:to|through|until|till|-|den) ?")


def list_days(plain: str, start: int, end: int) -> Iterator[str]:
    """Yield the weekdays of a stretch of text, with those between the ends of a range: "Monday to Friday"."""
    last: re.Match[str] | None = None
    for match in WEEKDAY.finditer(plain, start, end):
        if last is not None and _DAY_RANGE.fullmatch(plain, last.end(), match.start()):
            for week in (_WEEK_ORDER, _WEEK_ORDER_VIETNAMESE):
                if name_day(last[0]) in week and name_day(match[0]) in week:
                    low, high = week.index(name_day(last[0])), week.index(name_day(match[0]))
                    yield from (week[low:high] if low < high else (*week[low:], *week[:high]))
        yield name_day(match[0])
        last = match


def name_day(day: str) -> str:
    """Return the name of a day without the ending of the plural."""
    return day.removesuffix("s")
