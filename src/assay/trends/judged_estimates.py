"""Estimates of traffic from the judged sample, with its weights, by period and by day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assay.records.verdicts import Calibration
from assay.stats.arrays import BoolArray, FloatArray, IndexArray
from assay.stats.intervals import Estimate
from assay.stats.rate_correction import correct_rate, explain_uncorrectable_rate
from assay.stats.weighted_estimates import estimate_mean_of_sample
from assay.trends.answer_sample import STRATUM_NAMES, WeekSample
from assay.trends.monitor_measures import Measure
from assay.trends.traffic_sums import Calendar

NO_ANSWERS = "no answers"
DAYS_PER_WEEK = 7


@dataclass(slots=True)
class JudgedWeek:
    """The scored sample of one week; all arrays have shape (judged,) and one row for each answer."""

    sample: WeekSample
    days: IndexArray
    users: IndexArray
    strata: IndexArray
    slices: dict[str, BoolArray]
    values: dict[str, FloatArray]
    unscored: dict[str, BoolArray]


class JudgedValues(NamedTuple):
    """The judged answers of some weeks for one measure; arrays have one row for each answer that was judged."""

    values: FloatArray
    applies: BoolArray
    strata: IndexArray
    stratum_sizes: FloatArray
    users: IndexArray
    weights: FloatArray
    days: IndexArray


class SampleEstimate(NamedTuple):
    """An estimate from the sample, the number of answers it rests on, and why there is none."""

    estimate: Estimate | None
    judged: int
    reason: str


def gather_judged(weeks: Sequence[JudgedWeek], name: str, slice_name: str | None) -> tuple[JudgedValues, str]:
    """Return the judged answers of some weeks, and why they allow no estimate ("" if they do).

    Answers without verdict are left out: the others of their stratum stand for them.
    """
    columns: list[tuple[FloatArray, BoolArray, IndexArray, IndexArray, FloatArray, IndexArray]] = []
    sizes: list[float] = []
    reason = ""
    for week in weeks:
        kept = ~week.unscored[name]
        judged = np.bincount(week.strata[kept], minlength=len(STRATUM_NAMES))
        of_week = np.array(week.sample.sizes, dtype=np.float64)
        if np.any((of_week > 0) & (judged == 0)) and not reason:
            missing = STRATUM_NAMES[int(np.argmax((of_week > 0) & (judged == 0)))]
            reason = f"no {missing} answer of a week was judged"
        values = week.values[name][kept]
        in_slice = np.ones(len(values), dtype=np.bool_)
        if slice_name is not None:
            in_slice = week.slices.get(slice_name, np.zeros(len(kept), dtype=np.bool_))[kept]
        applies = ~np.isnan(values) & in_slice
        strata = week.strata[kept]
        weights = np.divide(of_week, judged, out=np.zeros(len(of_week)), where=judged > 0)[strata]
        rows = np.nan_to_num(values), applies, strata + len(sizes), week.users[kept], weights, week.days[kept]
        columns.append(rows)
        sizes += of_week.tolist()
    if not columns:
        return _NOTHING, NO_ANSWERS
    values, applies, strata, users, weights, days = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return JudgedValues(values, applies, strata, np.array(sizes), users, weights, days), reason


_EMPTY = np.zeros(0)
_NOTHING = JudgedValues(
    _EMPTY, _EMPTY.astype(bool), _EMPTY.astype(int), _EMPTY, _EMPTY.astype(int), _EMPTY, _EMPTY.astype(int)
)


def estimate_period(
    weeks: Sequence[JudgedWeek], measure: Measure, slice_name: str | None, period: str, calendar: Calendar
) -> SampleEstimate:
    """Return the estimate of a measure over one period."""
    within = [week for week in weeks if _overlaps(week, period, calendar)]
    rows, reason = gather_judged(within, measure.name, slice_name)
    if reason:
        return SampleEstimate(None, 0, reason)
    in_period = np.array([calendar.find_period(day) == period for day in rows.days.tolist()], dtype=np.bool_)
    applies = rows.applies & in_period
    low, high = measure.low or 0.0, measure.high if measure.high is not None else 1.0
    estimate = estimate_mean_of_sample(rows.values, applies, rows.strata, rows.stratum_sizes, rows.users, low, high)
    return SampleEstimate(estimate, int(applies.sum()), "" if estimate is not None else NO_ANSWERS)


def _overlaps(week: JudgedWeek, period: str, calendar: Calendar) -> bool:
    return period in _list_periods(week, calendar)


def _list_periods(week: JudgedWeek, calendar: Calendar) -> list[str]:
    first = week.sample.week * DAYS_PER_WEEK
    return list(dict.fromkeys(calendar.find_period(first + day) for day in range(DAYS_PER_WEEK)))


class JudgedSums:
    """Sums and estimates of the judged weeks so far. Weeks come in time order.

    Memory does not grow with the number of judged answers: a week is kept until all its periods are over, and leaves
    an estimate for each period, and sums for each day.
    """

    def __init__(self, calendar: Calendar, measures: Sequence[Measure], first_day: int) -> None:
        """Only periods from that of `first_day` on are estimated."""
        self._calendar, self._measures, self._first_day = calendar, measures, first_day
        self._first_period = calendar.find_period(first_day)
        self._open: list[JudgedWeek] = []
        self._last_closed = ""  # periods are named by the day on which they begin, so that names sort by time
        self._estimates: dict[tuple[str | None, str, str], SampleEstimate] = {}
        self._by_day: dict[tuple[str | None, str], tuple[FloatArray, FloatArray]] = {}
        self.chosen = 0
        self.unjudged = 0

    def add_week(self, week: JudgedWeek, slices: Sequence[str]) -> None:
        """Add the next week; `slices` are those that any answer so far belongs to."""
        self._close_periods(_list_periods(week, self._calendar), slices)
        self._open.append(week)
        if week.sample.week * DAYS_PER_WEEK + DAYS_PER_WEEK - 1 >= self._first_day:
            self.chosen += len(week.days)
            if self._measures:
                self.unjudged += int(week.unscored[self._measures[0].name].sum())
        size = self._calendar.days
        for slice_name in (None, *week.slices):
            for measure in self._measures:
                sums = sum_by_day([week], measure.name, slice_name, size)
                totals, sizes = self._by_day.setdefault((slice_name, measure.name), (np.zeros(size), np.zeros(size)))
                totals += sums[0]
                sizes += sums[1]

    def finish(self, slices: Sequence[str]) -> None:
        """Estimate the periods that are left, after the last week."""
        self._close_periods((), slices)

    def _close_periods(self, going_on: Sequence[str], slices: Sequence[str]) -> None:
        periods = dict.fromkeys(period for week in self._open for period in _list_periods(week, self._calendar))
        for period in periods:
            if period in going_on or period < self._first_period or period <= self._last_closed:
                continue
            self._last_closed = period
            for slice_name in (None, *slices):
                for measure in self._measures:
                    key = slice_name, measure.name, period
                    self._estimates[key] = estimate_period(self._open, measure, slice_name, period, self._calendar)
        self._open = [week for week in self._open if set(going_on).intersection(_list_periods(week, self._calendar))]

    def find_estimate(self, measure: Measure, slice_name: str | None, period: str) -> SampleEstimate:
        """Return the estimate of a measure over one period."""
        return self._estimates.get((slice_name, measure.name, period), SampleEstimate(None, 0, NO_ANSWERS))

    def find_sums(self, measure: Measure, slice_name: str | None) -> tuple[FloatArray, FloatArray]:
        """Return the weighted sums and weights of a measure by day, shape (days,)."""
        size = self._calendar.days
        return self._by_day.get((slice_name, measure.name), (np.zeros(size), np.zeros(size)))


def sum_by_day(
    weeks: Sequence[JudgedWeek], name: str, slice_name: str | None, days: int
) -> tuple[FloatArray, FloatArray]:
    """Return the weighted sums and weights of a measure by day, shape (days,); 0 where a week allows no estimate."""
    totals, sizes = np.zeros(days), np.zeros(days)
    for week in weeks:
        rows, reason = gather_judged([week], name, slice_name)
        if reason:
            continue
        weights = np.where(rows.applies, rows.weights, 0.0)
        totals += np.bincount(rows.days, weights=weights * rows.values, minlength=days)
        sizes += np.bincount(rows.days, weights=weights, minlength=days)
    return totals, sizes


def correct_estimate(estimate: Estimate, calibration: Calibration) -> tuple[Estimate | None, str]:
    """Return the estimate that people would have given, by the scorer's sensitivity and specificity, or why not."""
    sensitivity, specificity = calibration.sensitivity, calibration.specificity
    if sensitivity is None or specificity is None:
        return None, "the calibration has no items of one class"
    parts = specificity.value, specificity.n, sensitivity.value, sensitivity.n
    refused = explain_uncorrectable_rate(*parts)
    if refused:
        return None, refused
    return correct_rate(estimate.value, _count_effective(estimate), *parts), ""


def _count_effective(estimate: Estimate) -> int:
    """Return how many independent answers would give an interval of the same width."""
    half = max(1e-9, (estimate.bounds.high - estimate.bounds.low) / 2)
    share = min(max(estimate.value, 0.5 / 1000), 1 - 0.5 / 1000)
    return max(1, int(1.96**2 * share * (1 - share) / half**2))
