"""That there is none of a thing is said in many words; none of them denies it, and some are the same."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts

CAP, FEE, DEPOSIT = "Is there a cap on storage?", "Is there a fee for students?", "Is a deposit required for bicycles?"


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        (CAP, "no cap", "Storage comes without an upper cap.", "stated"),
        (CAP, "no cap", "Storage is free of any cap.", "stated"),
        (CAP, "no cap", "There is a cap.", "denied"),
        (CAP, "no cap", "None.", "stated"),
        (CAP, "no cap", "€0.", "unknown"),
        (FEE, "no fee", "Students join free of any fee.", "stated"),
        (FEE, "no fee", "It's €0.", "stated"),
        (FEE, "no fee", "It's €5.", "denied"),
        (FEE, "no fee", "The fee only applies to guests.", "unknown"),
        (FEE, "no fee", "Only guests pay a fee.", "unknown"),
        (DEPOSIT, "no deposit", "A deposit is only required for cars.", "unknown"),
        (DEPOSIT, "no deposit", "A deposit is only required for bicycles.", "denied"),
        (DEPOSIT, "no deposit", "Deposits are limited to cars.", "unknown"),
        (DEPOSIT, "no deposit", "A deposit is required.", "denied"),
        ("Gibt es eine Obergrenze?", "keine Obergrenze", "Ohne eine Obergrenze.", "unknown"),
    ],
)
def test_none_of_a_thing_is_told_in_other_words(question: str, fact: str, answer: str, state: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("None.", "stated"),
        ("There's no deductible for glass.", "unknown"),
        ("There's no doubt, it is EUR 50.", "missing"),
        ("EUR 50.", "missing"),
    ],
)
def test_none_may_be_an_amount_of_nothing(answer: str, state: str) -> None:
    assert judge_facts(answer, ["EUR 0"], "How high is the deductible for glass?")[0].state == state
