"""Words of an answer for a time that holds the one a question names: "in winter" and "from May to October".

Asked about January, "in winter" narrows nothing, and asked about August neither does "from May to October": who reads
the timetable of a season says so. The patterns are for folded text (`fold_in_place`).
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.text.facts.reading.read_text import ReadText, Word
from assay.text.number_words import MONTHS
from assay.text.pattern_cache import compile_pattern

_MONTH = "|".join(month for month in MONTHS if month != "may")
_ASKED_MONTH = compile_pattern(rf"\b(?P<name>{_MONTH})\b|\b(?:in|of|early|late|mid|this|next|during) (?P<may>may)\b")
"""A month that is named; "may" is one only after a word of time."""
_RANGE = compile_pattern(
    rf"\b(?P<first>may|{_MONTH})(?: (?:to|through|until|till|and)(?: the end of)? | ?[-–—] ?)(?P<last>may|{_MONTH})\b"
)
_MONTHS_OF_SEASON = {
    "winter": (12, 1, 2),
    "spring": (3, 4, 5),
    "summer": (6, 7, 8),
    "autumn": (9, 10, 11),
    "fall": (9, 10, 11),
}
_SEASON = compile_pattern(rf"\b(?:{'|'.join(_MONTHS_OF_SEASON)})\b")
_MONTHS_A_YEAR = 12


def list_words_of_asked_time(answer: ReadText, question: ReadText) -> frozenset[Word]:
    """Return the words of an answer for a season or a range of months that holds every month of the question.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> question = read_text("When does it close in January?")
    >>> answers = ("In winter it closes at 4.", "In summer it closes at 6.", "From November to March at 4.")
    >>> [sorted(word.folded for word in list_words_of_asked_time(read_text(text), question)) for text in answers]
    [['winter'], [], ['march', 'november']]
    """
    covering = set(_list_days_of_week(answer, question))
    asked = set(_list_months(question))
    if not asked:
        return frozenset(covering)
    for span in _list_spans_around(answer.plain, asked):
        covering.update(answer.list_words(*span))
    return frozenset(covering)


_PARTS_OF_WEEK = (
    frozenset("weekend weekends saturday saturdays sunday sundays".split()),
    frozenset(
        """
        weekday weekdays monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays
        """.split()
    ),
)
_WHOLE_PARTS = frozenset("weekend weekends weekday weekdays".split())


def _list_days_of_week(answer: ReadText, question: ReadText) -> Iterator[Word]:
    """Yield the days of the weekend if a question names that, and "weekend" if it names such a day; so of weekdays."""
    asked = {word.folded for word in question.words}
    for part in _PARTS_OF_WEEK:
        if asked & part & _WHOLE_PARTS:
            yield from (word for word in answer.words if word.folded in part)
        elif asked & part:
            yield from (word for word in answer.words if word.folded in part & _WHOLE_PARTS)


def names_may(plain: str, low: int = 0, high: int | None = None) -> bool:
    """Return whether a text names the month of May between two positions; elsewhere "may" is a verb.

    >>> names_may("in may it is shut"), names_may("you may shut it")
    (True, False)
    """
    end = len(plain) if high is None else high
    return any(match["may"] for match in _ASKED_MONTH.finditer(plain, low, end))


def _list_months(question: ReadText) -> Iterator[int]:
    """Yield the months that a question names, alone or in a date."""
    for match in _ASKED_MONTH.finditer(question.plain):
        yield MONTHS.index(match["name"] or match["may"]) + 1
    for quantity in question.quantities:
        yield from {month for _, month, _ in quantity.date if month}


def _list_spans_around(plain: str, asked: set[int]) -> Iterator[tuple[int, int]]:
    """Yield where a text names a season or a range that has all months asked for."""
    for match in _SEASON.finditer(plain):
        if asked.issubset(_MONTHS_OF_SEASON[match[0]]):
            yield match.span()
    for match in _RANGE.finditer(plain):
        first, last = (MONTHS.index(match[name]) for name in ("first", "last"))
        length = (last - first) % _MONTHS_A_YEAR
        months = {(first + step) % _MONTHS_A_YEAR + 1 for step in range(length + 1)}
        if asked <= months:
            yield match.span("first")
            yield match.span("last")
