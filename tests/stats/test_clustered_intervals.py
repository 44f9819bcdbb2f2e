"""Intervals of clustered scores: the textbook CR1-t, with a note wherever it covers too little."""

from __future__ import annotations

import numpy as np
import pytest

from assay.stats.intervals import Bounds, estimate_mean_interval, upper_bound_of_rate
from assay.stats.samples import compute_standard_error, encode_clusters, group_into_units, parse_finite

# 12 clusters of 40 answers, 22 of them right, with the standard errors that the definition of CR1 is known by.
SIZES = [5, 6, 2, 2, 3, 3, 5, 2, 2, 2, 5, 3]
RIGHT = [5, 3, 0, 0, 0, 1, 2, 2, 1, 0, 5, 3]
CLUSTERS = [cluster for cluster, size in enumerate(SIZES) for _ in range(size)]
ANSWERS = [float(index < right) for size, right in zip(SIZES, RIGHT, strict=True) for index in range(size)]


def test_clustered_standard_errors_have_their_reference_values() -> None:
    """naive .0796628, without the factor G/(G−1) .1123471, CR1 .1173427."""
    naive = compute_standard_error(group_into_units(parse_finite(ANSWERS)))
    clustered = compute_standard_error(group_into_units(parse_finite(ANSWERS), encode_clusters(CLUSTERS, 40)))
    assert ("0.0796628", "0.1173427") == (f"{naive:.7f}", f"{clustered:.7f}")
    assert f"{clustered * (11 / 12) ** 0.5:.7f}" == "0.1123471"


@pytest.mark.parametrize(("shift", "low", "high"), [(0, 0, 1), (5, None, None), (5, 0, 100)])
def test_clusters_get_the_plain_cr1_t_interval(shift: int, low: int | None, high: int | None) -> None:
    """Mean .55 (+5), standard error .1173427, t(.975; 11) = 2.200985, with a range and without."""
    bounds = estimate_mean_interval([value + shift for value in ANSWERS], clusters=CLUSTERS, low=low, high=high)
    assert bounds is not None
    centre, half = 0.55 + shift, 2.200985 * 0.1173427
    assert (centre - half, centre + half) == pytest.approx(bounds[:2], abs=1e-6)
    assert bounds.method == "CR1-t"


def test_cr1_t_is_clipped_to_the_range() -> None:
    """Ten pairs, one of them wrong: mean .9, error √(10/9·(9·.04+3.24))/20 = .1, t(.975; 9) = 2.262157."""
    answers = [1.0] * 18 + [0.0] * 2
    bounds = estimate_mean_interval(answers, clusters=[index // 2 for index in range(20)], low=0, high=1)
    assert bounds is not None
    assert (0.9 - 2.262157 * 0.1, 1.0) == pytest.approx(bounds[:2], abs=1e-6)
    assert ("CR1-t", "interval unreliable near 1") == bounds[2:]


def test_clusters_of_one_value_each_are_no_clusters() -> None:
    assert estimate_mean_interval(ANSWERS) == estimate_mean_interval(ANSWERS, clusters=range(40))


def test_clusters_that_all_succeed_count_as_one_case_each() -> None:
    bounds = estimate_mean_interval([1.0] * 40, clusters=CLUSTERS, low=0, high=1)
    assert bounds is not None
    assert (1 - upper_bound_of_rate(0, 12, 0.975), 1.0) == pytest.approx(bounds[:2])
    assert bounds.note == "no spread in 12 clusters"


def test_clusters_with_equal_means_still_get_a_width() -> None:
    """Every cluster holds one right and one wrong answer: CR1 alone would claim ±0.

    With 10 equal clusters at most 1 − .025^(1/10) = 30.8% may differ, at worst by half the range.
    """
    bounds = estimate_mean_interval([0.0, 1.0] * 10, clusters=[index // 2 for index in range(20)], low=0, high=1)
    assert bounds is not None
    unseen = 1 - 0.025 ** (1 / 10)
    assert (0.5 - 0.5 * unseen, 0.5 + 0.5 * unseen) == pytest.approx(bounds[:2])
    assert ("zero-event", "no spread in 10 clusters") == bounds[2:]


def test_fewer_than_eight_clusters_are_called_too_few() -> None:
    seven = estimate_mean_interval(
        [0.1 * (index % 9) for index in range(14)], clusters=[i // 2 for i in range(14)], low=0, high=1
    )
    eight = estimate_mean_interval(
        [0.1 * (index % 9) for index in range(16)], clusters=[i // 2 for i in range(16)], low=0, high=1
    )
    equal = estimate_mean_interval([0.5] * 4, clusters=[0, 0, 1, 1], low=0, high=1)
    assert seven is not None
    assert eight is not None
    assert equal is not None
    assert ("too few clusters (7)", "") == (seven.note, eight.note)
    assert equal.note == "too few clusters (2); no spread in 2 clusters"


@pytest.mark.parametrize("labels", [["b", "a", "b", "c"], [2, "2", 2, None], np.array([9, 4, 9, -1])])
def test_any_labels_tell_clusters_apart(labels: list[object]) -> None:
    values = [0.1, 0.4, 0.5, 0.9]
    assert estimate_mean_interval(values, clusters=[0, 1, 0, 2], low=0, high=1) == estimate_mean_interval(
        values, clusters=labels, low=0, high=1
    )


def in_pairs(count: int, *scores: float) -> Bounds:
    """The interval of `count` pairs: the given scores one pair each, all others 1 (and the same mirrored to 0)."""
    values = [1.0] * (2 * count - 2 * len(scores)) + [score for score in scores for _ in range(2)]
    clusters = [index // 2 for index in range(2 * count)]
    bounds = estimate_mean_interval(values, clusters=clusters, low=0, high=1)
    mirrored = estimate_mean_interval([1 - value for value in values], clusters=clusters, low=0, high=1)
    assert bounds is not None
    assert mirrored is not None
    assert bounds.note == mirrored.note.replace("near 0", "near 1")
    return bounds


def test_a_clustered_mean_nearer_an_end_than_three_clusters_is_called_unreliable() -> None:
    """Of 40 pairs: wrong in total for less than three pairs, and for exactly three."""
    assert in_pairs(40, 0.0, 0.0, 0.25).note == "interval unreliable near 1"
    assert in_pairs(40, 0.0, 0.0, 0.0).note == ""


def test_few_clusters_count_as_near_an_end_only_in_its_quarter_of_the_range() -> None:
    """Eight pairs lie within three clusters' worth of an end up to 3/8; 2 of 8 are at the quarter, 1.5 beyond it."""
    assert in_pairs(8, 0.0, 0.0).note == ""
    assert in_pairs(8, 0.0, 0.5).note == "interval unreliable near 1"
    assert in_pairs(7, 0.0).note == "too few clusters (7); interval unreliable near 1"


def test_crowded_clusters_that_one_more_could_upset_are_called_unreliable() -> None:
    """Twenty pairs at .7 and twenty at .72: mean .71 ± .003, and one more at 0 would make it .693."""
    values = [0.7] * 40 + [0.72] * 40
    clusters = [index // 2 for index in range(80)]
    bounds = estimate_mean_interval(values, clusters=clusters, low=0, high=1)
    spread = estimate_mean_interval([0.4] * 40 + [1.0] * 40, clusters=clusters, low=0, high=1)
    unbounded = estimate_mean_interval(values, clusters=clusters, low=0)
    assert bounds is not None
    assert spread is not None
    assert unbounded is not None
    assert bounds.note == "interval unreliable: one more cluster at 0 would move the mean out of it"
    assert ("", "") == (spread.note, unbounded.note)


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "icc"), [(0.8, 0.5), (0.9, 0.5), (0.9, 0.1)])
def test_clustered_rates_are_covered_or_called_unreliable(rate: float, icc: float) -> None:
    """Ten clusters of 4: plain CR1-t covers 88 to 92%; fewer than one sample in fifty misses without a warning."""
    generator = np.random.Generator(np.random.PCG64(1))
    clusters, missed, unnoted = [index // 4 for index in range(40)], 0, 0
    for _ in range(1000):
        chance = np.repeat(generator.beta(rate * (1 - icc) / icc, (1 - rate) * (1 - icc) / icc, 10), 4)
        bounds = estimate_mean_interval((generator.random(40) < chance).astype(float), clusters=clusters, low=0, high=1)
        assert bounds is not None
        miss = not bounds.low <= rate <= bounds.high
        missed, unnoted = missed + miss, unnoted + (miss and not bounds.note)
    assert missed > 60
    assert unnoted < 20
