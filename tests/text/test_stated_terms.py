"""On which terms an answer states a fact: for which part of a time, how it is counted, on what condition."""

from __future__ import annotations

import pytest

from assay.text.facts.references.reference_judgments import judge_reference_facts
from assay.text.facts.stated_facts import judge_facts


def _judge(question: str, fact: str, reference: str, answer: str) -> str:
    return judge_facts(answer, [fact], question, reference)[0].state


TERMS = (
    (
        "Do scouts pay for the ferry?",
        "free",
        "No, it is free for scouts.",
        ("No, the ferry is free for scouts.",),
        ("No, it is free for scouts during the first season.", "It is free for scouts, as it is for all children."),
    ),
    (
        "How many tools may I borrow?",
        "8 tools",
        "8 tools at a time",
        ("You may borrow 8 tools at once.",),
        ("You may borrow 8 tools in total.", "You may borrow 8 more tools."),
    ),
    (
        "When do I need a guide?",
        "in winter",
        "In winter",
        ("You need a guide in winter.",),
        ("You need a guide in winter, provided that two wardens agree by letter.",),
    ),
    (
        "What may I drink in the archive?",
        "water",
        "Only water",
        ("You may drink water.",),
        ("You may drink water. Lemonade is fine as well near the door.",),
    ),
    (
        "What is the rent of the boat?",
        "40 EUR",
        "40 EUR per day",
        ("The boat is 40 EUR per day.",),
        ("The boat is 40 EUR for the entire holiday.",),
    ),
    (
        "Wie viele Bücher darf ich leihen?",
        "12 Bücher",
        "12 Bücher gleichzeitig",
        ("Sie dürfen 12 Bücher auf einmal leihen.",),
        ("Sie dürfen insgesamt 12 Bücher leihen.",),
    ),
)


@pytest.mark.parametrize(("question", "fact", "reference", "right", "wrong"), TERMS)
def test_a_term_of_which_nothing_speaks_leaves_a_fact_open(
    question: str, fact: str, reference: str, right: tuple[str, ...], wrong: tuple[str, ...]
) -> None:
    for answer in right:
        assert _judge(question, fact, reference, answer) == "stated", answer
    for answer in wrong:
        assert _judge(question, fact, reference, answer) != "stated", answer


def test_a_term_of_the_reference_or_the_evidence_is_known() -> None:
    question, answer = "Do scouts pay for the ferry?", "No, it is free for scouts during the first season."
    assert _judge(question, "free", "Free during the first season", answer) == "stated"
    evidence = ("The ferry is free for scouts during the first season.",)
    assert judge_facts(answer, ["free"], question, "No", evidence)[0].state == "stated"


@pytest.mark.parametrize(
    ("question", "reference", "answer"),
    [
        ("Do scouts pay?", "No, they are free.", "No, scouts are free during their first season."),
        ("Trẻ em có phải trả tiền không?", "Không, trẻ em miễn phí.", "Không, trẻ em miễn phí trong tháng đầu tiên."),
        ("Les scouts paient-ils ?", "Non, c'est gratuit.", "Non, c'est gratuit pendant la première année."),
    ],
)
def test_a_decision_on_terms_of_its_own_is_open(question: str, reference: str, answer: str) -> None:
    assert judge_reference_facts(answer, reference, question)[0].state == "unknown"


@pytest.mark.parametrize(
    ("question", "facts", "answer", "is_stated"),
    [
        ("When is the hall closed?", ["12:00", "13:00"], "It is only open between 12:00 and 13:00.", False),
        ("When is the hall closed?", ["12:00", "13:00"], "It is closed between 12:00 and 13:00.", True),
        ("What time does the counter close on Thursdays?", ["6 pm"], "It is open 8:30 am to 6 pm on Thursdays.", True),
        ("Wann ist die Halle gesperrt?", ["9:00", "12:00"], "Man darf nur von 9:00 bis 12:00 Uhr hinein.", False),
        ("Quand la salle est-elle fermée ?", ["13:00"], "La salle est fermée à 13:00.", True),
    ],
)
def test_from_when_to_when_the_contrary_holds_is_no_answer(
    question: str, facts: list[str], answer: str, is_stated: bool
) -> None:
    states = {judgment.state for judgment in judge_facts(answer, facts, question)}
    assert (states == {"stated"}) == is_stated


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("What is the deadline?", "4 May", "The period starts on 4 May and ends on 9 June.", "unknown"),
        ("What is the deadline?", "4 May", "The period starts on 9 April, and the deadline is 4 May.", "stated"),
        ("Bis wann geht das?", "4. Mai", "Die Frist beginnt am 4. Mai und endet am 9. Juni.", "unknown"),
    ],
)
def test_the_first_day_is_no_deadline(question: str, fact: str, answer: str, state: str) -> None:
    assert _judge(question, fact, "", answer) == state


@pytest.mark.parametrize(
    ("reference", "answer", "state"),
    [
        ("At least 3 days before the tour", "No more than 3 days before the tour.", "denied"),
        ("At least 3 days before the tour", "No later than 3 days before the tour.", "stated"),
        ("Mindestens 3 Tage vor der Tour", "Höchstens 3 Tage vor der Tour.", "denied"),
        ("Au moins 3 jours avant le départ", "Au plus tard 3 jours avant le départ.", "unknown"),
    ],
)
def test_the_most_before_an_event_is_not_the_least(reference: str, answer: str, state: str) -> None:
    assert _judge("When do I book?", reference[9:], reference, answer) == state


@pytest.mark.parametrize(
    ("answer", "concludes"),
    [
        ("Online it is 14 days, but yours was made at the desk, so you have 7 days.", True),
        ("The notice is 14 days. This means you can come 30 days later.", True),
        ("At the desk it is 7 days, but you booked online, so you have 14 days.", False),
        ("It is 14 days, so you have two weeks.", False),
        ("It is 14 days a month, so you have 168 days in all.", False),
    ],
)
def test_what_an_answer_says_to_follow_is_its_answer(answer: str, concludes: bool) -> None:
    judgment = judge_facts(answer, ["14 days"], "I booked online. How long may I withdraw?", "14 days")[0]
    assert ("the answer concludes" in judgment.reason) == concludes


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("What is the fee for pupils?", "€6", "€6 for adults; for pupils, €4 is enough.", "denied"),
        ("What is the fee for pupils?", "€6", "€6 for pupils; for adults it is €9.", "stated"),
        (
            "What score do I need for the Master?",
            "6.5",
            "A score of 6.5 for Bachelors; for the Master, 6.0.",
            "unknown",
        ),
        ("Was kostet der Kurs für Töpfer?", "60 €", "60 € für Maler und 40 € für Töpfer.", "unknown"),
        ("Combien paie un élève ?", "6 €", "6 € pour un adulte et 4 € pour un élève.", "denied"),
        ("Phí cho học sinh là bao nhiêu?", "60 nghìn", "60 nghìn cho thợ gốm và 40 nghìn cho học sinh.", "denied"),
    ],
)
def test_a_value_with_the_label_of_another_is_open(question: str, fact: str, answer: str, state: str) -> None:
    assert _judge(question, fact, "", answer) == state


@pytest.mark.parametrize(
    ("question", "reference", "answer", "state"),
    [
        ("How long may I keep a map?", "9 days, with 2 renewals", "9 days, and it can't be renewed.", "unknown"),
        ("How long may I keep a map?", "9 days, without renewal", "9 days, and it can't be renewed.", "stated"),
        ("How much is the fee per map?", "9 EUR", "At most 9 EUR per day.", "unknown"),
        ("How much is the fee per map?", "9 EUR per map and day", "9 EUR per map and day.", "stated"),
        ("How long may members stay?", "9 weeks", "Members may stay 9 weeks longer.", "unknown"),
        ("Which part of the fee is for trams?", "9 EUR", "9 EUR, on top of the fee.", "unknown"),
    ],
)
def test_what_a_clause_says_of_its_value_is_compared(question: str, reference: str, answer: str, state: str) -> None:
    fact = " ".join(reference.split()[:2]).strip(",")
    assert _judge(question, fact, reference, answer) == state


@pytest.mark.parametrize(
    ("question", "facts", "reference", "answer", "is_stated"),
    [
        (
            "When is the den shut?",
            ["12:15", "13:45"],
            "12:15 to 13:45",
            "You can only enter from 12:15 to 13:45.",
            False,
        ),
        ("Wann ist der Saal gesperrt?", ["9:00", "12:00"], "9:00 bis 12:00", "Nur von 9:00 bis 12:00 Uhr frei.", False),
        ("How much is the photo permit?", ["£7"], "£7 per visit", "A photo permit is £7 a photo.", False),
        ("How much is the photo permit?", ["£7"], "£7 per visit", "A photo permit is £7 a visit.", True),
        ("How long is the warranty?", ["2 years"], "2 years", "The warranty is prolonged by 2 years.", False),
        ("How old must a rider be?", ["14"], "14 years", "14 years, unless the conductor objects.", False),
        ("What is the default wait?", ["20 seconds"], "20 seconds", "20 seconds, unless you set another one.", True),
    ],
)
def test_only_then_unless_and_rates_of_the_reference(
    question: str, facts: list[str], reference: str, answer: str, is_stated: bool
) -> None:
    states = {judgment.state for judgment in judge_facts(answer, facts, question, reference)}
    assert (states == {"stated"}) == is_stated
