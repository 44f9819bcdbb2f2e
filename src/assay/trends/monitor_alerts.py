"""Turns alarms of single days into alerts: when each began, and what changed at about that time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import structs

from assay.report.wording.number_format import format_number
from assay.stats.arrays import FloatArray
from assay.stats.bound_alarms import find_bound_alarms
from assay.stats.change_alarms import (
    REFERENCE_DAYS,
    DayAlarm,
    LevelShift,
    find_change_interval,
    find_change_point,
    find_day_alarms,
)
from assay.stats.quantile_alarms import find_quantile_alarms
from assay.trends.metric_bounds import MetricBound, list_quarter_starts
from assay.trends.monitor_measures import Measure
from assay.trends.monitor_results import ChangedVersion, MonitorAlert
from assay.trends.traffic_sums import Calendar, DayBins

EPISODE_DAYS = 28
"""Alarms of one monitor that lie no further apart are one alert."""
COINCIDENCE_DAYS = 2
"""How far a version change may lie from an estimated change point to be named with it."""
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
    """Return the alerts of a mean or a percentile that changed."""
    last_day, direction = calendar.days - 1, sums.measure.direction
    if sums.bins is None:
        alarms = find_day_alarms(sums.totals, sums.sizes, first_day, last_day, direction, false_alarms, seed)
        return [_make_alert(sums, episode, calendar, changes) for episode in _split_episodes(alarms)]
    counts, quantile = sums.bins.counts, sums.measure.quantile
    found = find_quantile_alarms(counts, quantile, first_day, last_day, direction, false_alarms, seed)
    by_day = {alarm.alarm.day: alarm for alarm in found}
    alerts = []
    for episode in _split_episodes([alarm.alarm for alarm in found]):
        alarm = by_day[episode[0].day]
        totals: FloatArray = counts[:, alarm.above + 1 :].sum(axis=1).astype(np.float64)
        day, alert = _make_alert(sums._replace(totals=totals), episode, calendar, changes)
        before, value = sums.bins.read_bin(alarm.before), sums.bins.read_bin(alarm.after)
        shift = LevelShift(day, before, value)
        text = _describe_change(sums.measure, sums.slice_name, shift, calendar.name_day(day), alert.since)
        shifted = structs.replace(alert, value=value, before=before, bound=sums.bins.read_bin(alarm.above), text=text)
        alerts.append((day, shifted))
    return alerts


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


def _split_episodes(alarms: Sequence[DayAlarm]) -> list[list[DayAlarm]]:
    episodes: list[list[DayAlarm]] = []
    for alarm in alarms:
        if episodes and alarm.day - episodes[-1][-1].day <= EPISODE_DAYS:
            episodes[-1].append(alarm)
        else:
            episodes.append([alarm])
    return episodes


def _make_alert(
    sums: WatchedSums, episode: Sequence[DayAlarm], calendar: Calendar, changes: Sequence[tuple[int, ChangedVersion]]
) -> tuple[int, MonitorAlert]:
    """Return an alert with the day on which its new level began, as far as that can be told."""
    alarm = episode[0]
    start = max(0, alarm.day - alarm.window + 1 - REFERENCE_DAYS)
    change = find_change_point(sums.totals, sums.sizes, start, alarm.day)
    change = change or LevelShift(alarm.day, alarm.before, alarm.value)
    earliest, latest = find_change_interval(sums.totals, sums.sizes, start, alarm.day) or (
        change.day - COINCIDENCE_DAYS,
        min(alarm.day, change.day + COINCIDENCE_DAYS),
    )
    # A version that takes over at noon makes most answers of the next day only.
    since = tuple(version for day, version in changes if earliest - 1 <= day <= latest + 1)
    when = f"on about {calendar.name_day(change.day)}"
    if earliest < latest:
        when += f" (between {calendar.name_day(earliest)} and {calendar.name_day(latest)}, with 95% confidence)"
    text = _describe_change(sums.measure, sums.slice_name, change, when, since)
    alert = MonitorAlert(
        id=make_alert_id(sums.measure.name, sums.slice_name, calendar.name_day(alarm.day)),
        at=calendar.name_day(alarm.day),
        metric=sums.measure.name,
        slice=sums.slice_name,
        value=alarm.value,
        before=alarm.before,
        bound=alarm.bound,
        p=alarm.p,
        window_days=alarm.window,
        change_point=calendar.name_day(change.day),
        since=since,
        group="",
        text=text,
        state=OPEN,
    )
    return change.day, alert


def make_alert_id(metric: str, slice_name: str | None, day: str) -> str:
    """Return the id of an alert, which is the same in every run that finds it on the same day."""
    digest = hashlib.sha256(f"{metric}\n{slice_name or ''}\n{day}".encode()).hexdigest()
    return f"alert-{digest[:10]}"


def _describe_change(
    measure: Measure, slice_name: str | None, change: LevelShift, when: str, since: Sequence[ChangedVersion]
) -> str:
    verb = "rose" if change.after > change.before else "fell"
    before, after = (format_number(level, measure.name) for level in (change.before, change.after))
    text = f"{_name_watched(measure, slice_name)} {verb} from {before} to {after} {when}"
    if not since:
        return f"{text}; no version changed at about that time"
    changed = [f"{row.name} changed from {row.before} to {row.after} on {row.at}" for row in since]
    names = ", ".join(changed)
    return f"{text}; at about that time {names} (a coincidence in time, which does not show the cause)"


def _name_watched(measure: Measure, slice_name: str | None) -> str:
    where = "" if slice_name is None else f" in {slice_name}"
    caveat = f" ({measure.caveat})" if measure.caveat else ""
    return f"{measure.name}{where}{caveat}"


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
        others = sorted(
            {f"{alert.metric}{f' in {alert.slice}' if alert.slice else ''}" for alert in members}
            - {f"{head.metric}{f' in {head.slice}' if head.slice else ''}"}
        )
        more = f"; with it: {', '.join(others[:5])}{' …' if len(others) > 5 else ''}" if others else ""
        lines.append(f"{head.text}{more}")
    return lines


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
