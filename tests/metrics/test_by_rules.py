"""Answer metrics by rules: the direction of their scores, and what they are means of."""

from __future__ import annotations

import pytest
from tests.metrics.answers import make_parsed_answer

from assay.metrics.answers.hallucination_risk import score_hallucination_risk
from assay.metrics.grounding.citation_support import score_citation_support, score_misattribution
from assay.metrics.grounding.faithfulness import (
    count_contradiction_suspects,
    count_unsupported_claims,
    score_faithfulness,
)


def test_by_rules_a_verbatim_claim_scores_high_and_a_foreign_one_low() -> None:
    verbatim = make_parsed_answer("Staff get 12 days of leave.", citations=("leave",))
    foreign = make_parsed_answer("The canteen opens at noon on Sundays.", citations=("leave",))
    assert score_faithfulness(verbatim).value > 0.8 > 0.2 > score_faithfulness(foreign).value
    assert score_citation_support(verbatim).value > 0.8 > 0.2 > score_citation_support(foreign).value


def test_by_rules_the_mean_is_over_claims_and_over_citations() -> None:
    supported, foreign = "Staff get 12 days of leave.", "The canteen opens at noon on Sundays."
    alone = [score_faithfulness(make_parsed_answer(text, citations=())).value for text in (supported, foreign)]
    assert sum(alone) / 2 == pytest.approx(
        score_faithfulness(make_parsed_answer(f"{supported} {foreign}", citations=())).value
    )
    cited = [
        score_citation_support(make_parsed_answer(f"{supported[:-1]} [{name}].", citations=(name,))).value
        for name in ("leave", "it")
    ]
    both = make_parsed_answer(f"{supported[:-1]} [leave]. {supported[:-1]} [it].", citations=("leave", "it"))
    assert sum(cited) / 2 == pytest.approx(score_citation_support(both).value)


def test_by_rules_a_citation_of_nothing_known_is_worth_nothing() -> None:
    score_without_ghost = score_citation_support(
        make_parsed_answer("Staff get 12 days of leave [leave].", citations=("leave",))
    ).value
    with_ghost = make_parsed_answer("Staff get 12 days of leave [leave] [ghost-1].", citations=("leave", "ghost-1"))
    assert score_without_ghost / 2 == pytest.approx(score_citation_support(with_ghost).value)


def test_by_rules_a_claim_that_another_source_supports_is_misattributed() -> None:
    assert 1.0 == score_misattribution(make_parsed_answer("Staff get 12 days of leave [it].", citations=("it",))).value
    assert (
        0.0
        == score_misattribution(make_parsed_answer("Staff get 12 days of leave [leave].", citations=("leave",))).value
    )
    loose = make_parsed_answer("Staff get 12 days of leave. Five days carry over.", citations=("it",))
    assert "no citation is attached to a claim" == score_misattribution(loose).reason


def test_by_rules_a_wrong_number_is_contradicted_and_a_claim_that_is_not_found_counts_as_nothing() -> None:
    counts = (count_unsupported_claims, count_contradiction_suspects)
    wrong = make_parsed_answer("Staff get 15 days of leave.", citations=())
    assert [1.0, 1.0] == [count(wrong).value for count in counts]
    detail = count_contradiction_suspects(wrong).detail
    assert 'probably contradicted: Staff get 15 days of leave. ("15 days" where the source has "12 days")' == detail
    foreign = make_parsed_answer("The canteen opens at noon on Sundays.", citations=())
    assert [0.0, 0.0] == [count(foreign).value for count in counts]
    assert [0.0, 0.0] == [
        count(make_parsed_answer("Staff get 12 days of leave.", citations=())).value for count in counts
    ]


def test_by_rules_the_risk_is_one_minus_the_product() -> None:
    parsed = make_parsed_answer(
        "Staff get 12 days of leave [leave]. The canteen opens at noon [it].", citations=("leave", "it")
    )
    product = score_faithfulness(parsed).value * score_citation_support(parsed).value
    assert 1 - product == pytest.approx(score_hallucination_risk(parsed).value)
