"""Facts that an answer holds, and that stay open because something else in it may be the answer."""

from __future__ import annotations

import pytest

from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.stated_facts import find_statement_gaps, judge_facts
from assay.text.facts.stated_quantities import judge_quantities
from assay.text.quantities.measures import find_measures

OPEN = [
    (
        "second value",
        "How much is parking?",
        "€14 per night",
        "The garage is €19 per night. Bicycles are €14 per night.",
    ),
    (
        "second value",
        "How many films may I borrow?",
        "5 films",
        "Two films at a time, of magazines as many as five films.",
    ),
    (
        "earlier statement",
        "Where do I return books?",
        "night slot",
        "Bring them to the green desk. The night slot is shut.",
    ),
    (
        "question before",
        "How do I open the bike store?",
        "QR code",
        "A key card opens the store. The QR code is for cars.",
    ),
    ("question after", "When is paper collected?", "Tuesday", "Glass goes on Tuesday. The bins with paper go later."),
    (
        "question beside",
        "How big is the big hall?",
        "18 metres",
        "Hall 2 has 18 metres, the big hall tops that by far.",
    ),
    ("only", "Who pays for the taxi?", "the operator pays", "The operator only pays for lost bags."),
    ("former", "How long do I have?", "12 weeks", "It used to be 12 weeks."),
    ("former", "How long is it open?", "until 9 pm", "It was open until 9 pm. The hours are shorter now."),
    ("addition", "How many attempts do I have?", "2 attempts", "You have two more attempts."),
]
STATED = [
    ("What is the deposit for a key?", "€25", "You leave €25 with us. A lost card costs €60."),
    ("How long is the oral exam?", "30 minutes", "Don't panic. It takes half an hour."),
    ("How much is the fee?", "€5", "It's only €5."),
    ("What's the current price?", "€35", "The price was €30 until May; now it is €35."),
    ("What was the price before May?", "€30", "The price was €30 until May; now it is €35."),
    ("How do I open it?", "QR code", "Just hold the QR code under the reader."),
    ("What does collecting it cost?", "€20", "We pick it up for 20 euros; have it ready at six."),
    ("Giá vé là bao nhiêu?", "50.000 đồng", "Vé là 50.000đ, trẻ em 30.000đ ạ."),
]


@pytest.mark.parametrize(("kind", "question", "fact", "answer"), OPEN)
def test_a_fact_stays_open_where_something_else_may_be_the_answer(
    kind: str, question: str, fact: str, answer: str
) -> None:
    judged = judge_facts(answer, [fact], question)[0]
    kinds = [gap.kind for gap in find_statement_gaps(answer, [fact], question)[fact]]
    assert (judged.state, kind in kinds) == ("unknown", True), (judged, kinds)
    assert judged.reason


@pytest.mark.parametrize(("question", "fact", "answer"), STATED)
def test_what_question_or_facts_explain_leaves_no_fact_open(question: str, fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0] == FactJudgment(fact, "stated")


def test_what_the_reference_says_too_is_no_other_answer() -> None:
    question, answer = "May I promise it?", "You must not promise discounts by phone. Legal has to agree."
    assert judge_facts(answer, ["Legal"], question)[0].state == "unknown"
    reference = "No discounts are promised by phone; Legal agrees first."
    assert judge_facts(answer, ["Legal"], question, reference)[0].state == "stated"


def test_a_fact_without_a_question_is_never_left_open_by_a_gap() -> None:
    assert judge_facts("The garage is €19. Bicycles are €14.", ["€14"])[0].state == "stated"


def test_a_number_of_a_reference_is_left_open_by_a_gap() -> None:
    answer = "Within the agreed limit it's 7.4%. Beyond that, 9.8% falls due."
    assert judge_quantities(answer, "9.8%", question="What is the interest?")[0].state == "unknown"
    assert judge_quantities("You pay 9.8%.", "9.8%", question="What is the interest?")[0].state == "stated"


@pytest.mark.parametrize(
    ("question", "fact", "reference", "answer", "state"),
    [
        ("How long?", "7 weeks", "", "It takes 7 months.", "denied"),
        ("How long?", "7 weeks", "", "It takes 49 days.", "stated"),
        ("How many came?", "at least 14 days", "", "It takes at least 30 days.", "denied"),
        ("Which ages are free?", "6 years", "Under 6 years.", "All who are 6 years or older.", "denied"),
        ("Trẻ em dưới mấy tuổi được miễn phí?", "6 tuổi", "Dưới 6 tuổi.", "Từ 6 tuổi trở lên ạ.", "denied"),
        ("What does a fob cost?", "$12.50", "", "It will run you twelve fifty.", "stated"),
        ("When is the party?", "$12.50", "", "At twelve fifty.", "missing"),
        ("How often can I retake it?", "twice", "", "You get two more attempts.", "unknown"),
        ("How long does the ferry take?", "45 minutes", "", "There's a ferry every 45 minutes.", "unknown"),
        ("How often does the ferry go?", "every 45 minutes", "", "There's a ferry every 45 minutes.", "stated"),
        ("How often should I come?", "twice a year", "", "Every six months is fine.", "stated"),
        ("How often should I come?", "twice a year", "", "Every three months is fine.", "denied"),
        ("When must we leave the pitch?", "11 am", "", "Cabins by 11 am. Pitches are yours until noon.", "unknown"),
        (
            "When does the last boat leave on Sundays?",
            "19:45",
            "",
            "Monday to Saturday the last boat goes at 19:45, on Sundays there's one less.",
            "unknown",
        ),
    ],
)
def test_units_thresholds_days_and_forms_are_told(
    question: str, fact: str, reference: str, answer: str, state: str
) -> None:
    judged = judge_facts(answer, [fact], question, reference)[0]
    assert judged.state == state, judged


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("two euros fifty are added", "2.5", "2.5"),
        ("an hour and a quarter", "4500", "4500"),
        ("đến năm rưỡi chiều", "1050", "1050"),
        ("between two and eight degrees Celsius", "2", "8"),
        ("between one and three in the afternoon", "780", "900"),
    ],
)
def test_spoken_amounts_times_and_ranges_are_quantities(text: str, low: str, high: str) -> None:
    (quantity,) = find_measures(text)
    assert (float(quantity.readings[0].low), float(quantity.readings[0].high)) == (float(low), float(high))
