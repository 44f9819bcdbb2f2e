"""Right answers that the rules no longer leave open, and wrong ones of the same form that they still do."""

import pytest

from assay.metrics.answers.expected_text import assess_answer_text
from assay.records.golden_set import Case, Evidence
from assay.text.facts.stated_facts import judge_facts
from assay.text.quantities.weekdays import spell_other_days


def judge(question: str, fact: str, answer: str, reference: str = "", *passages: str) -> str:
    return judge_facts(answer, [fact], question, reference, passages)[0].state


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("When is the sauna shut?", "closed on Tuesdays", "The sauna doesn't open on Tuesdays."),
        ("Is the workshop open on Sundays?", "closed", "It is never open on Sundays."),
        ("Are drones allowed?", "drones are not allowed", "Drones are prohibited."),
        ("Is the kiln working?", "out of order", "It's out of service, I'm afraid."),
        ("Where do I get a badge?", "at the front desk", "Badges are handed out at the reception."),
        ("When is the depot staffed?", "on weekdays", "From Monday to Friday."),
        ("When is the bin emptied?", "every second Friday", "It's emptied every other Friday."),
        ("Who must not row alone?", "those under 9", "Those who haven't turned 9."),
        ("What does the leaflet cost?", "free of charge, one per household", "One per household, without paying."),
        ("How long is the lease?", "3 years", "Good question! It is 3 years. Let me know if you need anything else."),
        ("How long is the lease?", "3 years", "According to the tenancy guide, it is 3 years."),
    ],
)
def test_a_fact_in_another_phrase_is_stated(question: str, fact: str, answer: str) -> None:
    assert judge(question, fact, answer) == "stated"


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("When is the sauna shut?", "closed on Tuesdays", "The sauna doesn't close on Tuesdays."),
        ("Is the workshop open on Sundays?", "closed", "It is always open on Sundays."),
        ("Are drones allowed?", "drones are not allowed", "Drones are not prohibited."),
        ("When is the depot staffed?", "on weekdays", "On Saturdays and Sundays."),
        ("Who may row alone?", "at least 9", "Whoever hasn't turned 9."),
        ("How long is the lease?", "3 years", "According to the tenancy guide, it is maybe 3 years."),
    ],
)
def test_the_contrary_in_another_phrase_is_not_stated(question: str, fact: str, answer: str) -> None:
    assert judge(question, fact, answer) != "stated"


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("Who sails free?", "children under 5", "Kids under 5 do.", "stated"),
        ("Is a passport required?", "a passport is required", "A passport is necessary.", "stated"),
        ("Is a passport required?", "a passport is required", "A passport isn't necessary.", "unknown"),
        ("Which tram goes there?", "line 4", "Number 4.", "stated"),
        ("Which tram goes there?", "line 4", "It leaves from platform 4.", "unknown"),
        ("Where is the lecture?", "Room C12", "In C12, upstairs.", "stated"),
    ],
)
def test_a_word_of_the_same_sense_states_and_denies_nothing(question: str, fact: str, answer: str, state: str) -> None:
    assert judge(question, fact, answer) == state


GARDEN = "Lock the gate at 9 pm. The greenhouse closes at 6 pm on all days; the seed bank closes at 4 pm."


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("The greenhouse closes at 6 pm; the seed bank closes at 4 pm.", "stated"),
        ("The greenhouse closes at 4 pm; the seed bank closes at 6 pm.", "unknown"),
        ("Greenhouse: 4 pm. Seed bank: 6 pm.", "denied"),
        ("It closes at 6 pm. Lock the gate at 9 pm.", "stated"),
    ],
)
def test_what_the_evidence_says_too_is_no_other_answer(answer: str, state: str) -> None:
    assert judge("When does the greenhouse close?", "6 pm", answer, "", GARDEN) == state


def test_the_quotes_of_a_case_are_evidence() -> None:
    quoted = Evidence(any_of=({"document_id": "rules"},), quote="Keys cost £8, which is paid by card only.")
    cases = [Case("fee", "What does a key cost?", must_have=("£8",), evidence=evidence) for evidence in ((quoted,), ())]
    judged = [assess_answer_text(case, "A key is £8 (by card only).") for case in cases]
    assert [quality.good for quality in judged if quality is not None] == [True, None]


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Three lessons at £20 and a book for £15 make £75.", "stated"),
        ("A course is £75: that's £90 less £15 for members.", "stated"),
    ],
)
def test_a_sum_is_not_mixed_up_with_its_parts(answer: str, state: str) -> None:
    reference = "A course costs £75. A lesson is £20, the book £15; others pay £90."
    assert judge("What does a course cost?", "£75", answer, reference) == state


def test_short_names_of_days_are_days() -> None:
    answer = "Opening hours:\n- Mon-Fri: 9:00-18:00\n- Sat: 9:00-12:00"
    assert judge("Until when is it open on Saturdays?", "12 noon", answer) == "stated"
    assert judge("Until when is it open on Saturdays?", "6 pm", answer) != "stated"
    assert (
        spell_other_days("He sat down. Sat nav included, Sun hats too.")
        == "He sat down. Sat nav included, Sun hats too."
    )


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("What is left to pay?", "£49", "The fare is £64. After the £15 deposit, £49 is left.", "stated"),
        ("How much cocoa is in it?", "72%", "It's dark chocolate, 72 percent to be exact.", "stated"),
        ("What does the hall cost?", "£60", "The foyer is £60, and the hall £90.", "denied"),
        ("When is the vault open on Sundays?", "closed on Sundays", "It isn't.", "unknown"),
    ],
)
def test_a_word_that_is_no_subject_owns_no_value(question: str, fact: str, answer: str, state: str) -> None:
    assert judge(question, fact, answer) == state
