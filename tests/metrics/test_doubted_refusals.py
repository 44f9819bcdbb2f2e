"""An answer that states what its case requires does not fail for how it is worded."""

from __future__ import annotations

import pytest

import assay


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        (
            "How long is my account locked?",
            "30 minutes",
            "I'm sorry to hear of that! Your account is locked for 30 minutes. I can't unlock it for you, "
            "but the service desk can.",
        ),
        ("When is P2 covered?", "06:00 to 22:00", "From 06:00 to 22:00. Outside these hours P2 is not handled."),
        (
            "What does a new card cost?",
            "15 euros",
            "Sorry! A new card costs 15 euros. I cannot order it, but reception can.",
        ),
        ("Who replaces broken lamps?", "building services", "Please contact building services."),
    ],
)
def test_a_right_answer_does_not_fail_for_its_wording(question: str, fact: str, answer: str) -> None:
    golden = [{"id": "a", "question": question, "must_have": [fact]}]
    assert not assay.run(lambda _: answer, golden).failed


def test_a_refusal_without_the_fact_still_fails() -> None:
    golden = [{"id": "a", "question": "What does a new card cost?", "must_have": ["15 euros"]}]
    assert assay.run(lambda _: "Sorry! I cannot tell what a card costs, but reception can.", golden).failed


@pytest.mark.parametrize(
    "answer", ["I can see up to 60 weeks here.", "It turns out our rules put it at up to 60 weeks, so write to us."]
)
def test_what_states_another_value_is_no_refusal_by_its_wording(answer: str) -> None:
    golden = [{"id": "a", "question": "How long may the boathouse stay empty?", "must_have": ["60 days"]}]
    case = assay.run(lambda _: answer, golden).cases[0]
    assert "read as unknown" in case.reasons["behaviour"]
    assert "not 60 days" in case.reasons["correct_answer"]


def test_another_value_beside_a_phrase_of_a_refusal_changes_nothing() -> None:
    golden = [{"id": "a", "question": "How long may the boathouse stay empty?", "must_have": ["60 days"]}]
    answer = "The documents do not mention that; up to 60 weeks is what I saw for cabins."
    case = assay.run(lambda _: answer, golden).cases[0]
    assert "read as abstain" in case.reasons["behaviour"]
