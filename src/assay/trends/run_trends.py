"""Series of metrics over registered runs, and where they changed (ADR 0078).

Points over different golden sets are in different series, because their means are over different questions. The test
for a change uses only cases that all runs of a stretch share, unchanged and scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from assay.metrics.catalog import find_metric, parse_metric
from assay.records.counts import format_count
from assay.records.errors import AssayError
from assay.records.series import Series, SeriesMark, SeriesPoint
from assay.report.wording.metric_titles import format_metric_title
from assay.report.wording.number_format import format_number
from assay.scoring.case_clusters import number_clusters
from assay.scoring.slices import find_slice_rows
from assay.stats.arrays import FloatArray
from assay.stats.change_points import ChangePoint, find_further_changes, scan_for_change
from assay.stats.multiple_testing import adjust_benjamini_hochberg
from assay.stats.steady_trends import SteadyTrend, compare_trend_with_step
from assay.trends.case_outcome_series import HistoryRun, list_differences
from assay.trends.history_results import ChangeFinding, SteadyChange

FALSE_DISCOVERY_RATE = 0.05
MIN_SHARED_CASES = 5
DIGEST_LETTERS = 8


class SeriesKey(NamedTuple):
    """What a series is of; `slice` None means all cases."""

    config: str
    metric: str
    slice: str | None


class _Stretch(NamedTuple):
    key: SeriesKey
    runs: Sequence[HistoryRun]
    scores: FloatArray
    units: np.ndarray
    change: ChangePoint


class TrendAnalysis(NamedTuple):
    """The series with their marks, the changes that stand, and how many stretches of runs were tested."""

    series: list[Series]
    changes: list[ChangeFinding]
    tested: int


def analyse_trends(
    runs_by_config: Mapping[str, Sequence[HistoryRun]], metrics: Sequence[str], slices: Sequence[str | None]
) -> TrendAnalysis:
    """Return a series for each configuration, metric, slice and golden set, with the changes marked.

    The tests of all series are one family: their false discovery rate is at most 0.05 (Benjamini and Hochberg).
    """
    keys = [
        SeriesKey(config, metric, slice_name)
        for config in runs_by_config
        for metric in metrics
        for slice_name in slices
    ]
    stretches = [stretch for key in keys for stretch in _list_stretches(key, runs_by_config[key.config])]
    changes = _find_changes(stretches)
    series = [built for key in keys for built in _build_series(key, runs_by_config[key.config], changes)]
    return TrendAnalysis(series, changes, len(stretches))


# ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _list_stretches(key: SeriesKey, runs: Sequence[HistoryRun]) -> Iterator[_Stretch]:
    """Yield the tested stretches: all runs if they share enough cases, else those of each golden set."""
    usable = [run for run in runs if run.cases is not None and run.golden_cases is not None]
    usable = [run for run in usable if _has_scores(run, key.metric)]
    whole = _make_stretch(key, usable)
    if whole is not None or len({run.golden for run in usable}) < 2:
        yield from (whole,) if whole is not None else ()
        return
    for golden in dict.fromkeys(run.golden for run in usable):
        stretch = _make_stretch(key, [run for run in usable if run.golden == golden])
        if stretch is not None:
            yield stretch


def _has_scores(run: HistoryRun, metric: str) -> bool:
    return any(case.scores.get(metric) is not None for case in (run.cases or {}).values())


def _make_stretch(key: SeriesKey, runs: Sequence[HistoryRun]) -> _Stretch | None:
    """Return the scores of the shared cases and the most likely change; None if too few are shared or nothing moved."""
    if len(runs) < 2:
        return None
    cases = list(runs[-1].golden_cases or ())
    rows = range(len(cases)) if key.slice is None else find_slice_rows(cases, key.slice).tolist()
    shared = [cases[row] for row in rows if _is_scored_in_all(cases[row].id, key.metric, runs)]
    if len(shared) < MIN_SHARED_CASES:
        return None
    scores = np.array([[_get_score(run, case.id, key.metric) for case in shared] for run in runs], dtype=np.float64)
    numbered = number_clusters(shared)
    units = np.arange(len(shared)) if numbered is None else np.unique(numbered, return_inverse=True)[1]
    change = scan_for_change(scores, units)
    return _Stretch(key, runs, scores, units, change) if change is not None else None


def _is_scored_in_all(case_id: str, metric: str, runs: Sequence[HistoryRun]) -> bool:
    content = runs[-1].content.get(case_id)
    return all(run.content.get(case_id) == content and _get_score(run, case_id, metric) is not None for run in runs)


def _get_score(run: HistoryRun, case_id: str, metric: str) -> float | None:
    row = (run.cases or {}).get(case_id)
    return row.scores.get(metric) if row is not None else None


def _find_changes(stretches: Sequence[_Stretch]) -> list[ChangeFinding]:
    adjusted = adjust_benjamini_hochberg([stretch.change.p for stretch in stretches])
    rejected = sum(p <= FALSE_DISCOVERY_RATE for p in adjusted)
    findings = []
    for stretch, p in zip(stretches, adjusted, strict=True):
        if p > FALSE_DISCOVERY_RATE:
            continue
        trend = compare_trend_with_step(stretch.scores, stretch.units, stretch.change.at)
        if trend is not None and trend.is_significant:
            findings.append(_describe_trend(stretch, trend, p))
            continue
        threshold = FALSE_DISCOVERY_RATE * rejected / len(stretches)
        steps = find_further_changes(stretch.scores, stretch.units, stretch.change, threshold)
        is_open = len(steps) == 1 and trend is not None and trend.is_open
        for change in steps:
            adjusted_p = max(p, change.p * len(stretches) / rejected)
            findings.append(_describe_change(stretch, change, adjusted_p, may_be_steady=is_open))
    return findings


def _describe_trend(stretch: _Stretch, trend: SteadyTrend, p: float) -> ChangeFinding:
    """Return a steady change, which no version of a single run explains."""
    first, last = stretch.runs[0], stretch.runs[-1]
    return ChangeFinding(
        stretch.key.metric,
        stretch.key.slice,
        stretch.key.config,
        last.at,
        last.run,
        first.run,
        trend.first,
        trend.last,
        stretch.scores.shape[1],
        len(stretch.runs),
        p,
        (),
        SteadyChange(trend.slope, trend.low, trend.high),
    )


def _describe_change(stretch: _Stretch, change: ChangePoint, p: float, *, may_be_steady: bool) -> ChangeFinding:
    before, after = stretch.runs[change.at - 1], stretch.runs[change.at]
    return ChangeFinding(
        stretch.key.metric,
        stretch.key.slice,
        stretch.key.config,
        after.at,
        after.run,
        before.run,
        change.before,
        change.after,
        stretch.scores.shape[1],
        len(stretch.runs),
        p,
        list_differences(before.versions, after.versions),
        may_be_steady=may_be_steady,
    )


# ── series ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _build_series(key: SeriesKey, runs: Sequence[HistoryRun], changes: Sequence[ChangeFinding]) -> Iterator[Series]:
    """Yield one series for each golden set; none for a metric that no run measured."""
    digests = list(dict.fromkeys(run.golden for run in runs))
    unit, higher_is_better = _find_unit_and_direction(key.metric)
    for digest in digests:
        members = [run for run in runs if run.golden == digest]
        points = tuple(_make_point(run, key) for run in members)
        if all(point.value is None and point.open_range is None for point in points):
            continue
        title = format_metric_title(key.metric)
        name = title if len(digests) == 1 else f"{title} (golden set {_shorten_digest(digest)})"
        marks = [*_list_version_marks(runs, digest), *_list_change_marks(key, members, changes)]
        yield Series(
            name, key.metric, unit, higher_is_better, key.slice, key.config, points, tuple(sorted(marks, key=_by_time))
        )


def _by_time(mark: SeriesMark) -> tuple[str, str]:
    return mark.at, mark.text


def _find_unit_and_direction(metric: str) -> tuple[str, bool | None]:
    try:
        row = find_metric(parse_metric(metric))
    except AssayError:  # a metric of a plugin that is not installed any more
        return "", None
    return row.unit, {"higher": True, "lower": False}.get(row.direction)


def _make_point(run: HistoryRun, key: SeriesKey) -> SeriesPoint:
    summary = (run.summary if key.slice is None else run.slices.get(key.slice, {})).get(key.metric)
    if summary is None or (summary.value is None and summary.unknown is None):
        reason = "not measured in this run"
        if key.slice is not None and run.cases is None:
            reason = "the run folder is gone or was scored again: its slices are not kept"
        return SeriesPoint(run.at, run.run, None, None, None, summary.scored if summary else 0, reason, run.run)
    if summary.unknown is not None:
        bounds = summary.unknown.low, summary.unknown.high
        between = " and ".join(format_number(bound, key.metric) for bound in bounds)
        reason = f"between {between}: {format_count(summary.unknown.cases, 'answer')} unknown"
        return SeriesPoint(run.at, run.run, None, None, None, summary.scored, reason, run.run, bounds)
    return SeriesPoint(run.at, run.run, summary.value, summary.low, summary.high, summary.scored, "", run.run)


def _shorten_digest(digest: str) -> str:
    return digest.removeprefix("sha256:")[:DIGEST_LETTERS] or "unknown"


def _list_version_marks(runs: Sequence[HistoryRun], digest: str) -> Iterator[SeriesMark]:
    """Yield a mark for each run of a golden set of which a version, or the set, is not that of the run before."""
    for before, after in pairwise(runs):
        if after.golden != digest:
            continue
        texts = [_format_difference(*change) for change in _list_texts(before, after)]
        if before.golden != after.golden:
            texts.insert(0, _describe_golden_change(before, after))
        if texts:
            yield SeriesMark(after.at, "version", "; ".join(texts))


def _list_texts(before: HistoryRun, after: HistoryRun) -> list[tuple[str, str | None, str | None]]:
    return [(item.name, item.before, item.after) for item in list_differences(before.versions, after.versions)]


def _format_difference(name: str, before: str | None, after: str | None) -> str:
    return f"{name}: {before or 'not recorded'} → {after or 'not recorded'}"


def _describe_golden_change(before: HistoryRun, after: HistoryRun) -> str:
    names = f"{_shorten_digest(before.golden)} → {_shorten_digest(after.golden)}"
    if not before.content or not after.content:
        return f"golden set changed: {names}; which cases both have is not known"
    shared = sum(before.content.get(case_id) == digest for case_id, digest in after.content.items())
    return f"golden set changed: {names}; {shared} of {format_count(len(after.content), 'case')} are the same in both"


def _list_change_marks(
    key: SeriesKey, members: Sequence[HistoryRun], changes: Sequence[ChangeFinding]
) -> Iterator[SeriesMark]:
    names = {run.run for run in members}
    for change in changes:
        if change.steady is None and (change.configuration, change.metric, change.slice) == key and change.run in names:
            yield SeriesMark(change.at, "change_point", describe_change(change))


def describe_change(change: ChangeFinding) -> str:
    """Return a sentence about a change: the means, what they rest on, and which versions changed at the same time."""
    if change.steady is not None:
        return _describe_steady_change(change, change.steady)
    same_time = "; ".join(_format_difference(item.name, item.before, item.after) for item in change.versions)
    before, after = (format_number(value, change.metric) for value in (change.before, change.after))
    text = (
        f"mean {before} before, {after} from {change.run}, each up to the next change "
        f"({format_count(change.cases, 'shared case')}, {format_count(change.runs, 'run')} in all, "
        f"adjusted p {change.p:.2g})"
    )
    if change.may_be_steady:
        text += "; a steady change over these runs fits as well as this step, they cannot tell"
    if not same_time:
        return f"{text}; no recorded version changed between {change.run_before} and {change.run}"
    return f"{text}; changed at the same time, which need not be the cause: {same_time}"


def _describe_steady_change(change: ChangeFinding, steady: SteadyChange) -> str:
    """Return a sentence about a steady change: by how much a run, from which run to which."""
    verb, sign = ("rises", 1) if steady.slope > 0 else ("falls", -1)
    low, high = sorted((sign * steady.low, sign * steady.high))
    slope, low_text, high_text = (format_number(number, change.metric) for number in (abs(steady.slope), low, high))
    before, after = (format_number(value, change.metric) for value in (change.before, change.after))
    return (
        f"{verb} steadily, by about {slope} a run (95% interval {low_text} to {high_text}), "
        f"from {change.run_before} to {change.run}: {before} to {after} on the line through "
        f"{format_count(change.runs, 'run')} ({format_count(change.cases, 'shared case')}, adjusted p {change.p:.2g}); "
        "one step does not fit, so no run and no version is named"
    )
