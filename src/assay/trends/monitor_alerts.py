"""Turns alarms of single days into alerts: when each began, and what changed at about that time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import structs

from assay.report.wording.metric_titles import format_metric_title
from assay.report.wording.number_format import format_number
from assay.stats.arrays import BoolArray, FloatArray
from assay.stats.bound_alarms import find_bound_alarms
from assay.stats.change_alarms import REFERENCE_DAYS, DayAlarm, LevelShift, find_day_alarm
from assay.stats.level_changes import COINCIDENCE_DAYS, LevelEpisode, LevelStep, Spread, follow_levels
from assay.stats.quantile_alarms import find_quantile_alarm
from assay.trends.metric_bounds import MetricBound, list_quarter_starts
from assay.trends.monitor_measures import Measure
from assay.trends.monitor_results import ChangedVersion, MonitorAlert
from assay.trends.traffic_sums import Calendar, DayBins
from assay.trends.version_changes import describe_deployments

EPISODE_DAYS = 28
"""How far late records may move the day of an alert."""
OPEN, ACKNOWLEDGED, QUIET = "open", "acknowledged", "quiet"


class WatchedSums(NamedTuple):
    """The daily sums of one monitor: a measure over all traffic (None) or a slice.

    `bins` are the values of a percentile by day, None for a mean. `bounds` are those that it should keep.
    """

    measure: Measure
    slice_name: str | None
    totals: FloatArray
    sizes: FloatArray
    bins: DayBins | None = None
    bounds: tuple[MetricBound, ...] = ()


def find_alerts(
    watched: Iterable[WatchedSums],
    calendar: Calendar,
    first_day: int,
    changes: Sequence[tuple[int, ChangedVersion]],
    false_alarms: float,
    seed: int,
) -> list[MonitorAlert]:
    """Return the alerts whose alarms fall on or after `first_day`, the latest first, grouped by when they began."""
    alerts: list[tuple[int, MonitorAlert]] = []
    for sums in watched:
        # The tests of one monitor share its budget of false alarms.
        share = false_alarms / (1 + len(sums.bounds))
        alerts += _find_changes(sums, calendar, first_day, changes, share, seed)
        for bound in sums.bounds:
            alerts += _find_bound_alerts(sums, bound, calendar, first_day, share)
    return sorted(_group_alerts(alerts), key=lambda alert: (alert.at, alert.slice or "", alert.metric), reverse=True)


def _find_changes(
    sums: WatchedSums,
    calendar: Calendar,
    first_day: int,
    changes: Sequence[tuple[int, ChangedVersion]],
    false_alarms: float,
    seed: int,
) -> list[tuple[int, MonitorAlert]]:
    """Return the alerts of a mean or a percentile that changed, each change of a level that had changed by itself."""
    measure = sums.measure
    watch = _MeanWatch(sums, false_alarms, seed) if sums.bins is None else _QuantileWatch(sums, false_alarms, seed)
    episodes = follow_levels(
        watch.sizes,
        first_day,
        calendar.days - 1,
        measure.direction,
        false_alarms,
        watch.find_alarm,
        _name_spread(measure),
        seed,
    )
    return [_make_alert(sums, watch, episode, calendar, changes) for episode in episodes]


def _name_spread(measure: Measure) -> Spread:
    """Return how the spread between days follows the level of a measure."""
    if measure.percentile is not None or (measure.low is not None and measure.high is not None):
        return "share"
    return "scale" if measure.low == 0 else "fixed"


class _MeanWatch:
    """The daily sums of a mean as shares of its range, if it has one, and the alarms on them."""

    def __init__(self, sums: WatchedSums, false_alarms: float, seed: int) -> None:
        measure = sums.measure
        self.sizes = sums.sizes
        self._false_alarms, self._seed, self._direction = false_alarms, seed, measure.direction
        is_bounded = measure.low is not None and measure.high is not None
        self._low = measure.low or 0.0 if is_bounded else 0.0
        self._width = (measure.high or 0.0) - self._low if is_bounded else 1.0
        self._totals = (sums.totals - self._low * sums.sizes) / self._width

    def find_alarm(self, day: int, usable: BoolArray) -> tuple[DayAlarm, FloatArray] | None:
        totals, sizes = self._totals * usable, self.sizes * usable
        alarm = find_day_alarm(totals, sizes, day, self._direction, self._false_alarms, self._seed)
        return None if alarm is None else (alarm, self._totals)

    def read_level(self, level: float, first: int, end: int) -> float:
        """Return the level of some days in the unit of the measure."""
        return self._low + self._width * level

    def read_bound(self, alarm: DayAlarm) -> float:
        return self._low + self._width * alarm.bound


class _QuantileWatch:
    """The values of a percentile by day, and the alarms on the share above it."""

    def __init__(self, sums: WatchedSums, false_alarms: float, seed: int) -> None:
        assert sums.bins is not None
        self._bins, self._measure = sums.bins, sums.measure
        self._false_alarms, self._seed = false_alarms, seed
        self.sizes: FloatArray = sums.bins.counts.sum(axis=1).astype(np.float64)
        self._above: dict[int, int] = {}
        self._usable: BoolArray | None = None
        self._counts = sums.bins.counts
        self._cumulated = np.cumsum(self._counts, axis=0, dtype=np.int64)

    def find_alarm(self, day: int, usable: BoolArray) -> tuple[DayAlarm, FloatArray] | None:
        if usable is not self._usable:
            self._usable = usable
            self._counts = self._bins.counts * usable[:, np.newaxis].astype(np.int32)
            self._cumulated = np.cumsum(self._counts, axis=0, dtype=np.int64)
        quantile, direction = self._measure.quantile, self._measure.direction
        quantile_alarm = find_quantile_alarm(
            self._counts, self._cumulated, quantile, day, direction, self._false_alarms, self._seed
        )
        if quantile_alarm is None:
            return None
        self._above[day] = quantile_alarm.above
        totals: FloatArray = self._bins.counts[:, quantile_alarm.above + 1 :].sum(axis=1).astype(np.float64)
        return quantile_alarm.alarm, totals

    def read_level(self, level: float, first: int, end: int) -> float:
        """Return the percentile of some days."""
        counts = self._bins.counts[max(0, first) : end].sum(axis=0, dtype=np.int64)
        return self._bins.read_quantile(counts, self._measure.quantile)

    def read_bound(self, alarm: DayAlarm) -> float:
        above = self._above.get(alarm.day)
        return self._bins.read_bin(max(self._above.values()) if above is None else above)


_Watch = _MeanWatch | _QuantileWatch


def _find_bound_alerts(
    sums: WatchedSums, bound: MetricBound, calendar: Calendar, first_day: int, false_alarms: float
) -> Iterator[tuple[int, MonitorAlert]]:
    """Yield the alerts of a metric that is beyond its bound, at most one for each calendar quarter."""
    measure, sizes = sums.measure, sums.sizes
    if sums.bins is not None:
        totals = sums.bins.sum_above(bound.limit)
    else:
        low, high = measure.low or 0.0, measure.high if measure.high is not None else 1.0
        totals = (sums.totals - low * sizes) / (high - low)
    quarters = [(day - calendar.first).days for day in list_quarter_starts(calendar.first, calendar.last)]
    share = bound.normalise(measure)
    for alarm in find_bound_alarms(totals, sizes, share, bound.direction, quarters, false_alarms):
        if alarm.day < first_day:
            continue
        value = read_level(sums, slice(alarm.since, alarm.day + 1))
        since = calendar.name_day(alarm.since)
        side = "above" if bound.direction > 0 else "below"
        watched = _name_watched(measure, sums.slice_name)
        limit, level = (format_number(number, measure.name) for number in (bound.limit, value))
        text = f"{watched} is {side} its bound of {limit}: {level} since {since} at the latest"
        yield (
            alarm.since,
            MonitorAlert(
                id=make_alert_id(str(bound), sums.slice_name, calendar.name_day(alarm.day)),
                at=calendar.name_day(alarm.day),
                metric=measure.name,
                slice=sums.slice_name,
                value=value,
                before=None,
                bound=bound.limit,
                p=alarm.p,
                window_days=alarm.day - alarm.since + 1,
                change_point=since,
                since=(),
                group="",
                text=text,
                state=OPEN,
                kind="bound",
            ),
        )


def read_level(sums: WatchedSums, days: slice) -> float:
    """Return the mean or percentile of some days, of which one at least has values."""
    if sums.bins is not None:
        return sums.bins.read_quantile(sums.bins.counts[days].sum(axis=0, dtype=np.int64), sums.measure.quantile)
    return float(sums.totals[days].sum() / sums.sizes[days].sum())


def _make_alert(
    sums: WatchedSums,
    watch: _Watch,
    episode: LevelEpisode,
    calendar: Calendar,
    changes: Sequence[tuple[int, ChangedVersion]],
) -> tuple[int, MonitorAlert]:
    """Return an alert with the day on which its new level began, as far as that can be told, and its end."""
    alarm, step = episode.alarm, episode.step
    # A version that takes over at noon makes most answers of the next day only.
    since = tuple(version for day, version in changes if step.earliest - 1 <= day <= step.latest + 1)
    first = max(0, alarm.day - alarm.window + 1 - REFERENCE_DAYS)
    before = watch.read_level(step.before, first, step.day)
    after = watch.read_level(step.after, step.day, alarm.day + 1)
    when = f"on about {_name_days(step, calendar)}"
    text = _describe_change(sums, LevelShift(step.day, before, after), when, since, is_further=episode.is_further)
    later, ended = _describe_later(sums, watch, episode, calendar), episode.ended
    value_since = None if ended is None else _read_later(watch, ended, calendar)
    alert = MonitorAlert(
        id=make_alert_id(sums.measure.name, sums.slice_name, calendar.name_day(alarm.day)),
        at=calendar.name_day(alarm.day),
        metric=sums.measure.name,
        slice=sums.slice_name,
        value=after,
        before=before,
        bound=watch.read_bound(alarm),
        p=alarm.p,
        window_days=alarm.window,
        change_point=calendar.name_day(step.day),
        since=since,
        group="",
        text=f"{text}{later}",
        state=OPEN,
        ended=None if ended is None else calendar.name_day(ended.day),
        ended_value=value_since,
    )
    return step.day, alert


def _name_days(step: LevelStep, calendar: Calendar) -> str:
    """Return the estimated day of a step, with the days on which it may have been."""
    day = calendar.name_day(step.day)
    if step.earliest >= step.latest:
        return day
    return (
        f"{day} (between {calendar.name_day(step.earliest)} and {calendar.name_day(step.latest)}, with 95% confidence)"
    )


def _read_later(watch: _Watch, step: LevelStep, calendar: Calendar) -> float:
    return watch.read_level(step.after, step.day, calendar.days)


def _describe_later(sums: WatchedSums, watch: _Watch, episode: LevelEpisode, calendar: Calendar) -> str:
    """Return what became of a change: back since when, or nearer to the level before; "" while it lasts unchanged."""
    step = episode.ended or episode.eased
    if step is None:
        return ""
    level = format_number(_read_later(watch, step, calendar), sums.measure.name)
    if episode.ended is not None:
        return f"; back to {level} since {_name_days(step, calendar)}"
    return f"; nearer to the level before since {_name_days(step, calendar)}: {level}"


def make_alert_id(metric: str, slice_name: str | None, day: str) -> str:
    """Return the id of an alert, which is the same in every run that finds it on the same day."""
    digest = hashlib.sha256(f"{metric}\n{slice_name or ''}\n{day}".encode()).hexdigest()
    return f"alert-{digest[:10]}"


def _describe_change(
    sums: WatchedSums, change: LevelShift, when: str, since: Sequence[ChangedVersion], *, is_further: bool
) -> str:
    measure = sums.measure
    verb = "rose" if change.after > change.before else "fell"
    further = " further" if is_further else ""
    before, after = (format_number(level, measure.name) for level in (change.before, change.after))
    text = f"{_name_watched(measure, sums.slice_name)} {verb}{further} from {before} to {after} {when}"
    if not since:
        return f"{text}; no version changed at about that time"
    names = "; ".join(f"{changed} on {day}" for day, changed in describe_deployments(since))
    return f"{text}; at about that time {names} (a coincidence in time, which does not show the cause)"


def _name_watched(measure: Measure, slice_name: str | None) -> str:
    where = "" if slice_name is None else f" in {slice_name}"
    caveat = f" ({measure.caveat})" if measure.caveat else ""
    return f"{format_metric_title(measure.name)}{where}{caveat}"


def _group_alerts(alerts: Sequence[tuple[int, MonitorAlert]]) -> list[MonitorAlert]:
    """Give alerts that began within days of each other one group, named by the first of them."""
    grouped: list[MonitorAlert] = []
    last_day, group = None, ""
    for day, alert in sorted(alerts, key=lambda row: (row[0], row[1].slice is not None, row[1].metric, row[1].id)):
        if last_day is None or day - last_day > COINCIDENCE_DAYS:
            group = alert.id
        last_day = day
        grouped.append(structs.replace(alert, group=group))
    return grouped


def describe_groups(alerts: Sequence[MonitorAlert]) -> list[str]:
    """Return one line for each group of alerts that are not acknowledged: what changed most, since when, and where."""
    groups: dict[str, list[MonitorAlert]] = {}
    for alert in alerts:
        if alert.state != ACKNOWLEDGED:
            groups.setdefault(alert.group, []).append(alert)
    lines = []
    for members in groups.values():
        head = min(members, key=_rank_alert)
        others = sorted({_name_series(alert) for alert in members} - {_name_series(head)})
        more = f"; with it: {', '.join(others[:5])}{' …' if len(others) > 5 else ''}" if others else ""
        lines.append(f"{head.text}{more}")
    return lines


def _name_series(alert: MonitorAlert) -> str:
    where = f" in {alert.slice}" if alert.slice else ""
    return f"{format_metric_title(alert.metric)}{where}"


def _rank_alert(alert: MonitorAlert) -> tuple[bool, float, bool, str, str]:
    """Return the rank of an alert within its group: all traffic first, then the surest, then what users are hurt by."""
    return alert.slice is not None, alert.p, "hallucination" not in alert.metric, alert.metric, alert.slice or ""


def apply_states(
    alerts: Sequence[MonitorAlert], acknowledged: Mapping[str, str], is_quiet: bool
) -> tuple[MonitorAlert, ...]:
    """Return the alerts with their states; `acknowledged` has the person by the id of the alert."""
    states: list[MonitorAlert] = []
    for alert in alerts:
        if alert.id in acknowledged:
            states.append(structs.replace(alert, state=ACKNOWLEDGED, acknowledged_by=acknowledged[alert.id]))
        else:
            states.append(structs.replace(alert, state=QUIET if is_quiet else OPEN))
    return tuple(states)
