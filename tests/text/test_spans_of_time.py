"""Spans of time within which something is, or only after which, and days that are only the first possible ones."""

from __future__ import annotations

import pytest

from assay.text.facts.references.reference_judgments import judge_reference_facts
from assay.text.facts.stated_facts import judge_facts

HANDED_IN = "By when must the form be handed in?"


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        (HANDED_IN, "within 21 days", "After 21 days."),
        (HANDED_IN, "within 21 days", "Later than 21 days."),
        (HANDED_IN, "within 21 days", "21 days later."),
        (HANDED_IN, "within 21 days", "It must be handed in after 21 days."),
        ("How quickly is a ticket answered?", "within 4 hours", "After 4 hours."),
        ("When is the deposit paid back?", "within 6 weeks", "6 weeks later."),
        ("Khi nào phải nộp đơn?", "trong vòng 14 ngày", "Sau 14 ngày."),
        ("Khi nào phải nộp đơn?", "trong vòng 14 ngày", "14 ngày sau."),
    ],
)
def test_what_is_within_a_span_is_not_after_it(question: str, fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state == "denied"
    assert judge_reference_facts(answer, f"{fact.capitalize()}.", question)[0].state in ("denied", "unknown")


def test_a_german_span_is_not_stated_by_what_is_after_it() -> None:
    question = "Bis wann muss ich kündigen?"
    assert judge_facts("Nach 14 Tagen.", ["innerhalb von 14 Tagen"], question)[0].state == "unknown"


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        (HANDED_IN, "within 21 days", "In 21 days at most."),
        (HANDED_IN, "within 21 days", "No later than 21 days."),
        (HANDED_IN, "within 21 days", "Up to 21 days."),
        (HANDED_IN, "within 21 days", "21 days later at the latest."),
        (HANDED_IN, "within 21 days", "Within 21 days after the exam."),
        (HANDED_IN, "within 21 days after the exam", "21 days after the exam at the latest."),
        ("Until when can I get a refund?", "within 14 days", "The right to a refund expires after 14 days."),
        ("Until when can I get a refund?", "within 14 days", "You have 14 days; after 14 days it is too late."),
        ("When is it answered?", "within 2 days", "Within 2 days, after which it is escalated."),
        ("Khi nào phải nộp đơn?", "trong vòng 14 ngày", "Chậm nhất 14 ngày."),
        ("Bao lâu thì được hoàn tiền?", "trong vòng 7 ngày", "Trong vòng 7 ngày sau khi trả hàng."),
        ("When does it escalate?", "after 30 minutes", "30 minutes later."),
        ("How long are logs kept?", "30 days", "They are deleted after 30 days."),
    ],
)
def test_other_words_for_within_a_span_state_it(question: str, fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state == "stated"


def test_what_is_after_a_span_is_not_within_it() -> None:
    assert judge_facts("Within 30 minutes.", ["after 30 minutes"], "When does it escalate?")[0].state == "unknown"


@pytest.mark.parametrize("answer", ["Not before 31 May 2028.", "31 May 2028 at the earliest.", "31 May 2028 or later."])
@pytest.mark.parametrize(
    ("question", "state"),
    [
        ("When is the old portal switched off?", "unknown"),
        ("When is the old portal switched off at the earliest?", "stated"),
        ("From when on is the old portal read-only?", "stated"),
    ],
)
def test_the_first_day_possible_is_no_day(answer: str, question: str, state: str) -> None:
    assert judge_facts(answer, ["31 May 2028"], question)[0].state == state
