"""Statements that their sentence takes back: what some believe, and what was so and is no longer.

The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

import re

from assay.text.late_pattern import LatePattern

_BELIEF = re.compile(
    r"\b(?:(?:some|many|most|other|a lot of)(?: of)? ?(?:\w+ )?(?:say|think|believe|claim|assume|expect|tell you)"
    r"|people (?:often |sometimes |still |may |might )?(?:say|think|believe|assume)"
    r"|you(?: may| might)? (?:may|might|have|often)? ?(?:have )?(?:heard|read somewhere|seen it said|think|expect)"
    r"|it is (?:often|widely|sometimes) (?:said|thought|believed)|nhieu nguoi (?:nghi|tuong|cho rang|noi|bao))\b"
)
_BUT = LatePattern(r"\b(?:but|however|yet|in fact|actually|in truth|nhung|tuy nhien|thuc ra|thuc te)\b")


_WITHDRAWN = re.compile(
    r"[^.;]{0,40}?(?:\b(?:but|although|though|nhung|tuy nhien)|, (?:which|until))"
    r" (?:(?:it|this|that|they|these|those)(?: \w+)?(?:'s| has| have| was| were| is| are)?(?: since| now| been)* "
    r"|(?:was|has been|were|have been|has since been) |(?:no|quy dinh|dieu) (?:nay|do|da) ?|da )"
    r"(?:been )?(?:dropped|abolished|scrapped|discontinued|withdrawn|removed|taken (?:out|down|away)|replaced|lifted"
    r"|cancelled|canceled|closed down|changed|ended|gone|no longer|not (?:right|true|correct)|wrong|bo|huy|bai bo|thay"
    r"|go bo|khong con)\b"
)


def is_reported_belief(plain: str, sentence: tuple[int, int], start: int, end: int) -> bool:
    """Return whether what stands from `start` to `end` is what some believe, and the sentence goes on with "but"."""
    return _BELIEF.search(plain, sentence[0], start) is not None and _BUT.search(plain, end, sentence[1]) is not None


def is_withdrawn(plain: str, end: int, sentence_end: int) -> bool:
    """Return whether the sentence takes back what it stated: "…, but that rule was dropped last year"."""
    return _WITHDRAWN.match(plain, end, sentence_end) is not None
