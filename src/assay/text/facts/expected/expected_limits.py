"""Which limit an answer has to state, the most or the least, and whether it states the other one.

"How long can I stay?" asks for the most, and "at least 22 cm" is no maximum. The patterns are for folded text
(`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from assay.text.facts.cues.cue_pattern import build_pattern, list_words
from assay.text.facts.cues.denial_cues import REFUSED_BEYOND
from assay.text.facts.cues.limit_cues import AFTER, LOWER_LIMIT, SIDE_UNTIL, UNTIL, UPPER_LIMIT, UPPER_LIMIT_NAMES
from assay.text.facts.cues.question_cues import ABOVE_ASKED, ASKED_THING, ASKS_FOR_MOST, ASKS_FROM
from assay.text.quantities.quantity import Quantity

_REACH = 40  # characters before a value in which words for its beginning are searched
Limit = Literal["", "<", ">"]
"""Which limit a value is: "<" an upper one, ">" a lower one, "" neither."""
_UPPER = build_pattern(rf"\b{UPPER_LIMIT}\b")
_UPPER_NAMES = list_words(UPPER_LIMIT_NAMES)
_ASKS_FOR_MOST = build_pattern(rf"\b{ASKS_FOR_MOST}\b")


def names_asked_most(words: Iterable[str], question: str) -> bool:
    """Return whether a folded question asks for the most and some folded words call it by one of its names.

    >>> names_asked_most(("the", "cap"), "what is the most one pays?"), names_asked_most(("cap",), "what does it cost?")
    (True, False)
    """
    return not _UPPER_NAMES.isdisjoint(words) and _ASKS_FOR_MOST.search(question) is not None


_LOWER = build_pattern(rf"\b{LOWER_LIMIT}\b")
_ASKS_HOW_MUCH = tuple(
    (build_pattern(first), build_pattern(second))
    for first, second in (
        (
            r"\bhow (?:long|many|much|far|tall|large|big|heavy|high|wide|late|often)(?= )",
            r"\b(?:can|may|could|allowed)\b",
        ),
        (r"\b(?:can|may|could)(?= )", r"\bhow (?:long|many|much)\b"),
        (r"\bđược\b", r"\b(?:mấy|bao nhiêu|bao lâu)\b"),
    )
)
"""Pairs of which the second comes after the first; one expression for both would take quadratic time."""
_AFTER = build_pattern(rf"\b{AFTER}(?: the)? [$€£]?$")
_UNTIL_BEFORE = build_pattern(rf"(?<!\bnot )\b(?:{SIDE_UNTIL}|{UNTIL})(?: the)? [$€£]?$")
"""Stands before an end; "not until 3 pm" is from 3 pm on."""
_GOES_ON_UNTIL = build_pattern(rf" ?(?:-|–|{UNTIL}\b)")
_REFUSED = build_pattern(rf"\b{REFUSED_BEYOND}\b")


def find_limit(plain: str) -> Limit:
    """Return which limit a folded text is about: "<" for "at most 5 days", ">" for "the minimum is 5 days"."""
    is_upper, is_lower = _UPPER.search(plain) is not None, _LOWER.search(plain) is not None
    if is_upper == is_lower:
        return ""
    return "<" if is_upper else ">"


_ASKS_FROM = build_pattern(rf"{ASKS_FROM}\b")
"""A question for where something begins, which "up to" answers the other way round."""
_ASKS_ABOVE = build_pattern(rf"{ABOVE_ASKED} {ASKED_THING}\b")
"""The same for what is exceeded: "at most 50 km/h" may well tell above which speed a fine is due."""


class ExpectedLimit(Struct, frozen=True):
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
    if _ASKS_ABOVE.match(question):
        return ExpectedLimit(">", False)
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


def ends_there(stated: Quantity, plain: str, expected: ExpectedLimit) -> bool:
    """Return whether something ends at a quantity where it is expected to begin: "until 18" for "from what age"."""
    is_lower = expected.side == ">" and expected.is_explicit and not stated.bound and not stated.is_range
    return is_lower and _UNTIL_BEFORE.search(plain, max(0, stated.start - _REACH), stated.start) is not None


def is_limit_of_refusal(stated: Quantity, plain: str, clause_end: int, expected: ExpectedLimit) -> bool:
    """Return whether what is beyond a bound is refused: "anything larger than 25 MB is rejected" states 25 MB."""
    fits = not expected.side or (stated.bound[:1] == ">") == (expected.side == "<")
    return fits and _REFUSED.search(plain, stated.end, clause_end) is not None
