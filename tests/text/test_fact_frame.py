"""A fact that an answer holds without asserting it, or of another place or time: left open."""

from __future__ import annotations

import pytest

from assay.metrics.answers.expected_text import assess_answer_text
from assay.records.golden_set import Case, Rubric
from assay.text.facts.stated_facts import judge_facts

QUESTION, FACT, REFERENCE = "How much is the sauna?", "€8", "The sauna is €8."
VIETNAMESE = ("Vé xông hơi bao nhiêu tiền?", "80.000 đồng", "Vé xông hơi 80.000 đồng.")


@pytest.mark.parametrize(
    "answer",
    [
        "The sauna would have been €8 with the new operator.",
        "If the board had said yes, the sauna would be €8.",
        "Were the pipes replaced, the sauna could be €8.",
        "Most guests think the sauna is €8.",
        "My cousin heard that the sauna is €8.",
        "You asked me whether the sauna is €8.",
        "There is a draft in which the sauna is €8.",
        "Next season the sauna is €8.",
        "In the Linz house the sauna is €8.",
        "Under the former tenant the sauna was €8.",
        "The sauna is €8. Or so I believed.",
        "The sauna is €8. Not yet, though.",
        "The sauna is €8. That has been dropped, by the way.",
        "The sauna is €8. Sorry, I mixed that up.",
    ],
)
def test_a_framed_fact_is_open(answer: str) -> None:
    assert "unknown" == judge_facts(answer, [FACT], QUESTION, REFERENCE)[0].state


@pytest.mark.parametrize(
    "answer",
    [
        "Giả sử được duyệt, vé xông hơi 80.000 đồng.",
        "Nhiều người tưởng vé xông hơi 80.000 đồng.",
        "Ở cơ sở Vũng Tàu vé xông hơi 80.000 đồng.",
        "Vé xông hơi 80.000 đồng. Giá này bỏ rồi ạ.",
        "Sang năm vé xông hơi 80.000 đồng.",
    ],
)
def test_a_framed_vietnamese_fact_is_open(answer: str) -> None:
    question, fact, reference = VIETNAMESE
    assert "unknown" == judge_facts(answer, [fact], question, reference)[0].state


@pytest.mark.parametrize(
    ("question", "reference", "answer"),
    [
        (QUESTION, REFERENCE, "The sauna is €8. Towels are extra."),
        (QUESTION, REFERENCE, "The house rules say that the sauna is €8."),
        (QUESTION, REFERENCE, "According to the price list the sauna is €8."),
        (QUESTION, REFERENCE, "The sauna is €8. It is the same for everybody who uses the sauna."),
        ("How much is the sauna next season?", REFERENCE, "Next season the sauna is €8."),
        (QUESTION, "In the Linz house the sauna is €8.", "In the Linz house the sauna is €8."),
        (QUESTION, "The sauna is supposed to be €8.", "The sauna is supposed to be €8."),
    ],
)
def test_what_question_or_reference_have_too_is_no_frame(question: str, reference: str, answer: str) -> None:
    assert "stated" == judge_facts(answer, [FACT], question, reference)[0].state


def test_a_framed_number_of_a_reference_is_open() -> None:
    case = Case("a", QUESTION, reference="8", rubric=Rubric(kind="number"))
    framed = assess_answer_text(case, "Some guests say that it is 8.")
    plain = assess_answer_text(case, "It is 8.")
    assert framed is not None and plain is not None
    assert (None, True) == (framed.good, plain.good)


@pytest.mark.parametrize(
    ("fact", "answer", "state"),
    [
        ("no", "No, it is €8.", "stated"),
        ("yes", "Well, yes.", "stated"),
        ("no", "It costs something, no.", "stated"),
        ("no", "No problem, guests may use it.", "unknown"),
        ("no", "Guests who have no towel get one.", "unknown"),
        ("no", "Yes, for guests without a room there is no fee.", "denied"),
        ("không", "Dạ không ạ.", "stated"),
        ("không", "Có, kể cả khi không ở lại.", "denied"),
        ("có", "Khách có phòng thì mang khăn theo.", "unknown"),
    ],
)
def test_a_mere_yes_or_no_is_said_first_or_by_itself(fact: str, answer: str, state: str) -> None:
    question = "Is the sauna free for guests?" if fact in ("yes", "no") else "Xông hơi có miễn phí không?"
    assert state == judge_facts(answer, [fact], question)[0].state


def test_the_words_of_one_part_of_a_fact_are_in_one_sentence() -> None:
    question, fact = "Where is the sewing room?", "floor 3 of wing B"
    reference = "The sewing room is on floor 3 of wing B. The kiln is on floor 3 of wing D."
    states = [
        judge_facts(answer, [fact], question, reference)[0].state
        for answer in ("Go to wing B, floor 3.", "It is on floor 3 of wing D. Wing B is being painted.")
    ]
    assert ["stated", "unknown"] == states


def test_two_parts_of_a_fact_may_be_in_two_sentences() -> None:
    question, fact = "How do I send the kiln back?", "within 14 days, in its original box"
    answer = "Send the kiln back within 14 days. Please use the original box."
    assert "stated" == judge_facts(answer, [fact], question, "Within 14 days, in its original box.")[0].state


@pytest.mark.parametrize(
    ("question", "fact", "reference", "answer"),
    [
        ("How much may I draw?", "200 ml per hour", "At most 200 ml per hour.", "At most 200 ml per patient."),
        ("Báo trước bao lâu?", "2 ngày", "Phải báo trước 2 ngày.", "2 ngày sau khi báo thì có kết quả."),
    ],
)
def test_another_rate_or_direction_does_not_state_a_fact(question: str, fact: str, reference: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question, reference)[0].state != "stated"
    assert "stated" == judge_facts(reference, [fact], question, reference)[0].state


@pytest.mark.parametrize(
    ("answer", "fact", "question"),
    [
        (
            "Code: KX-4; Meaning: The drum is out of balance; What to do: Spread the laundry evenly.",
            "The drum is out of balance",
            "What does code KX-4 mean?",
        ),
        ("The valve is stuck. How to do it: Turn the screw gently.", "The valve is stuck", "Why is there no heat?"),
        ("The gate closes at dusk. What they do: Lock both doors.", "closes at dusk", "When does the gate close?"),
    ],
)
def test_english_to_do_is_no_vietnamese_word_that_points_back(answer: str, fact: str, question: str) -> None:
    assert "stated" == judge_facts(answer, [fact], question)[0].state


@pytest.mark.parametrize("pointer", ["Điều đó", "Dieu do"])
def test_a_vietnamese_sentence_that_points_back_leaves_a_fact_open(pointer: str) -> None:
    question, fact, reference = VIETNAMESE
    answer = (
        f"Vé xông hơi 80.000 đồng. {pointer} đã bị bãi bỏ rồi."
        if "Đ" in pointer
        else (f"Ve xong hoi la 80.000 dong cho moi nguoi. {pointer} khong con nua nhe.")
    )
    assert judge_facts(answer, [fact], question, reference)[0].state != "stated"


@pytest.mark.parametrize("label", ["Cause", "Meaning", "What it says"])
def test_a_cell_of_the_row_that_is_asked_for_states_a_fact(label: str) -> None:
    question, fact = "What does code QP-12 mean?", "The water tank is empty"
    row = "Code: QP-{}; {}: The water tank is empty; Remedy: Fill the tank."
    states = [judge_facts(row.format(number, label), [fact], question)[0].state for number in (12, 13)]
    assert states == ["stated", "unknown"]
    both = f"Code: QP-11; {label}: The water tank is empty; Code: QP-12; {label}: The filter is full."
    assert judge_facts(both, [fact], question)[0].state == "unknown"
