"""Which gaps in the evidence leave a fact open: chosen by sets of answers that they were not chosen on (ADR 0129).

`python -m benchmarks.fact_evidence` takes the answers that the rules passed when each set was first scored
(`first_sight.tsv`: the set, the commit of the rules, and P, U or F for each line) and counts, for each kind of gap, how
many right ones it opens and how many wrong ones. Then it chooses the kinds, for each set by the other sets alone, and
prints the curve: the share of right answers that stay passed against the share of wrong ones that are not passed. The
sets that were written by another author after the choice are left out of it, and printed last.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

from assay.text.facts.stated_facts import find_statement_gaps
from assay.text.facts.subjects.statement_gaps import GapKind
from benchmarks.facts import FOLDER, MarkedAnswer, format_share, list_answers

KINDS: tuple[str, ...] = get_args(GapKind)
HELD_OUT_HALVES = {"holiday": "untouched"}
"""Halves that were not looked at before the gaps were chosen."""
NEAR_MISSES = frozenset(("railway", "campus", "camping", "holiday", "town"))
"""Sets of chatty answers, each with a wrong one that differs little."""
WRITTEN_AFTER = frozenset(("pharmacy", "museum"))
"""Sets that took no part in the choice."""
LEAST_CAUGHT_PER_LOST = 2
"""A kind is chosen only if it opens twice as many wrong answers as right ones that no kind before it opens."""


class FirstSight(NamedTuple):
    """An answer of a set, whether it is right, whether it passed at first sight, and the kinds of gap that it has."""

    set_name: str
    is_right: bool
    passed: bool
    kinds: frozenset[str]


def read_first_sights() -> list[FirstSight]:
    """Return the answers of all sets that were scored before their errors were read."""
    sights = []
    for name, _, outcomes in (
        line.split("\t") for line in (FOLDER / "first_sight.tsv").read_text("utf-8").splitlines()
    ):
        for outcome, (half, answer) in zip(outcomes, list_answers(name), strict=True):
            if HELD_OUT_HALVES.get(name) != half:
                passed = outcome == "P"
                sights.append(FirstSight(name, answer.is_right, passed, _list_kinds(answer) if passed else frozenset()))
    return sights


def _list_kinds(answer: MarkedAnswer) -> frozenset[str]:
    case = answer.case
    keywords = case.rubric.correct_keywords if case.rubric is not None else ()
    facts = (*case.must_have, *keywords) or (case.reference or "",)
    context = (case.reference or "") if case.must_have or keywords else ""
    gaps = find_statement_gaps(answer.answer, facts, case.question, context)
    return frozenset(gap.kind for of_fact in gaps.values() for gap in of_fact)


def choose_kinds(sights: Sequence[FirstSight]) -> list[str]:
    """Return the kinds in the order of what they add: the most wrong answers opened for a right one."""
    chosen: list[str] = []
    while len(chosen) < len(KINDS):
        left = [sight for sight in sights if sight.passed and sight.kinds.isdisjoint(chosen)]
        best, best_gain = "", 0.0
        for kind in KINDS:
            caught = sum(kind in sight.kinds and not sight.is_right for sight in left)
            lost = sum(kind in sight.kinds and sight.is_right for sight in left)
            gain = caught / (lost + 1)
            if kind not in chosen and caught >= LEAST_CAUGHT_PER_LOST * lost and gain > best_gain:
                best, best_gain = kind, gain
        if not best:
            break
        chosen.append(best)
    return chosen


def report_kinds(sights: Sequence[FirstSight]) -> Iterator[str]:
    """Yield how many right and wrong answers that passed at first sight each kind of gap opens."""
    passed = [sight for sight in sights if sight.passed]
    right, wrong = (sum(sight.is_right == is_right for sight in passed) for is_right in (True, False))
    yield f"of {right} right and {wrong} wrong answers that passed at first sight:"
    for kind in KINDS:
        opened = [sight for sight in passed if kind in sight.kinds]
        right = sum(sight.is_right for sight in opened)
        yield f"  {kind:18} opens {right:3} right and {len(opened) - right:3} wrong ones"


def report_curve(sights: Sequence[FirstSight]) -> Iterator[str]:
    """Yield the shares after each kind, chosen for each set by the other sets."""
    names = list(dict.fromkeys(sight.set_name for sight in sights))
    orders = {name: choose_kinds([sight for sight in sights if sight.set_name != name]) for name in names}
    for count in range(max(map(len, orders.values())) + 1):
        passes = {True: 0, False: 0}
        for sight in sights:
            is_open = not sight.kinds.isdisjoint(orders[sight.set_name][:count])
            passes[sight.is_right] += sight.passed and not is_open
        right, wrong = (sum(sight.is_right == is_right for sight in sights) for is_right in (True, False))
        yield (
            f"{count} kinds: right passed {format_share(passes[True], right)}, wrong not passed "
            f"{format_share(wrong - passes[False], wrong)}"
        )
    yield f"chosen by all sets: {', '.join(choose_kinds(sights))}"


def main() -> int:
    """Print what each kind of gap opens, the curve, and the same for the sets of chatty answers alone."""
    sights = read_first_sights()
    chosen_on = [sight for sight in sights if sight.set_name not in WRITTEN_AFTER]
    near_misses = [sight for sight in chosen_on if sight.set_name in NEAR_MISSES]
    for title, some in (("all sets", chosen_on), ("sets of near misses", near_misses)):
        print(f"{title}:", *report_kinds(some), *report_curve(some), sep="\n")
    print("sets by another author:", *report_kinds([s for s in sights if s.set_name in WRITTEN_AFTER]), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
