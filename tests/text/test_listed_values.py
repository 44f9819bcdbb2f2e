"""An answer that lists many values is no answer to a question for one of them (ADR 228)."""

from __future__ import annotations

import pytest

from assay.metrics.answers.expected_text import assess_answer_text
from assay.records.golden_set import Case, Rubric
from assay.text.facts.stated_facts import judge_facts

TOURS = ("harbour", "castle", "lake", "forest", "cellar", "tower", "garden")
DURATIONS = " ".join(f"The {name} tour takes {20 + 15 * place} minutes." for place, name in enumerate(TOURS))
DEPOSITS = "Tiền cọc: " + ", ".join(f"phòng {name} {place * 150}.000 đồng" for place, name in enumerate("ABCDEF", 1))


def _state(answer: str, fact: str, question: str) -> str:
    return judge_facts(answer, [fact], question)[0].state


@pytest.mark.parametrize(
    ("answer", "fact", "question", "state"),
    [
        (DURATIONS, "50 minutes", "How long does the lake tour take?", "unknown"),
        (DURATIONS, "57 minutes", "How long does the lake tour take?", "missing"),
        ("The lake tour takes 50 minutes.", "50 minutes", "How long does the lake tour take?", "stated"),
        (
            "The lake tour takes 50 minutes, the castle tour 35 minutes and the harbour tour 20 minutes.",
            "50 minutes",
            "How long does the lake tour take?",
            "stated",  # a few others are a help
        ),
        (
            "The lake tour takes 50 minutes and costs $9, for groups $7, with lunch $24, at night $15, in winter $5.",
            "50 minutes",
            "How long does the lake tour take?",
            "stated",  # values of another kind
        ),
        (DEPOSITS, "300.000 đồng", "Tiền cọc phòng B là bao nhiêu?", "unknown"),
        (DEPOSITS, "phòng B 300.000 đồng", "Liệt kê tiền cọc của tất cả các phòng.", "stated"),
    ],
)
def test_one_value_among_many_is_no_answer(answer: str, fact: str, question: str, state: str) -> None:
    """Unless the question asks for several: whoever lists all of them states the right one as well."""
    assert state == _state(answer, fact, question)


@pytest.mark.parametrize(
    "question",
    ["How long do the tours take?", "List the tours with their durations.", "Wie lange dauern alle Touren?"],
)
def test_a_list_that_is_asked_for_is_no_guess(question: str) -> None:
    """By the words of the question."""
    assert "lists" not in judge_facts(DURATIONS, ["50 minutes"], question)[0].reason


def test_several_values_of_a_case_ask_for_a_list() -> None:
    """A case that requires all of them has asked for all, whatever the words of its question are."""
    facts = [f"{name} tour {20 + 15 * place} minutes" for place, name in enumerate(TOURS)]
    judgments = judge_facts(DURATIONS, facts, "How long does it take to see the town?")
    assert {"stated"} == {judgment.state for judgment in judgments}
    reference = "50 minutes for the lake, 65 minutes for the forest"
    (judged,) = judge_facts(DURATIONS, ["50 minutes"], "How long does the lake tour take?", reference)
    assert "lists" not in judged.reason


@pytest.mark.parametrize(
    "expected",
    [
        {"must_have": ("50 minutes",)},
        {"reference": "50 minutes"},
        {"reference": "The lake tour takes 50 minutes."},
        {"rubric": Rubric(("50 minutes",))},
    ],
)
def test_a_list_is_left_open_whatever_the_case_states(expected: dict[str, object]) -> None:
    """Facts, keywords, a value and a sentence as the reference alike."""
    quality = assess_answer_text(Case("a", "How long does the lake tour take?", **expected), DURATIONS)  # type: ignore[arg-type]  # the fields differ by row
    assert quality is not None and quality.good is None
