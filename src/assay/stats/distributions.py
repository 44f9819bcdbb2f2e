"""Quantiles of the normal and of Student's t distribution in plain Python.

Every interval needs them, and importing scipy.special would add half a second to the start-up time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import cos, pi, sin, sqrt
from statistics import NormalDist

_NORMAL = NormalDist()
_EXPANSION_FROM = (
    100  # degrees of freedom from which the expansion in 1/df has 8 correct digits up to probability 0.9995
)


def compute_normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution at a probability in (0, 1).

    >>> round(compute_normal_quantile(0.975), 6)
    1.959964
    """
    return _NORMAL.inv_cdf(probability)


@lru_cache(maxsize=4096)
def compute_t_quantile(probability: float, df: int) -> float:
    """Return the quantile of Student's t distribution with `df` degrees of freedom at a probability in (0, 1).

    Inverts the closed form for integer degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4) by bisection; from 100
    degrees of freedom on, uses the expansion 26.7.5. Raises ValueError for `df` < 1 or a probability outside (0, 1).

    >>> round(compute_t_quantile(0.975, 11), 6)
    2.200985
    """
    if df < 1:
        raise ValueError(f"degrees of freedom must be at least 1 (got {df})")
    if not 0.0 < probability < 1.0:
        raise ValueError(f"a probability must lie between 0 and 1 (got {probability})")
    if probability < 0.5:
        return -compute_t_quantile(1.0 - probability, df)
    if df >= _EXPANSION_FROM:
        return _quantile_expansion(compute_normal_quantile(probability), df)
    central = 2.0 * probability - 1.0
    angle = find_root(lambda theta: _central_probability(theta, df) - central, 0.0, pi / 2)
    return sqrt(df) * sin(angle) / cos(angle)


def find_root(function: Callable[[float], float], below: float, above: float) -> float:
    """Return the root of an increasing `function` between `below` and `above`, to the last bits, by bisection.

    >>> round(find_root(lambda x: x * x - 2, 0, 2), 9)
    1.414213562
    """
    for _ in range(200):
        middle = (below + above) / 2
        if middle in (below, above):
            break
        if function(middle) < 0:
            below = middle
        else:
            above = middle
    return (below + above) / 2


def _central_probability(theta: float, df: int) -> float:
    """Return P(|T| < sqrt(df)·tan(theta)): a finite sum of powers of the cosine."""
    cosine, is_odd = cos(theta), df % 2
    term = 0.0
    if df > 1:
        term = cosine if is_odd else 1.0
    total = term
    for step in range(2 + is_odd, df - 1, 2):
        term *= cosine * cosine * (step - 1) / step
        total += term
    if is_odd:
        return 2 / pi * (theta + sin(theta) * total)
    return sin(theta) * total


def _quantile_expansion(z: float, df: int) -> float:
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(df) ** power for power, term in enumerate(terms, start=1))
