"""Right answers in forms that look like another value, a bound or a denial: the rules must not fail them."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts
from assay.text.quantities.german_forms import write_german_forms


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("The barrier stays shut for 20 minutes after 3 false alarms.", "stated"),
        ("20 minutes after three false alarms.", "stated"),
        ("For 20 minutes past 2 warnings.", "stated"),
        ("The barrier stays shut for 3 minutes after 20 false alarms.", "missing"),
        ("It opens at twenty past three.", "missing"),
    ],
)
def test_minutes_after_a_number_of_things_are_no_time_of_day(answer: str, state: str) -> None:
    assert judge_facts(answer, ["20 minutes"], "How long does the barrier stay shut?")[0].state == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("For two months (60 days).", "stated"),
        ("Two months, 60 days to be exact.", "stated"),
        ("60 days (two months).", "stated"),
        ("For two weeks (60 days).", "unknown"),
        ("For five months, or 60 days.", "unknown"),
    ],
)
def test_a_span_in_months_beside_one_in_days_is_no_other_one(answer: str, state: str) -> None:
    assert judge_facts(answer, ["60 days"], "How long are the tapes kept?")[0].state == state


@pytest.mark.parametrize(
    ("question", "answer", "state"),
    [
        ("Over what depth is a guide needed?", "Any dive below sea level of more than 18 m needs one.", "stated"),
        ("Above which depth is a guide needed?", "Dives over 18 m need a guide.", "stated"),
        ("Above which depth is a guide needed?", "Dives under 18 m need a guide.", "denied"),
        ("When is a guide needed?", "As soon as you go over 18 m.", "unknown"),
        ("What triggers the alarm?", "A depth of more than 18 m.", "unknown"),
        ("How deep is the lake?", "It is more than 18 m deep.", "denied"),
        ("Sâu hơn bao nhiêu thì cần người hướng dẫn?", "Trên 18 m là phải có người hướng dẫn.", "stated"),
    ],
)
def test_a_bound_states_the_value_beyond_which_something_holds(question: str, answer: str, state: str) -> None:
    assert judge_facts(answer, ["18 m"], question)[0].state == state


@pytest.mark.parametrize(("answer", "state"), [("Over 18 m.", "stated"), ("Less than 18 m.", "denied")])
def test_a_reference_says_on_which_side_of_a_value_something_holds(answer: str, state: str) -> None:
    assert judge_facts(answer, ["18 m"], "At what depth do I need a guide?", "Above 18 m")[0].state == state


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("Hành lý chưa nhận được giữ bao lâu?", "5 ngày", "Hành lý chưa nhận được giữ 5 ngày.", "stated"),
        ("Khi nào vé bị hủy?", "2 giờ", "Vé chưa trả tiền sẽ bị hủy sau 2 giờ.", "stated"),
        ("Vé đã trả tiền bị hủy sau bao lâu?", "2 giờ", "Vé chưa trả tiền sẽ bị hủy sau 2 giờ.", "denied"),
        ("Vé được giữ bao lâu?", "2 giờ", "Vé không được giữ 2 giờ.", "denied"),
        ("After how long are unclaimed coats sold?", "3 weeks", "Coats not claimed within 3 weeks are sold.", "stated"),
        ("What happens to coats?", "3 weeks", "Coats that are not claimed for 3 weeks go to charity.", "unknown"),
        ("After how long are claimed coats sold?", "3 weeks", "Coats not claimed within 3 weeks are sold.", "denied"),
        ("How long are coats kept?", "3 weeks", "Coats are not kept for 3 weeks.", "denied"),
    ],
)
def test_a_negation_that_says_which_things_are_meant_denies_nothing(
    question: str, fact: str, answer: str, state: str
) -> None:
    assert judge_facts(answer, [fact], question)[0].state == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Nobody may board during the last 10 minutes.", "unknown"),
        ("Nobody can swim in it for 10 minutes.", "unknown"),
        ("It is not 10 minutes.", "denied"),
        ("Nobody gets 10 minutes.", "denied"),
    ],
)
def test_what_is_denied_during_a_time_may_state_it(answer: str, state: str) -> None:
    assert judge_facts(answer, ["10 minutes"], "How long before departure does boarding close?")[0].state == state


@pytest.mark.parametrize(
    ("answer", "reference", "states"),
    [
        ("No, skates are not allowed, except roller shoes.", "No, only roller shoes.", ["unknown", "stated"]),
        ("Yes, skates are allowed, except roller shoes.", "No, only roller shoes.", ["denied", "denied"]),
    ],
)
def test_an_exception_from_a_no_is_no_denial_of_it(answer: str, reference: str, states: list[str]) -> None:
    facts = ["no", "roller shoes"]
    assert [judgment.state for judgment in judge_facts(answer, facts, "Can I wear skates?", reference)] == states


def test_a_range_of_days_is_not_what_happens_after_its_first_day() -> None:
    reference = "From 4 May to 9 June; tickets run 12 days longer, which is more by 12 days."
    judgments = judge_facts(reference, ["4 May", "9 June"], "When is it shut, and what of tickets?", reference)
    assert "denied" not in [judgment.state for judgment in judgments]


def test_a_sum_is_no_value_of_something_else() -> None:
    answer = "3 lamps: €30.00; 2 more chairs: €40.00; together €70.00."
    assert judge_facts(answer, ["€70"], "What do the lamps and chairs cost?")[0].state != "denied"


@pytest.mark.parametrize(
    ("fact", "answer", "state"),
    [
        ("30 Tage", "Dreißig Tage.", "stated"),
        ("30 Tage", "Einunddreißig Tage.", "missing"),
        ("21 Tage", "Binnen drei Wochen.", "stated"),
        ("36 Stunden", "Nach 36 Std.", "stated"),
        ("36 Stunden", "Nach 63 Std.", "missing"),
        ("90 Minuten", "Anderthalb Stunden.", "stated"),
        ("7 Werktage", "Sieben Arbeitstage.", "stated"),
        ("120 Euro", "Hundertzwanzig Euro.", "stated"),
        ("1500 Euro", "Tausendfünfhundert Euro.", "stated"),
        ("8:30", "Um 8.30 Uhr.", "stated"),
        ("18 Uhr", "Um 18:00.", "stated"),
        ("5 May 2023", "5. Mai 2023", "stated"),
        ("5 May 2023", "5. März 2023", "missing"),
        ("3 weeks", "Drei Wochen.", "stated"),
        ("6 working days", "Six workdays.", "stated"),
    ],
)
def test_german_numbers_units_and_dates_are_read(fact: str, answer: str, state: str) -> None:
    assert judge_facts(answer, [fact], "?")[0].state == state


@pytest.mark.parametrize("text", ["Der Elf gibt acht.", "Ein Haus am See.", "It has a vier of one."])
def test_words_that_are_no_german_number_stay(text: str) -> None:
    assert write_german_forms(text) == text


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Install v4.1.9.", "stated"),
        ("Version 4.1.9+ is needed.", "stated"),
        ("V4.1.9 or newer.", "stated"),
        ("Install v4.1.90.", "missing"),
        ("Install v4.1.", "missing"),
    ],
)
def test_signs_around_a_version_do_not_belong_to_it(answer: str, state: str) -> None:
    assert judge_facts(answer, ["4.1.9"], "Which version does the router need?")[0].state == state


@pytest.mark.parametrize(
    ("answer", "state"), [("Dial 7-731.", "unknown"), ("+49 30 220 7731", "unknown"), ("+49 30 7731 22", "missing")]
)
def test_digits_in_other_groups_are_open(answer: str, state: str) -> None:
    assert judge_facts(answer, ["7731"], "Which extension has the lab?")[0].state == state


@pytest.mark.parametrize(("ending", "state"), [("It is 6 days.", "unknown"), ("", "unknown")])
def test_what_is_not_in_the_part_that_is_read_is_open(ending: str, state: str) -> None:
    assert judge_facts("Much text. " * 20_000 + ending, ["6 days"], "How long?")[0].state == state


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("When does a pass lapse?", "40 days", "After 40 unpaid days.", "unknown"),
        ("When does a pass lapse?", "40 days", "After 41 unpaid days.", "missing"),
        ("How long is the break?", "15 minutes", "Just the last quarter of an hour.", "unknown"),
        ("Which player is used?", "3-Play", "It is 3play.", "unknown"),
        ("How long is the break?", "15 minutes", "From 10 to 15 minutes.", "missing"),
    ],
)
def test_a_value_in_a_form_that_is_not_compared_is_open(question: str, fact: str, answer: str, state: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state == state


@pytest.mark.parametrize(
    ("fact", "answer", "state"),
    [
        ("12", "Nobody under 12 may steer.", "stated"),
        ("12", "You must be at least 12 years old.", "stated"),
        ("12", "You may be at most 12 years old.", "denied"),
        ("12 May", "On 12 may we begin.", "stated"),
    ],
)
def test_the_verb_may_after_an_age_is_no_month(fact: str, answer: str, state: str) -> None:
    assert judge_facts(answer, [fact], "At what age may one steer the boat?", "From 12")[0].state == state


def test_days_on_which_something_is_closed_are_no_objection_to_those_on_which_it_opens() -> None:
    answer = "From Monday to Thursday. It is closed on Fridays."
    (found,) = judge_facts(answer, ["Monday"], "When is the gym open?", "Monday to Thursday")
    assert "points back" not in found.reason
    assert "moved from" not in found.reason
