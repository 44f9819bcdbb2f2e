"""A word that says that there is none of what is asked for is an answer, and no refusal."""

from __future__ import annotations

import pytest

from assay.text.refusals.behaviour import detect_behaviour


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where on the pier is fishing allowed?", "Nowhere."),
        ("Where can I park a lorry overnight?", "Nowhere!"),
        ("How often is the slipway closed in summer?", "Never."),
        ("Who may open the fuel store at night?", "Nobody."),
        ("How many guests may sleep on the boat?", "None."),
        ("Wo darf man am Steg grillen?", "Nirgends."),
        ("Wann ist das Tor gesperrt?", "Nie."),
    ],
)
def test_the_word_for_none_of_what_is_asked_is_an_answer(question: str, answer: str) -> None:
    assert "answer" == detect_behaviour(answer, question=question).behaviour


@pytest.mark.parametrize("answer", ["Nowhere in the documents.", "No idea.", "Unknown."])
def test_what_says_that_nothing_is_known_still_abstains(answer: str) -> None:
    assert "abstain" == detect_behaviour(answer, question="Where may I moor a raft?").behaviour
