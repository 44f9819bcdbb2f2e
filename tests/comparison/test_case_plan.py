"""Plans of how many cases a comparison needs: from a pilot of two systems, of one, or from what is assumed."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import assay
from assay.api import ScoreResult
from assay.cli import main
from assay.records.errors import InputError
from assay.stats.mcnemar_power import find_cases_needed
from assay.stats.sample_size import PairSpread, find_cases_for

CASES = 40


def score(right: np.ndarray, name: str, cluster: int = 1) -> ScoreResult:
    golden = [
        {
            "id": f"door-{n}",
            "question": f"What is door {n}?",
            "must_have": [f"{n + 20} steps"],
            "cluster": f"wing-{n // cluster}",
        }
        for n in range(len(right))
    ]
    outputs = [
        {"case_id": f"door-{n}", "answer": f"It has {n + 20 if ok else n + 70} steps."} for n, ok in enumerate(right)
    ]
    return assay.score(golden, outputs, config=name, progress=False)


def make_pilot(cluster: int = 1) -> tuple[ScoreResult, ScoreResult]:
    before = np.arange(CASES) % 2 == 0
    after = before.copy()
    after[:8] = True
    after[-4:] = False
    return score(before, "before", cluster), score(after, "after", cluster)


def test_a_pilot_of_two_systems_says_how_often_they_differ() -> None:
    plan = assay.plan(0.1, pilot=make_pilot())
    assert (0.15, 40) == (plan.estimate.spread.amount, plan.estimate.pilot_cases)
    assert find_cases_needed(0.15, 0.1) == plan.cases
    assert plan.cases is not None and plan.cases_at_widest is not None and plan.cases_at_widest > plan.cases
    text = str(plan)
    assert text.startswith(
        f"about {plan.cases} cases to show a difference of 0.1 in correct_answer with a power of 80%"
    )
    assert "the two systems differ on 15% of the cases, as in the pilot of 40 cases (6 differ)" in text
    assert (
        "the upper end of its 95% interval" in text
        and "40 cases as in the pilot are too few to show any difference" in text
    )


def test_clusters_of_a_pilot_raise_the_number_of_cases() -> None:
    plan = assay.plan(0.1, pilot=make_pilot(cluster=4))
    spread = plan.estimate.spread
    assert not spread.is_share and spread.widening > 1.5
    assert "clusters of cases widen the variance by" in str(plan)
    assert plan.cases == find_cases_for(0.1, spread)
    alone = find_cases_for(0.1, PairSpread(spread.amount, is_share=False))
    assert alone is not None and plan.cases is not None and plan.cases > 1.4 * alone


def test_a_pilot_of_one_system_and_a_rate_assume_the_same_and_say_so() -> None:
    pilot = score(np.arange(CASES) % 4 > 0, "only")
    from_pilot, from_rate = assay.plan(0.15, pilot=pilot), assay.plan(0.15, rate=0.75)
    assert from_pilot.cases == from_rate.cases
    assert "their outcomes correlate by 0.5" in str(from_rate) and "the rate is that of the pilot" in str(from_pilot)
    assert from_rate.cases_at_widest == assay.plan(0.15, changed=2 * 0.75 * 0.25).cases
    assert from_rate.cases_at_widest == assay.plan(0.15, rate=0.75, correlation=0.0).cases


def test_several_tests_share_the_level() -> None:
    one, three = assay.plan(0.1, changed=0.3), assay.plan(0.1, changed=0.3, tests=3)
    assert one.cases is not None and three.cases is not None and three.cases > 1.2 * one.cases
    assert "3 tests share a level of 5%" in str(three) and "one test alone" in str(one)
    assert assay.plan(0.1, changed=0.3, level=0.05 / 3).cases == three.cases


def test_twice_the_deviation_needs_four_times_the_cases() -> None:
    cases = [assay.plan(0.02, sd=sd, metric="answer_similarity").cases for sd in (0.2, 0.4)]
    assert cases[0] is not None and cases[1] is not None and math.isclose(cases[1] / cases[0], 4, rel_tol=0.02)


def test_the_command_prints_the_plan_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["plan", "--difference", "0.1", "--changed", "0.3"])
    assert capsys.readouterr().out == str(assay.plan(0.1, changed=0.3)) + "\n"
    assert 0 == main(["plan", "--difference", "0.1", "--changed", "0.3", "--format", "json"])
    assert 249 == json.loads(capsys.readouterr().out)["cases"]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"difference": 0.0, "rate": 0.5}, "difference"),
        ({"difference": 1.0, "rate": 0.5}, "difference"),
        ({"difference": 0.1}, "pilot"),
        ({"difference": 0.1, "rate": 0.5, "sd": 0.2}, "pilot"),
        ({"difference": 0.1, "rate": 1.5}, "rate"),
        ({"difference": 0.1, "sd": -1.0}, "sd"),
        ({"difference": 0.1, "rate": 0.5, "correlation": 1.0}, "correlation"),
        ({"difference": 0.1, "rate": 0.5, "power": 1.0}, "power"),
        ({"difference": 0.1, "rate": 0.5, "tests": 0}, "tests"),
    ],
)
def test_what_no_plan_can_be_made_of_is_refused(arguments: dict[str, float], field: str) -> None:
    with pytest.raises(InputError) as refused:
        assay.plan(**arguments)  # type: ignore[arg-type]  # values of any type, to be refused
    assert field == refused.value.problems[0].field


def test_a_pilot_that_says_too_little_is_refused() -> None:
    small = score(np.array([True, False, True]), "small")
    with pytest.raises(InputError, match=r"pilot: E_PLAN too small \(got 3 cases scored by correct_answer"):
        assay.plan(0.1, pilot=small)
    with pytest.raises(InputError, match=r"alone .got 2 systems and rate"):
        assay.plan(0.1, pilot=make_pilot(), rate=0.5)
    with pytest.raises(InputError, match="every case scored 1"):
        assay.plan(0.1, pilot=score(np.ones(CASES, dtype=bool), "perfect"))
