"""A refusal where an answer is expected is a wrong answer, and not one that may be right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import assay
from assay.records.golden_set import Behaviour, Case, GoldenSet
from assay.records.observations import Observation
from assay.records.scores import SCORED

REFUSED = "I couldn't find anything about that in the documents."
SENTENCE = "The pool opens for members at seven and closes before the courses in the evening begin."


def score(answer: str, reference: str, declared: Behaviour | None = None, **fields: Any) -> Any:
    case = Case("c", "When can members swim in the old pool?", reference=reference, **fields)
    observation = Observation("c", "one", answer=answer, behaviour=declared)
    return assay.score(GoldenSet((case,)), [observation]).table("one")


def read(table: Any, metric: str) -> float | None:
    column = table.columns[metric]
    return float(column.values[0]) if column.status[0] == SCORED else None


@pytest.mark.parametrize("reference", ["18 euros.", SENTENCE, "From 7 to 17:30, but not on Mondays."])
def test_a_refusal_is_wrong_whatever_its_reference_leaves_open(reference: str) -> None:
    table = score(REFUSED, reference)
    assert read(table, "correct_answer") == 0.0
    assert read(table, "correct_answer_unknown") != 1.0
    assert "wrong_behavior" in table.checks[0].failed


def test_words_that_tell_nothing_are_unknown_as_long_as_they_are_no_refusal() -> None:
    answer = "It depends on the season, in summer the doors are open much longer than usual."
    assert read(score(answer, SENTENCE), "correct_answer") is None
    undecided = score("Not documented, I'm afraid, although swimming is fun.", SENTENCE)
    if read(undecided, "behaviour") is None:
        assert read(undecided, "correct_answer") is None


def test_a_declared_refusal_counts_where_the_text_is_undecided() -> None:
    answer = "Vraagt u dat beter aan de balie, daar weten ze het."
    declared = score(answer, SENTENCE, "abstain", language="nl")
    assert read(declared, "behaviour") == 0.0
    assert read(declared, "correct_answer") == 0.0
    assert read(score(answer, SENTENCE, None, language="nl"), "correct_answer") is None


def test_a_refusal_that_is_accepted_is_no_wrong_answer() -> None:
    assert read(score(REFUSED, SENTENCE, also_accept=("abstain",)), "correct_answer") is None
    right = score("They can swim from 18 euros.", "18 euros.")
    assert read(right, "correct_answer") == 1.0


def test_the_range_of_a_run_ends_where_refusals_leave_it() -> None:
    cases = tuple(Case(f"c{number}", f"What does seat {number} cost?", reference=SENTENCE) for number in range(10))
    answers = [REFUSED] * 3 + ["It is a long story that nobody tells about the pool and its members."] * 7
    observations = [Observation(case.id, "one", answer=answer) for case, answer in zip(cases, answers, strict=True)]
    table = assay.score(GoldenSet(cases), observations).table("one")
    column = table.columns["correct_answer"]
    assert 3 == np.count_nonzero(column.status == SCORED)
    assert not column.values[column.status == SCORED].any()
