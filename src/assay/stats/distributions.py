"""Quantiles and tails of the normal, Student's t and the beta distribution in plain Python.

Every interval needs them, and a library for them would add half a second to the start-up time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import cos, exp, fsum, inf, isinf, lgamma, log, log1p, pi, sin, sqrt
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
    """Return the root of an increasing `function` between `below` and `above`, to the last bits.

    Inverse quadratic interpolation where it is safe, else bisection. Source: Chandrupatla (1997). A value may be
    infinite.

    >>> round(find_root(lambda x: x * x - 2, 0, 2), 9)
    1.414213562
    """
    low, high, step = below, above, 0.5
    f_low, f_high = -inf, inf
    previous = f_previous = 0.0
    for _ in range(200):
        middle = low + step * (high - low)
        if not low < middle < high:
            middle = (low + high) / 2
            if middle in (low, high):
                break
        value = function(middle)
        if value < 0:
            previous, f_previous, low, f_low = low, f_low, middle, value
        elif value > 0:
            previous, f_previous, high, f_high = high, f_high, middle, value
        else:
            return middle
        step = _choose_step((low, f_low), (high, f_high), (previous, f_previous))
    return (low + high) / 2


def _choose_step(low: tuple[float, float], high: tuple[float, float], previous: tuple[float, float]) -> float:
    """Return where to look next, as a share of the way from low to high."""
    (a, fa), (b, fb), (c, fc) = low, high, previous
    if isinf(fa) or isinf(fb) or isinf(fc) or fc in (fa, fb):
        return 0.5
    position, share = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if not share * share < position or not (1 - share) ** 2 < 1 - position:
        return 0.5
    step = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    least = 2e-16 * max(abs(a), abs(b), 1e-300) / (b - a)  # at least one step of the floating point
    return min(1 - least, max(least, step)) if least < 0.5 else 0.5


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
    return z + fsum(term / float(df) ** power for power, term in enumerate(terms, start=1))


def compute_t_tail(t: float, df: int) -> float:
    """Return the two-sided p-value of a t statistic with `df` degrees of freedom, in [0, 1]; 0 for an infinite one.

    >>> round(compute_t_tail(2.200985, 11), 6)
    0.05
    """
    if df < 1:
        raise ValueError(f"degrees of freedom must be at least 1 (got {df})")
    if isinf(t):
        return 0.0
    square = t * t
    return _beta_tails(df / (df + square), square / (df + square), df / 2, 0.5)[0]


def compute_beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b) for x in [0, 1], in [0, 1].

    To 1e-12 of its value for shapes of up to 50,000.

    >>> round(compute_beta_cdf(0.5, 2, 3), 6)
    0.6875
    """
    return _beta_tails(x, 1 - x, a, b)[0]


def compute_beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the x with I_x(a, b) = `probability`, for a probability in (0, 1) and shapes of 1 or more.

    Newton's method within a bracket. Raises ValueError for a probability or a shape outside its range.

    >>> round(compute_beta_quantile(0.95, 1, 41), 4)
    0.0705
    """
    if not 0.0 < probability < 1.0 or a < 1 or b < 1:
        raise ValueError(f"needs a probability within (0, 1) and shapes ≥ 1 (got {probability}, {a}, {b})")
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(200):
        below, above = _beta_tails(x, 1 - x, a, b)
        # The smaller tail carries the relative accuracy.
        excess = below - probability if probability < 0.5 else (1 - probability) - above
        low, high = (x, high) if excess < 0 else (low, x)
        density = _beta_front(x, 1 - x, a, b) / (x * (1 - x))
        target = x - excess / density if density > 0 else inf
        if not low < target < high:
            target = (low + high) / 2
        if abs(target - x) <= 1e-16 * x or target in (low, high):
            return target
        x = target
    return x


def _beta_tails(x: float, y: float, a: float, b: float) -> tuple[float, float]:
    """Return I_x(a, b) and its complement, where y = 1 − x; the smaller of them to full relative accuracy."""
    if x <= 0.0 or y <= 0.0:
        return (0.0, 1.0) if x <= 0.0 else (1.0, 0.0)
    front = _beta_front(x, y, a, b)
    if x < (a + 1) / (a + b + 2):
        below = front * _beta_fraction(x, a, b) / a
        return below, 1 - below
    above = front * _beta_fraction(y, b, a) / b
    return 1 - above, above


def _beta_front(x: float, y: float, a: float, b: float) -> float:
    """Return x^a·y^b/B(a, b), by deviances from the mode: logarithms of large gammas would cancel."""
    total = a + b
    distance = x - a / total
    exponent = _scaled_log(a, distance * total / a, x * total / a) + _scaled_log(
        b, -distance * total / b, y * total / b
    )
    exponent += _stirling_error(total) - _stirling_error(a) - _stirling_error(b)
    return sqrt(a / total * b / (2 * pi)) * exp(exponent)


def _scaled_log(scale: float, change: float, ratio: float) -> float:
    """Return scale·log(1 + change), where 1 + change = ratio."""
    return scale * (log1p(change) if abs(change) < 0.5 else log(ratio))


def _stirling_error(z: float) -> float:
    """Return log Γ(z) minus Stirling's approximation of it, for z > 0."""
    if z < 16:
        return lgamma(z) - ((z - 0.5) * log(z) - z + 0.5 * log(2 * pi))
    square = z * z
    series = 1 / 1260 - (1 / 1680 - (1 / 1188 - 691 / 360360 / square) / square) / square
    return (1 / 12 - (1 / 360 - series / square) / square) / z


def _beta_fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function by Lentz's method.

    Source: Abramowitz and Stegun (1964), 26.5.8.
    """
    tiny = 1e-300
    ratio, total = 1.0, 1 - (a + b) * x / (a + 1)
    total = 1 / (total or tiny)
    fraction = total
    for step in range(1, 10_000):
        double = 2 * step
        even = step * (b - step) * x / ((a + double - 1) * (a + double))
        odd = -(a + step) * (a + b + step) * x / ((a + double) * (a + double + 1))
        for term in (even, odd):
            total = 1 / (1 + term * total or tiny)
            ratio = 1 + term / ratio or tiny
            change = total * ratio
            fraction *= change
        if abs(change - 1) < 3e-16:
            break
    return fraction
