"""A value on other terms than the expected ones leaves its fact open; on the same terms it is stated."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts

EXCHANGE = ("By when may I exchange it?", "10 days", "Exchange it within 10 days.")
PERMIT = ("How long does the permit take?", "10 working days", "It takes 10 working days.")
FINE = ("What does a lost towel cost?", "14 euros", "A lost towel costs 14 euros.")
LATE = ("What is the fee for a late return?", "14 euros", "Bring it back late and it is 14 euros.")
BONUS = ("What is the referral worth?", "30 euros", "You get 30 euros for a new member.")
PIN = ("What is the alarm PIN?", "5562", "The PIN is 5562.")
RANGE = ("How far does the boat go on a full tank?", "60 km", "It goes 60 km on a full tank.")
TOWELS = ("How many towels are there?", "3 towels", "Each room has 3 towels.")
ENTRY = ("When may I come in?", "9:15", "The hall opens at 9:15.")


@pytest.mark.parametrize(
    ("question", "fact", "reference", "answer", "state"),
    [
        (*EXCHANGE, "Within 10 days.", "stated"),
        (*EXCHANGE, "Within 10 business days.", "unknown"),
        (*PERMIT, "It takes 10 business days.", "stated"),
        (*FINE, "It's 14 euros if you lose it.", "stated"),
        (*FINE, "You pay 14 euros for a lost towel.", "stated"),
        (*FINE, "You get 14 euros for a lost towel.", "unknown"),
        (*FINE, "14 euros back for a lost towel.", "unknown"),
        (*LATE, "We refund 14 euros for a late return.", "unknown"),
        (*BONUS, "You'll receive 30 euros.", "stated"),
        (*BONUS, "You have to pay 30 euros.", "unknown"),
        (*PIN, "It is 5562.", "stated"),
        (*PIN, "5562 is the new one.", "stated"),
        (*PIN, "5562 was the previous PIN.", "unknown"),
        (*PIN, "5562 was last year's PIN.", "unknown"),
        (*PIN, "5562 was the PIN until March.", "unknown"),
        (*RANGE, "60 km on one tank.", "stated"),
        (*RANGE, "60 km on four tanks.", "unknown"),
        (*TOWELS, "3 towels per room.", "stated"),
        (*TOWELS, "3 towels per guest.", "unknown"),
        (*ENTRY, "From 9:15.", "stated"),
        (*ENTRY, "Come in before 9:15.", "unknown"),
    ],
)
def test_a_value_on_other_terms_is_open(question: str, fact: str, reference: str, answer: str, state: str) -> None:
    (judgment,) = judge_facts(answer, [fact], question, reference)
    assert judgment.state == state, judgment.reason
