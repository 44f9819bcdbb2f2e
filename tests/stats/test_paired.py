"""Paired comparisons: reference values, exactness and pairs without differences."""

from __future__ import annotations

from itertools import product
from math import comb
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.multiple_testing import adjust_benjamini_hochberg, adjust_holm
from assay.stats.paired_tests import (
    PairedDifference,
    compare_paired_scores,
    compute_cases_needed,
    compute_detectable_difference,
    compute_tango_interval,
    compute_tango_z,
    pair_samples,
)
from assay.stats.sign_flip_test import compute_mcnemar_p, compute_sign_flip_p

# Darwin's differences of the heights of 15 pairs of maize plants, in eighths of an inch.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]

# The 15 p-values of Benjamini and Hochberg (1995).
FIFTEEN = [
    0.0001,
    0.0004,
    0.0019,
    0.0095,
    0.0201,
    0.0278,
    0.0298,
    0.0344,
    0.0459,
    0.324,
    0.4262,
    0.5719,
    0.6528,
    0.759,
    1,
]


def compared(*args: object, **kwargs: object) -> PairedDifference:
    difference = compare_paired_scores(*args, **kwargs)  # type: ignore[arg-type]  # as its callers pass them
    assert difference is not None
    return difference


def test_sign_flips_of_darwins_maize_are_enumerated_exactly() -> None:
    p_value, method = compute_sign_flip_p(DARWIN)
    assert (1726 / 32768, "sign flip, exact") == (p_value, method)
    assert f"{p_value:.7f}" == "0.0526733"


def test_the_interval_of_darwins_maize_is_that_of_t_above_and_that_of_hall_below() -> None:
    """The paired t test gives p = .0497029: at confidence 1 − p the t interval goes from zero to twice the mean.

    Two plants lost much and none gained as much, so that Hall's lower limit lies further down.
    """
    bounds = compared([0] * 15, DARWIN, confidence=1 - 0.0497029).bounds
    assert bounds is not None
    assert bounds.high == pytest.approx(2 * 314 / 15, abs=1e-4)
    assert bounds.low < -1
    assert bounds.method == "t, widened by Hall"


def test_a_widened_interval_ends_where_that_of_scores_of_all_or_nothing_does() -> None:
    """Four gains of 1 and two of .5 among 35, no loss: at 99.5% Hall alone gives an upper end of .817."""
    gains = [1.0] * 4 + [0.5] * 2 + [0.0] * 29
    bounds = compared([0.0] * 35, gains, low=0.0, high=1.0, confidence=0.995).bounds
    unlimited = compared([0.0] * 35, gains, confidence=0.995).bounds
    assert bounds is not None and unlimited is not None
    whole = compute_tango_interval(5, 0, 35, 0.995)
    assert bounds.high == pytest.approx(whole.high, abs=1e-9)
    assert unlimited.high == pytest.approx(0.817, abs=1e-3)
    assert bounds.low == unlimited.low
    percent = compared([0.0] * 35, [100 * gain for gain in gains], low=0.0, high=100.0, confidence=0.995).bounds
    assert percent is not None
    assert percent[:2] == pytest.approx([100 * bounds.low, 100 * bounds.high])


def test_clusters_that_move_as_one_are_widened_as_that_many_pairs() -> None:
    """The pairs of the test above, each four times in a cluster: the same five gains among 35."""
    gains = [gain for gain in [1.0] * 4 + [0.5] * 2 + [0.0] * 29 for _ in range(4)]
    bounds = compared(
        [0.0] * 140, gains, clusters=[str(i // 4) for i in range(140)], low=0.0, high=1.0, confidence=0.995
    ).bounds
    assert bounds is not None
    assert bounds.high == pytest.approx(compute_tango_interval(5, 0, 35, 0.995).high, abs=1e-9)


def test_without_skew_the_interval_is_that_of_t() -> None:
    """Differences −1, 0, 1, 2 and 3: mean 1, sd 1.581139, t(.975; 4) = 2.776445."""
    bounds = compared([0.0] * 5, [-1, 0, 1, 2, 3]).bounds
    half = 2.776445 * 1.581139 / 5**0.5
    assert bounds is not None
    assert (1 - half, 1 + half) == pytest.approx(bounds[:2], abs=1e-5)
    assert bounds.method == "t"


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9))
def test_exact_sign_flips_agree_with_counting_all_patterns(sums: list[int]) -> None:
    observed = abs(sum(sums))
    patterns = [
        abs(sum(s * x for s, x in zip(signs, sums, strict=True))) for signs in product((-1, 1), repeat=len(sums))
    ]
    assert sum(pattern >= observed for pattern in patterns) / len(patterns) == pytest.approx(
        compute_sign_flip_p(sums)[0]
    )


def test_equal_sums_count_as_reached_despite_rounding() -> None:
    """0.1 + 0.2 and 0.3 differ in the last bit; of 8 patterns, 2 reach .6 and the other 6 do not."""
    assert compute_sign_flip_p([0.1, 0.2, 0.3])[0] == 2 / 8
    assert compute_sign_flip_p([0.1, 0.2, -0.3])[0] == 1.0


def test_sampled_sign_flips_are_seeded_near_the_exact_value_and_never_zero() -> None:
    """Thirty gains around 1: exactly 2/2^30, which none of 9,999 patterns reaches; the estimate is 1/10,000."""
    assert 1e-4 == compute_sign_flip_p([1.0 + 0.001 * index for index in range(30)])[0]
    steps = [1.0] * 30 + [-1.0] * 19 + [-1.0 - 1e-6]
    p_value, method = compute_sign_flip_p(steps)
    assert (p_value, method) == compute_sign_flip_p(steps[::-1])
    assert p_value != compute_sign_flip_p(steps, seed=1)[0]
    assert method == "sign flip, up to 9999 patterns, seed 0"
    # Thirty extreme patterns give p to about a fifth of itself.
    assert p_value == pytest.approx(compute_mcnemar_p(30, 20), rel=0.5)


def test_sums_of_one_size_are_tested_exactly_however_many_there_are() -> None:
    assert (compute_mcnemar_p(300, 200), "sign flip, exact") == compute_sign_flip_p([0.5] * 300 + [-0.5] * 200)


def test_mcnemar_of_many_pairs_agrees_with_exact_integers() -> None:
    """From 1,001 discordant pairs on the tail comes from the incomplete beta function."""
    exact = 2 * sum(comb(1_001, k) for k in range(451)) / 2**1_001
    assert compute_mcnemar_p(551, 450) == pytest.approx(exact, rel=1e-11)


def test_sampling_of_many_units_with_a_few_large_ones_agrees_with_the_normal_tail() -> None:
    """Of 3,000 units only the largest 512 have their signs drawn; the sum of the others is normal."""
    generator = np.random.Generator(np.random.PCG64(5))
    sums = generator.standard_normal(3_000)
    sums += (2.2 * np.sqrt((sums**2).sum()) - sums.sum()) / 3_000  # z = 2.2, p = .0278
    assert compute_sign_flip_p(sums)[0] == pytest.approx(0.0278, rel=0.45)


def test_a_clear_difference_of_many_pairs_is_decided_by_t_because_sampling_cannot_resolve_it() -> None:
    differences = [0.4 + 0.01 * (index % 7) for index in range(60)]
    difference = compared([0.0] * 60, differences)
    assert difference.p_method == "t, below the sampling floor of sign flips"
    assert difference.p_value is not None
    assert difference.p_value < 1e-20


def test_a_clear_equality_is_decided_by_t_without_sampling() -> None:
    differences = [0.01 * (index % 7) - 0.03 for index in range(61)]
    difference = compared([0.0] * 61, differences)
    assert difference.p_method == "t"
    assert difference.p_value is not None
    assert difference.p_value > 0.1


def test_pairs_without_differences_are_no_evidence() -> None:
    assert compute_sign_flip_p([0.0, 0.0])[0] == 1.0
    assert compute_mcnemar_p(0, 0) == 1.0


def test_mcnemar_has_its_reference_value_and_never_exceeds_one() -> None:
    assert f"{compute_mcnemar_p(2, 9):.7f}" == "0.0654297"
    assert compute_mcnemar_p(9, 2) == compute_mcnemar_p(2, 9)
    assert compute_mcnemar_p(5, 5) == 1.0


@pytest.mark.parametrize(
    ("wins", "losses", "n", "expected"), [(12, 2, 50, ("0.0611", "0.3447")), (0, 0, 41, ("-0.0857", "0.0857"))]
)
def test_tango_has_its_reference_values(wins: int, losses: int, n: int, expected: tuple[str, str]) -> None:
    """The tables (36, 12, 2, 0) and (40, 0, 0, 1); the second has no discordant pair, and still a width."""
    bounds = compute_tango_interval(wins, losses, n)
    assert expected == (f"{bounds.low:.4f}", f"{bounds.high:.4f}")


def test_the_tango_statistic_at_no_difference_is_mcnemars() -> None:
    """Agresti's table 794/86/150/570: χ² = (86 − 150)²/(86 + 150)."""
    assert f"{compute_tango_z(86, 150, 1600, 0.0) ** 2:.4f}" == "17.3559"


@given(st.integers(1, 80).flatmap(lambda n: st.tuples(st.integers(0, n), st.integers(0, n), st.just(n))))
def test_tango_holds_its_estimate_and_mirrors(counts: tuple[int, int, int]) -> None:
    wins, losses, n = counts
    if wins + losses > n:
        with pytest.raises(ValueError, match="counts need"):
            compute_tango_interval(wins, losses, n)
        return
    bounds, mirrored = compute_tango_interval(wins, losses, n), compute_tango_interval(losses, wins, n)
    assert -1.0 <= bounds.low <= (wins - losses) / n <= bounds.high <= 1.0
    assert bounds.low < bounds.high
    assert (bounds.low, bounds.high) == pytest.approx((-mirrored.high, -mirrored.low), abs=1e-9)


def test_independent_pairs_of_zero_and_one_use_tango_and_mcnemar() -> None:
    before, after = [1] * 36 + [0] * 12 + [1] * 2, [1] * 36 + [1] * 12 + [0] * 2
    difference = compared(before, after)
    assert (12, 2, 36, 50) == (difference.wins, difference.losses, difference.ties, difference.n)
    assert (compute_tango_interval(12, 2, 50), compute_mcnemar_p(12, 2), "McNemar, exact") == (
        difference.bounds,
        difference.p_value,
        difference.p_method,
    )


def test_clusters_use_cr1_t_and_flip_whole_clusters() -> None:
    """Sums 3, 2, 1 of two each: mean 1, CR1 error √(3/2·(1+0+1))/6 = .288675, t(.975; 2) = 4.302653; p = 2/8."""
    difference = compared([0.0] * 6, [1, 2, 1, 1, 0.5, 0.5], clusters=["a", "a", "b", "b", "c", "c"])
    assert difference.bounds is not None
    assert (1 - 4.302653 * 0.288675, 1 + 4.302653 * 0.288675) == pytest.approx(difference.bounds[:2], abs=1e-5)
    assert ("CR1-t", "too few clusters (3)") == difference.bounds[2:]
    assert difference.p_value == 0.25


def test_equal_pairs_get_an_interval_only_from_the_range() -> None:
    """41 equal pairs on [0, 1]: up to 1 − .025^(1/41) = 8.6% of cases may have moved by as much as 1 either way."""
    same = [0.3] * 41
    assert (None, "no spread") == (compared(same, same).bounds, compared(same, same).note)
    bounds = compared(same, same, low=0, high=1).bounds
    assert bounds is not None
    unseen = 1 - 0.025 ** (1 / 41)
    assert (-unseen, unseen) == pytest.approx(bounds[:2])


def test_one_cluster_gives_a_difference_without_interval_or_p_value() -> None:
    difference = compared([0.1, 0.2], [0.3, 0.5], clusters=["a", "a"])
    assert (None, None, "one cluster") == (difference.bounds, difference.p_value, difference.note)
    assert difference.mean == pytest.approx(0.25)


def test_no_pairs_give_nothing_and_unequal_lists_are_refused() -> None:
    assert compare_paired_scores([], []) is None
    with pytest.raises(ValueError, match="the same cases"):
        compare_paired_scores([1.0], [])


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30), st.randoms(use_true_random=False)
)
def test_the_order_of_the_pairs_does_not_matter(pairs: list[tuple[float, float]], random: Random) -> None:
    labelled = [(*pair, index // 2) for index, pair in enumerate(pairs)]
    results = []
    for _ in range(2):
        before, after, clusters = zip(*labelled, strict=True)
        results.append(compared(before, after, clusters=clusters, low=0, high=1))
        random.shuffle(labelled)
    first, second = results
    assert (first.n, first.wins, first.losses, first.note) == (second.n, second.wins, second.losses, second.note)
    assert first.p_value == pytest.approx(second.p_value, abs=1e-9)
    assert first.mean == pytest.approx(second.mean, abs=1e-12)
    assert (first.bounds is None) == (second.bounds is None)


@pytest.mark.parametrize(("n", "expected"), [(20, ".209"), (41, ".142"), (100, ".089"), (200, ".063"), (500, ".040")])
def test_the_smallest_detectable_difference_has_its_reference_values(n: int, expected: str) -> None:
    """Ten per cent of the pairs discordant, 80% power."""
    difference = compute_detectable_difference(0.1**0.5, n)
    assert difference is not None
    assert expected == f"{difference:.3f}"[1:]


def test_clusters_raise_the_smallest_detectable_difference() -> None:
    """Size 4 and ICC 1/3 double the variance: 82 pairs are worth 41."""
    assert compute_detectable_difference(0.3, 82, cluster_size=4, icc=1 / 3) == pytest.approx(
        compute_detectable_difference(0.3, 41)
    )
    assert compute_detectable_difference(0.3, 1) is None


def test_the_number_of_cases_needed_has_its_reference_values() -> None:
    assert (1546, 773) == (compute_cases_needed(0.02, 0.1**0.5), compute_cases_needed(0.02, 0.05**0.5))


def test_holm_and_benjamini_hochberg_have_their_reference_values() -> None:
    adjusted = adjust_holm(FIFTEEN)
    assert ["0.0015", "0.0056", "0.0247", "0.1140", "0.2211"] == [f"{p:.4f}" for p in adjusted[:5]]
    assert (3, 4) == (sum(p <= 0.05 for p in adjusted), sum(p <= 0.05 for p in adjust_benjamini_hochberg(FIFTEEN)))


@given(st.lists(st.floats(0, 1), max_size=20))
def test_adjusted_p_values_keep_their_order_and_are_never_smaller(p_values: list[float]) -> None:
    strict, lenient = adjust_holm(p_values), adjust_benjamini_hochberg(p_values)
    for raw, small, large in zip(p_values, lenient, strict, strict=True):
        assert raw <= small + 1e-15
        assert small <= large + 1e-15 <= 1 + 2e-15
    for adjusted in (strict, lenient):
        assert [adjusted[i] for i in np.argsort(p_values, kind="stable")] == sorted(adjusted)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=12))
def test_no_interval_is_wider_than_the_largest_possible_difference(pairs: list[tuple[float, float]]) -> None:
    before, after = np.array(pairs).T
    (sample,) = pair_samples(before[None], after[None], np.ones((1, len(before)), dtype=np.bool_), None, [1.0])
    assert sample is not None
    bounds = sample.estimate_interval(0.998)
    assert bounds is not None and -1 <= bounds.low <= sample.mean <= bounds.high <= 1
