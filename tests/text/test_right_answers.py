"""Right answers in forms that look like another value, a bound or a denial: the rules must not fail them."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


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
