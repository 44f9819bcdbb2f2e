"""What each rule that may leave a fact open costs and stops: right answers that pass without it, and wrong ones.

`python -m benchmarks.fact_doubts` takes the halves of `benchmarks.facts` that were worked on, leaves out one rule at a
time, and prints how many more right and wrong answers pass, and how many wrong ones no longer fail. A rule that stops
fewer wrong answers than it leaves right ones open has to be justified by something else (ADR 197).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any
from unittest.mock import patch

from assay.metrics.answers import expected_text
from assay.text.facts import fact_judge, stated_facts
from assay.text.facts.subjects.statement_gaps import GapFinder
from assay.text.facts.subjects.whose_value import ValueOwner
from benchmarks.facts import FAILED, HALVES, PASSED, READ_SINCE, SETS, MarkedAnswer, assess_answer, list_answers

JUDGES = (
    *("judge_denial", "judge_value_scope", "judge_doubt", "judge_role", "judge_roles", "judge_frame", "judge_conflict"),
    *("judge_event", "judge_new_bound", "judge_reversed_condition", "judge_foreign_denial", "judge_unasked_rate"),
    *("judge_added_terms", "judge_torn_part", "judge_opposed_decision", "judge_whole_names"),
)
"""The steps of `fact_judge` that judge a place where a fact is found."""
GAPS = (
    *("_find_second_value", "_find_other_statements", "_find_question_beside", "_find_only", "_find_former"),
    "_find_addition",
)
OWNERS = ("_find_other_day", "_find_split_fact", "_find_contrast", "_compare_parts")


def list_worked_on() -> list[MarkedAnswer]:
    """Return the answers on which rules were worked: development halves, and those that were read since."""
    return [answer for name in SETS for half, answer in list_answers(name) if half == HALVES[0] or name in READ_SINCE]


def assess_all(answers: Sequence[MarkedAnswer]) -> list[str]:
    """Return what the rules make of answers, without what they remember of them."""
    expected_text._read_facts_once.cache_clear()
    stated_facts._judge_cached.cache_clear()
    return [assess_answer(answer) for answer in answers]


def list_rules() -> Iterator[tuple[Any, str, object]]:
    """Yield where each rule is, its name, and what a rule that has nothing to say returns."""
    for name in JUDGES:
        yield fact_judge, name, None
    for name in GAPS:
        yield GapFinder, name, ()
    for name in OWNERS:
        yield ValueOwner, name, None


def measure_rules() -> Iterator[str]:
    """Yield a line for each rule."""
    answers = list_worked_on()
    before = assess_all(answers)
    for place, name, nothing in list_rules():
        with patch.object(place, name, lambda *_, nothing=nothing, **__: nothing):
            after = assess_all(answers)
        changed = [(answer.is_right, old, new) for answer, old, new in zip(answers, before, after, strict=True)]
        right, wrong = (
            sum(new == PASSED != old for is_right, old, new in changed if is_right == label) for label in (True, False)
        )
        spared = sum(old == FAILED != new for is_right, old, new in changed if not is_right)
        yield f"{name.strip('_'):26} leaves open {right:3} right, stops {wrong:3} wrong, fails {spared:3} wrong"


def main() -> int:
    """Print what each rule costs and stops."""
    for line in measure_rules():
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
