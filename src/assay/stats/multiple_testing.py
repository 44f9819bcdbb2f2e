"""Adjustment of p-values where several metrics or slices are tested at once."""

from __future__ import annotations

from collections.abc import Sequence


def find_least_p(differing: int) -> float:
    """Return the smallest two-sided p-value that a sign, sign-flip or McNemar test of so many differing units can have.

    It depends on how many differ and not on which way, so that tests may be left out of a family by it and those left
    are as valid as before. Source: Tarone (1990); Gilbert (2005) for the false discovery rate.

    >>> find_least_p(0), find_least_p(6)
    (1.0, 0.03125)
    """
    return min(1.0, 2.0 ** (1 - differing))


def adjust_holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted to control the family-wise error rate, in the given order. Source: Holm (1979).

    >>> [round(p, 3) for p in adjust_holm([0.04, 0.01, 0.03])]
    [0.06, 0.03, 0.06]
    """
    adjusted, running_maximum = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(_rising_order(p_values)):
        running_maximum = max(running_maximum, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running_maximum
    return adjusted


def adjust_benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted to control the false discovery rate, in the given order.

    Source: Benjamini and Hochberg (1995).

    >>> [round(p, 3) for p in adjust_benjamini_hochberg([0.04, 0.01, 0.03])]
    [0.04, 0.03, 0.04]
    """
    adjusted, running_minimum = [0.0] * len(p_values), 1.0
    for rank, index in reversed(list(enumerate(_rising_order(p_values), start=1))):
        running_minimum = min(running_minimum, len(p_values) * p_values[index] / rank)
        adjusted[index] = running_minimum
    return adjusted


def _rising_order(p_values: Sequence[float]) -> list[int]:
    return sorted(range(len(p_values)), key=lambda index: p_values[index])
