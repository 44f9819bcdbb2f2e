"""Whether an answer states a value by saying what holds beyond it: "above €500 two people sign".

Asked from where on something holds, such an answer is right; asked how much it is, "more than 12 days" is not 12 days.
The patterns are for folded text (`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from typing import Literal

from assay.text.facts.cues.condition_cues import CONDITION_BEFORE_VALUE
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.limit_cues import AHEAD_AFTER
from assay.text.facts.cues.question_cues import (
    ABOVE_ASKED,
    ASKED_THING,
    ASKS_FOR_THRESHOLD,
    ASKS_FROM_WHERE_ON,
    BELOW_ASKED,
)
from assay.text.facts.expected.expected_limits import ExpectedLimit, is_reversed_limit
from assay.text.facts.reading.read_text import ReadText
from assay.text.late_pattern import LatePattern
from assay.text.quantities.quantity import Quantity, remove_bound
from assay.text.quantities.quantity_agreement import is_same_quantity

_ASKED = r"(?:which|what|how (?:many|much|long|far|old)|bao nhieu|bao lau|may)\b"
_ASKED_SIDES: dict[str, LatePattern] = {
    ">": build_pattern(rf"\b{ABOVE_ASKED} {ASKED_THING}\b"),
    "<": build_pattern(rf"\b{BELOW_ASKED} {ASKED_THING}\b"),
}
"""The side of a bound that a question asks for: "above which amount"."""
_ASKS_FROM_WHERE_ON = build_pattern(rf"^(?:and |so )?{ASKS_FROM_WHERE_ON}|\b{ASKS_FOR_THRESHOLD}\b")
"""A question that a condition answers, which begins to hold at a value."""
_CONDITION_BEFORE = build_pattern(rf"\b{CONDITION_BEFORE_VALUE}\b[^,.;:]{{0,40}}$")
"""Begins what holds only beyond a value."""

_AHEAD_AFTER = build_pattern(rf" {AHEAD_AFTER}\b")
"""Follows a time by which something has to be done at the latest."""

Threshold = Literal["", "stated", "open", "contrary"]


def judge_threshold(
    wanted: Quantity, own: Quantity, answer: ReadText, question: ReadText, reference: ReadText, limit: ExpectedLimit
) -> Threshold:
    """Return what a strict bound of an answer says of its value: stated, perhaps, of the contrary, or nothing ("").

    `wanted`: the quantity that is expected; `own`: the bound of the same value. Question or reference may say the side.

    >>> from assay.text.facts.expected.expected_limits import ExpectedLimit
    >>> from assay.text.facts.reading.read_text import read_text
    >>> answer = read_text("Two people sign if it is over 500 euros.")
    >>> wanted, nothing = read_text("500 euros").quantities[0], read_text("")
    >>> for question in ("Above what sum do two sign?", "Below what sum do two sign?", "When do two people sign?"):
    ...     asked = read_text(question)
    ...     print(judge_threshold(wanted, answer.quantities[-1], answer, asked, nothing, ExpectedLimit("", False)))
    stated
    contrary
    open
    """
    asked = [side for side, pattern in _ASKED_SIDES.items() if pattern.search(question.plain)]
    asked += [
        bounded.bound[0]
        for bounded in reference.quantities
        if bounded.bound and is_same_quantity(wanted, remove_bound(bounded))
    ]
    if len(set(asked)) == 1:
        return "stated" if asked[0] == own.bound[0] else "contrary"
    clause = answer.clause_at(own.start)
    is_condition = _CONDITION_BEFORE.search(answer.plain, clause.sentence_start, own.start) is not None
    is_deadline = _AHEAD_AFTER.match(answer.plain, own.end) is not None and own.bound == ">"
    is_asked = _ASKS_FROM_WHERE_ON.search(question.plain) is not None
    if is_deadline:
        return "open"
    return "open" if (is_condition or is_asked) and not is_reversed_limit(own, limit) else ""
