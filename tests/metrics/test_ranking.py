"""Ranking metrics: values worked by hand, and properties of every ranking."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.metrics.retrieval import ranking
from assay.metrics.retrieval.ranking import RankingTable
from assay.stats.arrays import FloatArray

Order = Literal["C", "F"]


@dataclass(frozen=True)
class Ranked:
    """One ranking: each slot's grade, how many units it covers first, whether it was judged; and the units' grades."""

    grades: tuple[int, ...]
    ideal: tuple[int, ...]
    covered: tuple[int, ...] | None = None
    judged: tuple[bool, ...] | None = None


def table(*rankings: Ranked, depth: int | None = None, width: int | None = None, order: Order = "C") -> RankingTable:
    """Return rankings side by side, padded to the longest of them, or further."""
    n = len(rankings)
    shape = (n, depth if depth is not None else max((len(graded.grades) for graded in rankings), default=0))
    grade, covered, judged = np.zeros(shape, np.int8), np.zeros(shape, np.int32), np.zeros(shape, np.bool_)
    best = max((len(graded.ideal) for graded in rankings), default=0)
    ideal = np.zeros((n, width if width is not None else best), np.int8)
    for row, graded in enumerate(rankings):
        length = len(graded.grades)
        grade[row, :length] = graded.grades
        covered[row, :length] = graded.covered if graded.covered is not None else [g > 0 for g in graded.grades]
        judged[row, :length] = graded.judged if graded.judged is not None else True
        ideal[row, : len(graded.ideal)] = sorted(graded.ideal, reverse=True)
    return RankingTable(
        np.array([len(graded.grades) for graded in rankings], np.int32),
        np.array([sum(g > 0 for g in graded.ideal) for graded in rankings], np.int32),
        np.asarray(grade, order=order),
        np.asarray(covered, order=order),
        np.asarray(judged, order=order),
        ideal,
    )


# Grades 3, 0, 1, 0, 2 down the list; a fourth unit of grade 1 is not found.
FIVE = Ranked((3, 0, 1, 0, 2), (3, 1, 2, 1), judged=(True, False, True, True, True))
LOG2_3, LOG2_5, LOG2_6 = math.log2(3), math.log2(5), math.log2(6)


@pytest.mark.parametrize(
    ("expected", "formula"),
    [
        (1.0, lambda t: ranking.compute_hit_rate(t, 1)),
        (1 / 4, lambda t: ranking.compute_recall(t, 1)),
        (2 / 4, lambda t: ranking.compute_recall(t, 3)),
        (3 / 4, lambda t: ranking.compute_recall(t)),
        (2 / 3, lambda t: ranking.compute_recall(t, 3, capped=True)),  # at most 3 of the 4 units fit into 3 ranks
        (3 / 4, lambda t: ranking.compute_recall(t, 10, capped=True)),
        (3 / 10, lambda t: ranking.compute_precision(t, 10)),
        (3 / 5, lambda t: ranking.compute_precision(t, 10, of_returned=True)),
        (3 / 5, lambda t: ranking.compute_precision(t)),
        (1.0, lambda t: ranking.compute_reciprocal_rank(t)),
        ((1 / 1 + 2 / 3 + 3 / 5) / 4, lambda t: ranking.compute_average_precision(t)),  # found at ranks 1, 3 and 5
        ((1 / 1 + 2 / 3) / 4, lambda t: ranking.compute_average_precision(t, 4)),
        (2 / 4, lambda t: ranking.compute_r_precision(t)),  # two of the first four
        (1 / 2, lambda t: ranking.compute_judged_share(t, 2)),
        (4 / 5, lambda t: ranking.compute_judged_share(t, 10)),
        # gains 7, 0, 1 over the ideal 7, 3, 1
        ((7 + 1 / 2) / (7 + 3 / LOG2_3 + 1 / 2), lambda t: ranking.compute_ndcg(t, 3)),
        # gains 3, 0, 1, 0, 2 over the ideal 3, 2, 1, 1
        (
            (3 + 1 / 2 + 2 / LOG2_6) / (3 + 2 / LOG2_3 + 1 / 2 + 1 / LOG2_5),
            lambda t: ranking.compute_ndcg(t, gain="linear"),
        ),
    ],
)
def test_a_ranking_worked_by_hand(expected: float, formula: Callable[[RankingTable], FloatArray]) -> None:
    assert [pytest.approx(expected, abs=1e-15)] == formula(table(FIVE)).tolist()


def test_the_two_gains_on_the_pair_that_the_definitions_page_gives() -> None:
    pair = table(Ranked((1, 3), (3, 1)))
    assert [pytest.approx(0.7967, abs=5e-5)] == ranking.compute_ndcg(pair, gain="linear").tolist()
    assert [pytest.approx(0.7098, abs=5e-5)] == ranking.compute_ndcg(pair, gain="exp2").tolist()


def test_the_first_relevant_rank_decides_the_reciprocal_rank_and_nothing_after_k_counts() -> None:
    third = table(Ranked((0, 0, 1), (1,)))
    assert [1 / 3] == ranking.compute_reciprocal_rank(third).tolist()
    assert [1 / 3] == ranking.compute_reciprocal_rank(third, 3).tolist()
    assert [0.0] == ranking.compute_reciprocal_rank(third, 2).tolist()
    assert [0.0] == ranking.compute_hit_rate(third, 2).tolist()


def test_an_empty_ranking_scores_0_everywhere() -> None:
    empty = table(Ranked((), (1,)))
    assert [[0.0]] * len(FORMULAS) == [formula(empty).tolist() for formula in FORMULAS.values()]


def test_no_units_scores_0_and_divides_by_nothing() -> None:
    unanswerable = table(Ranked((0, 0), ()))
    assert [0.0] == ranking.compute_recall(unanswerable).tolist()
    assert [0.0] == ranking.compute_average_precision(unanswerable).tolist()
    assert [0.0] == ranking.compute_ndcg(unanswerable).tolist()
    assert [0.0] == ranking.compute_r_precision(unanswerable).tolist()


def test_a_slot_that_covers_two_units_counts_twice_for_recall_and_once_for_precision() -> None:
    # one chunk holds both of three units: recall 2/3, precision@1 1, ap = 2 · (1/1) / 3
    both = table(Ranked((2,), (2, 1, 1), covered=(2,)))
    assert [2 / 3] == ranking.compute_recall(both, 1).tolist()
    assert [1.0] == ranking.compute_precision(both, 1).tolist()
    assert [2 / 3] == ranking.compute_average_precision(both).tolist()


def test_a_metric_without_rankings_has_no_values() -> None:
    nothing = table()
    assert [[]] * len(FORMULAS) == [formula(nothing).tolist() for formula in FORMULAS.values()]


@pytest.mark.parametrize(
    ("first", "second", "k", "expected"),
    [
        (["a", "b"], ["b", "a"], None, 1.0),
        (["a", "b", "c"], ["x", "b", "c"], 2, 1 / 2),
        (["a", "a", "a"], ["a"], 3, 1.0),
        (["a"], [], None, 0.0),
        ([], [], None, None),
    ],
)
def test_overlap_is_the_share_in_common(first: list[str], second: list[str], k: int | None, expected: float) -> None:
    assert expected == ranking.compute_ranking_overlap(first, second, k)


# ── laws ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

FORMULAS: dict[str, Callable[[RankingTable], FloatArray]] = {
    "hit@3": lambda t: ranking.compute_hit_rate(t, 3),
    "hit": ranking.compute_hit_rate,
    "recall@3": lambda t: ranking.compute_recall(t, 3),
    "recall": ranking.compute_recall,
    "recall(cap)@3": lambda t: ranking.compute_recall(t, 3, capped=True),
    "precision@3": lambda t: ranking.compute_precision(t, 3),
    "precision(of=returned)@3": lambda t: ranking.compute_precision(t, 3, of_returned=True),
    "rr@3": lambda t: ranking.compute_reciprocal_rank(t, 3),
    "rr": ranking.compute_reciprocal_rank,
    "ap@3": lambda t: ranking.compute_average_precision(t, 3),
    "ap": ranking.compute_average_precision,
    "ndcg@3": lambda t: ranking.compute_ndcg(t, 3),
    "ndcg": ranking.compute_ndcg,
    "ndcg(linear)": lambda t: ranking.compute_ndcg(t, gain="linear"),
    "judged@3": lambda t: ranking.compute_judged_share(t, 3),
    "r_precision": ranking.compute_r_precision,
}


@st.composite
def rankings(draw: st.DrawFn) -> Ranked:
    """A case with up to six units under overlap: slots cover any of them, for the first time or again, or none."""
    units = draw(st.lists(st.integers(1, 3), max_size=6))
    slots = draw(st.lists(st.sets(st.integers(0, len(units) - 1), max_size=3) if units else st.just(set()), max_size=9))
    covered_units: set[int] = set()
    grades, covered = [], []
    for slot in slots:
        fresh = slot - covered_units
        covered_units |= slot
        grades.append(max((units[unit] for unit in fresh), default=0))
        covered.append(len(fresh))
    judged = tuple(count > 0 or draw(st.booleans()) for count in covered)
    return Ranked(tuple(grades), tuple(units), tuple(covered), judged)


def bits(values: FloatArray) -> list[bytes]:
    return [value.tobytes() for value in values]


@pytest.mark.slow
@given(rankings())
def test_every_metric_stays_within_0_and_1_with_overlaps_and_repeats(ranked: Ranked) -> None:
    for name, formula in FORMULAS.items():
        (value,) = formula(table(ranked))
        assert 0.0 <= value <= 1.0, name


@pytest.mark.slow
@given(st.lists(rankings(), min_size=1, max_size=6), st.integers(0, 5), st.integers(0, 5), st.sampled_from(["C", "F"]))
def test_a_case_has_the_same_bits_alone_in_any_block_padding_and_layout(
    block: list[Ranked], more_depth: int, more_width: int, order: Order
) -> None:
    depth = max(len(graded.grades) for graded in block) + more_depth
    width = max(len(graded.ideal) for graded in block) + more_width
    together = table(*block, depth=depth, width=width, order=order)
    for name, formula in FORMULAS.items():
        alone = [bit for graded in block for bit in bits(formula(table(graded)))]
        assert alone == bits(formula(together)), name


@pytest.mark.slow
@given(rankings(), st.integers(1, 4))
def test_an_irrelevant_tail_changes_no_hit_recall_rr_ap_or_ndcg(ranked: Ranked, tail: int) -> None:
    zeros = (0,) * tail
    assert ranked.covered is not None
    longer = Ranked(ranked.grades + zeros, ranked.ideal, ranked.covered + zeros, (True,) * (len(ranked.grades) + tail))
    for name in ("hit", "recall", "rr", "ap", "ndcg", "ndcg(linear)"):
        assert bits(FORMULAS[name](table(ranked))) == bits(FORMULAS[name](table(longer))), name


@pytest.mark.slow
@given(rankings(), st.data())
def test_swapping_a_better_chunk_up_never_lowers_ndcg_or_rr(ranked: Ranked, data: st.DataObject) -> None:
    if len(ranked.grades) < 2:
        return
    upper = data.draw(st.integers(0, len(ranked.grades) - 2))
    lower = data.draw(st.integers(upper + 1, len(ranked.grades) - 1))
    swapped = list(ranked.grades)
    if swapped[upper] > swapped[lower]:
        return
    swapped[upper], swapped[lower] = swapped[lower], swapped[upper]
    before, after = table(Ranked(ranked.grades, ranked.ideal)), table(Ranked(tuple(swapped), ranked.ideal))
    for name in ("ndcg@3", "ndcg", "ndcg(linear)", "rr"):
        assert FORMULAS[name](after)[0] >= FORMULAS[name](before)[0] - 1e-12, name
