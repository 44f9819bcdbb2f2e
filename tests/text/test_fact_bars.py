"""The benchmark of facts decides by intervals: a small half that misses its bar may only be too small to tell."""

from __future__ import annotations

import sys
from unittest.mock import patch

import pytest
from benchmarks import facts
from benchmarks.fact_doubts import ADDITIONS, GAPS, OWNERS, WHOLE_FACT, assess_all, list_rules, list_worked_on
from benchmarks.facts import BELOW, NOT_ABOVE, TOO_SMALL, JudgedShare, MarkedAnswer, judge_pooled_answers, pool_answers

from assay.records.golden_set import Case

RIGHT = MarkedAnswer(True, "made", Case("case", "How long?", must_have=("12 days",)), "12 days.")
WRONG = MarkedAnswer(False, "made", Case("case", "How long?", must_have=("12 days",)), "15 days.")
PASSING = WRONG._replace(answer="12 days.")


@pytest.mark.parametrize(
    ("good", "total", "verdict"),
    # Wilson's upper ends: 22 of 26 .94, 5 of 7 .92, 12 of 26 .65, 300 of 400 .79
    [(26, 26, ""), (22, 26, TOO_SMALL), (5, 7, TOO_SMALL), (12, 26, BELOW), (300, 400, BELOW), (340, 400, "")],
)
def test_a_half_is_below_its_bar_only_with_its_whole_interval(good: int, total: int, verdict: str) -> None:
    share = JudgedShare(good, total, 0.85, "a half")
    assert verdict == share.find_verdict()
    assert f"a half  {verdict}".rstrip() == share.format_line()


def test_all_halves_together_must_lie_above_the_bar_with_their_interval() -> None:
    right, wrong = judge_pooled_answers([RIGHT] * 100 + [WRONG] * 90 + [PASSING] * 10)
    assert right.endswith("above the bar of 0.85") and "1.000" in right
    # .9 is above .85; its interval begins at .826
    assert wrong.endswith(NOT_ABOVE) and "0.900 (0.826 to" in wrong


def test_what_was_read_since_is_not_pooled() -> None:
    assert pool_answers(["museum", "town"]) == []
    assert len(pool_answers(["theatre", "museum"])) == 30


def print_figures(monkeypatch: pytest.MonkeyPatch, answers: list[MarkedAnswer]) -> int:
    monkeypatch.setattr(sys, "argv", ["facts"])
    monkeypatch.setattr(facts, "SETS", ("made",))
    monkeypatch.setattr(facts, "read_answers", lambda name: {"development": [], "untouched": answers})
    monkeypatch.setattr(facts, "read_lone_values", lambda half: [])
    monkeypatch.setattr(facts, "measure_milliseconds", lambda: {"claims": 0.0})
    return facts.main()


def test_the_exit_code_is_that_of_all_halves_together(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == print_figures(monkeypatch, [RIGHT] * 50 + [WRONG] * 50)
    assert 1 == print_figures(monkeypatch, [RIGHT] * 50 + [WRONG] * 40 + [PASSING] * 10)
    assert NOT_ABOVE in capsys.readouterr().out


def test_the_rules_of_doubt_are_found_by_their_names() -> None:
    rules = {rule.name: rule for rule in list_rules()}
    assert {*WHOLE_FACT, *ADDITIONS, *GAPS, *OWNERS, "judge_denial", "judge_event", "judge_rate"} <= rules.keys()
    assert all(hasattr(rule.holder, rule.attribute) for rule in rules.values())
    denied = [answer for answer in list_worked_on() if answer.kind == "negation"]
    denial = rules["judge_denial"]
    with patch.object(denial.holder, denial.attribute, denial.replacement):
        without = assess_all(denied)
    assert without != assess_all(denied)
