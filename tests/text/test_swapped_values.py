"""An answer that gives each value of a question of two parts to the other part does not pass."""

from __future__ import annotations

import pytest

from assay.metrics.answers.expected_text import assess_answer_text
from assay.records.golden_set import Case
from assay.text.facts.stated_facts import judge_facts

KAYAK = Case(
    "c",
    "How much is a kayak, and how much is a paddle?",
    reference="18 dollars; 4 dollars",
    must_have=("18 dollars", "4 dollars"),
)
POOL = Case(
    "c",
    "When does the pool open and when does it close?",
    reference="It opens at 9 am and closes at 6 pm.",
    must_have=("9 am", "6 pm"),
)
SCOOTER = Case(
    "c",
    "Thuê xe ga bao nhiêu và thuê xe số bao nhiêu?",
    reference="160.000đ; 120.000đ",
    must_have=("160.000đ", "120.000đ"),
)


SAUNA = Case(
    "c",
    "What do the sauna and the massage cost?",
    reference="The sauna costs 11 euros and the massage 45 euros.",
    must_have=("11 euros", "45 euros"),
)
LEND = Case(
    "c",
    "How long may I keep films and books?",
    reference="Films: 7 days, books: 4 weeks.",
    must_have=("7 days", "4 weeks"),
)
TICKETS = Case(
    "c",
    "What are the ticket prices?",
    reference="Pensioners pay 8 euros, and grown-ups get in for 13 euros.",
    must_have=("8 euros", "13 euros"),
)
HALLS = Case(
    "c", "How big are hall A and hall B?", reference="Hall A: 90 m², hall B: 130 m².", must_have=("90 m²", "130 m²")
)
SHIFTS = Case(
    "c",
    "How many people work in the early, the late and the night shift?",
    reference="12 people in the early shift, 9 people in the late shift and 4 people in the night shift.",
    must_have=("12 people", "9 people", "4 people"),
)
KEEP = Case(
    "c",
    "How long do milk and smoked fish keep?",
    reference="Milk: 6 days; fish: 9 days",
    must_have=("6 days", "9 days"),
)
TOUR = Case(
    "c",
    "When does the tour start and end?",
    reference="The tour starts at 9 am and ends at 1 pm.",
    must_have=("9 am", "1 pm"),
)


@pytest.mark.parametrize(
    ("case", "answer", "is_right"),
    [
        (KAYAK, "A kayak is $18. A paddle is $4.", True),
        (KAYAK, "18 dollars for the kayak, 4 dollars for a paddle.", True),
        (KAYAK, "- kayak: $18\n- paddle: $4", True),
        (KAYAK, "A kayak is $4. A paddle is $18.", False),
        (KAYAK, "- kayak: $4\n- paddle: $18", False),
        (POOL, "It opens at 9 am and closes at 6 pm.", True),
        (POOL, "It opens at 6 pm and closes at 9 am.", False),
        (SCOOTER, "Xe ga 160.000đ, xe số 120.000đ.", True),
        (SCOOTER, "Xe ga 120.000đ, xe số 160.000đ.", False),
        (SAUNA, "Hi! The massage is 45 euros, and for the sauna you pay 11 euros.", True),
        (SAUNA, "11 euros and 45 euros.", True),
        (SAUNA, "The sauna and the massage are 11 euros and 45 euros.", True),
        (SAUNA, "The massage and the sauna are 45 euros and 11 euros respectively.", True),
        (SAUNA, "Hi! The massage is 11 euros, and for the sauna you pay 45 euros.", False),
        (SAUNA, "45 euros for the sauna, 11 euros for the massage.", False),
        (SAUNA, "45 euros and 11 euros respectively.", False),
        (SAUNA, "45 euros and 11 euros.", None),
        (SAUNA, "The sauna and the massage are 45 euros and 11 euros.", False),
        (LEND, "Seven days for films, four weeks for books.", True),
        (LEND, "Films four weeks, books seven days.", False),
        (TICKETS, "Grown-ups 13 euros, pensioners 8 euros.", True),
        (TICKETS, "Grown-ups 8 euros, pensioners 13 euros.", False),
        (HALLS, "Hall A is 90 m², hall B 130 m².", True),
        (HALLS, "Hall A is 130 m², hall B 90 m².", False),
        (SHIFTS, "Early shift 12 people, late shift 9 people, night shift 4 people.", True),
        (SHIFTS, "Early shift 12 people, late shift 4 people, night shift 9 people.", False),
        (SHIFTS, "Early shift 9 people, late shift 4 people, night shift 12 people.", False),
        (KEEP, "Milk keeps 6 days and fish 9 days.", True),
        (KEEP, "Milk keeps 9 days and fish 6 days.", False),
        (TOUR, "The tour starts at 9 am and it's over at 1 pm.", True),
        (SAUNA, "The sauna is 45 euros. 11 euros more and you may stay all day.", None),
        (TOUR, "It ends at 9 am and starts at 1 pm.", False),
    ],
)
def test_a_value_belongs_to_its_slot(case: Case, answer: str, is_right: bool | None) -> None:
    quality = assess_answer_text(case, answer)
    assert quality is not None
    assert quality.good is is_right
    reasons = quality.unknown if is_right is None else quality.denials
    assert is_right or any("swapped" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        (
            "What do printing and scanning cost?", "printing 5 cents, scanning 20 cents",
            "Scanning is 5 cents and printing 20 cents.", "denied",
        ),
        (
            "What do printing and scanning cost?", "printing 5 cents, scanning 20 cents",
            "20 cents for a scan (scanning) and 5 for printing.", "stated",
        ),
        (
            "What do printing and scanning cost?", "printing 5 cents, scanning 20 cents",
            "Scanning and printing are 20 and 5 cents.", "stated",
        ),
        (
            "How long is the notice?", "one month for rooms, three months for flats",
            "Rooms need three months and flats one month.", "denied",
        ),
        (
            "How long is the notice?", "one month for rooms, three months for flats",
            "Flats need three months and rooms one month.", "stated",
        ),
        (
            "What are the prices?", "£30 for swimmers and £12 for spectators",
            "Spectators are £30, swimmers £12.", "denied",
        ),
        (
            "What are the prices?", "£30 for swimmers and £12 for spectators",
            "A spectator pays £12, a swimmer £30.", "stated",
        ),
        (
            "When is it open?", "open 9:00, last entry 17:00",
            "It opens at 17:00 and the last entry is at 9:00.", "denied",
        ),
        ("When is it open?", "open 9:00, last entry 17:00", "Last entry is at 17:00, it opens at 9:00.", "stated"),
        ("Giá vé?", "người lớn 50.000đ, trẻ em 20.000đ", "Vé trẻ em 50.000đ, người lớn 20.000đ ạ.", "denied"),
        ("Giá vé?", "người lớn 50.000đ, trẻ em 20.000đ", "Vé trẻ em 20.000đ, người lớn 50.000đ ạ.", "stated"),
        (
            "How much leave?", "12 days, 5 of which may be carried over",
            "5 of your 12 days can be carried over.", "stated",
        ),
        (
            "How much leave?", "12 days, 5 of which may be carried over",
            "12 days; you may carry over 5 of them.", "stated",
        ),
    ],
)  # fmt: skip
def test_the_values_of_one_fact_belong_to_its_words(question: str, fact: str, answer: str, state: str) -> None:
    assert state == judge_facts(answer, [fact], question)[0].state


def test_one_of_two_values_may_have_no_name_of_its_own() -> None:
    reference = "A pass for one line is 10 euros, for all lines 20 euros."
    texts = ("One line is 20 euros, all lines 10 euros.", "One line is 10 euros, all lines 20 euros.")
    swapped, kept = (judge_facts(text, ["10 euros", "20 euros"], "How much is a pass?", reference) for text in texts)
    assert "stated" not in {judgment.state for judgment in swapped[1:]}
    assert {judgment.state for judgment in kept} == {"stated"}


def test_the_reason_names_the_value_that_a_fact_of_several_gives_to_another() -> None:
    fact = "Indoor opens at 7, outdoor at 9"
    judgment = judge_facts("Indoor: 9, outdoor: 7.", [fact], "When do the pools open?")[0]
    assert 'gives "7" for "outdoor"' in judgment.reason
