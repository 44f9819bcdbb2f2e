"""A name that an answer gives as that of a predecessor, or of the one to ask."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Olga Brand, who succeeded Ivo Lenz.", "unknown"),
        ("Olga Brand, who took over the job from Ivo Lenz.", "unknown"),
        ("Olga Brand, in place of Ivo Lenz.", "unknown"),
        ("Check with Ivo Lenz who the treasurer is.", "unknown"),
        ("Ivo Lenz, who succeeded Olga Brand.", "stated"),
        ("The treasurer is Ivo Lenz.", "stated"),
    ],
)
def test_another_person_than_the_named_one_leaves_it_open(answer: str, state: str) -> None:
    assert judge_facts(answer, ["Ivo Lenz"], "Who is the treasurer?")[0].state == state


def test_a_predecessor_that_is_asked_for_is_stated() -> None:
    question = "Who was treasurer before Olga Brand?"
    assert judge_facts("Olga Brand succeeded Ivo Lenz.", ["Ivo Lenz"], question)[0].state == "stated"
