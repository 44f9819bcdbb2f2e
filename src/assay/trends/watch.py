"""What a monitor watched, since when, and what it could not watch: that nothing alerted says little without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Literal

import numpy as np

from assay.records.counts import format_count, join_first
from assay.report.wording.metric_titles import format_metric_title
from assay.report.wording.number_format import format_number
from assay.stats.arrays import FloatArray
from assay.stats.change_alarms import LEAST_REFERENCE_DAYS, REFERENCE_DAYS, WINDOWS, find_first_watched_day
from assay.trends.metric_bounds import MetricBound, parse_bounds
from assay.trends.monitor_alerts import WatchedSums, read_level
from assay.trends.monitor_measures import ALLOWED_SHARES
from assay.trends.monitor_results import CORRECTED, BoundWatch, MonitorAlert, MonitorReport, MonitorSeries
from assay.trends.traffic_sums import Calendar

MAX_NAMES = 8
WEEK_LEVEL = 0.05
"""The level of all comparisons of the last two weeks together."""


def find_watched_since(sums: WatchedSums, calendar: Calendar, first_day: int) -> tuple[str | None, str]:
    """Return the first reported day on which a change could have been found, and why there is none ("" if there is)."""
    sizes = sums.sizes if sums.bins is None else sums.bins.counts.sum(axis=1).astype(np.float64)
    day = find_first_watched_day(sizes, first_day, calendar.days - 1)
    if day is not None:
        return calendar.name_day(day), ""
    days = int(np.count_nonzero(sizes))
    if not days:
        return None, "no values"
    has = f"has values on {format_count(days, 'day')}"
    most = _count_most_in_reference(sizes)
    if most < days:
        has += f", and on {most} at most of any {REFERENCE_DAYS} in a row"
    return None, f"{has}, needs {LEAST_REFERENCE_DAYS} to tell a change; a bound needs none: --bound"


def find_silent_since(sums: WatchedSums, calendar: Calendar, answers: FloatArray | None, first_day: int) -> str | None:
    """Return the first of the last days with answers of which none has a value; None where a change could be found.

    A change is looked for in the last days with values. Where there were answers on as many days as the shortest of
    these windows and none of them has a value, the metric says nothing of the present.
    """
    sizes = sums.sizes if sums.bins is None else sums.bins.counts.sum(axis=1)
    if answers is None or not sizes.any():
        return None
    last = int(np.flatnonzero(sizes)[-1])
    silent_days = np.flatnonzero(answers[last + 1 :] > 0) + last + 1
    return calendar.name_day(max(int(silent_days[0]), first_day)) if len(silent_days) >= min(WINDOWS) else None


def explain_undetectable(sums: WatchedSums) -> str:
    """Return why no change is stated that would be found within a week, for a series of which none could be."""
    if sums.bins is not None:
        return "not stated for a percentile"
    sizes = sums.sizes[-REFERENCE_DAYS:]
    days = int(np.count_nonzero(sizes))
    on_days = f"values on {days} of the last {format_count(len(sizes), 'day')}"
    if days < LEAST_REFERENCE_DAYS:
        return f"{on_days}, needs {LEAST_REFERENCE_DAYS}"
    rates = sums.totals[-REFERENCE_DAYS:][sizes > 0] / sizes[sizes > 0]
    is_open = sums.measure.low is None or sums.measure.high is None
    if is_open and np.allclose(rates, rates[0], rtol=1e-9, atol=0):
        return "the same value every day, and without a range no step is the smallest"
    reason = "no change is found by the end of its week in nine of ten cases"
    return f"{reason}: {on_days}, so that a week may have too few of them" if days < len(sizes) else reason


def _count_most_in_reference(sizes: FloatArray) -> int:
    """Return on how many days that a comparison looks back over there are values, at most."""
    has_values = np.concatenate([np.zeros(REFERENCE_DAYS, dtype=np.int64), np.cumsum(sizes > 0)])
    return int((has_values[REFERENCE_DAYS:] - has_values[:-REFERENCE_DAYS]).max())


def watch_bound(
    sums: WatchedSums, bound: MetricBound, first_day: int, alerts: Sequence[MonitorAlert], why_absent: str
) -> BoundWatch:
    """Return what became of a bound in the reported days; `why_absent` is the reason if there are no values."""
    sizes = sums.sizes if sums.bins is None else sums.bins.counts.sum(axis=1)
    days = int(np.count_nonzero(sizes[first_day:]))
    if not days:
        return BoundWatch(str(bound), bound.limit, "unmeasured", None, 0, why_absent or "no answers")
    value = read_level(sums, slice(first_day, None))
    is_exceeded = any(
        alert.kind == "bound"
        and (alert.metric, alert.slice, alert.bound) == (sums.measure.name, sums.slice_name, bound.limit)
        for alert in alerts
    )
    is_beyond = (value - bound.limit) * bound.direction > 0
    state: Literal["exceeded", "not_significant", "kept"] = (
        "exceeded" if is_exceeded else "not_significant" if is_beyond else "kept"
    )
    return BoundWatch(str(bound), bound.limit, state, value, days)


def list_watch_lines(report: MonitorReport) -> list[str]:
    """Return what was watched, as lines for a screen, a chat or a page: bounds first, then changes."""
    first = report.period.first
    return [
        *_list_bound_lines(report.series),
        *_list_change_lines(report.series, first),
        *_offer_bounds(report.series, first),
    ]


def list_unmeasured_lines(report: MonitorReport) -> list[str]:
    """Return the bounds over all traffic that could not be checked, each with the reason."""
    return [
        f"bound {bound.bound} cannot be checked: {bound.reason}"
        for series in report.series
        if series.slice is None
        for bound in series.bounds
        if bound.state == "unmeasured"
    ]


def list_week_lines(report: MonitorReport) -> Iterator[str]:
    """Yield how the last seven days compare with the seven before: what is significant, and that the rest is not."""
    if not report.last_weeks:
        return
    last = date.fromisoformat(report.period.last)
    days = f"the 7 days to {last} compared with the 7 before"
    by_word: dict[str, list[str]] = {}
    for change in report.last_weeks:
        name = format_metric_title(change.metric)
        if change.p > WEEK_LEVEL:
            word = "untestable" if change.least_p > WEEK_LEVEL else "not significant"
            by_word.setdefault(word, []).append(name)
            continue
        rises = change.value > change.before
        word = ("rose" if rises else "fell") if change.higher_is_better is None else ""
        word = word or ("better" if rises == change.higher_is_better else "worse")
        values = " → ".join(format_number(value, change.metric) for value in (change.before, change.value))
        by_word.setdefault(word, []).append(f"{name} {values}")
    for word in ("worse", "better", "rose", "fell"):
        if word in by_word:
            yield f"{days}, significantly {word}: {', '.join(by_word[word])}"
    if "not significant" in by_word:
        names = _join_names(by_word["not significant"])
        why = "a difference may be too small to show, or on fewer than 6 of the days"
        yield f"{days}, not significant ({why}): {names}"
    if "untestable" in by_word:
        names = _join_names(by_word["untestable"])
        yield f"{days}: no difference could be significant with fewer than 6 users or weekdays with values: {names}"


def _list_bound_lines(series: Sequence[MonitorSeries]) -> Iterator[str]:
    for row in series:
        where = "" if row.slice is None else f" in {row.slice}"
        for bound in row.bounds:
            days = format_count(bound.days, "day")
            value, limit = (format_number(number, row.key) for number in (bound.value, bound.limit))
            observed = "" if bound.value is None else f"{value} observed over {days}, bound {limit}"
            text = {
                "exceeded": f"exceeded significantly: {observed}",
                "not_significant": f"watched, exceeded but not significantly yet: {observed}",
                "kept": f"watched, kept so far: {observed}",
                "unmeasured": f"not watched: {bound.reason}",
            }[bound.state]
            yield f"bound {bound.bound}{where}: {text}"


def _offer_bounds(series: Sequence[MonitorSeries], first: str) -> Iterator[str]:
    """Yield the bounds that would have watched what change tests could not on some of the days, one line for all."""
    beyond: list[str] = []
    within: list[str] = []
    for row in series:
        allowed = ALLOWED_SHARES.get(row.key)
        values = [point.value for point in row.points if point.value is not None]
        is_late = row.watched_since is None or row.watched_since > first
        if row.slice is not None or allowed is None or row.bounds or not values or not is_late:
            continue
        (bound,) = parse_bounds([f"{row.key}{allowed}"])
        worst = max(values) if bound.direction > 0 else min(values)
        if (worst - bound.limit) * bound.direction > 0:
            beyond.append(f"--bound '{bound}' (its worst {format_number(worst, row.key)})")
        else:
            within.append(f"--bound '{bound}'")
    if beyond or within:
        yield (
            "a bound finds what these days were too few to compare for, where all answers or none should have it: "
            f"{', '.join((*beyond, *within))}"
        )


def _list_change_lines(series: Sequence[MonitorSeries], first: str) -> Iterator[str]:
    own = [row for row in series if not row.key.endswith(CORRECTED)]
    overall = [row for row in own if row.slice is None]
    since: dict[str, list[str]] = {}
    unwatched: dict[str, list[str]] = {}
    for row in overall:
        if row.silent_since is not None:
            continue
        if row.watched_since is not None:
            since.setdefault(row.watched_since, []).append(format_metric_title(row.key))
        else:
            unwatched.setdefault(row.unwatched, []).append(format_metric_title(row.key))
    yield from _list_silent_lines(overall)
    if since:
        parts = [f"{_join_names(names)} since {day}" for day, names in sorted(since.items())]
        yield f"watched for changes: {'; '.join(parts)}"
        late = max(since)
        if late > first:
            which = f" of {_join_names(since[late])}" if len(since) > 1 else ""
            need = f"a comparison needs {LEAST_REFERENCE_DAYS} days with values"
            yield f"before {late} no change{which} could be found: {need}"
    else:
        yield "nothing was watched for changes in this period"
    for reason, absent in sorted(unwatched.items()):
        yield f"not watched for changes: {_join_names(absent)} ({reason})"
    sliced = [row for row in own if row.slice is not None]
    if sliced:
        watched = sum(row.watched_since is not None and row.silent_since is None for row in sliced)
        yield f"in slices: {watched} of {format_count(len(sliced), 'series', 'series')} watched for changes"


def _list_silent_lines(series: Sequence[MonitorSeries]) -> Iterator[str]:
    silent: dict[tuple[str, str], list[str]] = {}
    for row in series:
        if row.silent_since is not None:
            why = row.points[-1].reason if row.points and row.points[-1].value is None else ""
            silent.setdefault((row.silent_since, why), []).append(format_metric_title(row.key))
    for (day, why), names in sorted(silent.items()):
        reason = f" ({why})" if why else ""
        yield f"no values since {day}{reason}, so that no change could be found since then: {_join_names(names)}"


def _join_names(names: Sequence[str]) -> str:
    return join_first(names, MAX_NAMES)
