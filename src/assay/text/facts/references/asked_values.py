"""What kind of value a question asks for, in English and Vietnamese, and which quantities are of that kind."""

from __future__ import annotations

import re
from typing import Literal

from assay.text.facts.reading.read_text import ReadText
from assay.text.late_pattern import LatePattern
from assay.text.quantities.quantity import WEEKDAY_NUMBER, Quantity

AskedValue = Literal["", "amount", "day", "moment", "measure"]
"""What a question asks for: an amount of money, a day, a moment in time, another measure or count, or no value."""
_ASKS_AMOUNT = LatePattern(
    r"\b(?:how much|what do(?:es)?(?: [\w'-]+){1,8} (?:cost|pay|charge)|what(?:'s| is| are| was| were) the"
    r"(?: [\w'-]+){0,4} (?:costs?|prices?|fees?|fares?|charges?|fine|rent|deposit|tuition)|(?:bao nhieu|may) tien)\b"
)
_ASKS_DAY = LatePattern(r"\b(?:(?:which|what) (?:week)?(?:days?|dates?)|(?:ngay|thu) (?:nao|may)|may thu nao)\b")
_ASKS_MOMENT = LatePattern(
    r"\b(?:when|when's|what time|what(?:'s| is) the(?: [\w'-]+){0,4} deadline"
    r"|khi nao|bao gio|may gio|luc nao|gio nao)\b"
)
_ASKS_MEASURE = LatePattern(
    r"\b(?:how (?:many|long|far|often|old|tall|high|big|large|heavy|late|early|soon|wide|deep|fast)"
    r"|what(?:'s| is| are| was| were) the(?: [\w'-]+){0,4} (?:minimum|maximum|limit|rate|percentage|share|age|number"
    r"|size|length|height|weight|width|depth|speed|temperature|capacity|distance|duration)"
    r"|what(?:'s| is| are| was| were) the (?:minimum|maximum|lowest|highest|least|most) \w+"
    r"|what (?:percentage|share|age|number|size|speed|temperature)"
    r"|bao nhieu|bao lau|bao xa|toi da|toi thieu|nhieu nhat|it nhat"
    r"|may (?:bai|buoi|cai|can|chiec|chuyen|con|cuon|gio|ky|lan|lop|mon|nam|ngay|nguoi|phan|phong|phut|quyen|suat|tang"
    r"|thang|tieng|tuan|tuoi|ve|vien))\b"
)
"""The Vietnamese question word for a small number is folded like the English "may": it counts before a noun alone."""
_QUESTION_WORD = re.compile(
    r"\b(?:who|whom|whose|what|where|when|why|which|how|ai|dau|khi nao|bao gio|bao nhieu|bao lau|vi sao|tai sao)\b"
)
_DAYS = frozenset(("date", "ordinal", WEEKDAY_NUMBER))
_MOMENTS = frozenset(("time", "date", "duration", "calendar", WEEKDAY_NUMBER))
_NO_AMOUNTS = frozenset(("time", "ordinal", "code", "code abroad", WEEKDAY_NUMBER))


def find_asked_value(question: ReadText) -> AskedValue:
    """Return what kind of value a question asks for; none if it asks for two things, of which a value is only one.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> questions = "How far is it?", "Khi nào đóng cửa?", "Who pays how much?"
    >>> [find_asked_value(read_text(question)) for question in questions]
    ['measure', 'moment', '']
    """
    if len(_QUESTION_WORD.findall(question.plain)) > 1:
        return ""
    if _ASKS_DAY.search(question.plain) is not None:
        return "day"
    if _ASKS_MOMENT.search(question.plain) is not None:
        return "moment"
    if _ASKS_AMOUNT.search(question.plain) is not None:
        return "amount"
    return "measure" if _ASKS_MEASURE.search(question.plain) is not None else ""


def is_value_asked(quantity: Quantity, asked: AskedValue) -> bool:
    """Return whether a quantity is of the kind that is asked for.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> [is_value_asked(value, "amount") for value in read_text("£5 from 9 am").quantities]
    [True, False]
    """
    dimensions = {"date"} if quantity.date else {reading.dimension for reading in quantity.readings}
    if asked == "day":
        return not dimensions.isdisjoint(_DAYS)
    if asked == "moment":
        return not dimensions.isdisjoint(_MOMENTS)
    if asked == "amount":
        return any(dimension.startswith("money") or dimension in ("", "share") for dimension in dimensions)
    return "date" not in dimensions and not dimensions <= _NO_AMOUNTS
