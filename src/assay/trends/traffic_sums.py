"""Sums of a stream of answers in time order: by day for alarms, by period and group of users for intervals.

Memory does not grow with the number of answers: users fall into a fixed number of groups by a digest of their
pseudonym, and the sums of a period become estimates when the period is over.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.records.audit_records import AuditRecord
from assay.stats.arrays import BoolArray, FloatArray, IndexArray
from assay.stats.intervals import Estimate
from assay.stats.quantile_alarms import CountArray, find_quantile_bin
from assay.stats.weighted_estimates import estimate_mean_of_groups
from assay.trends.monitor_measures import Measure

USER_GROUPS = 512
MICROSECONDS_PER_DAY = 86_400_000_000
DAYS_PER_WEEK = 7
_BINS_PER_DOUBLING = 64
"""Bins of the histogram from which percentiles are read: 1.1% wide."""
SeriesKey = tuple[str | None, str]
"""A slice (None: all traffic) and a measure."""


class Calendar:
    """The days and periods that are looked at; days are counted from a Monday, so that `day % 7` is the weekday."""

    def __init__(self, first: date, last: date, by: str) -> None:
        """`first` and `last` are inclusive; `by` is day, week or month."""
        self.by = by
        self.first = first - timedelta(days=first.weekday())
        self.last = last
        self.days = (last - self.first).days + 1

    def find_day(self, at: int) -> int:
        """Return the number of the day of a time in microseconds since 1970."""
        return at // MICROSECONDS_PER_DAY - (self.first - date(1970, 1, 1)).days

    def count_microseconds(self, day: int) -> int:
        """Return when a day begins, in microseconds since 1970."""
        return ((self.first - date(1970, 1, 1)).days + day) * MICROSECONDS_PER_DAY

    def name_day(self, day: int) -> str:
        """Return the date of a day."""
        return (self.first + timedelta(days=day)).isoformat()

    def find_period(self, day: int) -> str:
        """Return the date on which the period of a day begins."""
        current = self.first + timedelta(days=day)
        if self.by == "month":
            return current.replace(day=1).isoformat()
        return (current - timedelta(days=current.weekday() if self.by == "week" else 0)).isoformat()

    def label_period(self, begin: str) -> str:
        """Return the name of a period: 2026-03-02, 2026-W10 or 2026-03."""
        if self.by == "month":
            return begin[:7]
        if self.by == "week":
            year, week, _ = date.fromisoformat(begin).isocalendar()
            return f"{year}-W{week:02}"
        return begin

    def list_periods(self, first: date) -> list[str]:
        """Return the beginnings of all periods from that of `first` to the last day."""
        days = range(max(0, (first - self.first).days), self.days)
        return list(dict.fromkeys(self.find_period(day) for day in days))


def parse_day(microseconds: int) -> date:
    """Return the date (UTC) of a time in microseconds since 1970."""
    return datetime.fromtimestamp(microseconds // 1_000_000, UTC).date()


def find_user_group(record: AuditRecord) -> int:
    """Return the group of the user of an answer; an answer without user is by itself."""
    return zlib.crc32((record.user_uid or f"answer:{record.id}").encode("utf-8", "surrogatepass")) % USER_GROUPS


class PeriodEstimate(NamedTuple):
    """What is known of one measure in one period: the estimate, and how many answers it rests on.

    Of `unknown` more answers, the rules cannot tell the value.
    """

    estimate: Estimate | None
    scored: int
    unknown: int = 0


class TrafficSums:
    """The sums of all answers so far. Blocks of rows come in time order, each within one period."""

    def __init__(self, calendar: Calendar, measures: Sequence[Measure]) -> None:
        self.calendar = calendar
        self.measures = {measure.name: measure for measure in measures}
        self.totals: dict[SeriesKey, FloatArray] = {}
        self.sizes: dict[SeriesKey, FloatArray] = {}
        self.answers: dict[str | None, FloatArray] = {}
        self.estimates: dict[tuple[SeriesKey, str], PeriodEstimate] = {}
        self.bins: dict[SeriesKey, DayBins] = {}
        self.counts: dict[tuple[str | None, str], int] = {}
        self._period: str | None = None
        self._groups: dict[SeriesKey, tuple[FloatArray, FloatArray]] = {}
        self._counts: Counter[str | None] = Counter()
        self._unknown: Counter[SeriesKey] = Counter()
        self._weeks: dict[str, tuple[FloatArray, FloatArray]] = {}

    def add_rows(
        self,
        days: IndexArray,
        groups: IndexArray,
        slices: Mapping[str | None, BoolArray],
        values: Mapping[str, FloatArray],
        unknown: Mapping[str, BoolArray],
    ) -> None:
        """Add rows of one period, with NaN where an answer has no value; in some cases because it is `unknown`."""
        period = self.calendar.find_period(int(days[0]))
        if period != self._period:
            self.close_period()
            self._period = period
        for slice_name, rows in slices.items():
            number = int(rows.sum())
            if not number:
                continue
            self._counts[slice_name] += number
            per_day = self.answers.setdefault(slice_name, np.zeros(self.calendar.days))
            per_day += np.bincount(days[rows], minlength=self.calendar.days)
            for name, column in values.items():
                scored = rows & ~np.isnan(column)
                if scored.any():
                    self._add_values((slice_name, name), days[scored], groups[scored], column[scored])
                self._unknown[slice_name, name] += int((rows & unknown[name]).sum())

    def _add_values(self, key: SeriesKey, days: IndexArray, groups: IndexArray, values: FloatArray) -> None:
        size = self.calendar.days
        if key not in self.totals:
            self.totals[key], self.sizes[key] = np.zeros(size), np.zeros(size)
        self.totals[key] += np.bincount(days, weights=values, minlength=size)
        self.sizes[key] += np.bincount(days, minlength=size)
        if self.measures[key[1]].percentile is not None:
            self.bins.setdefault(key, DayBins(size)).add_values(days, values)
        if key not in self._groups:
            self._groups[key] = np.zeros(USER_GROUPS), np.zeros(USER_GROUPS)
        totals, sizes = self._groups[key]
        totals += np.bincount(groups, weights=values, minlength=USER_GROUPS)
        sizes += np.bincount(groups, minlength=USER_GROUPS)
        if key[0] is None:
            self._add_to_weeks(key[1], days, groups, values)

    def _add_to_weeks(self, name: str, days: IndexArray, groups: IndexArray, values: FloatArray) -> None:
        """Add values of the last seven days of all, and of the seven before, by group of users."""
        weeks = (days - (self.calendar.days - 2 * DAYS_PER_WEEK)) // DAYS_PER_WEEK
        rows = weeks >= 0
        if not rows.any():
            return
        places = weeks[rows] * USER_GROUPS + groups[rows]
        totals, sizes = self._weeks.setdefault(name, (np.zeros(2 * USER_GROUPS), np.zeros(2 * USER_GROUPS)))
        totals += np.bincount(places, weights=values[rows], minlength=2 * USER_GROUPS)
        sizes += np.bincount(places, minlength=2 * USER_GROUPS)

    def get_last_weeks(self, name: str) -> tuple[FloatArray, FloatArray] | None:
        """Return sums and counts of the seven days before the last seven and of the last seven, each of shape
        (2, groups of users); None for a measure without values in one of them."""
        totals, sizes = self._weeks.get(name, (np.zeros(2 * USER_GROUPS), np.zeros(2 * USER_GROUPS)))
        by_week = totals.reshape(2, USER_GROUPS), sizes.reshape(2, USER_GROUPS)
        return by_week if by_week[1].any(axis=1).all() else None

    def get_last_days(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Return sums and counts of a measure on each of the last fourteen days, of shape (2, 7): the same weekdays are
        in one column."""
        days = slice(-2 * DAYS_PER_WEEK, None)
        totals, sizes = self.totals[None, name][days], self.sizes[None, name][days]
        return totals.reshape(2, DAYS_PER_WEEK), sizes.reshape(2, DAYS_PER_WEEK)

    def close_period(self) -> None:
        """Turn the sums of the current period into estimates."""
        if self._period is None:
            return
        for key, (totals, sizes) in self._groups.items():
            measure = self.measures[key[1]]
            is_mean = measure.percentile is None
            estimate = estimate_mean_of_groups(totals, sizes, measure.low, measure.high) if is_mean else None
            self.estimates[key, self._period] = PeriodEstimate(estimate, int(sizes.sum()), self._unknown[key])
        for slice_name, number in self._counts.items():
            self.counts[slice_name, self._period] = number
        self._groups, self._counts, self._unknown, self._period = {}, Counter(), Counter(), None

    def read_percentile(self, key: SeriesKey, period: str) -> float | None:
        """Return the percentile of a measure in a period, None without a value in it."""
        bins = self.bins.get(key)
        days = [day for day in range(self.calendar.days) if self.calendar.find_period(day) == period]
        if bins is None or not bins.counts[days].any():
            return None
        value = bins.read_quantile(bins.counts[days].sum(axis=0, dtype=np.int64), self.measures[key[1]].quantile)
        return float(np.clip(value, bins.lowest[days].min(), bins.highest[days].max()))


class DayBins:
    """How many values of each day lie in which bin of a logarithmic scale; bins are added as values come.

    `lowest` and `highest` are the values at the ends of each day, infinite on a day without values.
    """

    def __init__(self, days: int) -> None:
        self.first = 0
        self.lowest: FloatArray = np.full(days, np.inf)
        self.highest: FloatArray = np.full(days, -np.inf)
        self.counts: CountArray = np.zeros((days, 0), dtype=np.int32)

    def add_values(self, days: IndexArray, values: FloatArray) -> None:
        """Count values; those below a billionth are counted as that."""
        numbers = find_bins(values)
        low, high = int(numbers.min()), int(numbers.max())
        width = self.counts.shape[1]
        if not width:
            self.first = low
        before, after = max(0, self.first - low), max(0, high + 1 - self.first - width)
        if before or after:
            self.counts = np.pad(self.counts, ((0, 0), (before, after)))
            self.first -= before
        np.add.at(self.counts, (days, numbers - self.first), 1)
        np.minimum.at(self.lowest, days, values)
        np.maximum.at(self.highest, days, values)

    def read_quantile(self, counts: NDArray[np.int64], quantile: float) -> float:
        """Return a quantile (nearest rank) of counted values: the geometric middle of its bin."""
        return self.read_bin(find_quantile_bin(counts, quantile))

    def read_bin(self, position: int) -> float:
        """Return the geometric middle of a bin."""
        return float(2.0 ** ((self.first + position + 0.5) / _BINS_PER_DOUBLING))

    def sum_above(self, limit: float) -> FloatArray:
        """Return how many values of each day lie in bins above that of a limit."""
        position = int(find_bins(np.array([limit]))[0]) - self.first + 1
        totals: FloatArray = self.counts[:, max(0, position) :].sum(axis=1).astype(np.float64)
        return totals


def find_bins(values: FloatArray) -> IndexArray:
    """Return the numbers of the bins of some values."""
    numbers: IndexArray = np.floor(np.log2(np.maximum(values, 1e-9)) * _BINS_PER_DOUBLING).astype(np.int64)
    return numbers
