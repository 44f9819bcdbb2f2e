"""What an answer adds to a fact that takes it back or limits it."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


def _judge(question: str, fact: str, answer: str, reference: str = "") -> str:
    return judge_facts(answer, [fact], question, reference)[0].state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Six weeks. Correction: eight weeks.", "unknown"),
        ("Six weeks. Wait, no: eight weeks.", "unknown"),
        ("Six weeks. Actually, it is eight weeks.", "unknown"),
        ("Six weeks – sorry, I meant eight weeks.", "unknown"),
        ("Actually, it is six weeks.", "stated"),
        ("Six weeks, which is actually generous.", "stated"),
        ("Six weeks. Corrections of the form take longer.", "stated"),
    ],
)
def test_a_corrected_value_is_not_stated(answer: str, state: str) -> None:
    assert _judge("How long does the permit take?", "six weeks", answer) == state


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("On which days is the ferry port closed?", "4 May", "The port is open on 4 May.", "denied"),
        ("On which days is the ferry port closed?", "4 May", "The port is closed on 4 May.", "stated"),
        ("On which days is the ferry port closed?", "4 May", "Closed on 4 May, open on all others.", "stated"),
        ("What share do I get back?", "40 percent", "You forfeit 40 percent.", "unknown"),
        ("What share do I get back?", "40 percent", "40 percent is refunded.", "stated"),
        ("Where is swimming allowed?", "the north bay", "Swimming is banned in the north bay.", "unknown"),
        ("How do I get up to the loft?", "ladder", "The ladder is out of order.", "unknown"),
        ("How do I get up to the loft?", "ladder", "By the ladder behind the door.", "stated"),
        ("What is the fine for a lost oar?", "€9", "€9 is waived for a lost oar.", "unknown"),
        ("How much do I get for an empty keg?", "€9", "You pay €9 for an empty keg.", "unknown"),
        ("How much do I get for an empty keg?", "€9", "You get €9 for an empty keg.", "stated"),
        ("When may trucks unload?", "before 06:00", "They may unload before 06:00.", "stated"),
        ("When may trucks unload?", "before 06:00", "They may unload after 06:00, not before.", "unknown"),
        ("Wann ist das Tor offen?", "4. Mai", "Am 4. Mai ist das Tor geschlossen.", "unknown"),
        ("Kho mở cửa ngày nào?", "4/5", "Kho đóng cửa ngày 4/5.", "denied"),
    ],
)
def test_a_fact_of_the_contrary_state_is_not_stated(question: str, fact: str, answer: str, state: str) -> None:
    assert _judge(question, fact, answer) == state


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("When is the depot open?", "08:00", "It opens at 08:00, except in February.", "unknown"),
        ("When is the depot open?", "08:00", "It opens at 08:00, but only on weekdays.", "unknown"),
        ("When is the depot open?", "08:00", "It opens at 08:00, also on feast days.", "unknown"),
        ("When is the depot open?", "08:00", "It opens at 08:00; you only need to knock.", "stated"),
        ("What opens the shed?", "a red key", "A red key or the code of the warden.", "unknown"),
        ("What opens the shed?", "a red key", "A red key; there are many more or less like it.", "stated"),
        ("On which day is the kiosk shut?", "Monday", "It is shut on Monday and Friday.", "unknown"),
        ("On which day is the kiosk shut?", "Monday", "It is shut on Monday and public holidays.", "unknown"),
        ("On which day is the kiosk shut?", "Monday", "It is shut on Monday, and on Friday a band plays.", "stated"),
        ("Is the mooring free?", "free", "The mooring is free for members.", "unknown"),
        ("Is the mooring free for members?", "free", "The mooring is free for members.", "stated"),
        ("May I bring a dog?", "yes", "Yes, on weekdays.", "unknown"),
        ("May I bring a dog?", "yes", "Yes – until noon.", "unknown"),
        ("May I bring a dog?", "yes", "Yes, if it is small.", "unknown"),
        ("May I bring a dog?", "yes", "Yes, there is a bowl in the hall.", "stated"),
        ("May I bring a dog?", "yes", "Yes, gladly.", "stated"),
        ("May I bring a dog?", "no", "No. First ask the mate, then it is fine.", "unknown"),
        ("May I bring a dog?", "yes", "Yes, in October.", "unknown"),
        ("How do I get to the isle?", "ferry 3", "Ferry 3 is being repaired.", "unknown"),
        ("Is the mooring free?", "free", "The mooring is free for 20 minutes.", "unknown"),
        ("How long is the rope?", "9 metres", "9 metres is too short.", "unknown"),
        ("How long is the rope?", "9 metres", "It is 9 metres longer than the mast.", "unknown"),
        ("How long is the rope?", "9 metres", "9 metres, or twice the beam.", "unknown"),
        ("How long is the rope?", "9 metres", "9 metres, or so I measured.", "stated"),
        ("What does the berth cost?", "€30", "€30, and a fee of €5 for water comes on top.", "unknown"),
        ("How many berths are there?", "20 berths", "20+ berths", "unknown"),
    ],
)
def test_a_fact_with_a_restriction_of_its_own_is_not_stated(question: str, fact: str, answer: str, state: str) -> None:
    assert _judge(question, fact, answer) == state


def test_a_restriction_that_the_reference_has_is_none_of_the_answer() -> None:
    reference, answer = "It opens at 08:00, except in February.", "At 08:00, except in February."
    assert _judge("When is the depot open?", "08:00", answer, reference) == "stated"


def test_another_value_in_the_place_of_one_of_the_reference_leaves_a_fact_open() -> None:
    question, fact, reference = "Who sails free?", "free of charge", "Children under 6 sail free of charge."
    assert _judge(question, fact, "Children under 9 sail free of charge.", reference) == "unknown"
    assert _judge(question, fact, "Children under 6 sail free of charge.", reference) == "stated"


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Any release before 6.1.3 works.", "unknown"),
        ("Avoid 6.1.3.", "unknown"),
        ("Not 6.1.2 but 6.1.3.", "stated"),
        ("Release 6.1.3, nothing before it.", "stated"),
    ],
)
def test_a_release_that_bounds_others_is_not_stated(answer: str, state: str) -> None:
    assert _judge("Which release do we need?", "6.1.3", answer) == state


def test_whom_a_later_value_concerns_is_not_read_before_an_earlier_one() -> None:
    question = "When is a leak reported to the harbour master?"
    wrong = "A leak is reported to the harbour master after 10 minutes and to the dock master after 3 hours."
    right = "To the dock master after 10 minutes, to the harbour master after 3 hours."
    assert (_judge(question, "3 hours", wrong), _judge(question, "3 hours", right)) == ("unknown", "stated")
