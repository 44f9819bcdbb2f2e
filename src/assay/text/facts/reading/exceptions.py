"""Exceptions that a text makes ("every day except Tuesdays"), and what it says of all or under any condition.

The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

import re

from assay.text.facts.cues import condition_cues
from assay.text.facts.cues.condition_cues import MAY_ADD_INSTEAD
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText
from assay.text.facts.reading.spelled_words import is_other_word
from assay.text.late_pattern import LatePattern

EXCEPTION = build_pattern(rf"\b{condition_cues.EXCEPTION}\b")
_REACH_AFTER_CUE = 50


_MAY_ADD = frozenset(MAY_ADD_INSTEAD)
"""May also say that something is there in addition: "besides Monday, it opens on Friday"."""
_MOST_CHARACTERS_BETWEEN = 40  # an exception and its word
_BETWEEN = build_pattern(
    r"(?: (?:it's|it is|they are|they're|you are|you have|it has|là|vào|ngày))?(?: [\w'$€£-]+){0,4} ?[\"'$€£]?"
)
_DECIDED = build_pattern(
    r"\W*(?:(?:dạ|dear \w+|hi|hello|oh|well|sorry|unfortunately|xin lỗi|rất tiếc),? )*(?:no|nope|không)"
    r"(?: (?:ạ|nhé|nha|bạn|anh|chị|em))*, (?=[^,]*\w)"
)
"""The "no" with which a sentence begins that says the same once more."""


def list_exceptions(text: ReadText, low: int, high: int) -> list[re.Match[str]]:
    """Return the words for an exception between two positions; "trụ" and "trú" are folded like "trừ" and are none."""
    matches = []
    # What follows a word tells whether it is one: "ngoài thứ Năm" is an exception, "ngoài trời" is outside.
    for match in EXCEPTION.finditer(text.plain, low, high + _REACH_AFTER_CUE):
        if match.end() > high:
            break
        folded, written = match[0].partition(" ")[0], text.text[match.start() : match.end()].partition(" ")[0]
        if not is_other_word(folded, written):
            matches.append(match)
    return matches


def has_exception(text: ReadText) -> bool:
    """Return whether a text makes an exception."""
    return bool(list_exceptions(text, 0, len(text.plain)))


def is_excepted(text: ReadText, sentence_start: int, start: int) -> bool | None:
    """Return whether what starts at a position is excepted from an affirmative statement; None if it is no exception.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> text = read_text("Dogs are not allowed, except assistance dogs.")
    >>> is_excepted(text, 0, text.plain.index("assistance")), is_excepted(text, 0, 4)
    (False, None)
    >>> is_excepted(read_text("No, dogs may not enter, except assistance dogs."), 0, 31)
    False
    """
    cues = list_exceptions(text, max(sentence_start, start - 2 * _MOST_CHARACTERS_BETWEEN), start)
    if not cues or not _BETWEEN.fullmatch(text.plain, cues[-1].end(), start):
        return None
    cue = cues[-1]
    begins_sentence = not text.plain[sentence_start : cue.start()].strip()
    if begins_sentence and not cue[0].endswith(" but"):  # "Except the guard, nobody may enter."
        return len(find_negations(text, start, text.clause_at(start).sentence_end)) % 2 == 0
    end = cue.start() + _words_before_but(cue[0])
    decided = _DECIDED.match(text.plain, sentence_start, end)  # the "no" of "No, dogs are not allowed, except …"
    return len(find_negations(text, sentence_start if decided is None else decided.end(), end)) % 2 == 0


def may_be_addition(text: ReadText, start: int) -> bool:
    """Return whether the last words for an exception before a position may name an addition instead.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> text = read_text("The van comes on Mondays besides Fridays, and except in June.")
    >>> may_be_addition(text, text.plain.index("fridays")), may_be_addition(text, text.plain.index("june"))
    (True, False)
    """
    cues = list_exceptions(text, max(0, start - 2 * _MOST_CHARACTERS_BETWEEN), start)
    return bool(cues) and cues[-1][0] in _MAY_ADD


def _words_before_but(cue: str) -> int:
    """Return how many characters of "nothing but" belong to the statement that has the exception."""
    return len(cue) - len("but") if cue.endswith(" but") else 0


def find_exception_after(text: ReadText, end: int, sentence_end: int) -> tuple[int, int] | None:
    """Return the span of what is excepted after a position in its sentence, None if nothing is."""
    for match in list_exceptions(text, end, sentence_end):
        if "unless" not in match[0] and not match[0].endswith((" but", "khi")):
            stop = _EXCEPTION_END.search(text.plain, match.end(), sentence_end)
            return match.end(), stop.start() if stop is not None else sentence_end
    return None


_EXCEPTION_END = LatePattern(r"[,;.]")
UNCONDITIONAL = build_pattern(rf"\b{condition_cues.UNCONDITIONAL}\b")
"""Says that what follows is no condition."""
UNIVERSAL = build_pattern(rf"\b{condition_cues.UNIVERSAL}\b")
"""Says that a statement holds of all."""
