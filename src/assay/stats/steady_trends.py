"""Whether scores over runs follow one step, a steady trend, or neither: each is tested by permutation within cases.

If the scores changed at one step, those before it were exchangeable in time, and those after it. If they follow a line,
what is left of them without it is. The step is compared with the line, and the line with two steps, by the squares
that they leave of the means of the runs: a model is rejected where the other leaves fewer by more than chance would.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.stats.arrays import FloatArray
from assay.stats.distributions import compute_t_quantile

LEVEL = 0.05
"""How often a model that holds is rejected."""
LEAST_RUNS, ORDERS = 5, 1999
_MAX_CELLS = 2_000_000


class SteadyTrend(NamedTuple):
    """A change of the mean by `slope` a run, with a 95% interval, from `first` to `last` on the line.

    `p_step` and `p_trend` are the p-values of a single step and of the line; `is_significant`: the step is rejected and
    the line is not. `is_open`: neither is, so that the scores cannot tell.
    """

    slope: float
    low: float
    high: float
    first: float
    last: float
    p_step: float
    p_trend: float

    @property
    def is_significant(self) -> bool:
        return self.p_step <= LEVEL < self.p_trend

    @property
    def is_open(self) -> bool:
        return self.p_step > LEVEL and self.p_trend > LEVEL


def compare_trend_with_step(
    scores: FloatArray, units: npt.NDArray[np.intp], at: int, *, seed: int = 0
) -> SteadyTrend | None:
    """Return the line through the means of some runs, and the tests of it and of one step before run `at`.

    `scores` has shape (runs, cases) and no gaps, `units` numbers independent units from 0. None for fewer than five
    runs or two units, which cannot tell one from the other.

    >>> falling = np.array([[float(case < 90 - 5 * run) for case in range(100)] for run in range(10)])
    >>> trend = compare_trend_with_step(falling, np.arange(100), 5)
    >>> trend is not None and trend.is_significant, round(trend.slope, 3)
    (True, -0.05)
    """
    runs, cases = scores.shape
    count = int(units.max()) + 1 if len(units) else 0
    if runs < LEAST_RUNS or count < 2:
        return None
    sums = np.zeros((runs, count))
    for row in range(runs):
        sums[row] = np.bincount(units, weights=scores[row], minlength=count)
    times = np.arange(runs) - (runs - 1) / 2
    slopes = times @ sums / float((times**2).sum())
    slope = float(slopes.sum()) / cases
    spread = float(((slopes - slopes.mean()) ** 2).sum()) * count / (count - 1)
    reach = compute_t_quantile(0.975, count - 1) * sqrt(spread) / cases
    middle = float(scores.mean())
    means = (sums.sum(axis=1) / cases)[None]
    generator = np.random.default_rng(seed)
    around_step = _permute_around_step(sums, at, generator) / cases
    around_line = _permute_around_line(sums, slopes, times, generator) / cases
    gained = _explain_by_line(means) - _explain_by_step(means)
    p_step = _find_p(_explain_by_line(around_step) - _explain_by_step(around_step), float(gained[0]))
    gained = _explain_by_two_steps(means) - _explain_by_line(means)
    p_trend = _find_p(_explain_by_two_steps(around_line) - _explain_by_line(around_line), float(gained[0]))
    return SteadyTrend(
        slope, slope - reach, slope + reach, middle + slope * times[0], middle + slope * times[-1], p_step, p_trend
    )


def _explain_by_line(means: FloatArray) -> FloatArray:
    """Return the squares that a line explains of means of shape (orders, runs)."""
    times = np.arange(means.shape[1]) - (means.shape[1] - 1) / 2
    explained: FloatArray = (means @ times) ** 2 / float((times**2).sum())
    return explained


def _explain_by_step(means: FloatArray) -> FloatArray:
    """Return the squares that the best step explains."""
    runs = means.shape[1]
    before = np.arange(1, runs)
    cumulated = np.cumsum(means - means.mean(axis=1, keepdims=True), axis=1)[:, :-1]
    explained: FloatArray = (cumulated**2 * runs / (before * (runs - before))).max(axis=1)
    return explained


def _explain_by_two_steps(means: FloatArray) -> FloatArray:
    """Return the squares that the best two steps explain."""
    runs = means.shape[1]
    cumulated = np.cumsum(means - means.mean(axis=1, keepdims=True), axis=1)
    best: FloatArray = np.zeros(len(means))
    for first in range(1, runs - 1):
        seconds = np.arange(first + 1, runs)
        start = cumulated[:, first - 1][:, None]
        middle = cumulated[:, seconds - 1]
        explained = start**2 / first + (middle - start) ** 2 / (seconds - first) + middle**2 / (runs - seconds)
        np.maximum(best, explained.max(axis=1), out=best)
    return best


def _find_p(draws: FloatArray, observed: float) -> float:
    return float((1 + np.count_nonzero(draws >= observed - 1e-12)) / (1 + len(draws)))


def _permute_around_step(sums: FloatArray, at: int, generator: np.random.Generator) -> FloatArray:
    """Return totals of runs, shape (orders, runs), when the runs on each side of a step change places within cases."""
    parts = [_permute_columns(sums[rows], generator) for rows in (slice(0, at), slice(at, None))]
    return np.hstack(parts)


def _permute_around_line(
    sums: FloatArray, slopes: FloatArray, times: FloatArray, generator: np.random.Generator
) -> FloatArray:
    """Return totals of runs, shape (orders, runs), when what is left of each case without the line changes places."""
    line = times * float(slopes.sum())
    # One slope for all: the slopes of single cases are mostly chance, and taking them off would take off that, too.
    share = line[:, None] / sums.shape[1]
    return _permute_columns(sums - share, generator) + line


def _permute_columns(values: FloatArray, generator: np.random.Generator) -> FloatArray:
    runs, count = values.shape
    step = max(1, _MAX_CELLS // (runs * count))
    totals = np.empty((ORDERS, runs))
    for first in range(0, ORDERS, step):
        number = min(step, ORDERS - first)
        drawn = generator.permuted(np.broadcast_to(values, (number, runs, count)), axis=1)
        totals[first : first + number] = drawn.sum(axis=2)
    return totals
