"""What an answer takes back, or decides against the reference, is not stated."""

from __future__ import annotations

import pytest

from assay.text.facts.denials.retractions import find_retraction
from assay.text.facts.reading.read_text import read_text
from assay.text.facts.references.reference_judgments import judge_reference_facts
from assay.text.facts.stated_facts import judge_facts

FARE = "The locker costs £4 a day. "


@pytest.mark.parametrize(
    "taken_back",
    [
        "Please disregard that, it was the tariff of last spring.",
        "Sorry, this is no longer valid.",
        "Actually, scratch that.",
        "But I may be wrong.",
        "I made that up.",
        "Or possibly not.",
        "It could just as well be half of that.",
        "The above is outdated.",
        "Xin vui lòng bỏ qua câu trả lời này.",
        "Thông tin trên không còn đúng.",
        "Veuillez ignorer cette réponse.",
        "Das gilt nicht mehr.",
    ],
)
def test_a_fact_that_a_later_sentence_takes_back_is_open(taken_back: str) -> None:
    (judgment,) = judge_facts(FARE + taken_back, ["£4 a day"], "What does a locker cost?")
    assert "unknown" == judgment.state
    assert find_retraction(read_text(FARE + taken_back)) is not None


@pytest.mark.parametrize(
    "kept",
    [
        "That is not the case on market days.",
        "Ignore the sticker at the door.",
        "It is not valid in the annexe.",
        "We are sure of this.",
        "That does not apply to bicycles.",
        "It was painted green.",
        "Do not forget this coin!",
    ],
)
def test_what_restricts_or_adds_takes_nothing_back(kept: str) -> None:
    assert find_retraction(read_text(FARE + kept)) is None


def test_only_the_last_sentence_is_taken_back_unless_all_is() -> None:
    before = FARE + "Key cards were £9. "
    question = "What does a locker cost?"
    (of_last,) = judge_facts(before + "That is no longer the case.", ["£4 a day"], question)
    (of_all,) = judge_facts(before + "Please ignore all of this.", ["£4 a day"], question)
    assert "the answer takes it back" not in of_last.reason
    assert "the answer takes it back" in of_all.reason


def test_what_is_stated_again_afterwards_is_stated() -> None:
    answer = "The locker costs £9. Sorry, that was wrong. The locker costs £4."
    (wrong,) = judge_facts(answer, ["£9"], "What does a locker cost?")
    assert "unknown" == wrong.state
    assert find_retraction(read_text("The tariff was £9. That is no longer so; you pay £4.")) is not None
    (right,) = judge_facts("The tariff was £9. That is no longer so; you pay £4.", ["you pay £4"])
    assert "takes it back" not in right.reason


def test_a_retraction_that_is_asked_for_is_an_answer() -> None:
    question, reference = "Is the old tariff still valid?", "The old tariff has ended. It is no longer valid."
    (judgment,) = judge_facts("The old tariff has ended. It is no longer valid.", ["has ended"], question, reference)
    assert "takes it back" not in judgment.reason


@pytest.mark.parametrize(
    ("answer", "reference", "state"),
    [
        ("Yes, as 40 litres is less than 30 litres with its pockets.", "No, only up to 30 litres.", "unknown"),
        ("No, as more than 30 litres do not fit.", "No, only up to 30 litres.", "stated"),
        ("No problem, up to 30 litres fit.", "Yes, up to 30 litres.", "stated"),
    ],
)
def test_an_answer_that_begins_against_the_reference_is_open(answer: str, reference: str, state: str) -> None:
    question = "May I leave a rucksack of 40 litres?"
    (judgment,) = judge_facts(answer, ["30 litres"], question, reference)
    assert (state == "unknown") == ("and the reference with" in judgment.reason)
    assert state != "unknown" or "stated" != judgment.state


def test_a_reference_in_sentences_is_open_where_its_answer_is_taken_back() -> None:
    reference, question = "A locker costs £4 a day.", "What does a locker cost?"
    judged = judge_reference_facts(FARE + "Sorry, that is wrong.", reference, question)
    assert "stated" not in [judgment.state for judgment in judged]
