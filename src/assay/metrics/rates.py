"""Confidence intervals of rates: Wilson, Clopper-Pearson, and the bound after zero events."""

from __future__ import annotations

from math import fsum, sqrt
from typing import NamedTuple

from assay.metrics.student import normal_quantile


class Bounds(NamedTuple):
    """An interval, the name of its method, and a warning for the reader, or ""."""

    low: float
    high: float
    method: str
    note: str = ""


class Estimate(NamedTuple):
    """A value with its interval."""

    value: float
    bounds: Bounds


def wilson(successes: int, n: int, confidence: float = 0.95) -> Bounds:
    """Return the Wilson score interval of a rate, within [0, 1].

    Its coverage equals `confidence` on average over rates, not at each rate: docs/adr/0010-intervals-near-the-ends.md.
    Raises ValueError unless 0 ≤ successes ≤ n and n ≥ 1. Source: Wilson (1927).

    >>> bounds = wilson(38, 40)
    >>> round(bounds.low, 4), round(bounds.high, 4)
    (0.835, 0.9862)
    """
    _check_count(successes, n)
    z = normal_quantile((1 + confidence) / 2)
    rate, share = successes / n, z * z / n
    centre = (rate + share / 2) / (1 + share)
    half = z * sqrt(rate * (1 - rate) / n + share / n / 4) / (1 + share)
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Bounds(low, high, "Wilson")


def clopper_pearson(successes: int, n: int, confidence: float = 0.95) -> Bounds:
    """Return the exact two-sided interval of a rate, within [0, 1]; its coverage is at least `confidence`.

    Raises ValueError unless 0 ≤ successes ≤ n and n ≥ 1. Source: Clopper and Pearson (1934).

    >>> round(clopper_pearson(0, 4).high, 4)
    0.6024
    """
    one_sided = (1 + confidence) / 2
    low, high = 1 - event_upper(n - successes, n, one_sided), event_upper(successes, n, one_sided)
    return Bounds(low, high, "Clopper-Pearson")


def event_upper(events: int, n: int, confidence: float = 0.95) -> float:
    """Return the exact one-sided upper bound of a rate after `events` of `n`, in (0, 1] (Clopper-Pearson).

    >>> round(event_upper(0, 41), 4)
    0.0705
    """
    _check_count(events, n)
    if events == n:
        return 1.0
    if events == 0:
        return float(1 - (1 - confidence) ** (1 / n))
    from scipy.special import betaincinv  # takes half a second to import; only mixed outcomes need it

    return float(betaincinv(events + 1, n - events, confidence))


def zero_event_upper(n: int, confidence: float = 0.95) -> float:
    """Return the exact one-sided upper bound of a rate after no event in `n` cases, in (0, 1).

    >>> round(zero_event_upper(4), 3)
    0.527
    """
    return event_upper(0, n, confidence)


def balanced(rate_a: tuple[int, int], rate_b: tuple[int, int], confidence: float = 0.95) -> Estimate | None:
    """Return the mean of two independent rates, each given as `(successes, n)`, with its interval, in [0, 1].

    The interval combines the distances between each rate and its own bounds (MOVER: Newcombe 1998; Zou and Donner
    2008). A class without cases is left out, and the note says so; None if both are empty.

    >>> value, bounds = balanced((9, 10), (15, 20))
    >>> round(value, 3), bounds.method
    (0.825, 'MOVER of Wilson')
    >>> balanced((9, 10), (0, 0)).bounds.note
    'second class has no cases: left out'
    """
    names = ("first", "second")
    empty_classes = [name for name, (_, n) in zip(names, (rate_a, rate_b), strict=True) if n == 0]
    rates = [(k / n, wilson(k, n, confidence)) for k, n in (rate_a, rate_b) if n]
    if not rates:
        return None
    if empty_classes:
        value, bounds = rates[0]
        return Estimate(value, bounds._replace(note=f"{empty_classes[0]} class has no cases: left out"))
    value = fsum(rate for rate, _ in rates) / 2
    distance_down = sqrt(fsum((rate - bounds.low) ** 2 for rate, bounds in rates)) / 2
    distance_up = sqrt(fsum((bounds.high - rate) ** 2 for rate, bounds in rates)) / 2
    return Estimate(value, Bounds(max(0.0, value - distance_down), min(1.0, value + distance_up), "MOVER of Wilson"))


def _check_count(successes: int, n: int) -> None:
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"counts need 0 ≤ successes ≤ n and n ≥ 1 (got {successes} of {n})")
