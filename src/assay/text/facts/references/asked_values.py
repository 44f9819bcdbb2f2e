"""What kind of value a question asks for, in the languages of `question_cues`, and which quantities are of it."""

from __future__ import annotations

from typing import Literal

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.question_cues import ASKS_AMOUNT, ASKS_DAY, ASKS_MEASURE, ASKS_MOMENT, QUESTION_WORD
from assay.text.facts.reading.read_text import ReadText
from assay.text.quantities.quantity import WEEKDAY_NUMBER, Quantity

AskedValue = Literal["", "amount", "day", "moment", "measure"]
"""What a question asks for: an amount of money, a day, a moment in time, another measure or count, or no value."""
_ASKS_AMOUNT = build_pattern(rf"\b{ASKS_AMOUNT}\b")
_ASKS_DAY = build_pattern(rf"\b{ASKS_DAY}\b")
_ASKS_MOMENT = build_pattern(rf"\b{ASKS_MOMENT}\b")
_ASKS_MEASURE = build_pattern(rf"\b{ASKS_MEASURE}\b")
"""The Vietnamese question word for a small number is folded like the English "may": it counts before a noun alone."""
_QUESTION_WORD = build_pattern(rf"\b{QUESTION_WORD}\b")
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
    if len(list(_QUESTION_WORD.finditer(question.plain))) > 1:
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
