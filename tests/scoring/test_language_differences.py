"""A difference between languages is told where chance does not explain it, and nowhere else."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from scipy.stats import fisher_exact

from assay.metrics.case_checks import UNKNOWN_ANSWER
from assay.records.golden_set import Case
from assay.records.scores import CaseChecks, ScoreTable
from assay.scoring.language_differences import describe_language_differences
from assay.stats.independent_rates import compute_fisher_p


def make(outcomes: dict[str, str], config: str = "c", **fields: Any) -> tuple[list[Case], ScoreTable]:
    """Return cases and checks: a letter for each case of a language, F failed, U unknown, P passed."""
    cases, checks = [], []
    for language, letters in outcomes.items():
        for number, letter in enumerate(letters):
            case = Case(f"{language}-{number}", f"{language} {number}?", language=language or None, **fields)
            cases.append(case)
            if letter != "P":
                failed = ("wrong_answer",) if letter == "F" else ()
                checks.append(CaseChecks(case.id, failed, (UNKNOWN_ANSWER,) if letter == "U" else ()))
    return cases, ScoreTable(config, tuple(case.id for case in cases), {}, (), tuple(checks))


def test_a_language_that_fails_more_often_is_told_with_its_counts_and_its_adjusted_p() -> None:
    cases, table = make({"sv": "F" * 12 + "P" * 8, "en": "F" * 5 + "P" * 45})
    (line,) = describe_language_differences(cases, {"c": table})
    assert line.startswith(
        "doubt: in sv answers fail more often than in the other languages: 12 of 20, else 5 of 50 (p "
    )
    alone = fisher_exact(np.array([[12, 8], [5, 45]]))[1]
    (warning,) = describe_language_differences(*_with_others(cases, table))
    assert warning.startswith("c: doubt: in sv answers fail")  # of several systems each difference has its name
    assert f"p {2 * alone:.2g}, adjusted" in warning  # another system with as many tests doubles it


def _with_others(cases: list[Case], table: ScoreTable) -> tuple[list[Case], dict[str, ScoreTable]]:
    other = ScoreTable("d", table.case_ids, {}, (), (CaseChecks("en-0", ("wrong_answer",)),))
    return cases, {"c": table, "d": other}


def test_a_language_that_the_rules_leave_open_is_told_as_that() -> None:
    cases, table = make({"fi": "U" * 14 + "P" * 6, "en": "U" * 3 + "P" * 47, "de": "P" * 20})
    (line,) = describe_language_differences(cases, {"c": table})
    assert "in fi the rules leave answers open more often" in line and "14 of 20, else 3 of 70" in line


@pytest.mark.parametrize(
    "outcomes",
    [
        {"sv": "FFFFF" + "P" * 15, "en": "F" * 7 + "P" * 43},  # chance explains it
        {"sv": "F" * 9, "en": "P" * 50},  # too few cases of one
        {"en": "F" * 30 + "P" * 30},  # one language
        {"": "F" * 12 + "P" * 8},  # no language is stated
    ],
)
def test_what_chance_explains_or_nobody_can_tell_is_not_told(outcomes: dict[str, str]) -> None:
    cases, table = make(outcomes)
    assert [] == describe_language_differences(cases, {"c": table})


def test_open_answers_of_the_others_count_as_failed() -> None:
    cases, table = make({"sv": "F" * 16 + "P" * 4, "en": "F" * 20 + "U" * 20})
    assert [] == [line for line in describe_language_differences(cases, {"c": table}) if "answers fail" in line]
    cases, table = make({"sv": "F" * 16 + "P" * 4, "en": "F" * 5 + "U" * 5 + "P" * 40})
    (line,) = describe_language_differences(cases, {"c": table})
    assert "in sv answers fail" in line and "16 of 20, else at most 10 of 50" in line


def test_copies_of_a_question_count_once() -> None:
    """Twelve failures of one cluster are one."""
    cases, table = make({"sv": "F" * 12 + "P" * 8, "en": "F" * 5 + "P" * 45})
    copied = [
        case if case.language == "en" else Case(case.id, case.question, language="sv", cluster="x") for case in cases
    ]
    assert [] == describe_language_differences(copied, {"c": table})


def test_equal_languages_are_told_apart_no_more_often_than_the_level_allows() -> None:
    generator = random.Random(7)
    warnings = 0
    for _ in range(400):
        cases, table = make({name: "".join(generator.choices("PFU", (5, 3, 2), k=25)) for name in ("da", "en", "nl")})
        warnings += bool(describe_language_differences(cases, {"c": table}))
    assert warnings <= 400 * 0.05 + 3 * (400 * 0.05 * 0.95) ** 0.5


def test_fishers_test_is_that_of_another_implementation() -> None:
    generator = random.Random(3)
    for _ in range(200):
        sizes = generator.randint(1, 80), generator.randint(1, 80)
        counts = generator.randint(0, sizes[0]), generator.randint(0, sizes[1])
        expected = fisher_exact(np.array([[counts[0], sizes[0] - counts[0]], [counts[1], sizes[1] - counts[1]]]))[1]
        assert abs(compute_fisher_p(counts[0], sizes[0], counts[1], sizes[1]) - expected) < 1e-9
