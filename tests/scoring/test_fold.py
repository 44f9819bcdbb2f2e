"""Repeats of a case become one score, whatever order they come in."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.records.scores import ERROR, NEEDS_REVIEW, NOT_APPLICABLE, SCORED, SETTLED, ScoreColumn
from assay.scoring.score_tables import NO_OBSERVATION, fold_repeats

REASONS = ("", "timeout", "no citations", "http 500", f"{NEEDS_REVIEW}: votes far apart", f"{SETTLED}: by a person")
CODES = st.integers(0, len(REASONS) - 1)


def rows(*entries: tuple[int, float, int, int]) -> tuple[ScoreColumn, np.ndarray[tuple[int], np.dtype[np.intp]]]:
    """A column of (case, value, status, reason code) rows and the case of each."""
    case = np.array([entry[0] for entry in entries], dtype=np.intp)
    values = np.array([entry[1] for entry in entries], dtype=np.float64)
    status = np.array([entry[2] for entry in entries], dtype=np.uint8)
    reason = np.array([entry[3] for entry in entries], dtype=np.uint16)
    return ScoreColumn("recall@10", values, status, reason, REASONS), case


def why(column: ScoreColumn, row: int) -> str:
    return column.reasons[int(column.reason[row])]


def test_a_case_scores_the_mean_of_its_repeats_and_keeps_their_spread() -> None:
    folded = fold_repeats(*rows((0, 1.0, SCORED, 0), (0, 0.25, SCORED, 0), (1, 0.5, SCORED, 0)), 2)
    assert folded.column.values.tolist() == [0.625, 0.5]
    assert folded.spread.tolist() == [0.75, 0.0]


def test_half_of_the_repeats_scored_is_enough_and_less_is_an_error() -> None:
    enough, case = rows((0, 1.0, SCORED, 0), (0, 0.0, ERROR, 1))
    assert fold_repeats(enough, case, 1).column.status.tolist() == [SCORED]
    too_few, case = rows((0, 1.0, SCORED, 0), (0, 0.0, ERROR, 1), (0, 0.0, ERROR, 3))
    folded = fold_repeats(too_few, case, 1)
    assert folded.column.status.tolist() == [ERROR]
    assert folded.column.values.tolist() == [0.0]
    assert why(folded.column, 0) == "http 500"  # the first in alphabetical order, not in row order


def test_repeats_to_which_the_metric_does_not_apply_do_not_count_against_the_case() -> None:
    folded = fold_repeats(*rows((0, 0.0, NOT_APPLICABLE, 2), (0, 0.0, NOT_APPLICABLE, 2), (0, 1.0, SCORED, 0)), 1)
    assert (folded.column.status.tolist(), folded.column.values.tolist()) == ([SCORED], [1.0])


def test_a_case_is_not_applicable_only_where_every_repeat_is() -> None:
    folded = fold_repeats(*rows((0, 0.0, NOT_APPLICABLE, 2), (1, 0.0, NOT_APPLICABLE, 2), (1, 0.0, ERROR, 1)), 2)
    assert folded.column.status.tolist() == [NOT_APPLICABLE, ERROR]
    assert [why(folded.column, row) for row in (0, 1)] == ["no citations", "timeout"]


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.25, -0.0, 1.0]), st.sampled_from([SCORED, ERROR, NOT_APPLICABLE]), CODES),
        min_size=1,
        max_size=6,
    ),
    st.randoms(use_true_random=False),
)
def test_cases_that_were_observed_once_are_the_same_beside_one_that_was_not(
    observed: list[tuple[float, int, int]], random: Random
) -> None:
    """The first has a way of its own, without looking for repeats."""
    entries = [(case, *row) for case, row in enumerate(observed)]
    random.shuffle(entries)
    column, case = rows(*entries)
    alone, beside = (fold_repeats(column, case, len(entries) + more).column for more in (0, 1))
    count = len(entries)
    assert alone.values.tolist() == beside.values.tolist()[:count]
    assert alone.status.tolist() == beside.status.tolist()[:count]
    assert [why(alone, row) for row in range(count)] == [why(beside, row) for row in range(count)]


def test_a_case_that_was_never_observed_is_an_error() -> None:
    folded = fold_repeats(*rows((1, 1.0, SCORED, 0)), 3)
    assert folded.column.status.tolist() == [ERROR, SCORED, ERROR]
    assert [why(folded.column, row) for row in range(3)] == [NO_OBSERVATION, "", NO_OBSERVATION]


def test_no_rows_at_all_leave_every_case_in_error() -> None:
    assert fold_repeats(*rows(), 2).column.status.tolist() == [ERROR, ERROR]


entry = st.tuples(
    st.integers(0, 3), st.floats(0, 1), st.sampled_from([SCORED, NOT_APPLICABLE, ERROR]), st.integers(0, 3)
)


@pytest.mark.slow
@given(st.lists(entry, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_no_bit(entries: list[tuple[int, float, int, int]], random: object) -> None:
    shuffled = list(entries)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = fold_repeats(*rows(*entries), 4), fold_repeats(*rows(*shuffled), 4)
    assert one.column.values.tobytes() == other.column.values.tobytes()
    assert one.spread.tobytes() == other.spread.tobytes()
    assert one.column.status.tolist() == other.column.status.tolist()
    assert [why(one.column, row) for row in range(4)] == [why(other.column, row) for row in range(4)]


@given(st.floats(0, 1), st.integers(1, 7))
def test_equal_repeats_score_exactly_what_each_scored(value: float, repeats: int) -> None:
    folded = fold_repeats(*rows(*[(0, value, SCORED, 0)] * repeats), 1)
    assert folded.column.values.tolist() == [value]
