"""How many cases a paired comparison needs to show a difference: of rates by McNemar's exact test, of means by t."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from assay.stats.fewest_cases import find_fewest
from assay.stats.mcnemar_power import find_cases_needed, find_detectable_difference
from assay.stats.paired_tests import compute_detectable_difference

MOST_CASES = 1_000_000
_FEWEST_CASES = 2


class PairSpread(NamedTuple):
    """How far two systems differ case by case: for rates the share of cases on which exactly one of them succeeds, for
    means the standard deviation of the differences.

    `widening` is the factor by which clusters of cases increase the variance of the mean, 1 for independent cases.
    """

    amount: float
    is_share: bool
    widening: float = 1.0

    @property
    def is_exact(self) -> bool:
        """Whether McNemar's exact test decides: rates of independent cases."""
        return self.is_share and self.widening <= 1

    @property
    def deviation(self) -> float:
        """The standard deviation of the differences, for rates that of a difference near 0."""
        return self.amount**0.5 if self.is_share else self.amount


def find_cases_for(difference: float, spread: PairSpread, *, power: float = 0.8, level: float = 0.05) -> int | None:
    """Return about how many cases a two-sided paired test needs to show a true difference, above 0, with this power.

    `level` is that of the test. None beyond 20,000 cases for rates, and beyond a million for means. Sources: the power
    of the exact test, and two quantiles of t.

    >>> find_cases_for(0.1, PairSpread(0.3, is_share=True)), find_cases_for(0.1, PairSpread(0.4, is_share=False))
    (249, 128)
    """
    if spread.is_exact:
        return find_cases_needed(spread.amount, difference, power, level)
    return find_fewest(lambda cases: _is_detected(cases, difference, spread, power, level), _FEWEST_CASES, MOST_CASES)


def _is_detected(cases: int, difference: float, spread: PairSpread, power: float, level: float) -> bool:
    effective = max(1, ceil(cases / spread.widening))
    least = compute_detectable_difference(spread.deviation, effective, confidence=1 - level, power=power)
    return least is not None and least <= difference


def find_difference_for(cases: int, spread: PairSpread, *, power: float = 0.8, level: float = 0.05) -> float | None:
    """Return the smallest true difference that so many cases show with this power; None where they show none.

    >>> round(find_difference_for(128, PairSpread(0.4, is_share=False)), 3)
    0.1
    """
    if not spread.is_exact:
        effective = ceil(cases / spread.widening)
        return compute_detectable_difference(spread.deviation, effective, confidence=1 - level, power=power)
    return find_detectable_difference(cases, spread.amount, power, level)
