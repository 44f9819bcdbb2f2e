"""Words around a statement that deny it, doubt it, limit it to a part or to the past: English and Vietnamese, as data.

The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

import re

from assay.text.late_pattern import LatePattern

_BOUND_NEGATION = (
    r"\b(?:(?:no|not|never|nothing)(?: \w+)? (?:more|less|fewer|later|earlier|longer|greater|larger|higher|lower"
    r"|[a-z]{2,}er) than\b"
    r"|(?:no|not|nothing) (?:over|above|under|below|beyond)\b|(?:khong|chua)(?: \w+)? (?:qua|hon|duoi)\b)"
)
NEGATION = re.compile(
    rf"(?P<none>{_BOUND_NEGATION}|\b(?:not only|not just|not until|khong chi|khong nhung|a few|a little|no doubt"
    r"|no\.)(?!\w)|(?:hay|co|duoc) khong\?)"
    r"|\b(?:not|never|no longer|neither|nor|without|no one|nobody|none|nothing|hardly|barely|scarcely|rarely|seldom"
    r"|few|little|no|cannot|rather than|instead of|stopped|lacks?|(?:has|have|had|is|are) yet to"
    r"|(?:fail(?:s|ed)?|refuses?|refused|declined?|declines|forg[eo]t(?:s|ten)?|neglect(?:s|ed)?|omit(?:s|ted)?) to"
    r"|den(?:y|ies|ied) (?:having|that)"
    r"|khong|chua|chang|thay vi|khoi|tu choi|it khi|hiem khi|dau (?:co|duoc|phai))\b|n't"
)
"""A negation; the group `none` is one that denies nothing ("no more than", "not only")."""
RESTRICTION = LatePattern(r"\b(?:who|that|which|if|unless|until|except|when|where|neu|tru khi|khi|ma)\b")
"""A word that opens a clause of its own, so that a negation after it may not deny the whole sentence."""
MYTH = LatePattern(
    r"\b(?:myths?|misconceptions?|mistaken(?:ly)?|mistook|wrongly|falsely|erroneously|incorrectly|untrue"
    r"|(?:false|wrong|incorrect) (?:to|that)|rumou?r(?:s|ed)?|legend has it|hoax|fallacy|not true|isn't true"
    r"|no longer (?:true|correct|valid)|lam tuong|tin don|hieu lam|sai lam|nham tuong)\b"
)
"""What calls a whole statement untrue, before or after it."""
WRONG = LatePattern(
    r"\b(?:wrong|false|incorrect|erroneous|not (?:correct|right)|isn't (?:correct|right)|la sai|khong dung)\b"
)
"""An adjective that calls a number wrong, and may only describe a thing ("a wrong token")."""
CALLED_WRONG = LatePattern(
    rf"(?:{WRONG.pattern})(?! [a-z]{{3,}})|\b(?:is|are|was|were|'s|'re) (?:\w+ )?(?:{WRONG.pattern})"
)
"""The same where it calls a statement wrong, and describes no noun after it."""
DISJUNCTION = re.compile(r"\b(?:or|hoac|hay)\b")
"""Joins alternatives: whether a negation before the first reaches the second is open."""
DOUBT = LatePattern(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|supposedly|allegedly|reportedly|might|may have been"
    r"|may be(?! (?:up to|at most|\w+(?:ed|en)|kept|sent|left|put|lent|held|made|paid|met|cut|set|built)\b)"
    r"|could be|could it|could have been|i think|i guess|i believe|i suspect|would guess|not (?:certain|sure|clear)"
    r"|unclear|uncertain|unsure|unknown|i've heard|hard to say|don't know|do not know|can't say|cannot say|said to"
    r"|(?:i|we|they) doubt|doubtful|(?:depends? on|ask|check|find out) whether(?! [^.;]{0,80}\bor\b)"
    r"|(?:we|they) (?:are )?(?:plan|intend|hope|aim)(?:ning|ing)? to|(?:was|were) (?:supposed|meant|due|going) to"
    r"|either(?! ?[.:;,!)]| ?$)|(?:almost|nearly) [a-z]+ed"
    r"|would\b[^.;]{0,60}\bif [a-z]+ could|if [a-z]+ could\b[^.;]{0,60}\bwould"
    r"|co the la|hinh nhu|chac la|co le|khong chac|khong ro|nghe noi|khong biet|duoc cho la)\b"
)
"""Uncertainty of the speaker, and what did not quite happen or would only happen."""
PARTIAL_QUANTIFIER = re.compile(
    r"\b(?:only some|some of|some|most of|not all|not every|half of|several of|certain|occasionally|sometimes|mot so"
    r"|mot vai|doi khi|thinh thoang|(?:nearly|almost|virtually|practically) (?:all|every|both)"
    r"|hau het|gan het|gan nhu (?:tat ca|moi)"
    r"|(?:one|two|three|four|\d+) (?:out )?of (?:the|all|our|these)|(?:mot|hai|ba|bon|\d+) trong (?:ca|so|cac))\b"
)
"""What limits a statement to a part."""
DENIED_AFTER = re.compile(
    r"[\"')*]{0,3} (?P<predicate>(?:is|are|was|were|la) )?(?:not (?:correct|right|true)|wrong|incorrect|false|outdated"
    r"|no longer|sai|khong dung|khong con|khong phai)\b"
)
"""A denial right after a statement; the group `predicate` is its verb."""
NEGATED_AFTER = re.compile(
    r"[\"')*]{0,3} (?:(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must)"
    r"(?:n't| not| never)\b"
    r"|nowhere\b|never\b|(?:by|to|for|with) (?:nobody|no one|none)\b"
    r"|(?:khong|chua|chang)\b(?! (?:qua|chi|nhung|duoi|it hon|nhieu hon|hon)))"
)
"""A negated verb right after a statement."""
PAST_BEFORE = LatePattern(
    r"\b(?:previously|formerly|used to be|originally|in the past|last year|before,? it was|truoc day|truoc kia"
    r"|nam ngoai|nam truoc|tung (?:la|o|co|duoc|lam|day|mo|ban))\b,?[^,;]*$"
)
"""Words for the past before a statement, and after it (`PAST_AFTER`)."""
PAST_AFTER = LatePattern(r"\A[^,;.!?]*\b(?:before(?= ?[,;.!?)]| (?:and|but)\b|$)|truoc day\b|truoc kia\b)")
PRESENT = re.compile(
    r"\b(?:now|currently|today|nowadays|as of|since then|hien nay|hien tai|hien gio|bay gio|gio day|hom nay|ngay nay"
    r"|nay (?:la|con|chi|duoc|da|chuyen|doi|thi)|these days|from this (?:year|month|week) on|(?:has|have) been|'s been"
    r"|this (?:year|month|season|term)"
    r"|nam nay|thang nay)\b"
)
"""Words for the present."""
PAST_VERB = LatePattern(
    r"\b(?:was|were|used to|had been|formerly|previously|originally|last (?:year|month|season|term)|truoc day|truoc kia"
    r"|nam ngoai|nam truoc|thang truoc)\b"
)
"""Says that a statement was true earlier, if another one is about the present."""


OUTDATED = LatePattern(
    r"\b(?:(?:the|our|its|their|his|her|an|that) (?:old|former|previous|outdated|obsolete|expired)(?= [a-z])"
    r"|(?:until|till) (?=(?:\d{4}|last [a-z]+|recently)\b[^.;]{1,50} (?:was|were)\b)"
    r"|(?:was|were) (?=[^.;]{1,40} (?:until|till|before|up to) )|(?<=[a-z] )(?:cu|truoc) (?=la\b))"
)
"""Says that a thing is the one of before: "the old code is", "mã cũ là"."""
USED_TO = LatePattern(
    r"\b(?:(?<!than it )(?<!than they )used to|formerly|previously|originally|in the past"
    r"|truoc (?:day|kia|la)|hoi truoc)\b"
)
RESPECTIVELY = LatePattern(r"\b(?:respectively|in that order|lan luot)\b")
"""Says that values belong to subjects by their order."""
VALUE_PART = re.compile(r"\n|[.;,](?=\s|$)| (?:and|while|but|whereas|va|con|nhung) ")
"""What separates the parts of a text that have a value each."""
CHANGED_FROM = re.compile(
    r"\b(?:up|down|raised|lowered|increased|decreased|reduced|changed|rose|fell|risen|fallen|went|gone|grew|grown"
    r"|tang|giam)(?: again)? (?:from|tu) [$€£]?$"
)
"""What stands before a value that holds no longer."""
ONLY = re.compile(r"(?:only|just|chi(?: co)?) ")
"""Limits what begins with it to one thing."""
ASKS_PAST = re.compile(
    r"\b(?:was|were|used? to|did|had|formerly|previously|originally|last year|before|truoc day|truoc kia)\b"
)
"""A question about the past."""
