"""A duty or its absence said by a verb where the fact says it by an adjective: never called missing."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts

PORTFOLIO = ("portfolio is required", "Do I need a portfolio?")
INTERVIEW = ("exempt from the interview", "Do I have to do the interview?")


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (PORTFOLIO, "You need a portfolio."),
        (PORTFOLIO, "You must hand in a portfolio."),
        (INTERVIEW, "No interview for you."),
        (INTERVIEW, "You need no interview."),
    ],
)
def test_what_a_verb_may_say_is_not_missing(asked: tuple[str, str], answer: str) -> None:
    fact, question = asked
    (judgment,) = judge_facts(answer, [fact], question, f"{fact}.")
    assert judgment.state in ("stated", "unknown")


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (PORTFOLIO, "You don't need a portfolio."),
        (PORTFOLIO, "No portfolio."),
        (INTERVIEW, "You have to do the interview."),
    ],
)
def test_the_contrary_is_never_stated(asked: tuple[str, str], answer: str) -> None:
    fact, question = asked
    (judgment,) = judge_facts(answer, [fact], question, f"{fact}.")
    assert judgment.state != "stated"


def test_an_answer_that_only_repeats_the_duty_lacks_the_exemption() -> None:
    fact, question = INTERVIEW
    (judgment,) = judge_facts("You have to do the interview.", [fact], question, f"{fact}.")
    assert judgment.state == "missing"
