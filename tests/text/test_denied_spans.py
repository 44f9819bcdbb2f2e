"""What may not be done for a span states the span, and what holds after it is not so before it."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("How long does the varnish have to dry?", "two days", "Do not walk on the varnish for two days."),
        ("How long does the varnish have to dry?", "two days", "You can't walk on the varnish for at least two days."),
        ("How long should I stop smoking?", "3 weeks", "You shouldn't smoke in the 3 weeks before the surgery."),
        ("How long must I avoid the sun?", "10 days", "Please don't sunbathe in the first 10 days."),
        ("Phải kiêng rượu bao lâu?", "5 ngày", "Không được uống rượu trong ít nhất 5 ngày."),
        ("Phải kiêng rượu bao lâu?", "5 ngày", "Không uống rượu trong 5 ngày sau khi tiêm."),
        ("When can I hang the lamp?", "not before 24 hours", "You can hang the lamp after 24 hours at the earliest."),
        ("When does boarding begin?", "not before 9 am", "Boarding begins from 9 am."),
        ("When does boarding begin?", "not until 9 am", "Boarding begins only after 9 am."),
        ("May pupils dive?", "from 12", "Pupils under 12 may not; from the age of 12 they may."),
        ("When do toddlers pay?", "from 3", "Toddlers under 3 sail free, and from the age of 3 they pay half."),
    ],
)
def test_a_span_of_a_prohibition_is_not_denied(question: str, fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state in {"stated", "unknown"}


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("How long does the varnish have to dry?", "two days", "It isn't two days but five."),
        ("How long is the voucher valid?", "two years", "The voucher is not valid for two years."),
        ("When can I hang the lamp?", "not before 24 hours", "You have to hang the lamp before 24 hours have passed."),
        ("When does boarding begin?", "not before 9 am", "Boarding begins before 9 am."),
    ],
)
def test_what_denies_a_span_or_turns_it_round_is_denied(question: str, fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state == "denied"
