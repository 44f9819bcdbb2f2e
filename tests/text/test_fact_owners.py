"""Whose value an answer states: lists, tables, two subjects, past and present, before and after; forms."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts
from assay.text.facts.stated_quantities import judge_quantities
from assay.text.quantities.measures import find_measures

RIGHT = [
    (
        "Gửi API key cho đồng nghiệp qua tin nhắn riêng có được không?",
        "kho bí mật",
        "Không được. Hãy chia sẻ qua kho bí mật của công ty.",
    ),
    (
        "Nhân viên bán thời gian có cùng số ngày phép với nhân viên toàn thời gian không?",
        "tỷ lệ giờ làm",
        "Không. Nhân viên bán thời gian hưởng phép theo tỷ lệ giờ làm; hợp đồng 20 giờ tương ứng một nửa số ngày phép.",
    ),
    ("How much is a van on the ferry?", "EUR83", "A van costs EUR83 and a camper EUR61."),
    ("How much is a camper on the ferry?", "EUR61", "A van costs EUR83 and a camper EUR61."),
    ("What does adult entry cost?", "€18", "Adults: €18\nChildren: €12"),
    ("What does adult entry cost?", "€18", "Entry: €12 (children), €18 (adults)."),
    ("What does adult entry cost?", "€18", "The price for adults is €18, for children it is €12."),
    ("How long may I keep a DVD?", "1 week", "Books: 4 weeks. DVDs: 1 week. Games: 2 weeks."),
    ("How long do I have to return shoes?", "30 days", "You've got thirty days for shoes (electronics: 14 days)."),
    ("How much storage does Pro have?", "20 GB", "| Plan | Basic | Pro |\n|---|---|---|\n| Storage | 5 GB | 20 GB |"),
    ("When do you open on Sunday?", "10:00", "We open at 8:00 from Monday to Saturday and at 10:00 on Sundays."),
    ("How long does delivery take?", "3 days", "Great question! Delivery takes 3 days. Express is 1 day."),
    ("What's the current price?", "€35", "The price was €30 until May; now it is €35."),
    ("What was the price before May?", "€30", "The price was €30 until May; now it is €35."),
    ("When must I check in?", "At least 45 minutes before departure", "No later than 45 minutes before departure."),
    (
        "When must I check in?",
        "No later than 45 minutes before departure",
        "45 minutes before departure at the latest.",
    ),
    ("Up to which wind speed may the crane work?", "22 m/s", "Above 22 m/s the crane must not work."),
    ("What discount do customers without a claim get?", "12 percent", "Customers without a claim get 12 percent."),
    ("What does theft pay without a receipt?", "reduced by 20 percent", "Without it, pay is reduced by 20 percent."),
    ("What is the fee without registration?", "5 euros", "The fee without registration is 5 euros."),
    ("Is a flood covered?", "covered", "Without any doubt it is covered."),
    ("What does the transfer cost?", "no charge", "Nothing."),
    ("What does the transfer cost?", "nothing", "It's free."),
    ("What does the transfer cost?", "free of charge", "It's complimentary."),
    ("Which floor is HR on?", "2nd floor", "HR is on the second floor."),
    ("How long is it valid?", "24 hours", "It's valid for a day."),
    ("When does it leave?", "18:40", "It leaves at twenty to seven."),
    ("How fast may I drive?", "30 mph", "You may drive thirty miles an hour."),
    (
        "Is the pass valid on all trains?",
        "not valid on night trains",
        "You can use it on everything apart from the night trains.",
    ),
    ("Who signs the contract?", "the dean signs the contract", "The contract is signed by the dean."),
    ("What's the support hotline?", "020 7946 0999", "Sales is on 020 7946 0018, and support is (020) 7946-0999."),
    ("Giá vé người lớn bao nhiêu?", "150.000 đồng", "Vé trẻ em 100.000đ, người lớn 150.000đ."),
]
WRONG = [
    ("How much notice is needed?", "12 days", "You may cancel without 12 days' notice."),
    ("What do I need to get in?", "ticket", "You get in without a ticket."),
    ("What happens without a receipt?", "reduced by 20 percent", "The payment is reduced to 20 percent."),
    ("To what is the speed cut?", "cut to 30 percent", "The speed is cut by 30 percent."),
    ("How much is a van on the ferry?", "EUR61", "A van costs EUR83 and a camper EUR61."),
    ("What does a van cost?", "EUR83", "Vans are EUR61, campers EUR83."),
    ("What does adult entry cost?", "€12", "Adults: €18\nChildren: €12"),
    ("What does adult entry cost?", "€12", "Entry: €12 (children), €18 (adults)."),
    ("How much is the return ticket?", "EUR14", "It is EUR7 return, that is EUR14 one way."),
    ("How long may I keep a DVD?", "1 week", "Books: 1 week. DVDs: 4 weeks. Games: 2 weeks."),
    ("How long do I have to return shoes?", "30 days", "You've got fourteen days for shoes (electronics: 30 days)."),
    ("How much storage does Pro have?", "5 GB", "| Plan | Basic | Pro |\n|---|---|---|\n| Storage | 5 GB | 20 GB |"),
    ("How much storage does Pro have?", "5 GB", "Basic and Pro have 5 GB and 20 GB respectively."),
    ("When do you open on Sunday?", "8:00", "We open at 8:00 from Monday to Saturday and at 10:00 on Sundays."),
    ("How often must the filter be changed?", "every 6 months", "The lamp every 6 months, and the filter once a year."),
    ("What's the current price?", "€30", "The price was €30 until May; now it is €35."),
    ("What's the interest rate?", "2.9%", "It's 3.5% now, up from 2.9% last year."),
    ("Until when can I cancel?", "24 hours before departure", "You can cancel until 24 hours after departure."),
    ("When must I check in?", "At least 45 minutes before departure", "Check in at most 45 minutes before departure."),
    ("When must I check in?", "At least 45 minutes before departure", "No earlier than 45 minutes before departure."),
    ("Up to which wind speed may the crane work?", "22 m/s", "The crane works at 22 m/s and well above."),
    ("What does the transfer cost?", "free", "The transfer is EUR5; luggage is free."),
    ("Is the pool free?", "free for guests", "Free for members; guests pay EUR5."),
    ("Can I bring food?", "only with a lid", "You can bring food regardless of whether it has a lid."),
    ("Who signs the contract?", "the dean signs the contract", "The rector signs the contract. The dean gets a copy."),
    ("Who do I contact about noise?", "housing officer", "Contact the mediators. The housing officer only repairs."),
    ("What's the support hotline?", "020 7946 0018", "Sales is on 020 7946 0018, and support is 020 7946 0999."),
    ("Giá vé người lớn bao nhiêu?", "100.000 đồng", "Vé trẻ em 100.000đ, người lớn 150.000đ."),
]


@pytest.mark.parametrize(("question", "fact", "answer"), RIGHT)
def test_a_value_said_of_what_is_asked_is_stated(question: str, fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state == "stated"


@pytest.mark.parametrize(("question", "fact", "answer"), WRONG)
def test_a_value_said_of_something_else_is_never_stated(question: str, fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state != "stated"


def test_a_number_of_a_reference_belongs_to_its_noun_and_its_subject() -> None:
    tower = "The tower is 214 feet high and you climb 168 steps."
    assert judge_quantities(tower, "214 steps", question="How many steps lead up?")[0].state == "missing"
    hall = "It's £300 for an evening, and we ask for a deposit of £1,250."
    asked = "What does hiring the hall for an evening cost?"
    assert judge_quantities(hall, "£1,250", question=asked)[0].state == "denied"
    assert judge_quantities(hall, "£300", question=asked)[0].state == "stated"


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("no later than 40 minutes before departure", [">="]),
        ("no earlier than 40 minutes before departure", ["<="]),
        ("at most 40 minutes before departure", ["<="]),
        ("no later than 5 pm", ["<="]),
        ("no earlier than 5 pm", [">="]),
        ("40 minutes before departure at the latest", [">="]),
        ("£5 a day, a day pass, five to seven days, from ten to five", ["", "", "", ""]),
    ],
)
def test_bounds_of_lead_times_turn_and_rates_and_ranges_stay(text: str, bounds: list[str]) -> None:
    assert [quantity.bound for quantity in find_measures(text)] == bounds


@pytest.mark.parametrize(
    ("answer", "states"),
    [
        ("Guided tours cost 12 euros for adults and 5 euros for children.", {"stated"}),
        ("Adults pay 12 euros, children 5 euros.", {"stated"}),
        ("Adults and children pay 12 and 5 euros respectively.", {"stated"}),
        ("Guided tours cost 12 euros for children and 5 euros for adults.", {"unknown", "denied"}),
        ("Adults pay 5 euros and children 12 euros.", {"unknown", "denied"}),
    ],
)
def test_two_values_that_each_belong_to_the_other_fact_are_not_stated(answer: str, states: set[str]) -> None:
    question = "What do guided tours cost for adults and children?"
    judged = judge_facts(answer, ("12 euros for adults", "5 euros for children"), question, "")
    assert {judgment.state for judgment in judged} <= states


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Orders from 250 euros are delivered free of charge.", "stated"),
        ("From 250 euros.", "stated"),
        ("Orders of at least 250 euros are delivered free of charge.", "stated"),
        ("Orders up to 250 euros are delivered free of charge; larger ones cost 14 euros.", "denied"),
    ],
)
def test_where_something_begins_is_not_where_it_ends(answer: str, state: str) -> None:
    question = "From what amount are orders delivered free of charge?"
    assert judge_facts(answer, ("250 euros",), question, "")[0].state == state


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("Mit welcher Frist kann der Vertrag gekündigt werden?", "drei Monate", "Mit dreimonatiger Frist."),
        ("Wann endet der Schutz?", "am Tag der Übergabe", "It ends on the day the bicycle is handed over."),
        ("When does the cover end?", "the day of the handover", "La cobertura termina el día de la entrega."),
    ],
)
def test_words_are_not_missing_from_an_answer_in_a_language_that_is_not_compared(
    question: str, fact: str, answer: str
) -> None:
    (found,) = judge_facts(answer, [fact], question)
    assert ("unknown", "the answer is in a language whose words are not compared") == (found.state, found.reason)


def test_figures_are_missing_in_every_language() -> None:
    assert "missing" == judge_facts("Das ist kostenlos.", ["14 Tage"], "Wie lange kann ich das zurückgeben?")[0].state


@pytest.mark.parametrize(
    ("answer", "owner"),
    [
        ("€4 per lantern night, a lost pass is €9.", '"lantern"'),
        ("The lantern is €4 per night, a lost pass €9.", '"lantern"'),
        ("Lantern hire is €4, a lost pass €9.", '"Lantern hire"'),
    ],
)
def test_the_owner_of_a_value_has_a_name_without_its_rate(answer: str, owner: str) -> None:
    (judgment,) = judge_facts(answer, ["4 euros"], "What does a lost pass cost?", "4 euros")
    assert f"the answer says this of {owner}" in judgment.reason


def test_what_a_value_counts_per_owns_no_value() -> None:
    answer = "A lost pass is €4 per started week; the lantern is €9 per night."
    (judgment,) = judge_facts(answer, ["4 euros"], "What does a lost pass cost per week?", "4 euros")
    assert judgment.state == "stated"
