"""The evaluator evaluated: spoiled observations are noticed, and nothing is said about the good ones."""

from __future__ import annotations

import pytest
from benchmarks.mutation import HANDBOOK, SETS, Found, measure

import assay

NOTICED = 0.9


@pytest.fixture(scope="module", params=SETS, ids=lambda names: str(names[0]))
def found(request: pytest.FixtureRequest) -> Found:
    golden, corpus = request.param
    cases = assay.load_golden(HANDBOOK / "golden" / f"{golden}.jsonl")
    return measure(cases, assay.load_corpus(HANDBOOK / "corpus" / f"{corpus}.jsonl"))


def test_each_metric_notices_what_is_its_own(found: Found) -> None:
    missed = [each for each in found.noticed if each.worse < NOTICED * each.of]
    assert [] == missed
    assert sum(each.of for each in found.noticed) > 200


def test_good_observations_fail_no_check(found: Found) -> None:
    assert [] == found.alarmed


def test_no_score_moves_on_a_row_to_which_nothing_was_done(found: Found) -> None:
    assert [] == found.moved
