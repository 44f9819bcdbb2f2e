"""Statements that their sentence takes back: what some believe, and what was so and is no longer.

The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import ABOLISHED, ABOLISHED_IN_VIETNAMESE, RULE_THAT_ENDS
from assay.text.facts.cues.doubt_cues import BELIEVED, TURNS

_BELIEF = build_pattern(rf"\b{BELIEVED}\b")
_BUT = build_pattern(rf"\b{TURNS}\b")


_WITHDRAWN = build_pattern(
    r"[^.;]{0,40}?(?:\b(?:but|although|though|nhưng|tuy nhiên)|, (?:which|until))"
    r" (?:(?:it|this|that|they|these|those)(?: \w+)?(?:'s| has| have| was| were| is| are)?(?: since| now| been)* "
    r"|(?:was|has been|were|have been|has since been) |(?:nó|quy định|điều) (?:này|đó|đã) ?|đã )"
    rf"(?:been )?(?:{ABOLISHED}|taken (?:out|down|away)|lifted|changed|gone|no longer|not (?:right|true|correct)|wrong"
    rf"|{ABOLISHED_IN_VIETNAMESE}|gỡ bỏ|không còn)\b"
)


_ABOLISHED = build_pattern(
    rf"(?: [a-z]+)?? (?:{RULE_THAT_ENDS})s? (?:was|were|has been|have been|is|are)(?: (?:since|now|[a-z]+ly))*"
    rf" (?:{ABOLISHED}|lifted|repealed|no longer (?:in force|valid|applied))\b"
)


def is_reported_belief(plain: str, sentence: tuple[int, int], start: int, end: int) -> bool:
    """Return whether what stands from `start` to `end` is what some believe, and the sentence goes on with "but"."""
    return _BELIEF.search(plain, sentence[0], start) is not None and _BUT.search(plain, end, sentence[1]) is not None


def is_withdrawn(plain: str, end: int, sentence_end: int) -> bool:
    """Return whether the sentence takes back what it stated: "…, but that rule was dropped last year"."""
    return any(pattern.match(plain, end, sentence_end) is not None for pattern in (_WITHDRAWN, _ABOLISHED))
