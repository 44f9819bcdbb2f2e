"""Answer metrics by rules: the direction of their scores, and what they are means of."""

from __future__ import annotations

import pytest
from tests.graders.answers import reading

from assay.graders.attached import misattributed_by_rules, support_by_rules
from assay.graders.combined import risk_by_rules
from assay.graders.grounding import critical_by_rules, faithful_by_rules, suspects_by_rules, unsupported_by_rules


def test_by_rules_a_verbatim_claim_scores_high_and_a_foreign_one_low() -> None:
    verbatim = reading("Staff get 12 days of leave.", citations=("leave",))
    foreign = reading("The canteen opens at noon on Sundays.", citations=("leave",))
    assert faithful_by_rules(verbatim).value > 0.8 > 0.2 > faithful_by_rules(foreign).value
    assert support_by_rules(verbatim).value > 0.8 > 0.2 > support_by_rules(foreign).value


def test_by_rules_the_mean_is_over_claims_and_over_citations() -> None:
    supported, foreign = "Staff get 12 days of leave.", "The canteen opens at noon on Sundays."
    alone = [faithful_by_rules(reading(text, citations=())).value for text in (supported, foreign)]
    assert sum(alone) / 2 == pytest.approx(faithful_by_rules(reading(f"{supported} {foreign}", citations=())).value)
    cited = [
        support_by_rules(reading(f"{supported[:-1]} [{name}].", citations=(name,))).value for name in ("leave", "it")
    ]
    both = reading(f"{supported[:-1]} [leave]. {supported[:-1]} [it].", citations=("leave", "it"))
    assert sum(cited) / 2 == pytest.approx(support_by_rules(both).value)


def test_by_rules_a_citation_of_nothing_known_is_worth_nothing() -> None:
    score_without_ghost = support_by_rules(reading("Staff get 12 days of leave [leave].", citations=("leave",))).value
    with_ghost = reading("Staff get 12 days of leave [leave] [ghost-1].", citations=("leave", "ghost-1"))
    assert score_without_ghost / 2 == pytest.approx(support_by_rules(with_ghost).value)


def test_by_rules_a_claim_that_another_source_supports_is_misattributed() -> None:
    assert 1.0 == misattributed_by_rules(reading("Staff get 12 days of leave [it].", citations=("it",))).value
    assert 0.0 == misattributed_by_rules(reading("Staff get 12 days of leave [leave].", citations=("leave",))).value
    loose = reading("Staff get 12 days of leave. Five days carry over.", citations=("it",))
    assert "no citation is attached to a claim" == misattributed_by_rules(loose).reason


def test_by_rules_a_wrong_number_is_contradicted_and_an_unmentioned_claim_is_not() -> None:
    counts = (unsupported_by_rules, suspects_by_rules, critical_by_rules)
    wrong = reading("Staff get 15 days of leave.", citations=())
    assert [1.0, 1.0, 1.0] == [count(wrong).value for count in counts]
    detail = suspects_by_rules(wrong).detail
    assert 'probably contradicted: Staff get 15 days of leave. ("15 days" where the source has "12 days")' == detail
    foreign = reading("The canteen opens at noon on Sundays.", citations=())
    assert [1.0, 0.0, 0.0] == [count(foreign).value for count in counts]
    assert [0.0, 0.0, 0.0] == [count(reading("Staff get 12 days of leave.", citations=())).value for count in counts]


def test_by_rules_the_risk_is_one_minus_the_product() -> None:
    parsed = reading("Staff get 12 days of leave [leave]. The canteen opens at noon [it].", citations=("leave", "it"))
    product = faithful_by_rules(parsed).value * support_by_rules(parsed).value
    assert 1 - product == pytest.approx(risk_by_rules(parsed).value)
