"""Quantiles and tails agree with SciPy, which the package itself does not need."""

from __future__ import annotations

import pytest
from scipy.special import betainc, betaincc, betaincinv, stdtr, stdtrit

from assay.stats.distributions import (
    compute_beta_cdf,
    compute_beta_quantile,
    compute_t_quantile,
    compute_t_tail,
    find_root,
)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 11, 40, 99, 100, 101, 500, 49_999])
@pytest.mark.parametrize("probability", [0.01, 0.6, 0.8, 0.95, 0.975, 0.9995])
def test_t_quantile_agrees_with_scipy(df: int, probability: float) -> None:
    """The degrees around 100 lie on both sides of the change from the closed form to the expansion."""
    assert float(stdtrit(df, probability)) == pytest.approx(compute_t_quantile(probability, df), rel=1e-8)


@pytest.mark.parametrize(("probability", "df"), [(0.975, 0), (0.0, 5), (1.0, 5)])
def test_t_quantile_refuses_what_has_no_quantile(probability: float, df: int) -> None:
    with pytest.raises(ValueError, match="must"):
        compute_t_quantile(probability, df)


def test_the_median_of_t_is_zero() -> None:
    assert compute_t_quantile(0.5, 7) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("df", [1, 2, 3, 7, 40, 99, 500, 5_000, 49_999])
@pytest.mark.parametrize("t", [0.0, 0.01, 0.5, 1.7, 1.8, 3.0, 5.0, 8.0, 15.0])
def test_tails_of_t_agree_with_scipy(df: int, t: float) -> None:
    """Both sides of the change of the continued fraction, near 1.73, and tails down to 1e-45."""
    assert compute_t_tail(t, df) == compute_t_tail(-t, df) == pytest.approx(2 * float(stdtr(df, -t)), rel=1e-11)


def test_an_infinite_t_has_no_tail_and_no_degrees_of_freedom_are_refused() -> None:
    assert compute_t_tail(float("-inf"), 3) == 0.0
    with pytest.raises(ValueError, match="degrees of freedom"):
        compute_t_tail(1.0, 0)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 41, 100, 999, 5_000, 50_000])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.05, 0.3, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("probability", [1e-8, 0.001, 0.025, 0.05, 0.5, 0.95, 0.975, 0.999, 1 - 1e-8])
def test_beta_quantiles_agree_with_scipy(n: int, share: float, probability: float) -> None:
    """The shapes of exact bounds: events + 1 and the others."""
    events = min(n - 1, round(share * n))
    a, b = events + 1, n - events
    expected = float(betaincinv(a, b, probability))
    assert compute_beta_quantile(probability, a, b) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("a", "b"), [(1.0, 1.0), (0.5, 28.5), (3.5, 0.5), (17.0, 4.0), (300.0, 700.0), (40_000.0, 9.0)]
)
@pytest.mark.parametrize("x", [0.0, 1e-9, 0.2, 0.3, 0.5, 0.8, 0.9999, 1.0])
def test_the_beta_distribution_agrees_with_scipy(a: float, b: float, x: float) -> None:
    """Relative to the smaller tail: either of them may be tiny."""
    below, above = compute_beta_cdf(x, a, b), compute_beta_cdf(1 - x, b, a)
    assert below == pytest.approx(float(betainc(a, b, x)), rel=1e-11, abs=1e-300)
    assert above == pytest.approx(float(betaincc(a, b, x)), rel=1e-11, abs=1e-300)


@pytest.mark.parametrize(("probability", "a", "b"), [(0.0, 1, 1), (1.0, 1, 1), (0.5, 0.5, 1), (0.5, 1, 0)])
def test_beta_quantiles_refuse_what_has_none(probability: float, a: float, b: float) -> None:
    with pytest.raises(ValueError, match="needs a probability"):
        compute_beta_quantile(probability, a, b)


def test_roots_are_exact_to_the_last_bits_where_values_are_infinite_or_flat_too() -> None:
    def step(x: float) -> float:
        return float("-inf") if x < 0.1 else float("inf") if x > 0.9 else (x - 0.3) ** 3

    assert find_root(step, 0.0, 1.0) == pytest.approx(0.3, abs=1e-6)
    assert find_root(lambda x: x * x - 2, 0, 2) == pytest.approx(2**0.5, rel=1e-15)
    assert find_root(lambda x: -1.0 if x < 0.7 else 1.0, 0, 1) == pytest.approx(0.7, rel=1e-15)
