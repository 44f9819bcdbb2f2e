"""Answers that have the right words and values and are wrong, each beside one that says the same and is right."""

from __future__ import annotations

import pytest

from assay.text.facts.reading.read_text import read_text
from assay.text.facts.references.reference_judgments import judge_reference_facts
from assay.text.facts.stated_facts import judge_facts
from assay.text.facts.subjects.mixed_roles import find_crossed


def judge(question: str, fact: str, reference: str, answer: str) -> str:
    return judge_facts(answer, [fact], question, reference)[0].state


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("How long is a key lent?", "2 weeks", "It would be 2 weeks if you had a pass.", "unknown"),
        ("How long is a key lent?", "2 weeks", "If you had a pass, it would be 2 weeks.", "unknown"),
        ("How long is a key lent?", "2 weeks", "That would be 2 weeks.", "stated"),
        ("How many vets are there?", "four", "It would be four if the ward opened.", "unknown"),
        ("Wie lange?", "30 Tage", "Sie hätten 30 Tage, wenn Sie Mitglied wären.", "unknown"),
        ("Wie lange?", "30 Tage", "Sie hatten 30 Tage, wenn Sie Mitglied waren.", "stated"),
        ("What would it cost if I had a pass?", "€3", "It would be €3 if you had one.", "stated"),
    ],
)
def test_what_would_be_so_is_not_so(question: str, fact: str, answer: str, state: str) -> None:
    assert judge(question, fact, "", answer) == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Yes, but not until 30 days after the hearing.", "denied"),
        ("Yes, no sooner than 30 days after the hearing.", "denied"),
        ("Yes, no later than 30 days after the hearing.", "stated"),
        ("Yes. Not at the hearing, but within 30 days of it.", "stated"),
    ],
)
def test_not_until_is_not_within(answer: str, state: str) -> None:
    reference = "Yes, within 30 days of the hearing."
    judged = judge_reference_facts(answer, reference, "Does the loser have to pay?")
    assert judged[-1].state == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("The lift moves at 3 m/s or faster.", "denied"),
        ("The lift moves at 3 m/s or slower.", "stated"),
        ("Up to 3 m/s.", "stated"),
    ],
)
def test_or_faster_is_a_lower_limit(answer: str, state: str) -> None:
    assert judge("What is the maximum speed of the lift?", "3 m/s", "", answer) == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("The class 1 fee is €20, that of class 2 €30. Therefore it's €30.", "unknown"),
        ("Class 1: €20. Class 2: €30. Yours is in the second line: €30.", "unknown"),
        ("Class 1: €20. Class 2: €30. Yours is in the first line: €20.", "stated"),
        ("Class 1: €20. So it isn't €30.", "stated"),
    ],
)
def test_what_an_answer_concludes_with_is_its_answer(answer: str, state: str) -> None:
    reference = "Class 1 costs €20 and class 2 costs €30."
    assert judge("What does class 1 cost?", "€20", reference, answer) == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Two floors are watched by four wardens.", "unknown"),
        ("Two wardens.", "stated"),
        ("There are two.", "stated"),
        ("It's two of them at a time.", "stated"),
    ],
)
def test_a_number_of_something_else_is_another_number(answer: str, state: str) -> None:
    reference = "Two wardens watch the four floors at night."
    assert judge("How many wardens are on duty?", "two", reference, answer) == state


@pytest.mark.parametrize(
    ("fact", "answer", "state"),
    [
        ("the day you move in", "The day before you move in.", "unknown"),
        ("the day you move in", "On the very day that you move in.", "stated"),
        ("the day before you move in", "The day before you move in.", "stated"),
    ],
)
def test_the_day_before_is_not_the_day(fact: str, answer: str, state: str) -> None:
    assert judge("When is the deposit due?", fact, f"The deposit is due on {fact}.", answer) == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("The museum trains Ann Berg.", "unknown"),
        ("The museum trains Ann Berg as a guide.", "unknown"),
        ("The guides train the young Ann Berg.", "unknown"),
        ("The guides are trained by Ann Berg.", "stated"),
        ("The one who trains them is Ann Berg.", "stated"),
        ("At the museum it's Ann Berg who trains guides.", "stated"),
        ("The museum doesn't train them, Ann Berg does.", "stated"),
    ],
)
def test_who_does_it_is_not_to_whom_it_is_done(answer: str, state: str) -> None:
    assert judge("Who trains the guides?", "Ann Berg", "Ann Berg trains the guides for the museum.", answer) == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("The manager, and so may the clerk.", "unknown"),
        ("Managers and clerks.", "denied"),
        ("The manager may, nobody else.", "stated"),
        ("The manager opens it; clerks count the cash.", "stated"),
    ],
)
def test_only_of_the_reference_limits_the_fact(answer: str, state: str) -> None:
    reference = "Only the manager may open the safe; clerks count the cash."
    assert judge("Who may open the safe?", "manager", reference, answer) == state


@pytest.mark.parametrize(
    ("answer", "passages", "state"),
    [
        ("A passport, a pencil and a calculator.", (), "unknown"),
        ("Passport, calculator and pencil.", (), "unknown"),
        ("- passport\n- pencil\n- calculator", (), "unknown"),
        ("A passport, a pencil and a calculator.", ("Bring passport, pencil and calculator.",), "stated"),
        ("1. Pencil\n2. Passport\n\nGood luck!", (), "stated"),
        ("A pencil and your passport, please.", (), "stated"),
        ("Passport, pencil, but no calculator.", (), "stated"),
        ("Bring your passport and a pencil, and be there at nine.", (), "stated"),
    ],
)
def test_a_member_that_no_source_has_leaves_a_list_open(answer: str, passages: tuple[str, ...], state: str) -> None:
    question, facts = "What do I have to bring to the exam?", ["passport", "pencil"]
    judged = judge_facts(answer, facts, question, "Bring your passport and a pencil.", passages)
    assert {own.state for own in judged} == {state}
    assert {own.state for own in judge_facts(answer, facts, question)} == {"stated"}  # nothing tells that these are all


def test_names_on_lines_of_their_own_are_no_longer_ones() -> None:
    answer = "* SMTPd\n* IMAPd\n* LMTPd"
    assert {own.state for own in judge_facts(answer, ["IMAPd", "LMTPd"], "Which daemons run?")} == {"stated"}
    assert judge("Which daemon runs?", "IMAPd", "", "xIMAPd") != "stated"


@pytest.mark.parametrize(
    ("reference", "wrong", "right"),
    [
        (
            "The fix for A-17 is in 3.1.4; that for B-20 is in 3.2.0.",
            "A-17 was fixed in 3.2.0, and B-20 in 3.1.4.",
            "B-20 was fixed in 3.2.0, and A-17 in 3.1.4.",
        ),
        (
            "The north gate is narrow, whereas the south gate is steep.",
            "The south gate is narrow and the north gate is steep.",
            "The south gate is steep and the north gate is narrow.",
        ),
        (
            "GET /v1/jobs/{id} describes it; GET /v1/jobs/{id}/log downloads the output.",
            "`/v1/jobs/{id}/log` describes it; `/v1/jobs/{id}` downloads the output.",
            "You download the output from `/v1/jobs/{id}/log`; `/v1/jobs/{id}` describes it.",
        ),
    ],
)
def test_two_things_that_are_swapped_are_open(reference: str, wrong: str, right: str) -> None:
    crossed = find_crossed(read_text("What are they?"), read_text(reference), read_text(wrong))
    assert "the reference apart" in crossed
    assert find_crossed(read_text("What are they?"), read_text(reference), read_text(right)) == ""
    assert all(own.state == "unknown" for own in judge_reference_facts(wrong, reference, "What are they?"))
