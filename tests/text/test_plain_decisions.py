"""A plain yes against a no, a prohibition for a no, and a bound that the evidence has too."""

from __future__ import annotations

import pytest

from assay.text.facts.references.reference_judgments import judge_reference_facts
from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("question", "reference", "answer", "is_wrong"),
    [
        ("Can guests use the kiln?", "No, guests may not use the kiln.", "Yes, guests use it as well.", True),
        ("Can guests use the kiln?", "No, guests may not use the kiln.", "No, guests may not use it.", False),
        ("Is the tower lit at night?", "Yes, the tower is lit until dawn.", "No, it is dark.", True),
        ("Is the tower lit at night?", "Yes, the tower is lit until dawn.", "Yes, until dawn.", False),
        ("Do I need a permit to dive?", "No, divers need no permit.", "Yes, from the harbour office.", True),
        ("I live in the old mill. May I fish here?", "No, tenants do not count.", "Yes, tenants may fish too.", True),
        ("I live in the old mill. May I fish here?", "No, tenants do not count.", "No, tenants don't count.", False),
        ("May I bring a drone?", "Yes, drones are welcome.", "No, leave them at home.", True),
        ("May I bring a drone?", "Yes, drones are welcome.", "Certainly, drones are welcome.", False),
    ],
)
def test_a_plain_yes_against_a_no_is_wrong(question: str, reference: str, answer: str, is_wrong: bool) -> None:
    states = {judgment.state for judgment in judge_reference_facts(answer, reference, question)}
    assert ("denied" in states) == is_wrong


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("May I camp in the dunes?", "Camping in the dunes is forbidden.", "Camping in the dunes is allowed."),
        ("Can I fly a drone over the reef?", "Drones over the reef are banned.", "You can fly a drone over the reef."),
        ("May I smoke on the terrace?", "Smoking on the terrace is prohibited.", "You may smoke on the terrace."),
        ("Are dogs allowed on the slope?", "Dogs are banned from the slope.", "Dogs are allowed on the slope."),
        ("May we light candles in the hut?", "Candles are banned in the hut.", "You may light candles in the hut."),
        ("Can I park by the weir?", "Parking by the weir is forbidden.", "You can park by the weir."),
    ],
)
def test_a_prohibition_is_no_denied_no(question: str, right: str, wrong: str) -> None:
    states = [judge_facts(answer, ["no"], question)[0].state for answer in (right, wrong)]
    assert states[0] != "denied" and states[1] != "stated"


@pytest.mark.parametrize(
    ("question", "fact", "source", "right", "wrong"),
    [
        (
            "How soon is a claim paid?",
            "15 days",
            "Claims are paid within 15 days.",
            "It takes up to 15 days.",
            "At least 15 days.",
        ),
        (
            "Wie lange wartet der Bus?",
            "20 Minuten",
            "Er wartet bis zu 20 Minuten.",
            "Bis zu 20 Minuten.",
            "Nicht 20 Minuten.",
        ),
        (
            "Wie viel trägt der Lift?",
            "400 kg",
            "Höchstens 400 kg trägt der Lift.",
            "Höchstens 400 kg.",
            "Mindestens 400 kg.",
        ),
        ("How heavy is a crate?", "18 kg", "A crate is up to 18 kg.", "Up to 18 kg.", "Over 18 kg."),
        (
            "How long is a lesson?",
            "90 minutes",
            "A lesson is up to 90 minutes.",
            "Up to 90 minutes.",
            "More than 90 minutes.",
        ),
        ("How many does the cabin take?", "8", "The cabin takes up to 8.", "Up to 8.", "More than 8."),
    ],
)
def test_a_bound_of_the_evidence_leaves_nothing_open(
    question: str, fact: str, source: str, right: str, wrong: str
) -> None:
    states = [judge_facts(answer, [fact], question, "", [source])[0].state for answer in (right, wrong)]
    assert states[0] == "stated" and states[1] != "stated"


@pytest.mark.parametrize(
    ("question", "reference", "right", "wrong"),
    [
        ("On which channel is the lock?", "The lock is on channel 20.", "On channel 20.", "On channel 22."),
        ("Which gate is it?", "It leaves from gate 14.", "Gate 14.", "It leaves from gate 17."),
        ("Which platform?", "The train is on platform 3.", "Platform 3.", "It is on platform 5."),
        ("Where is the clinic?", "It is on floor 6.", "On floor 6.", "On floor 9."),
        ("Which bus goes there?", "Take line 41 there.", "Line 41.", "Take line 44."),
        ("In which room is the exam?", "The exam is in room 208.", "In room 208.", "In room 210."),
    ],
)
def test_another_number_of_the_same_name_is_wrong(question: str, reference: str, right: str, wrong: str) -> None:
    states = [{own.state for own in judge_reference_facts(answer, reference, question)} for answer in (right, wrong)]
    assert [states_of.isdisjoint(("missing", "denied")) for states_of in states] == [True, False]


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("Is the harbour covered?", "no", "The harbour is outside the area of cover.", "stated"),
        ("Is the harbour covered?", "no", "The harbour falls outside the cover.", "stated"),
        ("Is the harbour covered?", "yes", "The harbour is outside the area of cover.", "denied"),
        ("Is the harbour covered?", "no", "The harbour is in the area of cover.", "denied"),
        ("Is the harbour covered?", "no", "The harbour is covered. The lake is outside the area of cover.", "unknown"),
        ("Có bảo hiểm lặn biển không?", "không", "Lặn biển nằm ngoài phạm vi bảo hiểm.", "stated"),
        ("Có bảo hiểm lặn biển không?", "có", "Lặn biển nằm ngoài phạm vi bảo hiểm.", "denied"),
    ],
)
def test_what_is_outside_the_cover_is_not_covered(question: str, fact: str, answer: str, state: str) -> None:
    judgment = judge_facts(answer, [fact], question)[0]
    assert judgment.state == state
    assert '"' not in judgment.reason or fact in judgment.reason  # what it quotes is the fact, or in the answer
