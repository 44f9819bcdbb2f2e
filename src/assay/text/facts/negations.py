"""Negations of a text as it is written, and negations in other words ("leave the flash off").

The patterns of `statement_cues` are for folded text, in which "chứa" (holds) looks like "chưa" (not yet); here the
diacritics tell them apart.
"""

from __future__ import annotations

import re

from assay.text.facts.read_text import ReadText
from assay.text.facts.spelled_words import is_other_word
from assay.text.late_pattern import LatePattern
from assay.text.statement_cues import NEGATION

_IN_OTHER_WORDS = LatePattern(
    r"\b(?:off|out|away|behind|forbidden|prohibited|banned|bans?|illegal|off-limits|avoid(?:ed)?|refrain|skip"
    r"|exclud(?:e|es|ed|ing)|exempt(?:ed)?|refused?|rejected|declined?|denied|stops?|impossible|unable|waived?|spared"
    r"|instead|forget|leave|left|zero|đừng|tránh|cấm|tắt|miễn|bỏ qua)\b",
    re.IGNORECASE,
)
"""Words that may say that something is not so, or not done."""


_PROHIBITION = re.compile(r"(?<![^\W\d_])(?:đừng|chớ)(?![^\W\d_])", re.IGNORECASE)
"""Vietnamese words that forbid; folded they look like "đúng" (right) and "cho" (for)."""


def find_negations(text: ReadText, low: int = 0, high: int | None = None) -> list[re.Match[str]]:
    """Return the negations between two positions of a text; "no more than" and "not only" deny nothing.

    >>> from assay.text.facts.read_text import read_text
    >>> [len(find_negations(read_text(text))) for text in ("Phòng chứa 12 người.", "Phòng chưa có ai.", "not a few")]
    [0, 1, 1]
    """
    end = len(text.plain) if high is None else high
    matches = [
        match
        for match in NEGATION.finditer(text.plain, low, end)
        if match["none"] is None and not is_other_word(match[0], text.text[match.start() : match.end()])
    ]
    prohibitions = list(_PROHIBITION.finditer(text.text, low, end))
    return sorted([*matches, *prohibitions], key=_get_match_start) if prohibitions else matches


def _get_match_start(match: re.Match[str]) -> int:
    return match.start()


def may_deny_in_other_words(text: str) -> bool:
    """Return whether a sentence may deny something without a negation.

    >>> may_deny_in_other_words("just leave the flash off"), may_deny_in_other_words("use your flash")
    (True, False)
    """
    return _IN_OTHER_WORDS.search(text) is not None
