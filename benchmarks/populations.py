"""Populations of scores in [0, 1] with their true means, for measuring what intervals cover."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Scores]


def of_values(*pairs: tuple[float, float]) -> tuple[Draw, float]:
    """Return a draw from a few values, each given with its weight, and its mean."""
    values, weights = np.array([v for v, _ in pairs]), np.array([w for _, w in pairs])
    shares = weights / weights.sum()
    return (lambda generator, n: generator.choice(values, size=n, p=shares)), float(values @ shares)


def mostly(value: float, share: float, rest: Draw, rest_mean: float) -> tuple[Draw, float]:
    """Return a draw that is `value` with probability `share` and otherwise drawn from `rest`, and its mean."""

    def draw(generator: np.random.Generator, n: int) -> Scores:
        return np.where(generator.random(n) < share, value, rest(generator, n))

    return draw, share * value + (1 - share) * rest_mean


def beta(a: float, b: float) -> tuple[Draw, float]:
    return (lambda generator, n: generator.beta(a, b, n)), a / (a + b)


def populations(n: int) -> dict[str, tuple[Draw, float]]:
    """Return populations of scores in [0, 1] with their means; the last ones hide a rare zero (on average m of n)."""
    uniform, half = beta(1, 1)
    near_08, mean_08 = beta(80, 20)
    named = {
        "uniform": (uniform, half),
        "beta(2,2)": beta(2, 2),
        "beta(5,1)": beta(5, 1),
        "beta(20,1)": beta(20, 1),
        "beta(1,9)": beta(1, 9),
        "beta(.5,.5)": beta(0.5, 0.5),
        "beta(50,50)": beta(50, 50),
        "beta(80,20)": (near_08, mean_08),
        "quarters": of_values((0, 1), (0.25, 1), (0.5, 1), (0.75, 1), (1, 1)),
        "like ndcg": of_values((0, 10), (0.387, 5), (0.431, 5), (0.5, 10), (0.631, 20), (1, 50)),
        "like rr": of_values((0, 5), (0.1, 2), (0.2, 3), (0.25, 5), (1 / 3, 10), (0.5, 20), (1, 55)),
        "50% ones, rest uniform": mostly(1, 0.5, uniform, half),
        "80% ones, rest uniform": mostly(1, 0.8, uniform, half),
        "90% ones, rest uniform": mostly(1, 0.9, uniform, half),
        "90% ones, rest 0.5": of_values((1, 90), (0.5, 10)),
        "90% ones, rest 0.95": of_values((1, 90), (0.95, 10)),
        "90% ones, 5% 0.5, 5% zeros": of_values((1, 90), (0.5, 5), (0, 5)),
        "90% ones, 9% 0.9, 1% zeros": of_values((1, 90), (0.9, 9), (0, 1)),
        "95% ones, rest uniform": mostly(1, 0.95, uniform, half),
        "95% ones, rest 0.5": of_values((1, 95), (0.5, 5)),
        "99% ones, rest uniform": mostly(1, 0.99, uniform, half),
        "99% ones, rest 0.5": of_values((1, 99), (0.5, 1)),
        "90% zeros, rest uniform": mostly(0, 0.9, uniform, half),
    }
    for m in (0.5, 1, 2, 2.6, 3, 4):
        rare = m / n
        named[f"90% ones, 0.99, {m} zeros of n"] = of_values((1, 0.9), (0.99, 0.1 - min(rare, 0.1)), (0, rare))
        named[f"beta(80,20), {m} zeros of n"] = mostly(0, rare, near_08, mean_08)
    return named
