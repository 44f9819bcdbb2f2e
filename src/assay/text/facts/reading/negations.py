"""Negations of a text as it is written, and negations in other words ("leave the flash off").

The patterns of `statement_marks` are for folded text, in which "chứa" (holds) looks like "chưa" (not yet); here the
diacritics tell them apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.text.facts.cues.condition_cues import CONDITION
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import DENIES_IN_OTHER_WORDS, DENYING_BEFORE_PREDICATE, PROHIBITS_IN_VIETNAMESE
from assay.text.facts.cues.question_cues import ASKS_WHAT
from assay.text.facts.reading.read_text import ReadText, Word, cache_of_texts
from assay.text.facts.reading.spelled_words import is_other_word
from assay.text.facts.reading.statement_marks import NEGATION
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern

_IN_OTHER_WORDS = LatePattern(rf"\b{DENIES_IN_OTHER_WORDS}\b", re.IGNORECASE)
"""Words that may say that something is not so, or not done."""


_PROHIBITION = compile_pattern(rf"(?<![^\W\d_])(?:{PROHIBITS_IN_VIETNAMESE})(?![^\W\d_])", re.IGNORECASE)
"""Vietnamese words that forbid; folded they look like "đúng" (right) and "cho" (for)."""
_INTERROGATIVE = build_pattern(rf"\b{ASKS_WHAT}\b")
_DENIED_PREDICATE = build_pattern(
    rf"(?P<negation>\b{DENYING_BEFORE_PREDICATE}|n't)\b"
    r"(?: (?:be|been|being|i|you|we|they|he|she|it|one|được|thể|phải|nên|cần|có|bị))* (?P<predicate>[a-z]+)"
)
_CONDITION = build_pattern(rf"\b{CONDITION}\b")


@cache_of_texts(maxsize=256)  # of an answer and its question, many rules ask this for each fact
def find_negations(text: ReadText, low: int = 0, high: int | None = None) -> Sequence[re.Match[str]]:
    """Return the negations between two positions of a text; "no more than" and "not only" deny nothing.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> [len(find_negations(read_text(text))) for text in ("Phòng chứa 12 người.", "Phòng chưa có ai.", "not a few")]
    [0, 1, 1]
    """
    end = len(text.plain) if high is None else high
    matches = [
        match
        for match in NEGATION.finditer(text.plain, low, end)
        if match["none"] is None and not is_other_word(match[0], text.text[match.start() : match.end()])
    ]
    matches = [
        match for place, match in enumerate(matches) if place == 0 or not _goes_on(match, matches[place - 1], text)
    ]
    prohibitions = [] if text.text.isascii() else list(_PROHIBITION.finditer(text.text, low, end))
    return sorted([*matches, *prohibitions], key=_get_match_start) if prohibitions else matches


def _goes_on(match: re.Match[str], before: re.Match[str], text: ReadText) -> bool:
    """Whether a negation only goes on with the one before it: "neither the manager nor the clerk" denies once."""
    return match[0] == "nor" and text.clause_at(match.start()).sentence_start <= before.start()


def is_negation(word: Word, text: ReadText) -> bool:
    """Return whether a word of a text is a negation by itself."""
    return NEGATION.fullmatch(word.folded) is not None and not is_other_word(
        word.folded, text.text[word.start : word.end]
    )


def _get_match_start(match: re.Match[str]) -> int:
    return match.start()


def find_denied_predicate(question: ReadText) -> str:
    """Return the word that a question denies, so that a right answer denies it too; "" if it denies none.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> [find_denied_predicate(read_text(text)) for text in ("Where is remote work not allowed?", "Ai chứa hàng?")]
    ['allowed', '']
    >>> [find_denied_predicate(read_text(text)) for text in ("What happens if I do not pay?", "May I not enter?")]
    ['', '']
    """
    denials = [match for match in _DENIED_PREDICATE.finditer(question.plain) if not _is_respelled(match, question)]
    if len(denials) != 1 or _INTERROGATIVE.search(question.plain) is None or len(find_negations(question)) != 1:
        return ""
    if _CONDITION.search(question.plain, 0, denials[0].start()) is not None:
        return ""
    return denials[0]["predicate"]


def _is_respelled(denial: re.Match[str], text: ReadText) -> bool:
    return is_other_word(denial["negation"], text.text[slice(*denial.span("negation"))])


def may_deny_in_other_words(text: str) -> bool:
    """Return whether a sentence may deny something without a negation.

    >>> may_deny_in_other_words("just leave the flash off"), may_deny_in_other_words("use your flash")
    (True, False)
    """
    return _IN_OTHER_WORDS.search(text) is not None
