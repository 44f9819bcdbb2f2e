"""An answer without what it says of the past, where it goes on with what holds since: "It was £24, but is £31 now".

The rest says of the same subject what holds: "It now is £31". The patterns are for folded text (`fold_in_place`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.doubt_cues import (
    CHANGED_TO,
    IN_THE_PAST,
    IS_NOW,
    PAST_VERB_BEFORE_VALUE,
    PRESENT,
    SINCE_THEN,
    TURNS_TO_PRESENT,
    VERB_BEFORE_VALUE,
)
from assay.text.facts.cues.link_cues import PRONOUN_OF_SUBJECT
from assay.text.facts.reading.read_text import ReadText
from assay.text.facts.reading.statement_marks import ASKS_PAST
from assay.text.facts.reading.text_parts import list_quantities
from assay.text.quantities.quantity_agreement import is_comparable

_BEGIN = r"(?:^|(?<=[.!?;\n] ))(?P<before>(?:(?:yes|no|well|so),? )?)"
_TURN = rf"(?:[,;.:] | [-–—] |(?= {TURNS_TO_PRESENT}) )(?P<contrast>(?:{TURNS_TO_PRESENT},? )?)"
_SUBJECT = r"(?P<subject>[^,.;:!?\d]{0,60}?)"
_OLD = r"(?P<old>(?:[^.,;!?]|[.,](?=\d)){1,60}?)"
_NOW, _PRONOUN = rf"(?:{PRESENT}|{SINCE_THEN})\b", rf"(?:{PRONOUN_OF_SUBJECT} )?"
_GOES_ON = (
    rf"{_TURN}(?={_NOW}|{_PRONOUN}{CHANGED_TO}\b)"
    rf"(?P<now>(?:{_NOW},? ?)?)(?P<pronoun>{_PRONOUN})(?P<changed>(?:{CHANGED_TO}\b)?)"
)
_VERB = rf"(?:\b(?:{PAST_VERB_BEFORE_VALUE}|{VERB_BEFORE_VALUE}) |(?:là )?(?=[\d$€£]))"
_SUPERSEDED = (
    build_pattern(rf"{_BEGIN}{IN_THE_PAST},? {_SUBJECT}{_VERB}{_OLD}{_GOES_ON}"),
    build_pattern(rf"{_BEGIN}{_SUBJECT}\b{PAST_VERB_BEFORE_VALUE} {_OLD}{_GOES_ON}"),
)
_SPEAKS_OF_PAST = build_pattern(rf"\b(?:{IN_THE_PAST}|{PAST_VERB_BEFORE_VALUE})\b")
_IS = build_pattern(rf"{IS_NOW}\b")
_BY = "by"
"""Stands behind a change before whoever made it: "but has been extended by the town"."""


def drop_superseded(answer: ReadText, asked: Iterable[ReadText]) -> str:
    """Return an answer without what it says of the past only, "" if it has none, or question, reference or a fact
    (`asked`) speak of the past too.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> drop_superseded(read_text("The fee was £24, but has been raised to £31."), [read_text("What is the fee?")])
    'The fee: £31.'
    """
    matches = [match for pattern in _SUPERSEDED for match in pattern.finditer(answer.plain)]
    matches.sort(key=re.Match.start)
    if not matches or any(map(_speaks_of_past, asked)):
        return ""
    current, end = "", 0
    for match in matches:
        if match.start() >= end and _has_successor(answer, match):
            current += answer.text[end : match.end("before")] + _say_what_holds(answer, match)
            end = match.end() + answer.plain.startswith(" ", match.end())
    return (current + answer.text[end:]).strip() if end else ""


def _say_what_holds(answer: ReadText, match: re.Match[str]) -> str:
    """Return the beginning of the sentence that says what holds now, of the subject that was named."""
    subject = answer.text[slice(*match.span("subject"))].strip() or answer.text[slice(*match.span("pronoun"))].strip()
    return f"{subject}: " if match["changed"] else f"{subject} {answer.text[slice(*match.span('now'))]}"


def _has_successor(answer: ReadText, match: re.Match[str]) -> bool:
    """Whether a value of the past is followed by one of its kind in the sentence that says what holds now.

    What is no value has one where something else is said to be it: "by Ada Lin, now a teacher" goes on about her.
    """
    former = list_quantities(answer, *match.span("old"))
    if not former:
        is_changed = bool(match["changed"]) and not match["changed"].endswith(_BY)
        return is_changed or (bool(match["contrast"]) and _IS.match(answer.plain, match.end()) is not None)
    current = list_quantities(answer, match.end(), answer.clause_at(match.end()).sentence_end)
    return any(is_comparable(was, own) for was in former for own in current)


def _speaks_of_past(text: ReadText) -> bool:
    return any(pattern.search(text.plain) is not None for pattern in (ASKS_PAST, _SPEAKS_OF_PAST))
