"""The case bootstrap: reproducible by seed, wider for clusters, None if undefined."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.agreement import (
    KappaWeights,
    compute_ac1s,
    compute_cohen_kappa,
    compute_gwet_ac1,
    compute_kappas,
    make_credit_matrix,
)
from assay.stats.bootstrap import bootstrap_interval
from assay.stats.classification import compute_balanced_accuracies, compute_balanced_accuracy, tabulate_confusion

VALUES = (np.arange(60) % 3 == 0).astype(float)


def mean(rows: npt.NDArray[np.intp]) -> float:
    return float(VALUES[rows].mean())


def test_the_same_seed_gives_the_same_bounds_and_another_one_others() -> None:
    first, again = (bootstrap_interval(mean, range(60), seed=4) for _ in range(2))
    assert first == again
    assert first != bootstrap_interval(mean, range(60), seed=5)


def test_bounds_of_a_mean_are_near_those_of_the_normal_approximation() -> None:
    """Twenty of sixty: 1/3 ± 1.96·√(2/9/60) is [.214, .453]."""
    bounds = bootstrap_interval(mean, range(60), seed=1)
    assert bounds is not None
    assert (bounds.low, bounds.high) == pytest.approx((0.214, 0.453), abs=0.03)


def test_items_of_one_case_are_drawn_together() -> None:
    """Blocks of ten equal values are ten cases: √10 times as wide as sixty cases would be, about."""
    blocks = np.repeat([1.0, 0.0, 0.0, 1.0, 0.0, 0.0], 10)
    together = bootstrap_interval(lambda rows: float(blocks[rows].mean()), [row // 10 for row in range(60)])
    alone = bootstrap_interval(lambda rows: float(blocks[rows].mean()), range(60))
    assert together is not None and alone is not None
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_kappa_has_an_interval_near_its_large_sample_one() -> None:
    """Kappa .4 of the worked table has the interval [.151, .649]."""
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15

    def kappa(rows: npt.NDArray[np.intp]) -> float | None:
        drawn = [pairs[row] for row in rows.tolist()]
        agreement = compute_cohen_kappa(tabulate_confusion([a for a, _ in drawn], [b for _, b in drawn], [1, 0]))
        return None if agreement is None else agreement.value

    bounds = bootstrap_interval(kappa, range(50), seed=2)
    assert bounds is not None
    assert (bounds.low, bounds.high) == pytest.approx((0.151, 0.649), abs=0.05)


def test_one_case_and_statistics_that_are_mostly_undefined_have_no_bounds() -> None:
    assert bootstrap_interval(mean, ["a"] * 60) is None
    assert bootstrap_interval(mean, []) is None
    assert bootstrap_interval(lambda _: None, range(60)) is None


def test_draws_without_a_value_are_left_out_and_counted() -> None:
    bounds = bootstrap_interval(lambda rows: None if 0 in rows[:1] else 1.0, range(4), seed=1)
    assert bounds is not None
    assert "undefined in" in bounds.note


tables = st.lists(st.lists(st.integers(0, 9), min_size=9, max_size=9).filter(any), min_size=1, max_size=5)


@pytest.mark.slow
@given(tables)
def test_many_tables_at_once_have_the_values_of_each_alone(cells: list[list[int]]) -> None:
    batch = np.array(cells).reshape(-1, 3, 3)
    level: KappaWeights
    for level in ("none", "quadratic"):
        alone = [compute_cohen_kappa(table, level) for table in batch]
        together = compute_kappas(batch, make_credit_matrix(3, level))
        assert together == [None if kappa is None else kappa.value for kappa in alone]
    assert [compute_gwet_ac1(table) for table in batch] == compute_ac1s(batch)
    assert [compute_balanced_accuracy(table) for table in batch] == compute_balanced_accuracies(batch)


@given(tables)
def test_agreement_of_a_table_is_that_of_its_pairs_counted_one_by_one(cells: list[list[int]]) -> None:
    """Computed again from lists of labels: chance is the agreement of every pair of a first and a second label."""
    table = np.array(cells[0]).reshape(3, 3)
    pairs = [(row, column) for row in range(3) for column in range(3) for _ in range(int(table[row, column]))]
    first, second, n = [row for row, _ in pairs], [column for _, column in pairs], len(pairs)
    raw = sum(one == other for one, other in pairs) / n
    chance = sum(first.count(label) * second.count(label) for label in range(3)) / n**2
    kappa = compute_cohen_kappa(table)
    if kappa is None:
        assert pytest.approx(1) == chance
    else:
        assert pytest.approx((raw - chance) / (1 - chance)) == kappa.value
    shares = [(first + second).count(label) / (2 * n) for label in range(3)]
    by_chance = sum(share * (1 - share) for share in shares) / 2
    assert pytest.approx((raw - by_chance) / (1 - by_chance)) == compute_gwet_ac1(table)
    recalls = [sum(pair == (label, label) for pair in pairs) / first.count(label) for label in sorted(set(first))]
    assert pytest.approx(sum(recalls) / len(recalls)) == compute_balanced_accuracy(table)
