"""Pairs of contrary events, and which end of a time a question asks for: "opens at 4 pm" does not say when it closes.

The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

import re
from typing import Literal

from assay.text.late_pattern import LatePattern

_EVENTS = [
    (r"open(?:s|ed|ing)?", r"clos(?:e|es|ed|ing)|shuts?|deadline"),
    (
        r"start(?:s|ed|ing)?|begin(?:s|ning)?|began|commences?",
        r"end(?:s|ed|ing)?|finish(?:es|ed)?|stops?|(?:is|are) over",
    ),
    (r"lands?|landing", r"takes? off|take-?off"),
    (r"arriv(?:e|es|ed|al)|gets? in", r"depart(?:s|ed|ure)?|leav(?:e|es|ing)|set(?:s|ting)? off"),
    (r"check(?:ing)?[ -]?in", r"check(?:ing)?[ -]?out"),
    (r"mo cua", r"dong cua"),
    (r"bat dau", r"ket thuc"),
    (
        r"(?:den|toi|ve) (?:noi|ga|ben|cang|san bay)|cap ben|ha canh",
        r"khoi hanh|roi (?:ben|ga|cang|san bay)|xuat phat|cat canh",
    ),
    (r"giao hang", r"nhan hang"),
    (r"nhan phong", r"tra phong"),
]


_EVENT_PAIRS = [
    (LatePattern(rf"\b(?:{first})\b"), LatePattern(rf"\b(?:{second})\b"))
    for pair in _EVENTS
    for first, second in (pair, pair[::-1])
]


_UNTIL = LatePattern(r"\b(?:until|till|til|to|through|den|toi|cho den)(?: the)? $")
_STARTS_AT = LatePattern(r"\b(?:from|starting|beginning|as of|as from|tu)(?: the| ngay)? $")


_ENDS_AT = LatePattern(r"(?<!\bnot )\b(?:until|till|til|to|through|by|den|toi)(?: the| ngay)? $")
_ASKS_START = LatePattern(r"\b(?:start|begin|open|from when|since when|earliest|bat dau|mo cua)s?\b")


_ASKS_END = re.compile(
    r"\b(?:end|finish|close|stop|until when|until what|till when|how long|how late|latest|deadline|due|expire|ket thuc"
    r"|dong cua|(?:den|toi) (?:may gio|khi nao|luc nao))s?\b"
)
_ASKS_WHEN = LatePattern(
    r"\b(?:when|what (?:time|date|day)|how (?:early|late|long|soon)|from|since|earliest|latest|deadline|due|until"
    r"|khi nao|bao gio|may gio|luc nao|ngay nao|bao lau)\b"
)
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
    """
    if _UNTIL.search(before_value):
        return None  # "open until 4 pm" says when it closes
    for asked, other in _EVENT_PAIRS:
        wanted = asked.search(question)
        if wanted is None or other.search(question) or asked.search(part):
            continue
        stated = other.search(part)
        if stated is not None:
            return stated[0], wanted[0]
    return None
