"""Aligns two score tables case by case and pairs the scores of their columns.

What one metric gained from a baseline to a candidate, over the cases that both scored.

One side of a comparison, from a run or from a committed baseline, and what makes two sides incomparable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.judge_requests import RecordedVerdicts
from assay.metrics.metric import Metric
from assay.records.digest import compute_digest
from assay.records.errors import InputError, Problem
from assay.records.findings import Attribution, ComparisonSide, MetricChange
from assay.records.golden_set import Case
from assay.records.release_gates import Gate
from assay.records.scores import ERROR, GoldenInfo, ScoreColumn, ScoreTable
from assay.scoring.column_values import (
    AVERAGE_STATISTICS,
    MIN_JUDGED_SHARE,
    PERCENTILE_STATISTICS,
    collect_values,
    explain_partial_judging,
    find_column,
    find_rows_in_review,
    find_statistic,
    format_case_ids,
    format_count,
    get_range,
    get_worst_value,
    number_clusters,
)
from assay.scoring.summaries import MIN_TESTED_CASES, summarise_metric
from assay.stats.arrays import BoolArray, FloatArray, RowIndices
from assay.stats.paired_tests import compare_paired_scores, estimate_detectable_difference
from assay.stats.samples import ClusterCodes, compute_exact_sum

ABSENT = "not among the cases of this side"


class PairedValues(NamedTuple):
    """The paired values of one metric on some rows of two aligned tables.

    `rows` are scored on both sides, with values `before` and `after`; `baseline_only` are scored in the baseline
    only, `candidate_only` in the candidate only; `failed_before` and `failed_after` are in error on that side.
    """

    rows: RowIndices
    before: FloatArray
    after: FloatArray
    baseline_only: RowIndices
    candidate_only: RowIndices
    failed_before: RowIndices
    failed_after: RowIndices


def pair_columns(baseline: ScoreColumn, candidate: ScoreColumn, rows: RowIndices | None = None) -> PairedValues:
    """Return the pairs of two columns of aligned tables, on the given rows (all without them)."""
    before, after = collect_values(baseline, rows), collect_values(candidate, rows)
    both, at, to = np.intersect1d(before.rows, after.rows, assume_unique=True, return_indices=True)
    return PairedValues(
        both,
        before.values[at],
        after.values[to],
        np.setdiff1d(before.rows, both, assume_unique=True),
        np.setdiff1d(after.rows, both, assume_unique=True),
        before.error_rows,
        after.error_rows,
    )


def merge_cases(candidate: Sequence[Case], baseline: Sequence[Case]) -> list[Case]:
    """Return the cases of both sides, each once: the candidate's in their order, then those only the baseline has."""
    candidate_ids = {case.id for case in candidate}
    return [*candidate, *(case for case in baseline if case.id not in candidate_ids)]


def align_table(table: ScoreTable, case_ids: Sequence[str]) -> ScoreTable:
    """Return the table with one row for each of `case_ids`, in their order; a case that it lacks is an error."""
    if list(table.case_ids) == list(case_ids):
        return table
    row_by_case = {case_id: row for row, case_id in enumerate(table.case_ids)}
    rows = np.array([row_by_case.get(case_id, -1) for case_id in case_ids], dtype=np.intp)
    columns = {name: _select_rows(column, rows) for name, column in table.columns.items()}
    selected_ids = set(case_ids)
    return replace(
        table,
        case_ids=tuple(case_ids),
        columns=columns,
        missing=tuple(case_id for case_id in table.missing if case_id in selected_ids),
        checks=tuple(case_checks for case_checks in table.checks if case_checks.case_id in selected_ids),
    )


def _select_rows(column: ScoreColumn, rows: RowIndices) -> ScoreColumn:
    reasons = tuple(dict.fromkeys((*column.reasons, ABSENT)))
    absent = rows < 0
    if len(column.values) == 0:
        values, status, reason = np.zeros(len(rows)), np.zeros(len(rows), np.uint8), np.zeros(len(rows), np.uint16)
    else:
        values, status, reason = column.values[rows], column.status[rows], column.reason[rows]
    values[absent], status[absent], reason[absent] = 0.0, ERROR, reasons.index(ABSENT)
    return ScoreColumn(column.metric, values, status, reason, reasons)


SAME_TOLERANCE = 1e-12
"""Scores closer than this, relative to their size, are equal: means of repeats differ in their last bits."""


class AlignedSides:
    """Two tables with the same case in the same row."""

    def __init__(self, cases: Sequence[Case], baseline: ScoreTable, candidate: ScoreTable) -> None:
        self.cases = cases
        self.ids = [case.id for case in cases]
        self.baseline, self.candidate = align_table(baseline, self.ids), align_table(candidate, self.ids)

    @cached_property
    def clusters(self) -> ClusterCodes | None:
        """The cluster of every row, None where each case stands alone."""
        return number_clusters(self.cases)

    def get_clusters(self, rows: RowIndices) -> ClusterCodes | None:
        """Return the clusters of some rows."""
        return None if self.clusters is None else self.clusters[rows]

    def get_case_ids(self, rows: RowIndices) -> tuple[str, ...]:
        """Return the ids of some rows."""
        return tuple(self.ids[row] for row in rows.tolist())

    def get_columns(self, metric: str) -> tuple[ScoreColumn, ScoreColumn]:
        """Return the baseline's and the candidate's column behind a metric that both measured."""
        before, after = (find_column(table, parse_metric(metric)) for table in (self.baseline, self.candidate))
        assert before is not None and after is not None, metric
        return before, after


class _Metric(NamedTuple):
    name: str
    grader: Metric
    statistic: str


def compute_change_signs(grader: Metric, before: FloatArray, after: FloatArray) -> FloatArray:
    """Return 1 for each pair that got better, -1 for worse and 0 for the same; all 0 where no direction is better."""
    sign = {"higher": 1.0, "lower": -1.0}.get(grader.direction, 0.0)
    return np.where(find_different_pairs(before, after), np.sign(after - before) * sign, 0.0)


def find_different_pairs(before: FloatArray, after: FloatArray) -> BoolArray:
    """Return which pairs differ by more than the last bits of a mean."""
    moved: BoolArray = np.abs(after - before) > SAME_TOLERANCE * np.maximum(
        1.0, np.maximum(np.abs(before), np.abs(after))
    )
    return moved


def find_doubtful_gains(columns: tuple[ScoreColumn, ScoreColumn], pairs: PairedValues, signs: FloatArray) -> BoolArray:
    """Return which pairs improved only by judge votes that disagree widely on either side; they are no improvements."""
    held: BoolArray = (signs > 0) & np.isin(pairs.rows, np.union1d(*map(find_rows_in_review, columns)))
    return held


def compare_metric(
    sides: AlignedSides,
    metric: str,
    slice_name: str | None = None,
    rows: RowIndices | None = None,
    coverage_floor: float = MIN_JUDGED_SHARE,
) -> MetricChange:
    """Return what a metric that both sides measured gained on a slice (all rows without one).

    `gain` is positive if the candidate is better and None if no direction is better. Percentiles and balanced means are
    not paired, so their gain has no interval. A slice of fewer than 10 pairs is described, not tested. A pair that
    improved only by votes that disagree widely counts as no gain. There is no number if the share of requested judge
    verdicts that are usable is below `coverage_floor` on either side.
    """
    grader = find_metric(parse_metric(metric))
    target = _Metric(metric, grader, find_statistic(grader, metric))
    pairs = pair_columns(*sides.get_columns(metric), rows)
    signs = compute_change_signs(grader, pairs.before, pairs.after)
    is_doubtful = find_doubtful_gains(sides.get_columns(metric), pairs, signs)
    change = MetricChange(
        metric=metric,
        slice=slice_name,
        baseline=None,
        candidate=None,
        gain=None,
        low=None,
        high=None,
        p=None,
        p_adjusted=None,
        method="",
        n=len(pairs.rows),
        improved=sides.get_case_ids(pairs.rows[(signs > 0) & ~is_doubtful]),
        regressed=sides.get_case_ids(pairs.rows[signs < 0]),
        unchanged=sides.get_case_ids(pairs.rows[~find_different_pairs(pairs.before, pairs.after)]),
        unpaired=sides.get_case_ids(np.union1d(pairs.baseline_only, pairs.candidate_only)),
        smallest_detectable=None,
        needs_review=sides.get_case_ids(pairs.rows[is_doubtful]),
    )
    partial_note = _explain_partial_judging(sides, metric, rows, coverage_floor)
    if partial_note or not len(pairs.rows):
        return replace(change, note=partial_note or "no case was scored on both sides")
    tested = _test_change(change, target, pairs, sides, is_doubtful)
    notes = [tested.note, _describe_doubtful(change), _describe_cost_of_errors(target, pairs, sides)]
    return replace(tested, note="; ".join(note for note in notes if note))


def _explain_partial_judging(sides: AlignedSides, metric: str, rows: RowIndices | None, floor: float) -> str:
    """Say which side has too few verdicts for a number; empty if both have enough."""
    notes = []
    for name, column in zip(("baseline", "candidate"), sides.get_columns(metric), strict=True):
        note = explain_partial_judging(column, collect_values(column, rows), floor)
        if note:
            notes.append(f"{name} {note}")
    return "; ".join(notes)


def _describe_doubtful(change: MetricChange) -> str:
    """Name the cases whose improvement is not counted as a gain."""
    cases = change.needs_review
    if not cases:
        return ""
    count = format_count(len(cases), "case")
    return (
        f"{count} ({format_case_ids(cases)}) came out better by votes far apart: no gain is counted, "
        f"a person should look"
    )


def _test_change(
    change: MetricChange, target: _Metric, pairs: PairedValues, sides: AlignedSides, is_doubtful: BoolArray
) -> MetricChange:
    """Fill in the values of both sides, the gain and, where the statistic has pairs, its interval and test."""
    grader, statistic = target.grader, target.statistic
    before = _summarise_pairs(target, sides.baseline, pairs.before, pairs.rows)
    after = _summarise_pairs(target, sides.candidate, pairs.after, pairs.rows)
    if grader.direction == "neutral":
        return replace(change, baseline=before, candidate=after, note="neither direction is better")
    counted_after = after
    if is_doubtful.any():
        pairs = pairs._replace(after=np.where(is_doubtful, pairs.before, pairs.after))
        counted_after = _summarise_pairs(target, sides.candidate, pairs.after, pairs.rows)
    gain = counted_after - before if grader.direction == "higher" else before - counted_after
    change = replace(change, baseline=before, candidate=after, gain=gain + 0.0)
    if statistic in PERCENTILE_STATISTICS:
        return replace(change, note=f"not tested: a {statistic} has no pairs (its mean has)")
    if statistic == "balanced":
        return replace(change, note=f"not tested: the mean of {' and '.join(grader.parts)}, which are")
    if change.slice is not None and change.n < MIN_TESTED_CASES:
        return replace(change, note=f"descriptive only (n < {MIN_TESTED_CASES})")
    clusters = sides.get_clusters(pairs.rows)
    old, new = (pairs.after, pairs.before) if grader.direction == "lower" else (pairs.before, pairs.after)
    low, high = get_range(grader)
    result = compare_paired_scores(old, new, clusters=clusters, low=low, high=high)
    assert result is not None
    bounds = result.bounds
    scale = change.n if statistic == "total" else 1
    span = None if low is None or high is None else high - low
    least = estimate_detectable_difference(new - old, clusters=clusters, span=span)
    notes = [result.note, bounds.note if bounds is not None else ""]
    if not result.wins and not result.losses:
        notes = ["no pair differs"]
    return replace(
        change,
        low=bounds.low * scale if bounds is not None else None,
        high=bounds.high * scale if bounds is not None else None,
        p=result.p_value,
        method=f"{bounds.method if bounds is not None else 'no interval'}; {result.p_method or 'no test'}",
        smallest_detectable=least * scale if least is not None else None,
        note="; ".join(note for note in notes if note),
    )


def _summarise_pairs(target: _Metric, table: ScoreTable, values: FloatArray, rows: RowIndices) -> float:
    """Return the value of one side over the paired rows."""
    if target.statistic in ("mean", "rate"):
        return compute_exact_sum(values) / len(values)
    value = summarise_metric(table, parse_metric(target.name), rows).value
    assert value is not None, target.name
    return value


def _describe_cost_of_errors(target: _Metric, pairs: PairedValues, sides: AlignedSides) -> str:
    """Say how the gain changes if cases on which only the candidate failed count as the worst value."""
    lost = np.intersect1d(pairs.baseline_only, pairs.failed_after)
    if not len(lost):
        return ""
    count, case_ids = format_count(len(lost), "case"), format_case_ids(sides.get_case_ids(lost))
    message = f"the candidate failed on {count} that the baseline scored ({case_ids})"
    worst = get_worst_value(target.grader)
    if worst is None or target.statistic not in AVERAGE_STATISTICS[:2]:
        return message
    before = np.concatenate([pairs.before, sides.get_columns(target.name)[0].values[lost]])
    after = np.concatenate([pairs.after, np.full(len(lost), worst)])
    mean = (compute_exact_sum(after) - compute_exact_sum(before)) / len(before)
    gain = -mean if target.grader.direction == "lower" else mean
    return f"{message}; counted as the worst value, the gain is {gain:+.3f}"


@dataclass(frozen=True, slots=True)
class ScoreSnapshot:
    """Everything that is compared of one configuration. `cases` are those of the table's rows, in its order.

    `definitions` identify the meaning of each metric. `made_with` describes how it was produced, in addition to the
    versions that its observations report. `at` is the ISO time of the run, if it has one.
    """

    side: ComparisonSide
    table: ScoreTable
    cases: Sequence[Case]
    metrics: tuple[str, ...]
    definitions: Mapping[str, str]
    attributions: Mapping[str, Attribution] = field(default_factory=dict)
    made_with: Mapping[str, str] = field(default_factory=dict)
    golden: GoldenInfo | None = None
    at: str | None = None


def compute_definition_digest(metric: str) -> str:
    """Return the identity of what a metric means: its row of the catalogue but for the words around it.

    >>> recall = compute_definition_digest("recall@5")
    >>> recall == compute_definition_digest("recall@10"), recall == compute_definition_digest("hit@5")
    (True, False)
    """
    row = find_metric(parse_metric(metric))
    keys = {key: [spec.default, *spec.values] for key, spec in row.keys.items()}
    range_ = [repr(row.low), repr(row.high)]
    return compute_digest(
        [row.name, row.unit, row.direction, range_, row.statistic, row.scoring_class, list(row.parts), keys]
    )


def check_comparable(
    baseline: ScoreSnapshot, candidate: ComparisonSide, definitions: Mapping[str, str], metrics: Sequence[str]
) -> None:
    """Raise InputError with everything that makes a candidate and its `definitions` a measurement of something else."""
    _refuse_other_golden(baseline.side, candidate.golden_digest)
    problems = list(_of_metrics(baseline, candidate, definitions, metrics))
    if any(is_judge_metric(metric) for metric in metrics):
        problems += _of_judges(baseline.side, candidate)
    if problems:
        raise InputError(problems)


def _refuse_other_golden(baseline: ComparisonSide, golden_digest: str) -> None:
    if baseline.golden_digest != golden_digest:
        got = f"{baseline.name} has {baseline.golden_digest[:19]}…, the candidate {golden_digest[:19]}…"
        message = f"another golden set ({got}; expected the same: score both against the same cases)"
        raise InputError([Problem("", None, "baseline", message, "E_COMPARE_GOLDEN")])


def list_regression_metrics(gate: Gate) -> list[str]:
    """Return the metrics that a gate with usable rules compares with a baseline."""
    return list(dict.fromkeys(str(parse_metric(rule.metric)) for rule in gate.rules if rule.max_regression is not None))


def identify_judge(judging: RecordedVerdicts | None) -> tuple[str | None, dict[str, str]]:
    """Return the digest of the judge whose verdicts were used, with that of a second one, and the hashes of the rubrics
    they are recorded for."""
    if judging is None:
        return None, {}
    rubrics = sorted(judging.rubrics.items())
    judge = f"{judging.judge} with {judging.second_judge}" if judging.second_judge else judging.judge
    return judge, {
        f"{name} ({lang})": rubric.hash for (name, lang), rubric in rubrics if name in judging.rubrics_with_verdicts
    }


def is_judge_metric(metric: str) -> bool:
    """Return whether a metric rests on the verdicts of a judge."""
    return parse_metric(metric).key_value("by", "rules") == "judge"


def _of_metrics(
    baseline: ScoreSnapshot, candidate: ComparisonSide, definitions: Mapping[str, str], metrics: Sequence[str]
) -> Iterator[Problem]:
    for metric in metrics:
        if metric not in baseline.definitions or metric not in definitions:
            continue  # measured on one side only: nothing to contradict
        if baseline.definitions[metric] != definitions[metric]:
            versions = f"assay {baseline.side.assay_version or '?'} and {candidate.assay_version or 'this one'}"
            message = f"{metric} is defined otherwise on either side ({versions}; expected a baseline saved again)"
            yield Problem("", None, "metric", message, "E_COMPARE_METRIC")


def _of_judges(baseline: ComparisonSide, candidate: ComparisonSide) -> Iterator[Problem]:
    hint = "both must be judged again with the same, or compare only --metrics that no judge decides"
    if baseline.judge != candidate.judge:
        message = f"the judges differ (got {baseline.judge} and {candidate.judge}; {hint})"
        yield Problem("", None, "judge", message, "E_COMPARE_JUDGE")
    for rubric in sorted({*baseline.rubrics, *candidate.rubrics}):
        before, after = baseline.rubrics.get(rubric), candidate.rubrics.get(rubric)
        if before != after:
            message = f"rubric {rubric} differs (got {before} and {after}; {hint})"
            yield Problem("", None, "rubric", message, "E_COMPARE_RUBRIC")
