"""Builds the report of a monitor from an audit store: series with intervals, leaks, alerts, drift, and the sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import fmean
from typing import Literal

import numpy as np

from assay.audit.audit_store import AuditStore
from assay.audit.load_answers import count_answers_from, find_answer_times
from assay.audit.versioned_corpora import NO_CORPORA, VersionedCorpora
from assay.metrics.cases.access_rules import describe_validity_gap, find_validity_gaps
from assay.metrics.judged.judge_requests import RecordedVerdicts
from assay.records.counts import format_count, join_first
from assay.records.errors import InputError
from assay.records.golden_set import GoldenSet
from assay.records.series import SeriesMark
from assay.records.verdicts import Calibration
from assay.report.wording.metric_titles import format_metric_title
from assay.stats.change_alarms import FALSE_ALARMS, REFERENCE_DAYS, WINDOWS
from assay.stats.detectable_changes import find_detectable_change
from assay.stats.intervals import Bounds, Estimate
from assay.stats.multiple_testing import adjust_holm
from assay.stats.swapped_weeks import compare_swapped_weeks, find_least_p
from assay.text.escaping import shorten_to_line
from assay.trends.collect_traffic import ALL_PERIODS, Traffic, TrafficCollector, TrafficRequest
from assay.trends.judged_estimates import correct_estimate
from assay.trends.metric_bounds import MetricBound, assign_bounds, list_quarter_starts
from assay.trends.monitor_alerts import WatchedSums, find_alerts
from assay.trends.monitor_measures import Measure, check_slices, choose_measures
from assay.trends.monitor_results import (
    CORRECTED,
    ChangedVersion,
    MonitorAlert,
    MonitorDrift,
    MonitorPeriod,
    MonitorPoint,
    MonitorReport,
    MonitorSeries,
    RefusalBand,
    SampledAnswer,
    SamplingSummary,
    WeekChange,
)
from assay.trends.near_golden import GoldenQuestions
from assay.trends.score_answers import IN_ERROR, AnswerScorer
from assay.trends.traffic_sums import DAYS_PER_WEEK, MICROSECONDS_PER_DAY, Calendar, DayBins, parse_day
from assay.trends.watch import explain_undetectable, find_silent_since, find_watched_since, watch_bound

DEFAULT_PERIODS = 12
REFUSAL_LOW, REFUSAL_HIGH = 0.10, 0.30
"""Where the refusal rate of long-tail traffic is expected to lie."""
DRIFT_LEVEL = 0.05
MAX_CODES_NAMED = 5
EARLIEST, MAX_DAYS = date(1971, 1, 1), 3660
SETTLING_DAYS = REFERENCE_DAYS + max(WINDOWS)
"""The days before a reported one that its alarms look at."""


@dataclass(frozen=True, slots=True)
class MonitorInputs:
    """What a monitor looks at, and with what.

    `first` and `last` are days, inclusive; without them, the last twelve periods with answers are meant, until `today`,
    so that an answer with a wrong clock does not hide all others.
    """

    by: str = "week"
    first: date | None = None
    last: date | None = None
    slices: Sequence[str] = ()
    metrics: Sequence[str] | None = None
    budget: int | None = 400
    seed: int = 0
    false_alarms: float = FALSE_ALARMS
    corpora: VersionedCorpora = NO_CORPORA
    golden: GoldenSet | None = None
    judging: RecordedVerdicts | None = None
    made_at: str | None = None
    keep_sample: bool = False
    today: date | None = None
    bounds: Sequence[MetricBound] = ()


def build_monitor(store: AuditStore, inputs: MonitorInputs) -> tuple[MonitorReport, list[SampledAnswer]]:
    """Return the report, and the sample if it is to be kept.

    Raises InputError for an empty store, a period without days, or unknown metrics and slices."""
    check_slices(inputs.slices)
    by_scorer = "judge" if inputs.judging is not None and inputs.judging.verdicts else "rules"
    # What has no scale comes after what has one, on every page, unless somebody named the order.
    measures = choose_measures(inputs.metrics, by_scorer, inputs.judging)
    if inputs.metrics is None:
        measures = sorted(measures, key=lambda measure: bool(measure.caveat))
    first, last = _choose_period(store, inputs)
    assign_bounds(inputs.bounds, measures)
    earliest = first - timedelta(days=SETTLING_DAYS)
    if inputs.bounds:  # they are watched from the beginning of a quarter
        earliest = max(EARLIEST, min(earliest, list_quarter_starts(first, first)[0]))
    calendar = Calendar(earliest, last, inputs.by)
    first_day = (first - calendar.first).days
    census = [measure for measure in measures if not measure.sampled]
    sampled = [measure for measure in measures if measure.sampled]
    questions = GoldenQuestions(inputs.golden) if inputs.golden is not None else None
    request = TrafficRequest(
        calendar,
        first_day,
        inputs.slices,
        census,
        sampled,
        inputs.budget,
        inputs.seed,
        inputs.keep_sample,
        inputs.corpora,
    )
    collector = TrafficCollector(
        store,
        request,
        AnswerScorer(census, inputs.corpora, questions),
        AnswerScorer(sampled, inputs.corpora, questions, inputs.judging),
    )
    traffic = collector.collect()
    if inputs.today is not None:
        traffic.dated_later = count_answers_from(store, _count_microseconds_to_end(inputs.today))
    return _ReportBuilder(inputs, measures, request, traffic).build(first, last), traffic.sample


def _choose_period(store: AuditStore, inputs: MonitorInputs) -> tuple[date, date]:
    times = None if inputs.today is None else find_answer_times(store, _count_microseconds_to_end(inputs.today))
    times = times or find_answer_times(store)
    if times is None:
        raise InputError(f"{store.name}: no answers to look at (expected some from `assay audit ingest`)")
    newest = parse_day(times[1])
    last = inputs.last or (newest if inputs.today is None else min(newest, inputs.today))
    spans = {"day": DEFAULT_PERIODS, "week": 7 * DEFAULT_PERIODS, "month": 30 * DEFAULT_PERIODS}
    first = inputs.first or max(parse_day(times[0]), last - timedelta(days=spans[inputs.by] - 1))
    if first > last:
        raise InputError(f"no days from {first} to {last} (expected --from before --to)")
    if first < EARLIEST or (last - first).days > MAX_DAYS:
        expected = f"expected {EARLIEST} or later, and {MAX_DAYS} days at most"
        raise InputError(f"too long a period, or too early (got {first} to {last}; {expected})")
    if inputs.by == "month":
        return first.replace(day=1), last
    return first - timedelta(days=first.weekday() if inputs.by == "week" else 0), last


def _count_microseconds_to_end(day: date) -> int:
    """Return the end of a day in microseconds since 1970."""
    return ((day - date(1970, 1, 1)).days + 1) * MICROSECONDS_PER_DAY


_OTHER_CORPUS = "they were checked with the corpus without a version, if there is one"


class _ReportBuilder:
    """Makes the parts of one report."""

    def __init__(
        self, inputs: MonitorInputs, measures: Sequence[Measure], request: TrafficRequest, traffic: Traffic
    ) -> None:
        self._inputs, self._measures, self._request, self._traffic = inputs, measures, request, traffic
        self._calendar = request.calendar
        self._changes = traffic.versions.find_changes()
        self._bounds = assign_bounds(inputs.bounds, measures)
        self._slices: list[str | None] = [None, *sorted(traffic.slices)]
        self._notes: list[str] = []

    def build(self, first: date, last: date) -> MonitorReport:
        periods = self._calendar.list_periods(first)
        watched = list(self._list_watched())
        alerts = find_alerts(
            watched,
            self._calendar,
            self._request.first_day,
            self._changes,
            self._inputs.false_alarms,
            self._inputs.seed,
        )
        series = [self._build_series(sums, periods, alerts) for sums in watched]
        series += self._build_corrected(series)
        versions = tuple(version for day, version in self._changes if day >= self._request.first_day)
        return MonitorReport(
            title="Monitor of production answers",
            made_at=self._inputs.made_at,
            period=MonitorPeriod(first.isoformat(), last.isoformat()),
            by=self._inputs.by,
            answers=self._traffic.answers,
            series=tuple(series),
            alerts=tuple(alerts),
            leaks=tuple(self._traffic.leaks),
            leak_count=self._traffic.leak_count,
            unsearched=self._traffic.unsearched,
            sampling=self._summarise_sample(series),
            refusal_band=self._judge_refusals(periods),
            drift=tuple(self._find_drift()),
            versions=versions,
            notes=tuple(self._collect_notes()),
            unsearched_reasons=dict(sorted(self._traffic.unsearched_reasons.items())),
            last_weeks=tuple(self._compare_last_weeks()),
        )

    # ── series ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _list_watched(self) -> Iterator[WatchedSums]:
        days = self._calendar.days
        for slice_name in self._slices:
            for measure in self._measures:
                bounds = tuple(self._bounds.get(measure.name, ()))
                bins = self._traffic.sums.bins.get((slice_name, measure.name))
                if measure.percentile is not None and bins is None:
                    bins = DayBins(days)
                if measure.sampled:
                    totals, sizes = self._traffic.judged.find_sums(measure, slice_name)
                else:
                    key = slice_name, measure.name
                    totals = self._traffic.sums.totals.get(key, np.zeros(days))
                    sizes = self._traffic.sums.sizes.get(key, np.zeros(days))
                yield WatchedSums(measure, slice_name, totals, sizes, bins, bounds)

    def _build_series(self, sums: WatchedSums, periods: Sequence[str], alerts: Sequence[MonitorAlert]) -> MonitorSeries:
        measure, slice_name = sums.measure, sums.slice_name
        build_point = self._build_point if measure.percentile is None else self._build_percentile
        points = tuple(build_point(measure, slice_name, period) for period in periods)
        since, unwatched = find_watched_since(sums, self._calendar, self._request.first_day)
        why_absent = next((point.reason for point in reversed(points) if point.value is None), "")
        bounds = [watch_bound(sums, bound, self._request.first_day, alerts, why_absent) for bound in sums.bounds]
        marks = [SeriesMark(version.at, "version", _describe_version(version)) for _, version in self._changes]
        for alert in alerts:
            if alert.metric == measure.name and alert.slice == slice_name:
                if alert.kind == "change":
                    marks.append(SeriesMark(alert.change_point, "change_point", "estimated first day of the new level"))
                    if alert.ended is not None:
                        marks.append(SeriesMark(alert.ended, "change_point", "estimated first day back"))
                marks.append(SeriesMark(alert.at, "alert", alert.text))
        first = self._calendar.name_day(self._request.first_day)
        title = format_metric_title(measure.name)
        detectable = self._state_detectable_change(sums)
        return MonitorSeries(
            name=title if slice_name is None else f"{title} in {slice_name}",
            key=measure.name,
            unit=measure.unit,
            higher_is_better=measure.higher_is_better,
            slice=slice_name,
            points=points,
            marks=tuple(sorted((mark for mark in marks if mark.at >= first), key=lambda mark: (mark.at, mark.kind))),
            sampled=measure.sampled,
            caveat=measure.caveat,
            detectable=detectable,
            undetectable=explain_undetectable(sums) if detectable is None else "",
            watched_since=since,
            unwatched=unwatched,
            silent_since=find_silent_since(
                sums, self._calendar, self._traffic.sums.answers.get(slice_name), self._request.first_day
            ),
            bounds=tuple(bounds),
        )

    def _state_detectable_change(self, sums: WatchedSums) -> float | None:
        """Return the change of the daily rate that a week would show; that of a percentile is not stated."""
        if sums.bins is not None:
            return None
        share = self._inputs.false_alarms / (1 + len(sums.bounds))
        measure = sums.measure
        return find_detectable_change(sums.totals, sums.sizes, measure.direction, measure.low, measure.high, share)

    def _build_point(self, measure: Measure, slice_name: str | None, period: str) -> MonitorPoint:
        label = self._calendar.label_period(period)
        answers = self._traffic.sums.counts.get((slice_name, period), 0)
        if not answers:
            return MonitorPoint(period, label, None, None, None, 0, "no answers")
        row = self._traffic.sums.estimates.get(((slice_name, measure.name), period))
        if measure.sampled:
            judged = self._traffic.judged.find_estimate(measure, slice_name, period)
            estimate, number, reason = judged.estimate, judged.judged, judged.reason
        else:
            estimate, number, reason = (None, 0, "") if row is None else (row.estimate, row.scored, "")
        if estimate is None:
            return MonitorPoint(period, label, None, None, None, number, self._explain_absence(measure, period, reason))
        bounds = estimate.bounds
        unknown = 0 if row is None else row.unknown
        return MonitorPoint(
            period, label, estimate.value, bounds.low, bounds.high, number, "", bounds.note, unknown=unknown
        )

    def _explain_absence(self, measure: Measure, period: str, reason: str) -> str:
        """Return why there is no value in a period: what most answers lack to which the metric applies, else most."""
        of_all = self._traffic.reasons.get((measure.name, ALL_PERIODS), Counter())
        reasons = self._traffic.reasons.get((measure.name, period), of_all)
        errors = {why.removeprefix(IN_ERROR): count for why, count in reasons.items() if why.startswith(IN_ERROR)}
        candidates = errors or reasons
        most = min(candidates.items(), key=lambda row: (-row[1], row[0]))[0] if candidates else ""
        return "; ".join(dict.fromkeys(filter(None, (reason, most)))) or "too few users for an interval"

    def _build_percentile(self, measure: Measure, slice_name: str | None, period: str) -> MonitorPoint:
        label = self._calendar.label_period(period)
        value = self._traffic.sums.read_percentile((slice_name, measure.name), period)
        row = self._traffic.sums.estimates.get(((slice_name, measure.name), period))
        if value is None or row is None:
            return MonitorPoint(period, label, None, None, None, 0, self._explain_absence(measure, period, ""))
        return MonitorPoint(period, label, value, None, None, row.scored, "", "from bins that are 1.1% wide")

    def _build_corrected(self, series: Sequence[MonitorSeries]) -> list[MonitorSeries]:
        """Return the sampled series once more, as people would have judged, where a calibration stands."""
        judging = self._inputs.judging
        corrected = []
        for row in series:
            calibration = judging.calibrations.get(row.key) if judging is not None and row.sampled else None
            if calibration is None or calibration.platt is not None:
                continue
            points = tuple(_correct_point(point, calibration) for point in row.points)
            name = f"{row.name}, corrected by human labels"
            corrected.append(
                MonitorSeries(
                    name,
                    f"{row.key}{CORRECTED}",
                    row.unit,
                    row.higher_is_better,
                    row.slice,
                    points,
                    sampled=True,
                    unwatched="the uncorrected series is watched",
                )
            )
        return corrected

    # ── the rest ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _summarise_sample(self, series: Sequence[MonitorSeries]) -> SamplingSummary:
        sampled = [measure for measure in self._measures if measure.sampled]
        judged = self._traffic.judged
        overall = [row for row in series if row.sampled and row.slice is None]
        points = [point for row in overall for point in row.points]
        widths = [point.high - point.low for point in points if point.high is not None and point.low is not None]
        budget = self._request.budget
        design = (
            "every answer"
            if budget is None
            else f"{format_count(budget, 'answer')} a week in strata (flagged and doubtful twice as often, "
            "others); weighted means"
        )
        return SamplingSummary(
            judged=judged.chosen - judged.unjudged,
            answers=self._traffic.answers,
            budget=budget,
            cost=_find_judge_cost(self._inputs.judging),
            width=fmean(widths) if widths else None,
            design=design if sampled else "no metric that needs reading was asked for",
            unjudged=judged.unjudged,
            by=self._name_reader(sampled),
        )

    def _name_reader(self, sampled: Sequence[Measure]) -> Literal["", "rules", "judge"]:
        if not sampled:
            return ""
        return "judge" if any("by=judge" in measure.name for measure in sampled) else "rules"

    def _judge_refusals(self, periods: Sequence[str]) -> RefusalBand:
        measure = next((row for row in self._measures if row.name == "refusal_rate"), None)
        points = [self._build_point(measure, None, period) for period in periods] if measure is not None else []
        point = next((point for point in reversed(points) if point.value is not None), None)
        if point is None or point.value is None or point.low is None or point.high is None:
            return RefusalBand(REFUSAL_LOW, REFUSAL_HIGH, None, "unknown", "the refusal rate was not measured")
        state, text = _compare_with_band(point.value, point.low, point.high, point.n)
        return RefusalBand(REFUSAL_LOW, REFUSAL_HIGH, point.value, state, f"{point.label}: {text}")

    def _compare_last_weeks(self) -> Iterator[WeekChange]:
        """Yield how each metric of every answer changed from the seven days before the last seven to these.

        Neither users nor days are alike: what one user got, or one day on which the target failed, is no change. There
        is nothing to compare where the first answer is of less than fourteen days ago.
        """
        answers = self._traffic.sums.answers.get(None)
        if answers is None or not answers[: max(0, self._calendar.days - 2 * DAYS_PER_WEEK + 1)].any():
            return
        sums = {
            measure: self._traffic.sums.get_last_weeks(measure.name)
            for measure in self._measures
            if not measure.sampled and measure.percentile is None
        }
        weeks = {measure: by_week for measure, by_week in sums.items() if by_week is not None}
        p_values = adjust_holm([compare_swapped_weeks(*by_week, self._inputs.seed) for by_week in weeks.values()])
        for (measure, (totals, sizes)), p in zip(weeks.items(), p_values, strict=True):
            (sum_before, sum_now), (n_before, n) = totals.sum(axis=1).tolist(), sizes.sum(axis=1).tolist()
            by_day = self._traffic.sums.get_last_days(measure.name)
            largest_p = max(p, compare_swapped_weeks(*by_day, self._inputs.seed))
            least_p = max(find_least_p(sizes), find_least_p(by_day[1]))
            values = sum_before / n_before, sum_now / n, int(n_before), int(n)
            yield WeekChange(measure.name, measure.higher_is_better, *values, largest_p, least_p)

    def _find_drift(self) -> Iterator[MonitorDrift]:
        compared = self._traffic.questions.changes
        adjusted = adjust_holm([change.p for _, _, change in compared])
        for (before, after, change), p in zip(compared, adjusted, strict=True):
            if p > DRIFT_LEVEL:
                continue
            labels = self._calendar.label_period(before), self._calendar.label_period(after)
            text = f"other questions than before (more: {', '.join(change.more)}; less: {', '.join(change.less)})"
            yield MonitorDrift("question topics", *labels, change.statistic, p, text)

    def _note_empty_slices(self) -> Iterator[str]:
        for wanted in self._inputs.slices:
            if not any(name == wanted or name.startswith(f"{wanted}=") for name in self._traffic.slices):
                yield f"slice {shorten_to_line(wanted)}: no answer of the period is in it"

    def _describe_errors(self) -> Iterator[str]:
        """Yield which errors the target had, and the day with the most: a few hours of it are no change of a week."""
        errors, by_day = self._traffic.errors, self._traffic.errors_by_day
        if not errors:
            return
        codes = [f"{code} {count}" for code, count in sorted(errors.items(), key=lambda row: (-row[1], row[0]))]
        worst = max(by_day, key=lambda day: (by_day[day], -day))
        answers = int(self._traffic.sums.answers[None][worst])
        yield (
            f"errors of the target: {sum(errors.values())} of {format_count(self._traffic.answers, 'answer')} "
            f"({join_first(codes, MAX_CODES_NAMED)}), on {format_count(len(by_day), 'day')}; most on "
            f"{self._calendar.name_day(worst)}: {by_day[worst]} of {answers}"
        )

    def _collect_notes(self) -> Iterator[str]:
        yield from self._notes
        traffic = self._traffic
        if self._inputs.corpora.is_empty:
            yield "no corpus: whether citations were reachable, evidence stale or access denied is unknown"
        for version, number in sorted(traffic.without_corpus.items()):
            yield (
                f"{format_count(number, 'answer')} of index version {version} have no corpus of that version: "
                f"{_OTHER_CORPUS}"
            )
        yield from self._describe_errors()
        if self._inputs.golden is not None and self._inputs.metrics is None:
            yield "whether answers state what golden cases require was not looked at: --metrics correct_answer"
        present = self._inputs.corpora.current
        gaps = find_validity_gaps(present.chunks.values()) if present is not None else []
        if gaps:
            yield f"corpus: {describe_validity_gap(gaps)}"
        if traffic.dated_later:
            yield (
                f"{format_count(traffic.dated_later, 'answer is', 'answers are')} dated after {self._inputs.today} and "
                "left out: is the clock of what writes them wrong?"
            )
        if traffic.failure_count:
            yield (
                f"{format_count(traffic.failure_count, 'answer')} met a bug and have no scores: "
                f"{'; '.join(traffic.failures)}"
            )
        if traffic.leak_count > len(traffic.leaks):
            yield f"of {traffic.leak_count} leaking answers the first {len(traffic.leaks)} are listed"
        yield from self._note_empty_slices()
        for key in sorted(traffic.crowded_slices):
            yield f"slices by {key}: the first 50 values were followed, more were left out"
        for name in sorted(traffic.versions.crowded):
            yield f"{name} has more than 100 values: its changes were not followed"
        if any(measure.caveat for measure in self._measures):
            yield (
                "scores by rules have no scale until labels give them one: even answers copied from their context get "
                "neither 0 nor 1. Look at the trend, not at the value, or calibrate the rules (--calibration)"
            )


def _correct_point(point: MonitorPoint, calibration: Calibration) -> MonitorPoint:
    if point.value is None or point.low is None or point.high is None:
        return point
    estimate = Estimate(point.value, Bounds(point.low, point.high, ""))
    corrected, reason = correct_estimate(estimate, calibration)
    if corrected is None:
        return MonitorPoint(point.at, point.label, None, None, None, point.n, reason)
    bounds = corrected.bounds
    return MonitorPoint(point.at, point.label, corrected.value, bounds.low, bounds.high, point.n)


def _compare_with_band(value: float, low: float, high: float, number: int) -> tuple[str, str]:
    if value == 0 and high < REFUSAL_LOW:
        return (
            "zero",
            f"none of {format_count(number, 'answer')} refused (at most {high:.1%} would, by the interval), of "
            "long-tail traffic 10 to 30% do: look for questions that should have been refused and were answered",
        )
    if high < REFUSAL_LOW:
        return "below", f"{value:.1%} refused, fewer than the 10 to 30% of long-tail traffic: is too much answered?"
    if low > REFUSAL_HIGH:
        return "above", f"{value:.1%} refused, more than the 10 to 30% of long-tail traffic: is retrieval failing?"
    if low >= REFUSAL_LOW and high <= REFUSAL_HIGH:
        return "within", f"{value:.1%} refused, within the 10 to 30% of long-tail traffic"
    return (
        "unknown",
        f"{value:.1%} refused ({low:.1%} to {high:.1%}): too few answers to tell whether this is within 10 to 30%",
    )


def _describe_version(version: ChangedVersion) -> str:
    return f"{version.name}: {version.before} → {version.after}"


def _find_judge_cost(judging: RecordedVerdicts | None) -> float | None:
    return judging.usage.cost_usd if judging is not None and judging.usage is not None else None
