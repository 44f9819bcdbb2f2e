"""Which limit an answer has to state, the most or the least, and whether it states the other one.

"How long can I stay?" asks for the most, and "at least 22 cm" is no maximum. The patterns are for folded text
(`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from assay.text.late_pattern import LatePattern
from assay.text.quantities.quantity import Quantity

_REACH = 40  # characters before a value in which words for its beginning are searched
Limit = Literal["", "<", ">"]
"""Which limit a value is: "<" an upper one, ">" a lower one, "" neither."""
_UPPER = re.compile(
    r"\b(?:max(?:imum)?|at most|up to|within|no (?:more|later|longer|larger) than|limit(?:ed)?|largest|longest|highest"
    r"|allowance|latest|deadline|how late|until|till|toi da"
    r"|by(?= (?:when|what date|(?:[a-z]+ )?\d(?![\d.,]* ?(?:%|per|points?|times|minutes?|hours?|days?|weeks?|months?"
    r"|years?|euros?|dollars?|pounds?|c?m|k?g|km)\b)))"
    r"|nhieu nhat|khong qua|trong vong|trong (?=\d|may\b)|cham nhat|trong bao nhieu|han (?:nop|chot|cuoi))\b"
)
_UPPER_NAMES = frozenset("maximum max most highest largest cap capped limit limited ceiling top tops tran".split())
_ASKS_FOR_MOST = LatePattern(r"\b(?:the most|at most|maximum|max|highest|largest|upper limit|cap|ceiling|toi da)\b")


def names_asked_most(words: Iterable[str], question: str) -> bool:
    """Return whether a folded question asks for the most and some folded words call it by one of its names.

    >>> names_asked_most(("the", "cap"), "what is the most one pays?"), names_asked_most(("cap",), "what does it cost?")
    (True, False)
    """
    return not _UPPER_NAMES.isdisjoint(words) and _ASKS_FOR_MOST.search(question) is not None


_LOWER = re.compile(
    r"\b(?:min(?:imum)?|at least|no (?:less|fewer|earlier) than|smallest|shortest|lowest|earliest|toi thieu|it nhat"
    r"|som nhat)\b"
)
_ASKS_HOW_MUCH = tuple(
    (re.compile(first), re.compile(second))
    for first, second in (
        (
            r"\bhow (?:long|many|much|far|tall|large|big|heavy|high|wide|late|often)(?= )",
            r"\b(?:can|may|could|allowed)\b",
        ),
        (r"\b(?:can|may|could)(?= )", r"\bhow (?:long|many|much)\b"),
        (r"\bduoc\b", r"\b(?:may|bao nhieu|bao lau)\b"),
    )
)
"""Pairs of which the second comes after the first; one expression for both would take quadratic time."""
_AFTER = re.compile(r"\b(?:after|later than|from|starting|sau(?: ngay| khi)?|(?<!thu )tu(?: ngay)?)(?: the)? [$€£]?$")
_GOES_ON_UNTIL = LatePattern(r" ?(?:-|–|to\b|until\b|till\b|through\b|den\b|toi\b)")
_REFUSED = LatePattern(
    r"\b(?:rejected|refused|blocked|declined|turned away|not (?:be )?(?:accepted|allowed|possible|permitted)|won't"
    r"|can't|cannot|isn't|aren't|must not|mustn't|may not|stops?|stopped|suspended|shut down"
    r"|too (?:long|large|big|heavy|late|much)|fails?|(?:costs?|charged) extra|tu choi"
    r"|khong (?:duoc|nhan|chap nhan)|khong(?: [a-z]+){1,2} (?:duoc|nua))\b"
)


def find_limit(plain: str) -> Limit:
    """Return which limit a folded text is about: "<" for "at most 5 days", ">" for "the minimum is 5 days"."""
    is_upper, is_lower = _UPPER.search(plain) is not None, _LOWER.search(plain) is not None
    if is_upper == is_lower:
        return ""
    return "<" if is_upper else ">"


_ASKS_FROM = re.compile(
    r"(?:from|starting (?:at|from|with)|tu) (?:what|which|how|when|bao nhieu|bao gio|muc nao|ngay nao|may)\b"
)
"""A question for where something begins, which "up to" answers the other way round."""


class ExpectedLimit(NamedTuple):
    """Which limit an answer has to state, and whether question or reference say so in words for it."""

    side: Limit
    is_explicit: bool


def find_expected_limit(question: str, reference: str) -> ExpectedLimit:
    """Return the limit that a folded question and reference are about; "How long can I stay?" asks for the longest."""
    side = find_limit(reference) or find_limit(question)
    if side:
        return ExpectedLimit(side, True)
    if _ASKS_FROM.match(question):
        return ExpectedLimit(">", True)
    return ExpectedLimit("<" if _asks_how_much(question) else "", False)


def _asks_how_much(question: str) -> bool:
    for first, second in _ASKS_HOW_MUCH:
        begun = first.search(question)
        if begun is not None and second.search(question, begun.end()):
            return True
    return False


def is_reversed_limit(stated: Quantity, expected: ExpectedLimit) -> bool:
    """Return whether a quantity is stated as the other limit: "at least" where the most is expected."""
    return bool(expected.side and stated.bound) and stated.bound[0] != expected.side


def begins_after(stated: Quantity, plain: str, expected: ExpectedLimit) -> bool:
    """Return whether something begins after a quantity by which it is expected: "any time after 15 June"."""
    is_upper = expected.side == "<" and expected.is_explicit and not stated.bound
    if _GOES_ON_UNTIL.match(plain, stated.end):
        return False  # "from 2 May to 4 June"
    return is_upper and _AFTER.search(plain, max(0, stated.start - _REACH), stated.start) is not None


def is_limit_of_refusal(stated: Quantity, plain: str, clause_end: int, expected: ExpectedLimit) -> bool:
    """Return whether what is beyond a bound is refused: "anything larger than 25 MB is rejected" states 25 MB."""
    fits = not expected.side or (stated.bound[:1] == ">") == (expected.side == "<")
    return fits and _REFUSED.search(plain, stated.end, clause_end) is not None
