"""Numbers by which an answer that nobody can tell the score of is known again on the other side of a comparison."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import assay
from assay.metrics.answers.correctness import UNKNOWN_REASON
from assay.records.scores import NOT_APPLICABLE, SCORED, ScoreColumn
from assay.scoring.same_answers import combine_repeated_answers, concatenate_answers, find_same_answers
from assay.scoring.score_tables import set_leaked_to_worst

METRIC = "correct_answer"
CASE = {"id": "c", "question": "May I take my dog on the bus?", "must_have": ["one dog per passenger"]}
OPEN, REWORDED = "Yes, a single dog for each traveller.", "Each traveller may bring a dog."


def make_column(numbers: Sequence[int]) -> ScoreColumn:
    """A column in which the rows with a number are unknown answers and all others are right."""
    answers = np.array(numbers, dtype=np.uint64)
    is_unknown = answers > 0
    status = np.where(is_unknown, NOT_APPLICABLE, SCORED).astype(np.uint8)
    reason = is_unknown.astype(np.uint16)
    return ScoreColumn(METRIC, np.where(is_unknown, 0.0, 1.0), status, reason, ("", UNKNOWN_REASON), answers)


def score_answers(*answers: str) -> ScoreColumn:
    """The column of one case that was asked once for each answer."""
    rows = [{"case_id": "c", "config_id": "x", "repeat": repeat, "answer": text} for repeat, text in enumerate(answers)]
    return assay.score([CASE], rows).table("x").columns[METRIC]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ([OPEN], [OPEN], True),
        ([OPEN], [REWORDED], False),
        ([OPEN, REWORDED], [REWORDED, OPEN], True),
        ([OPEN, REWORDED], [OPEN, OPEN], False),
        ([OPEN], ["One dog per passenger is allowed."], False),
    ],
)
def test_the_same_texts_are_the_same_answers(before: list[str], after: list[str], same: bool) -> None:
    assert [same] == find_same_answers(score_answers(*before), score_answers(*after)).tolist()


def test_a_column_without_unknown_answers_holds_no_numbers() -> None:
    assert score_answers("One dog per passenger is allowed.").answers is None
    assert concatenate_answers([score_answers("One dog per passenger is allowed.")]) is None


def test_columns_with_and_without_numbers_are_joined() -> None:
    plain = ScoreColumn(METRIC, np.ones(2), np.zeros(2, np.uint8), np.zeros(2, np.uint16))
    joined = concatenate_answers([make_column([7]), plain])
    assert joined is not None
    assert [7, 0, 0] == joined.tolist()


def test_a_case_with_a_repeat_without_number_has_none() -> None:
    combined = combine_repeated_answers(make_column([5, 0, 6, 6, 5]), np.array([0, 0, 1, 2, 2]), 3)
    assert combined is not None
    assert (0, 6) == (combined[0], combined[1])
    assert combined[2] not in (0, 5, 6)


def test_an_answer_that_leaked_is_not_the_same_as_one_that_did_not() -> None:
    leaks = ScoreColumn("visibility_leaks", np.array([1.0, 0.0]), np.zeros(2, np.uint8), np.zeros(2, np.uint16))
    changed = set_leaked_to_worst({METRIC: make_column([7, 8]), "visibility_leaks": leaks})[METRIC]
    assert changed.answers is not None
    assert [0, 8] == changed.answers.tolist()
