"""Pairs of contrary events, and which end of a time a question asks for: "opens at 4 pm" does not say when it closes.

The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from typing import Literal

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.event_cues import DATED_EVENTS
from assay.text.facts.cues.limit_cues import FROM, UNTIL
from assay.text.facts.cues.question_cues import ASKS_END, ASKS_START, ASKS_WHEN
from assay.text.facts.reading.statement_marks import ASKS_UNTIL

_EVENT_PAIRS = [
    (build_pattern(rf"\b(?:{first})\b"), build_pattern(rf"\b(?:{second})\b"))
    for pair in DATED_EVENTS
    for first, second in (pair, pair[::-1])
]
_STATES_THAT_END = [pattern for pattern, _ in _EVENT_PAIRS[::2]]


_UNTIL = build_pattern(rf"\b{UNTIL}(?: the)? $")
_STARTS_AT = build_pattern(rf"\b{FROM}(?: the| ngày)? $")


_ENDS_AT = build_pattern(rf"(?<!\bnot )\b(?:{UNTIL}|by)(?: the| ngày)? $")
_ASKS_START = build_pattern(rf"\b{ASKS_START}s?\b")


_ASKS_END = build_pattern(rf"\b{ASKS_END}s?\b")
_ASKS_WHEN = build_pattern(rf"\b{ASKS_WHEN}\b")
"""A question for a time: "Is it open to guests?" asks for none."""


def is_other_end(question: str, before_value: str) -> bool:
    """Return whether a value is the start of a time of which the question asks the end, or the other way round.

    >>> is_other_end("when does it end?", "you can apply from ")
    True
    """
    asked = find_asked_end(question)
    if not asked:
        return False
    return (_STARTS_AT if asked == "end" else _ENDS_AT).search(before_value) is not None


def find_asked_end(question: str) -> Literal["", "start", "end"]:
    """Return which end of a time a folded question asks for, "" if it asks for neither or both.

    >>> find_asked_end("when does it end?"), find_asked_end("is it open to guests?")
    ('end', '')
    """
    is_start, is_end = (pattern.search(question) is not None for pattern in (_ASKS_START, _ASKS_END))
    if is_start == is_end or not _ASKS_WHEN.search(question):
        return ""
    return "end" if is_end else "start"


def find_reversed_event(question: str, part: str, before_value: str) -> tuple[str, str] | None:
    """Return the event that a part of a sentence dates instead of the question's, and that of the question.

    >>> find_reversed_event("when does it close?", "it opens at 4 pm", "it opens at ")
    ('opens', 'close')
    >>> find_reversed_event("how late is it open?", "it closes at 4 pm", "it closes at ")
    """
    if _UNTIL.search(before_value):
        return None  # "open until 4 pm" says when it closes
    for asked, other in _EVENT_PAIRS:
        wanted = asked.search(question)
        if wanted is None or other.search(question) or asked.search(part):
            continue
        stated = other.search(part)
        if stated is not None and asked in _STATES_THAT_END and ASKS_UNTIL.search(question) is not None:
            continue
        if stated is not None:
            return stated[0], wanted[0]
    return None
