"""Marks around a statement that several rules look for: negation, doubt, the past and the present.

The patterns are for folded text (`fold_in_place`).
"""

from __future__ import annotations

from assay.text.facts.cues import condition_cues as conditions
from assay.text.facts.cues import denial_cues as denials
from assay.text.facts.cues import doubt_cues as doubts
from assay.text.facts.cues import question_cues as questions
from assay.text.facts.cues import value_cues as values
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.late_pattern import LatePattern

NEGATION = build_pattern(
    rf"(?P<none>\b{denials.BOUNDS_INSTEAD}|\b{denials.DENIES_NOTHING}(?!\w)|{denials.ASKS_BY_NEGATION})"
    rf"|\b{denials.NEGATION}\b|n't"
).compiled
"""A negation; the group `none` is one that denies nothing ("no more than", "not only")."""
RESTRICTION = build_pattern(rf"\b{conditions.OWN_CLAUSE}\b")
"""A word that opens a clause of its own, so that a negation after it may not deny the whole sentence."""
MYTH = build_pattern(rf"\b{denials.MYTH}\b")
"""What calls a whole statement untrue, before or after it."""
WRONG = build_pattern(rf"\b{denials.WRONG}\b")
"""An adjective that calls a number wrong, and may only describe a thing ("a wrong token")."""
CALLED_WRONG = LatePattern(
    rf"(?:{WRONG.pattern})(?! [a-z]{{3,}})|\b(?:is|are|was|were|'s|'re) (?:\w+ )?(?:{WRONG.pattern})"
)
"""The same where it calls a statement wrong, and describes no noun after it."""
DISJUNCTION = build_pattern(rf"\b{conditions.OR}\b").compiled
"""Joins alternatives: whether a negation before the first reaches the second is open."""
DOUBT = build_pattern(rf"\b(?!{doubts.NO_DOUBT}\b){doubts.DOUBT}\b")
"""Uncertainty of the speaker, and what did not quite happen or would only happen."""
PARTIAL_QUANTIFIER = build_pattern(rf"\b{doubts.PARTLY}\b").compiled
"""What limits a statement to a part."""
DENIED_AFTER = build_pattern(
    rf"[\"')*]{{0,3}} (?P<predicate>(?:is|are|was|were|là) )?{denials.CALLED_UNTRUE}\b"
).compiled
"""A denial right after a statement; the group `predicate` is its verb."""
NEGATED_AFTER = build_pattern(
    rf"[\"')*]{{0,3}} (?:(?:{denials.VERBS_NEGATED_AFTER})(?:n't| not| never)\b|{denials.UNABLE}"
    r"|nowhere\b|never\b|(?:by|to|for|with) (?:nobody|no one|none)\b"
    r"|(?:không|chưa|chẳng)\b(?! (?:quá|chỉ|những|dưới|ít hơn|nhiều hơn|hơn)))"
).compiled
"""A negated verb right after a statement."""
PAST_BEFORE = build_pattern(rf"\b{doubts.PAST_BEFORE}\b,?[^,;]*$")
"""Words for the past before a statement, and after it (`PAST_AFTER`)."""
PAST_AFTER = build_pattern(rf"\A[^,;.!?]*\b{doubts.PAST_AFTER}")
PRESENT = build_pattern(rf"\b{doubts.PRESENT}\b").compiled
"""Words for the present."""
PAST_VERB = build_pattern(rf"\b{doubts.PAST_VERB}\b")
"""Says that a statement was true earlier, if another one is about the present."""


OUTDATED = build_pattern(
    rf"\b(?:(?:the|our|its|their|his|her|an|that) {doubts.FORMER_BEFORE_NOUN}(?= [a-z])"
    r"|(?:until|till) (?=(?:\d{4}|last [a-z]+|recently)\b[^.;]{1,50} (?:was|were)\b)"
    rf"|{doubts.UNTIL_THEN} (?=[^.;,]{{0,30}}\b{doubts.WAS_SO}\b)"
    r"|(?:was|were) (?=[^.;]{1,40} (?:until|till|before|up to) )|(?<=[a-z] )(?:cũ|trước) (?=là\b))"
)
"""Says that a thing is the one of before: "the old code is", "mã cũ là"."""
USED_TO = build_pattern(rf"\b{doubts.USED_TO}\b")
RESPECTIVELY = build_pattern(rf"\b{conditions.IN_ORDER}\b")
"""Says that values belong to subjects by their order."""
CHANGED_FROM = build_pattern(rf"\b{doubts.CHANGED}(?: again)? (?:from|từ) [$€£]?$").compiled
"""What stands before a value that holds no longer."""
ONLY = build_pattern(rf"{conditions.ONLY_FIRST} ").compiled
"""Limits what begins with it to one thing."""
ASKS_PAST = build_pattern(rf"\b{doubts.ASKS_PAST}\b").compiled
"""A question about the past."""
WITHOUT_PAYING = build_pattern(rf"\b{values.WITHOUT_PAYING}\b")
"""Says that what is spoken of costs nothing."""
ASKS_UNTIL = build_pattern(rf"\b{questions.ASKS_UNTIL}\b")
"""Asks for the end of what begins with an event: until when something is open it closes."""
