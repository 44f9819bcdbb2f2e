"""A fact that denies something, in an answer that denies it in another sentence than the one with the fact's words."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("The annexe does not have one. The only sauna is in the main house.", "unknown"),
        ("The sauna in the annexe is open daily. Dogs are not allowed.", "denied"),
        ("There is a sauna in the annexe.", "denied"),
        ("No. Saunas exist in the main house only.", "stated"),
        ("No. Saunas exist in the annexe only.", "unknown"),
        ("Yes. Saunas exist in the main house and in the annexe.", "denied"),
    ],
)
def test_a_denial_in_another_sentence_about_the_same_leaves_a_denied_fact_open(answer: str, state: str) -> None:
    question = "Does the annexe have a sauna?"
    (judgment,) = judge_facts(answer, ["no sauna in the annexe"], question, "No, only the main house has a sauna.")
    assert state == judgment.state
