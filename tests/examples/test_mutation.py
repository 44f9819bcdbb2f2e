"""The evaluator evaluated: spoiled observations are noticed, and nothing is said about the good ones."""

from __future__ import annotations

import pytest
from benchmarks.mutation import HANDBOOK, SETS, MutationResult, measure_golden_set

import assay

pytestmark = pytest.mark.slow

NOTICED = 0.85
"""Of 32 answers to other questions four contradict no keyword made of words: they are left open, and not worse."""


@pytest.fixture(scope="module", params=SETS, ids=lambda names: str(names[0]))
def report(request: pytest.FixtureRequest) -> MutationResult:
    golden, corpus = request.param
    cases = assay.load_golden(HANDBOOK / "golden" / f"{golden}.jsonl")
    return measure_golden_set(cases, assay.load_corpus(HANDBOOK / "corpus" / f"{corpus}.jsonl"))


def test_each_metric_notices_what_is_its_own(report: MutationResult) -> None:
    # One case may pass by its own rule: another of its keywords still holds, and any of them is enough.
    missed = [noticed for noticed in report.noticed if noticed.worse < min(NOTICED * noticed.of, noticed.of - 1)]
    assert [] == missed
    assert sum(noticed.of for noticed in report.noticed) > 200


def test_good_observations_fail_no_check(report: MutationResult) -> None:
    assert [] == report.alarmed


def test_no_score_moves_on_a_row_to_which_nothing_was_done(report: MutationResult) -> None:
    assert [] == report.moved
