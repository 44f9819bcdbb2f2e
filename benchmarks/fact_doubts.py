"""What each rule that may leave a fact open costs and stops: right answers that pass without it, and wrong ones.

`python -m benchmarks.fact_doubts` takes the halves of `benchmarks.facts` that were worked on, leaves out one rule at a
time, and prints how many more right and wrong answers pass, and how many wrong ones no longer fail. A rule that stops
fewer wrong answers than it leaves right ones open has to be justified by something else (ADR 197).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

from assay.metrics.answers import expected_text
from assay.text.facts import fact_judge, stated_facts
from assay.text.facts.additions import addition_rules
from assay.text.facts.subjects.statement_gaps import GapFinder
from assay.text.facts.subjects.whose_value import ValueOwner
from assay.text.facts.values import value_rules
from benchmarks.facts import FAILED, HALVES, PASSED, READ_SINCE, SETS, MarkedAnswer, assess_answer, list_answers

TABLES: tuple[tuple[Any, str], ...] = (
    (fact_judge, "RULES_OF_ANY_PLACE"),
    (fact_judge, "RULES_OF_WHOLE_STATEMENTS"),
    (value_rules, "VALUE_RULES"),
)
"""The tables of the rules that judge a place where a fact is found, and of those on values."""
WHOLE_FACT = ("judge_torn_part", "judge_whole_names")
ADDITIONS = (
    *("name_correction", "name_opposite", "name_breakdown", "name_unfit", "name_further_day", "name_other_value"),
    *("name_later", "list_restrictions", "name_other_option", "list_alternatives"),
)
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


class LeftOut(NamedTuple):
    """A rule by its name, and how it is left out: what of what is replaced, and by what."""

    name: str
    holder: Any
    attribute: str
    replacement: object


def list_rules() -> Iterator[LeftOut]:
    """Yield each rule with how it is left out."""
    for holder, table in TABLES:
        rules = getattr(holder, table)
        for rule in rules:
            yield LeftOut(rule.__name__, holder, table, tuple(other for other in rules if other is not rule))
    for name in WHOLE_FACT:
        yield LeftOut(name, fact_judge, name, _say_nothing)
    for name in ADDITIONS:
        yield LeftOut(name, addition_rules, name, _say_nothing_of_it if name.startswith("name_") else _list_nothing)
    for name in GAPS:
        yield LeftOut(name, GapFinder, name, _list_nothing)
    for name in OWNERS:
        yield LeftOut(name, ValueOwner, name, _say_nothing)


def _say_nothing(*_: object, **__: object) -> None:
    return None


def _say_nothing_of_it(*_: object, **__: object) -> str:
    return ""


def _list_nothing(*_: object, **__: object) -> tuple[()]:
    return ()


def measure_rules() -> Iterator[str]:
    """Yield a line for each rule."""
    answers = list_worked_on()
    before = assess_all(answers)
    for rule in list_rules():
        with patch.object(rule.holder, rule.attribute, rule.replacement):
            after = assess_all(answers)
        changed = [(answer.is_right, old, new) for answer, old, new in zip(answers, before, after, strict=True)]
        right, wrong = (
            sum(new == PASSED != old for is_right, old, new in changed if is_right == label) for label in (True, False)
        )
        spared = sum(old == FAILED != new for is_right, old, new in changed if not is_right)
        name = rule.name.strip("_")
        yield f"{name:26} leaves open {right:3} right, stops {wrong:3} wrong, fails {spared:3} wrong"


def main() -> int:
    """Print what each rule costs and stops."""
    for line in measure_rules():
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
