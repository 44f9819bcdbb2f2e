"""What an answer adds to a value that is expected: a bound, a rate, a difference, another interval, another day."""

from __future__ import annotations

import pytest

from assay.metrics.answers.expected_text import assess_answer_text
from assay.records.golden_set import Case
from assay.text.facts.stated_facts import judge_facts
from assay.text.quantities.measures import find_measures
from assay.text.quantities.quantity_agreement import is_same_quantity


def judge(answer: str, fact: str, question: str, reference: str = "") -> str:
    """Return what an answer does with one fact."""
    return judge_facts(answer, [fact], question, reference)[0].state


@pytest.mark.parametrize(
    ("answer", "question", "state"),
    [
        ("The course has up to 18 lessons.", "How many lessons does the course have?", "unknown"),
        ("The course has at least 18 lessons.", "How many lessons does the course have?", "unknown"),
        ("The course has 18 lessons.", "How many lessons does the course have?", "stated"),
        ("You can book up to 18 lessons.", "How many lessons can I book?", "stated"),
        ("You must take at least 18 lessons.", "How many lessons must I take?", "stated"),
        ("You must take at most 18 lessons.", "How many lessons must I take?", "unknown"),
    ],
)
def test_a_bound_states_its_value_only_where_a_limit_is_asked(answer: str, question: str, state: str) -> None:
    assert judge(answer, "18 lessons", question) == state


@pytest.mark.parametrize(
    ("answer", "fact", "question", "state"),
    [
        ("Bake it at 170 to 190 °C.", "190 °C", "Up to what temperature may I bake it?", "stated"),
        ("Between 40 and 55 kg.", "55 kg", "What is the maximum load?", "stated"),
        ("Between 40 and 55 kg.", "40 kg", "What is the minimum load?", "stated"),
        ("Between 40 and 55 kg.", "40 kg", "What is the maximum load?", "missing"),
        ("Between 40 and 55 kg.", "55 kg", "How heavy is the crate?", "missing"),
        ("At least 40 kg and at most 55 kg.", "40 to 55 kg", "How heavy is the crate?", "unknown"),
        ("At least 40 kg and at most 65 kg.", "40 to 55 kg", "How heavy is the crate?", "missing"),
        ("The filters are changed once a quarter.", "every 3 months", "How often are the filters changed?", "stated"),
        ("The filters are changed quarterly.", "every 2 months", "How often are the filters changed?", "missing"),
    ],
)
def test_an_end_of_a_range_is_stated_where_it_is_the_limit_that_is_asked(
    answer: str, fact: str, question: str, state: str
) -> None:
    assert judge(answer, fact, question) == state


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [("3 bar", "3 bars", True), ("70 kg", "70 kgs", True), ("30 psi", "2.07 bar", False), ("8 ml", "8 mls", True)],
)
def test_units_have_a_plural(one: str, other: str, is_same: bool) -> None:
    assert is_same_quantity(find_measures(one)[0], find_measures(other)[0]) == is_same


def test_a_bound_that_the_reference_has_is_what_is_expected() -> None:
    question, reference = "How many lessons does the course have?", "The course has at most 18 lessons."
    assert judge("The course has up to 18 lessons.", "18 lessons", question, reference) == "stated"


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("3 g per 50 l", "0.06 g per l", True),
        ("3 g per 50 l", "3 g per l", False),
        ("3 g cho mỗi 50 l", "3 g cho mỗi l", False),
        ("£6 per 100 g", "£60 per kg", True),
        ("£6 per 100 g", "£6 per 100 ml", False),
        ("£6 per 100 g", "£6", True),
    ],
)
def test_what_counts_per_a_measure_is_compared_with_it(first: str, second: str, is_same: bool) -> None:
    expected, stated = (find_measures(text)[0] for text in (first, second))
    assert is_same_quantity(expected, stated) == is_same


def test_the_same_value_per_another_measure_is_denied() -> None:
    reference, question = "Add 3 g of salt per 50 l of water.", "How much salt does the tank need?"
    assert judge("Add 3 g of salt per l of water.", "3 g", question, reference) == "denied"
    assert judge("Add 3 g of salt per 50 l of water.", "3 g", question, reference) == "stated"


def test_a_value_that_follows_from_a_rate_and_the_question_is_no_other_answer() -> None:
    question, reference = "How much salt does a tank of 200 l need?", "Add 3 g of salt per 50 l of water."
    answer = "Add 3 g of salt per 50 l of water, so a tank of 200 l needs {}."
    assert judge(answer.format("12 g"), "3 g per 50 l", question, reference) == "stated"
    assert judge(answer.format("40 g"), "3 g per 50 l", question, reference) == "unknown"


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("The filter is cleaned every two days for two months.", "unknown"),
        ("The filter is cleaned every two months.", "stated"),
        ("Clean the filter every 2 months; it takes two minutes.", "stated"),
    ],
)
def test_another_interval_leaves_it_open(answer: str, state: str) -> None:
    question, reference = "How often is the filter cleaned?", "The filter is cleaned every two months."
    assert judge(answer, "two months", question, reference) == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("A seat upstairs costs £7 more than a seat downstairs.", "unknown"),
        ("A seat upstairs costs £7.", "stated"),
    ],
)
def test_a_difference_is_no_price(answer: str, state: str) -> None:
    assert judge(answer, "£7", "What does a seat upstairs cost?", "A seat upstairs costs £7.") == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("On Tuesday you can swim between 07:00 and 11:00. On Sunday it is open 9 am to 1 pm.", "stated"),
        ("On Sunday you can swim between 07:00 and 11:00. On Tuesday it is open 9 am to 1 pm.", "denied"),
        ("On Tuesday it is open 9 am to 1 pm. On Sunday you can swim between 07:00 and 11:00.", "denied"),
    ],
)
def test_the_hours_of_another_day_are_no_other_answer(answer: str, state: str) -> None:
    reference = "The pool is open 7 am to 11 am on Tuesday and 9 am to 1 pm on Sunday."
    assert judge(answer, "7 am to 11 am", "When is the pool open on Tuesday?", reference) == state


def test_a_short_form_of_a_word_is_the_word() -> None:
    question = "What do I need for the audio tour?"
    assert judge("You need a phone.", "smartphone", question) == "stated"
    assert judge("You need a smartphone.", "phone", question) == "stated"
    assert judge("You need a ticket.", "smartphone", question) != "stated"


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("thứ Sáu", "thứ 6", True),
        ("thứ Sáu", "thứ Năm", False),
        ("thứ Sáu", "6 người", False),
        ("thứ Sáu tuần này", "sáu tuần", False),
        ("lần thứ 6", "6 lần", True),
        ("thu 6 triệu đồng", "6.000.000 đồng", True),
    ],
)
def test_a_vietnamese_weekday_is_no_number(first: str, second: str, is_same: bool) -> None:
    expected, stated = (find_measures(text) for text in (first, second))
    assert any(is_same_quantity(one, other) for one in expected for other in stated) == is_same


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Orders under 40 kg are sent by courier.", "unknown"),
        ("Orders over 40 kg are sent by courier.", "stated"),
        ("Orders over 40 kg are sent by courier, those under 40 kg by post.", "stated"),
    ],
)
def test_the_other_side_of_a_limit_of_the_reference_leaves_it_open(answer: str, state: str) -> None:
    reference = "Orders over 40 kg are sent by courier."
    assert judge(answer, "by courier", "How are heavy orders sent?", reference) == state


SWAP = Case(
    "c",
    "How much does a helmet cost a day, and how much does a late return cost?",
    reference="3 euros a day; 6 euros for each started hour",
    must_have=("3 euros", "6 euros"),
)


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ("A helmet costs 3 euros a day. A late return costs 6 euros for each started hour.", True),
        ("A helmet costs 6 euros a day. A late return costs 3 euros for each started hour.", False),
        ("A helmet is 6 euros a day, a late return 3 euros per hour.", False),
    ],
)
def test_values_swapped_between_a_day_and_a_started_hour_are_wrong(answer: str, is_right: bool) -> None:
    quality = assess_answer_text(SWAP, answer)
    assert quality is not None
    assert quality.good is is_right


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("The old code was 4410.", "unknown"),
        ("Our former code is 4410.", "unknown"),
        ("The code was 4410 until May.", "unknown"),
        ("Mã cũ là 4410.", "unknown"),
        ("The door code is 4410.", "stated"),
        ("The code is 4410 until May.", "stated"),
    ],
)
def test_what_was_before_is_left_open(answer: str, state: str) -> None:
    assert state == judge(answer, "4410", "What is the door code?", "The door code is 4410.")


def test_what_is_called_old_in_the_question_is_not_what_was_before() -> None:
    question = "When does the old mill open?"
    assert "stated" == judge("The old mill opens at 9 am.", "9 am", question, "The old mill opens at 9 am.")


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Cover is 6.20 euros and 300 euros a week.", "unknown"),
        ("Cover is 6.20 euros a week, with an excess of 300 euros.", "stated"),
        ("Cover is 6.20 euros; the bike is 90 euros.", "stated"),
    ],
)
def test_a_value_next_to_another_one_per_what_the_reference_has_it_per_is_open(answer: str, state: str) -> None:
    assert state == judge(answer, "6.20 euros", "What does cover cost a week?", "6.20 euros a week")


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("You get it back 3 days before the key is returned.", "unknown"),
        ("You get it back 3 days after the key is returned.", "stated"),
        ("After the key is returned it takes 3 days.", "stated"),
    ],
)
def test_before_what_is_asked_to_be_after_is_open(answer: str, state: str) -> None:
    question = "When do I get my deposit back after the key is returned?"
    assert state == judge(answer, "3 days", question, "Within 3 days")


@pytest.mark.parametrize(
    ("fact", "answer", "state"),
    [
        ("at most 9 nights", "You may stay 4 nights.", "unknown"),
        ("at most 9 nights", "You may stay 9 nights.", "stated"),
        ("at most 9 nights", "You may stay up to 9 nights.", "stated"),
        ("at most 9 nights", "You may stay 12 nights.", "missing"),
        ("at least 3 nights", "You have to stay 4 nights.", "unknown"),
        ("tối đa 9 đêm", "Bạn được ở 4 đêm.", "unknown"),
    ],
)
def test_a_value_that_a_bound_allows_does_not_state_the_bound(fact: str, answer: str, state: str) -> None:
    assert state == judge_facts(answer, [fact], "How long may I stay?")[0].state


@pytest.mark.parametrize(
    ("fact", "answer", "state"),
    [
        ("10 miles", "It is 16 km long.", "unknown"),
        ("6 miles", "It is 12 km long.", "missing"),
        ("6 km", "It is 6,050 m long.", "missing"),
    ],
)
def test_a_value_rounded_in_other_units_is_open(fact: str, answer: str, state: str) -> None:
    assert state == judge_facts(answer, [fact], "How long is the trail?")[0].state


@pytest.mark.parametrize(
    ("fact", "question", "answer", "state"),
    [
        ("18 months", "From what age are giant breeds castrated?", "Before 18 months.", "unknown"),
        ("18 months", "From what age are giant breeds castrated?", "Until 18 months.", "unknown"),
        ("18 months", "From what age are giant breeds castrated?", "Not before 18 months.", "stated"),
        ("18 months", "From what age are giant breeds castrated?", "At 18 months.", "stated"),
        ("3 pm", "From what time are rooms ready?", "Not until 3 pm.", "stated"),
        ("7 years", "From what age may children swim alone?", "At least 7 years old.", "stated"),
        ("7 years", "From what age may children swim alone?", "Children are accompanied until 7 years.", "unknown"),
        ("1 May", "From which date does the fare apply?", "From 1 May until 30 June.", "stated"),
        ("18 Monate", "Ab welchem Alter werden Riesenrassen kastriert?", "Vor 18 Monaten.", "unknown"),
        ("18 Monate", "Ab welchem Alter werden Riesenrassen kastriert?", "Ab 18 Monaten.", "stated"),
        ("1. Mai", "Ab wann gilt der Tarif?", "Er gilt bis zum 1. Mai.", "unknown"),
        ("1. Mai", "Ab wann gilt der Tarif?", "Der Tarif gilt ab dem 1. Mai.", "stated"),
    ],
)
def test_the_end_of_what_is_asked_to_begin_is_open(fact: str, question: str, answer: str, state: str) -> None:
    assert state == judge(answer, fact, question)


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Up to 400 EUR you can pay by instalments.", "unknown"),
        ("At most 400 EUR.", "unknown"),
        ("Instalments are possible for more than 400 EUR.", "stated"),
        ("Bills of 400 EUR or more.", "stated"),
        ("From 400 EUR upwards.", "stated"),
        ("400 EUR", "stated"),
    ],
)
def test_an_upper_limit_does_not_say_above_what_something_is_so(answer: str, state: str) -> None:
    assert state == judge(answer, "400 EUR", "Above what amount can I pay by instalments?")


@pytest.mark.parametrize(
    ("question", "answer", "fact", "state"),
    [
        ("How long must my cat fast?", "Your cat should have no food for 10 hours.", "10 hours", "unknown"),
        ("For how long is the pool empty?", "The pool has no water for 3 weeks.", "3 weeks", "unknown"),
        ("How long must my cat fast?", "Your cat need not fast for 10 hours.", "10 hours", "denied"),
        ("How long is the laptop covered?", "Your laptop has no cover for 2 years.", "2 years", "denied"),
        ("How long does the pass give entry?", "The pass gives no entry for 3 days.", "3 days", "denied"),
    ],
)
def test_a_span_without_another_thing_is_open(question: str, answer: str, fact: str, state: str) -> None:
    assert state == judge(answer, fact, question)


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Instalments are available for bills over 400 EUR.", "stated"),
        ("If the bill is above 400 EUR, instalments are possible.", "stated"),
        ("It is wrong that instalments are available for bills over 400 EUR.", "denied"),
        ("Until last year, instalments were available for bills over 400 EUR.", "unknown"),
        ("Perhaps over 400 EUR.", "unknown"),
        ("I doubt that it is over 400 EUR.", "unknown"),
        ("More than 400 EUR, I think.", "unknown"),
        ("Over 400 EUR? I cannot say.", "unknown"),
    ],
)
def test_a_bound_that_is_asked_for_states_its_value_only_if_it_is_asserted(answer: str, state: str) -> None:
    assert state == judge(answer, "400 EUR", "Above what amount can I pay by instalments?")
