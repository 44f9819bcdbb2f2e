"""Follows the level of a daily rate through its changes: alarms, what comes after one while it lasts, and its end.

While nothing has changed, each day is tested as in `change_alarms`. Once an alarm has found a new level, the weeks
before it are no comparison for what comes next: the last days are compared with the days of the new level, by a t-test
whose spread between days is that of both levels. A day has tests of one kind only, so that the level of all tests of a
quarter still adds up to the promised number of false alarms; ends of a change are tested at the same level. After four
weeks the new level is a comparison like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np

from assay.stats.arrays import BoolArray, FloatArray
from assay.stats.change_alarms import (
    LEAST_REFERENCE_DAYS,
    QUARTER_DAYS,
    REFERENCE_DAYS,
    WINDOWS,
    DayAlarm,
    LevelShift,
    find_change_interval,
    find_change_point,
    find_day_alarm,
)
from assay.stats.distributions import compute_t_tail

WEEK = 7
COINCIDENCE_DAYS = 2
"""How far a change may lie from its estimated day where too few days have values for an interval."""
_LEAST_LEVEL_DAYS = 4
_BACK_LEVEL = 0.05
"""The p-value from which on a level does not differ from the one before the change: the metric is back."""


class LevelStep(NamedTuple):
    """A change of level on day `day`, with 95% confidence between `earliest` and `latest`."""

    day: int
    earliest: int
    latest: int
    before: float
    after: float


class LevelEpisode(NamedTuple):
    """An alarm and what became of it.

    `totals` are the daily sums whose level changed. `is_further`: the level had changed before, and that change was not
    over. `eased` is the last step towards the level before that did not reach it, `ended` the one that did.
    """

    alarm: DayAlarm
    step: LevelStep
    totals: FloatArray
    is_further: bool = False
    eased: LevelStep | None = None
    ended: LevelStep | None = None


Spread = Literal["share", "scale", "fixed"]
"""How the spread between days follows the level m: as m·(1 − m), as m², or not at all."""
FindAlarm = Callable[[int, BoolArray], tuple[DayAlarm, FloatArray] | None]
"""Returns the alarm of a day, compared with those earlier days that are usable, and the daily sums it is about."""


def follow_levels(
    sizes: FloatArray,
    first_day: int,
    last_day: int,
    direction: int,
    false_alarms: float,
    find_alarm: FindAlarm,
    spread: Spread = "share",
    seed: int = 0,
) -> list[LevelEpisode]:
    """Return the episodes of a rate from `first_day` to `last_day` in the order of their alarms.

    `direction` is that of the alarms; rates lie from 0 to 1 where `spread` is `share`.
    """
    follower = _Follower(sizes, direction, false_alarms, find_alarm, spread, seed)
    for day in range(max(0, first_day), last_day + 1):
        if sizes[day] > 0:
            follower.look_at(day)
    return follower.close(last_day)


class _Follower:
    """What is known after each day: the usable days, the days of the present level, and the changes that last."""

    def __init__(
        self,
        sizes: FloatArray,
        direction: int,
        false_alarms: float,
        find_alarm: FindAlarm,
        spread: Spread,
        seed: int,
    ) -> None:
        self._sizes, self._direction, self._seed = sizes, direction, seed
        self._false_alarms, self._find_alarm, self._spread = false_alarms, find_alarm, spread
        self._level = false_alarms / QUARTER_DAYS / len(WINDOWS)
        self._usable: BoolArray = np.ones(len(sizes), dtype=np.bool_)
        self._before: BoolArray = self._usable
        self._lasting: list[int] = []
        self._episodes: list[LevelEpisode] = []
        self._start = 0
        self._steps: list[int] = []

    def look_at(self, day: int) -> None:
        if not self._lasting:
            self._look_for_alarm(day)
        elif np.count_nonzero(self._sizes[self._start : day + 1]) < LEAST_REFERENCE_DAYS + min(WINDOWS):
            self._look_within(day)
        else:
            self._look_at_settled(day)

    def close(self, last_day: int) -> list[LevelEpisode]:
        """Return the episodes, with the mean of the days after each later step up to the next one."""
        closed = []
        for episode in self._episodes:
            eased, ended = (self._complete(step, episode.totals, last_day) for step in (episode.eased, episode.ended))
            closed.append(episode._replace(eased=None if ended is not None else eased, ended=ended))
        return closed

    def _complete(self, step: LevelStep | None, totals: FloatArray, last_day: int) -> LevelStep | None:
        if step is None:
            return None
        end = min((day for day in self._steps if day > step.day), default=last_day + 1)
        size = float(self._sizes[step.day : end].sum())
        return step if size <= 0 else step._replace(after=float(totals[step.day : end].sum()) / size)

    # ── tests ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _look_for_alarm(self, day: int) -> None:
        placed_alarm = self._find_alarm(day, self._usable)
        if placed_alarm is None:
            return
        alarm, totals = placed_alarm
        first = max(0, alarm.day - alarm.window + 1 - REFERENCE_DAYS)
        step = self._date_step(totals * self._usable, self._sizes * self._usable, first, alarm)
        self._before = self._usable & (np.arange(len(self._sizes)) < step.day)
        self._begin(alarm, step, totals, is_further=False)

    def _look_within(self, day: int) -> None:
        """Compare the last days with those of the level that began not long ago."""
        totals = self._episodes[-1].totals
        for window in WINDOWS:
            first = day - window + 1
            if np.count_nonzero(self._sizes[self._start : max(self._start, first)]) < _LEAST_LEVEL_DAYS:
                break
            if self._sizes[first : day + 1].sum() <= 0:
                continue
            level, recent = self._read_level(totals, self._start, first), self._read_level(totals, first, day + 1)
            p = self._compare_levels(totals, (self._start, first), (first, day + 1))
            if p <= self._level:
                alarm = DayAlarm(day, window, recent, level, level, p)
                self._take_step(alarm, totals)
                return

    def _look_at_settled(self, day: int) -> None:
        """Compare the last days with the level that began four weeks ago or more, as if there had been none before."""
        totals, since = self._episodes[-1].totals, np.arange(len(self._sizes)) >= self._start
        sums = totals * since, self._sizes * since
        sides = (self._direction, -self._direction) if self._direction else (0,)
        for side in sides:
            alarm = find_day_alarm(*sums, day, side, self._false_alarms, self._seed)
            if alarm is not None:
                self._take_step(alarm, totals)
                return

    def _compare_levels(self, totals: FloatArray, before: tuple[int, int], after: tuple[int, int]) -> float:
        """Return the p-value of a difference between two stretches of days, in its own direction."""
        past, spread, degrees = self._describe_past(totals)
        sums, numbers = [], []
        for first, end in (before, after):
            factor = self._unit(self._read_level(totals, first, end)) ** self._power() if past.any() else 0.0
            sums.append(float((totals - factor * past * self._sizes)[first:end].sum()))
            numbers.append(float(self._sizes[first:end].sum()))
        pooled = sum(sums) / sum(numbers)
        error = sqrt(max(0.0, spread * self._unit(pooled) * (1 / numbers[0] + 1 / numbers[1])))
        difference = abs(sums[1] / numbers[1] - sums[0] / numbers[0])
        if error <= 0:
            return 1.0
        # A rise and a fall are tests of their own where only one of them is an alarm.
        return compute_t_tail(difference / error, degrees) / (2 if self._direction else 1)

    def _describe_past(self, totals: FloatArray) -> tuple[FloatArray, float, int]:
        """Return what each day's weekday adds to its level, the spread between days over its unit, and its df.

        Both from the days before the first change, as far as the window of comparison reaches, and those of the present
        level; what chance alone lets weekdays differ is taken off (James and Stein).
        """
        days = np.arange(len(self._sizes))
        since = days[self._before & (self._sizes > 0)][-REFERENCE_DAYS:]
        now = days[(days >= self._start) & (self._sizes > 0)][:WEEK]
        weekdays = days % WEEK
        rate = float(totals[since].sum() / self._sizes[since].sum())
        weights = np.bincount(weekdays[since], weights=self._sizes[since], minlength=WEEK)
        shown = weights > 0
        offsets = np.zeros(WEEK)
        offsets[shown] = np.bincount(weekdays[since], weights=totals[since], minlength=WEEK)[shown] / weights[shown]
        offsets[shown] -= rate
        squares = ((totals - (rate + offsets[weekdays]) * self._sizes)[since] ** 2 / self._sizes[since]).sum()
        degrees = max(1, len(since) - int(shown.sum()))
        variance, between = float(squares) / degrees, float((weights * offsets**2).sum())
        kept = max(0.0, 1 - max(0, int(shown.sum()) - 3) * variance / between) if between > 0 else 0.0
        level = self._read_level(totals, self._start, int(now[-1]) + 1) if len(now) else rate
        ratios = [(variance / self._unit(rate), degrees)] if self._unit(rate) > 0 else []
        if len(now) >= _LEAST_LEVEL_DAYS and self._unit(level) > 0:
            own = float(((totals - level * self._sizes)[now] ** 2 / self._sizes[now]).sum()) / (len(now) - 1)
            ratios.append((own / self._unit(level), len(now) - 1))
        freedom = sum(number for _, number in ratios)
        spread = sum(ratio * number for ratio, number in ratios) / freedom if freedom else 1.0
        past: FloatArray = kept * offsets[weekdays] / max(1e-12, self._unit(rate) ** self._power())
        return past, spread, max(1, freedom)

    def _unit(self, level: float) -> float:
        if self._spread == "share":
            return max(0.0, level * (1 - level))
        return level**2 if self._spread == "scale" else 1.0

    def _power(self) -> float:
        """Return the power of the unit with which differences of weekdays follow the level."""
        return 0.5 if self._spread == "scale" else 1.0

    def _read_level(self, totals: FloatArray, first: int, end: int) -> float:
        return float(totals[first:end].sum() / self._sizes[first:end].sum())

    # ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _date_step(self, totals: FloatArray, sizes: FloatArray, first: int, alarm: DayAlarm) -> LevelStep:
        change = find_change_point(totals, sizes, first, alarm.day)
        change = change or LevelShift(alarm.day, alarm.before, alarm.value)
        earliest, latest = find_change_interval(totals, sizes, first, alarm.day) or (
            change.day - COINCIDENCE_DAYS,
            min(alarm.day, change.day + COINCIDENCE_DAYS),
        )
        return LevelStep(change.day, earliest, latest, change.before, change.after)

    def _begin(self, alarm: DayAlarm, step: LevelStep, totals: FloatArray, *, is_further: bool) -> None:
        self._lasting.append(len(self._episodes))
        self._episodes.append(LevelEpisode(alarm, step, totals, is_further))
        self._start = step.day
        self._steps.append(step.day)

    def _take_step(self, alarm: DayAlarm, totals: FloatArray) -> None:
        """Take note of a change of a level that had changed: a further one, a step back, or the end."""
        step = self._date_step(totals, self._sizes, self._start, alarm)
        latest = self._episodes[self._lasting[-1]]
        rises = step.after > step.before
        was_rise = latest.step.after > latest.step.before
        if rises == was_rise:
            self._begin(alarm, step, totals, is_further=True)
            return
        self._start = step.day
        self._steps.append(step.day)
        while self._lasting and self._is_back(self._episodes[self._lasting[-1]], alarm):
            number = self._lasting.pop()
            self._episodes[number] = self._episodes[number]._replace(ended=step)
        if self._lasting:
            number = self._lasting[-1]
            self._episodes[number] = self._episodes[number]._replace(eased=step)
            return
        first = min(episode.step.day for episode in self._episodes if episode.ended == step)
        days = np.arange(len(self._sizes))
        self._usable = self._usable & ((days < first) | (days >= step.day))

    def _is_back(self, episode: LevelEpisode, alarm: DayAlarm) -> bool:
        """Return whether the level since a step is not beyond the one before an episode, as far as can be told."""
        recent = self._read_level(episode.totals, self._start, alarm.day + 1)
        is_rise = episode.step.after > episode.step.before
        if (recent - episode.step.before) * (1 if is_rise else -1) <= 0:
            return True
        days = np.arange(len(self._sizes))
        if episode.is_further:
            earlier = [step for step in self._steps if step < episode.step.day]
            before = (days >= max(earlier)) & (days < episode.step.day)
        else:
            before = self._before
        numbers = (
            float(self._sizes[before][-REFERENCE_DAYS:].sum()),
            float(self._sizes[self._start : alarm.day + 1].sum()),
        )
        _, spread, degrees = self._describe_past(episode.totals)
        pooled = (episode.step.before * numbers[0] + recent * numbers[1]) / sum(numbers)
        error = sqrt(max(1e-300, spread * self._unit(pooled) * (1 / numbers[0] + 1 / numbers[1])))
        return compute_t_tail(abs(recent - episode.step.before) / error, degrees) > _BACK_LEVEL
