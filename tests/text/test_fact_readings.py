"""Times with a part of the day, fifty-fifty, ordinals, and what is named besides something else."""

from __future__ import annotations

import pytest

from assay.attribution.one_case.unsupported_numbers import find_unsupported_numbers
from assay.text.facts.stated_facts import judge_facts


def judge(question: str, fact: str, answer: str, reference: str = "") -> str:
    return judge_facts(answer, [fact], question, reference)[0].state


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        ("20:15", "The last ferry leaves at 8:15 in the evening."),
        ("20:15", "8:15 at night."),
        ("19:40", "It's at 7:40 this evening."),
        ("16:05", "At 4:05, in the afternoon."),
        ("7:20", "7:20 in the morning."),
        ("18:30 – 21:00", "From 6:30 to 9:00 in the evening."),
        ("19:45", "Lúc 7:45 tối nhé."),
        ("14:10", "2:10 chiều."),
        ("6:50", "6:50 sáng ạ."),
        ("half", "It's fifty-fifty between the sea and the lake."),
        ("50%", "We split the bill 50/50."),
        ("một nửa", "Chia năm mươi năm mươi ạ."),
    ],
)
def test_a_value_in_another_form_is_stated(fact: str, answer: str) -> None:
    assert "stated" == judge("?", fact, answer)


@pytest.mark.parametrize(
    ("fact", "answer", "state"),
    [
        ("20:15", "8:15 in the morning.", "unknown"),
        ("20:15", "8:15 sáng.", "unknown"),
        ("8:15", "It leaves at 8:15 in the evening.", "stated"),
        ("20:15", "Xe chạy 8:15 sang Hà Nội.", "unknown"),  # "sang" is "to"
        ("20:15", "8:15 tôi mới đến.", "unknown"),  # "tôi" is "I"
        ("00:30", "12:30 at night.", "unknown"),
        ("01:15", "1:15 at night.", "stated"),
        ("half", "There were 50 of us, 50 tents.", "missing"),
    ],
)
def test_what_another_word_may_mean_is_not_taken_for_a_part_of_the_day(fact: str, answer: str, state: str) -> None:
    assert state == judge("?", fact, answer)


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("What do I have to bring?", "a torch", "Besides a torch you have to bring a rope.", "unknown"),
        ("When does the stall open?", "Friday", "Every day besides Friday.", "unknown"),
        ("Cần mang theo gì?", "đèn pin", "Ngoài đèn pin ra thì phải mang dây thừng.", "unknown"),
        ("Chợ họp ngày nào?", "thứ Sáu", "Ngày nào cũng họp ngoài thứ Sáu.", "unknown"),
        ("Ngoài áo mưa cần gì?", "đèn pin", "Ngoài áo mưa, cần mang đèn pin.", "stated"),
        ("Tập ở đâu?", "ngoài trời", "Lớp tập ngoài trời ạ.", "stated"),
    ],
)
def test_what_is_named_besides_something_is_left_open(question: str, fact: str, answer: str, state: str) -> None:
    assert state == judge(question, fact, answer)


def test_an_ordinal_in_words_is_no_number_that_no_text_has() -> None:
    assert [] == find_unsupported_numbers("You can row from the third week.", ["Beginners row early."])
    assert [] == find_unsupported_numbers("Paid on the 2nd of each month.", ["It is paid on the second of each month."])
    assert ["4th"] == find_unsupported_numbers("Paid on the 4th of each month.", ["Paid on the second."])


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        (
            "Which day is there no market?", "Easter Monday",
            "No market on Easter Monday. Every other Monday there is.", "stated",
        ),
        ("Which day is there no market?", "Easter Monday", "There's no market on Easter Monday.", "stated"),
        ("Which day is there no market?", "Easter Monday", "The market is off on Easter Monday.", "stated"),
        ("Which day is there no market?", "Easter Monday", "There is a market on Easter Monday.", "unknown"),
        ("Which day is there no market?", "Easter Monday", "There's no parking on Easter Monday.", "unknown"),
        ("Ngày nào không có chợ?", "thứ Hai", "Thứ Hai không có chợ.", "stated"),
        ("What is the most a visitor pays?", "£40", "The maximum is £40; the first visit is £25.", "unknown"),
        ("What is the most a visitor pays?", "£40", "£25 for the first visit and £40 for the second.", "unknown"),
        ("What is the most a visitor pays?", "£40", "The cap is £40.", "stated"),
    ],
)  # fmt: skip
def test_a_right_answer_may_repeat_what_a_question_denies_or_asks_the_most_of(
    question: str, fact: str, answer: str, state: str
) -> None:
    assert state == judge(question, fact, answer)


@pytest.mark.parametrize(
    ("fact", "answer", "state"),
    [
        ("9,400,000 users", "9.4m users", "stated"),
        ("12,000,000 guests", "12 mln guests", "stated"),
        ("12 million", "It was 12,000,000 in all.", "stated"),
        ("12,000,000", "It is 12m.", "unknown"),
        ("12 metres", "It is 12m.", "stated"),
        ("12,000,000", "It is 13m.", "missing"),
        ("12 triệu khách", "12.000.000 khách", "stated"),
    ],
)
def test_millions_are_read_in_all_their_forms(fact: str, answer: str, state: str) -> None:
    assert state == judge("How many?", fact, answer)
