"""Quantiles agree with SciPy, which the package itself does not import for them."""

from __future__ import annotations

import pytest
from scipy.special import stdtrit

from assay.stats.distributions import compute_t_quantile


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
