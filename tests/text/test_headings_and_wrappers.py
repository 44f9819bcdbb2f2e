"""Right answers in a list under a heading or behind a phrase that sums up, and the headings that say the opposite."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts

_QUESTION = "Which courses does Starter include?"
_FACTS = ["pottery", "weaving", "drawing"]
_LIST = "\n- Pottery\n- Weaving\n- Drawing"


def _judge(answer: str, facts: list[str], question: str) -> set[str]:
    return {judgment.state for judgment in judge_facts(answer, facts, question)}


@pytest.mark.parametrize(
    "heading",
    [
        "Starter includes:",
        "Starter entitles you to:",
        "The following courses are open to you:",
        "The courses that come with Starter are these:",
        "Sure! Starter gives you:",
    ],
)
def test_a_heading_is_the_beginning_of_what_its_list_says(heading: str) -> None:
    assert _judge(heading + _LIST, _FACTS, _QUESTION) == {"stated"}


@pytest.mark.parametrize(
    "heading",
    [
        "Starter does not include:",
        "You can't book:",
        "The following courses are optional:",
        "Starter excludes:",
        "Master entitles you to:",
        "With Master, you can book:",
        "After the exam you get:",
        "At the museum there is:",
        "You would have to pay extra for:",
    ],
)
@pytest.mark.parametrize("items", [_LIST, " pottery, weaving and drawing."])
def test_what_is_listed_under_the_opposite_or_something_else_is_open(heading: str, items: str) -> None:
    assert "stated" not in _judge(heading + items, _FACTS, _QUESTION)


@pytest.mark.parametrize(
    ("question", "facts", "right", "wrong"),
    [
        (
            "Was muss ich zum Kurs mitbringen?",
            ["Schere", "Leim"],
            "Bitte bringen Sie Folgendes mit:",
            "Nicht nötig sind:",
        ),
        (
            "Was muss ich zum Kurs mitbringen?",
            ["Schere", "Leim"],
            "Zum Kurs benötigen Sie:",
            "Verzichten können Sie auf:",
        ),
        ("Que dois-je apporter au cours ?", ["ciseaux", "colle"], "Il vous faut :", "Vous n'avez pas besoin de :"),
        ("Đi học cần mang những gì?", ["kéo", "hồ dán"], "Bạn cần chuẩn bị:", "Bạn không cần mang:"),
    ],
)
def test_headings_of_lists_are_read_in_other_languages(question: str, facts: list[str], right: str, wrong: str) -> None:
    items = "".join(f"\n- {fact[0].upper()}{fact[1:]}" for fact in facts)
    assert _judge(right + items, facts, question) == {"stated"}
    assert "stated" not in _judge(wrong + items, facts, question)


def test_a_denied_heading_answers_a_denied_question() -> None:
    assert _judge(f"Starter does not include:{_LIST}", _FACTS, "Which courses does Starter not include?") == {"stated"}


def test_a_list_with_a_line_that_no_fact_has_stays_open() -> None:
    assert "stated" not in _judge(f"Starter entitles you to:{_LIST}\n- Glass blowing", _FACTS, _QUESTION)


def test_what_follows_a_list_is_not_under_its_heading() -> None:
    answer = "Starter does not include:\n- Glass blowing\n- Sewing\n\nIt includes pottery, weaving and drawing."
    assert _judge(answer, _FACTS, _QUESTION) == {"stated"}


@pytest.mark.parametrize(
    "opening",
    [
        "In short: ",
        "In brief, ",
        "In a nutshell, ",
        "In other words: ",
        "For your information: ",
        "If I'm not mistaken, ",
        "Unless I'm mistaken, ",
    ],
)
@pytest.mark.parametrize(("price", "state"), [("€12", "stated"), ("€21", "missing")])
def test_a_phrase_that_sums_up_or_hedges_is_no_place_and_no_denial(opening: str, price: str, state: str) -> None:
    answer = f"{opening}a hammock costs {price}."
    assert judge_facts(answer, ["EUR 12"], "What does a hammock cost?")[0].state == state


@pytest.mark.parametrize(
    "answer",
    [
        "In Bergen, a hammock costs €12.",
        "Many are mistaken that a hammock costs €12.",
        "It is mistakenly believed that a hammock costs €12.",
        "€12 is wrong.",
    ],
)
def test_places_and_denials_are_still_read(answer: str) -> None:
    assert judge_facts(answer, ["EUR 12"], "What does a hammock cost?")[0].state != "stated"


_STEPS = ["Library", "Returns", "Print label"]


@pytest.mark.parametrize(
    ("answer", "is_stated"),
    [
        ("1. Open the website and tap **Library**.\n2. Select **Returns**.\n3. Press **Print label**.", True),
        ("Open the website, tap Library, select Returns and press Print label.", True),
        ("Go to Library → Returns → Print label on the website.", True),
        ("1. Open the website and tap **Library**.\n2. Select **Orders**.\n3. Press **Print label**.", False),
        ("Open the website. Don't tap Library, Returns or Print label.", False),
        ("To order on the website, tap Search. For a refund, tap Library, Returns, Print label.", False),
    ],
)
def test_steps_before_a_step_are_no_other_answer(answer: str, is_stated: bool) -> None:
    states = _judge(answer, _STEPS, "How do I send back a book on the website?")
    assert (states == {"stated"}) == is_stated


def test_a_step_with_one_fact_may_be_another_answer() -> None:
    answer = "To change your name, open Contacts. Open Profile for photos."
    assert "stated" not in _judge(answer, ["Profile"], "Where do I change my name?")
