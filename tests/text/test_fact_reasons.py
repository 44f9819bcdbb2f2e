"""Why a fact is open, denied or missing is said of the answer, in words that need no knowledge of the rules."""

from __future__ import annotations

import pytest
from benchmarks.facts import SETS, read_answers

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("question", "fact", "answer", "reason"),
    [
        (
            "Until when is the weir open?",
            "17:00",
            "In autumn the weir is open until 17:00.",
            'the answer says this for "In autumn …", and neither question nor evidence speak of that',
        ),
        (
            "What is the fee?",
            "€9",
            "€9 per canoe.",
            "the answer counts this per canoe, and neither question nor evidence do",
        ),
        ("What is the fee?", "€9", "Maybe €9.", 'the answer is not sure of this ("maybe")'),
        ("What is the fee?", "€9", "It is €12.", 'the answer does not say €9; it says "€12"'),
        ("Is the lock open?", "yes", "The lock keeper has a dog.", 'the answer does not plainly say "yes"'),
        (
            "What is the fee?",
            "€9",
            "The deposit is €9, the fee €4.",
            'the answer says this of "deposit", and "fee", which is asked about, is elsewhere in it',
        ),
        (
            "Who opens the lock?",
            "the keeper",
            "Nobody.",
            'the answer does not say "keeper", but other words of it may mean that',
        ),
    ],
)
def test_a_reason_says_what_the_answer_says(question: str, fact: str, answer: str, reason: str) -> None:
    assert reason == judge_facts(answer, [fact], question)[0].reason


@pytest.mark.parametrize("name", SETS)
def test_every_reason_is_one_line_about_the_answer(name: str) -> None:
    for marked in read_answers(name)["development"]:
        case = marked.case
        for judgment in judge_facts(marked.answer, case.must_have, case.question, case.reference or ""):
            if judgment.reason:
                assert "answer" in judgment.reason
                assert "\n" not in judgment.reason.replace(marked.answer, "")
