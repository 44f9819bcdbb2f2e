"""The power of McNemar's exact test: which difference of two rates on the same cases it shows, and with how many cases.

The normal approximation promises more than the exact test keeps: of differences that it calls detected in 80%, the test
showed 68% with 34 cases and 75% with 200.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from assay.stats.arrays import FloatArray
from assay.stats.fewest_cases import find_fewest

_STEPS = 24
_FEWEST_CASES, _MOST_CASES = 8, 20_000
_SPREAD = 7.0
_TAIL_SPREAD = 12.0
"""How many standard deviations of a binomial tail are summed: what is left out is below one in 10^30 of it."""


def compute_mcnemar_power(cases: int, discordant: float, difference: float, level: float = 0.05) -> float:
    """Return how often McNemar's exact test has p < `level`, two-sided.

    `discordant` is the share of cases on which exactly one side succeeds, and `difference` that of the two rates, at
    most as large. Source: the binomial distributions of discordant cases and of wins among them.

    >>> round(compute_mcnemar_power(34, 0.3, 0.237), 2)
    0.68
    """
    mean, spread = cases * discordant, math.sqrt(cases * discordant * (1 - discordant))
    first, last = max(0, int(mean - _SPREAD * spread)), min(cases, int(mean + _SPREAD * spread) + 1)
    wins = (discordant + difference) / (2 * discordant)
    rejecting = []
    for count in range(first, last + 1):
        critical = find_critical_losses(count, level)
        tail = _sum_binomial(count, 1 - wins, critical) + _sum_binomial(count, wins, critical)
        rejecting.append(_compute_binomial(cases, count, discordant) * tail)
    return math.fsum(rejecting)


@cache
def find_critical_losses(count: int, level: float = 0.05) -> int:
    """Return the most losses of so many discordant cases with which the test rejects; -1 if it never does.

    >>> find_critical_losses(5), find_critical_losses(6), find_critical_losses(20)
    (-1, 0, 5)
    """
    losses, logs = np.arange(count // 2 + 1), _sum_logs(count)
    chances = np.exp(logs[count] - logs[losses] - logs[count - losses] - count * math.log(2))
    return int(np.count_nonzero(2 * np.cumsum(chances) < level)) - 1


def _compute_binomial(trials: int, successes: int, share: float) -> float:
    if share <= 0 or share >= 1:
        return float(successes == (trials if share >= 1 else 0))
    ways = math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(trials - successes + 1)
    return math.exp(ways + successes * math.log(share) + (trials - successes) * math.log1p(-share))


def _sum_binomial(trials: int, share: float, most: int) -> float:
    """Return the probability of at most so many successes."""
    if most < 0:
        return 0.0
    if share <= 0 or share >= 1:
        return float(most >= (trials if share >= 1 else 0))
    spread = math.sqrt(trials * share * (1 - share))
    least = max(0, int(min(trials * share, most) - _TAIL_SPREAD * spread) - 1)
    successes = np.arange(least, most + 1)
    logs = _sum_logs(trials)[trials] - _sum_logs(trials)[successes] - _sum_logs(trials)[trials - successes]
    values = np.exp(logs + successes * math.log(share) + (trials - successes) * math.log1p(-share))
    return min(1.0, math.fsum(values.tolist()))


def _sum_logs(trials: int) -> FloatArray:
    """Return the logarithms of the factorials up to one of `trials` or more."""
    return _tabulate_log_factorials(1 << max(10, trials.bit_length()))


@cache
def _tabulate_log_factorials(most: int) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])


def find_detectable_difference(cases: int, discordant: float, power: float = 0.8, level: float = 0.05) -> float | None:
    """Return the smallest difference of two rates that the test shows with the given power.

    None if it does not even where one side wins all discordant cases.

    >>> round(find_detectable_difference(34, 0.3), 2), find_detectable_difference(10, 0.2)
    (0.26, None)
    """
    if discordant <= 0 or compute_mcnemar_power(cases, discordant, discordant, level) < power:
        return None
    low, high = 0.0, discordant
    for _ in range(_STEPS):
        middle = (low + high) / 2
        is_enough = compute_mcnemar_power(cases, discordant, middle, level) >= power
        low, high = (low, middle) if is_enough else (middle, high)
    return high


def find_cases_needed(discordant: float, difference: float, power: float = 0.8, level: float = 0.05) -> int | None:
    """Return about how many cases the test needs to show a difference with the given power; None beyond 20,000.

    The share of discordant cases is taken to be at least the difference.

    >>> find_cases_needed(0.3, 0.1)
    249
    """
    share = max(discordant, difference)
    return find_fewest(
        lambda cases: compute_mcnemar_power(cases, share, difference, level) >= power, _FEWEST_CASES, _MOST_CASES
    )
