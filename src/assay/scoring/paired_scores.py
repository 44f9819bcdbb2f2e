"""Pairs the scores of two sides case by case: what one metric gained from a baseline to a candidate.

A side is a run or a committed baseline; some differences make two sides incomparable. Only cases that both sides scored
are paired.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from assay.metrics.catalog import find_metric, parse_metric
from assay.metrics.judged.judge_requests import RecordedVerdicts
from assay.metrics.metric import Metric
from assay.records.answer_numbers import NO_NUMBER
from assay.records.digest import compute_digest
from assay.records.errors import InputError, Problem
from assay.records.findings import Attribution, ComparisonSide
from assay.records.golden_set import Case
from assay.records.release_gates import Gate
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED, GoldenInfo, ScoreColumn, ScoreTable, SplitLooks
from assay.scoring.case_clusters import number_clusters
from assay.scoring.column_values import (
    find_column,
    find_rows_in_review,
)
from assay.stats.arrays import BoolArray, FloatArray, RowIndices
from assay.stats.samples import ClusterCodes

ABSENT = "not among the cases of this side"


class PairedValues(Struct, frozen=True):
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
    chosen = np.arange(len(baseline.values), dtype=np.intp) if rows is None else rows
    scored_before, failed_before = find_scored_rows(baseline)
    scored_after, failed_after = find_scored_rows(candidate)
    first, second = scored_before[chosen], scored_after[chosen]
    both = chosen[first & second]
    return PairedValues(
        both,
        baseline.values[both],
        candidate.values[both],
        chosen[first & ~second],
        chosen[second & ~first],
        chosen[failed_before[chosen]],
        chosen[failed_after[chosen]],
    )


def find_scored_rows(column: ScoreColumn) -> tuple[BoolArray, BoolArray]:
    """Return which rows have a finite score, and which should have one."""
    scored: BoolArray = (column.status == SCORED) & np.isfinite(column.values)
    failed: BoolArray = ~(scored | (column.status == NOT_APPLICABLE))
    return scored, failed


def is_missing_scored(table: ScoreTable) -> bool:
    """Return whether the cases of a table without an observation were given the worst score: they count as failed."""
    failed, missing = table.columns.get("failed"), set(table.missing)
    if failed is None:
        return False
    rows = [row for row, case_id in enumerate(table.case_ids) if case_id in missing]
    return bool(rows) and all(failed.status[row] == SCORED for row in rows)


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
    before_leaks = {name: _select_rows(column, rows) for name, column in table.before_leaks.items()}
    selected_ids = set(case_ids)
    return replace(
        table,
        case_ids=tuple(case_ids),
        columns=columns,
        before_leaks=before_leaks,
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
    answers = None
    if column.answers is not None and len(column.answers):
        answers = np.where(absent, NO_NUMBER, column.answers[rows])
    return ScoreColumn(column.metric, values, status, reason, reasons, answers)


SAME_TOLERANCE = 1e-12
"""Scores closer than this, relative to their size, are equal: means of repeats differ in their last bits."""


class AlignedSides:
    """Two tables with the same case in the same row."""

    def __init__(self, cases: Sequence[Case], baseline: ScoreTable, candidate: ScoreTable) -> None:
        self.cases = cases
        self.ids = [case.id for case in cases]
        self.baseline, self.candidate = align_table(baseline, self.ids), align_table(candidate, self.ids)

        self._columns: dict[str, tuple[ScoreColumn, ScoreColumn]] = {}

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

    def with_columns(self, columns: Mapping[str, tuple[ScoreColumn, ScoreColumn]]) -> AlignedSides:
        """Return the same sides with other columns behind some metrics."""
        other = copy(self)
        other._columns = dict(columns)
        return other

    def get_columns(self, metric: str) -> tuple[ScoreColumn, ScoreColumn]:
        """Return the baseline's and the candidate's column behind a metric that both measured."""
        if metric not in self._columns:
            before, after = (find_column(table, parse_metric(metric)) for table in (self.baseline, self.candidate))
            assert before is not None and after is not None, metric
            self._columns[metric] = before, after
        return self._columns[metric]


def compute_change_signs(metric_row: Metric, before: FloatArray, after: FloatArray) -> FloatArray:
    """Return 1 for each pair that got better, -1 for worse and 0 for the same; all 0 where no direction is better."""
    sign = {"higher": 1.0, "lower": -1.0}.get(metric_row.direction, 0.0)
    return np.where(find_different_pairs(before, after), np.sign(after - before) * sign, 0.0)


def find_different_pairs(before: FloatArray, after: FloatArray) -> BoolArray:
    """Return which pairs differ by more than the last bits of a mean."""
    moved: BoolArray = np.abs(after - before) > SAME_TOLERANCE * np.maximum(
        1.0, np.maximum(np.abs(before), np.abs(after))
    )
    return moved


def find_doubtful_gains(columns: tuple[ScoreColumn, ScoreColumn], pairs: PairedValues, signs: FloatArray) -> BoolArray:
    """Return which pairs improved only by judge votes that disagree widely on either side; they are no improvements."""
    in_review = [rows for rows in map(find_rows_in_review, columns) if len(rows)]
    if not in_review:
        return np.zeros(len(signs), dtype=np.bool_)
    held: BoolArray = (signs > 0) & np.isin(pairs.rows, np.concatenate(in_review))
    return held


class ScoreSnapshot(Struct, frozen=True):
    """Everything that is compared of one configuration. `cases` are those of the table's rows, in its order.

    `definitions` identify the meaning of each metric. `made_with` describes how it was produced, in addition to the
    versions that its observations report. `at` is the ISO time of the run, if it has one. `contents` are digests of
    what the cases ask and expect where `cases` do not say it; those of a baseline of an earlier Assay are empty.
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
    looks: SplitLooks | None = None
    contents: Mapping[str, str] | None = None


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
    """Raise InputError with everything that makes a candidate and its `definitions` a measurement of something else.

    Whether both are of one golden set, or of versions of it, `match_versions` says.
    """
    problems = list(_of_metrics(baseline, candidate, definitions, metrics))
    if any(is_judge_metric(metric) for metric in metrics):
        problems += find_other_judges(baseline.side, candidate)
    if problems:
        raise InputError(problems)


def list_regression_metrics(gate: Gate) -> list[str]:
    """Return the metrics that a gate with usable rules compares with a baseline."""
    return list(dict.fromkeys(str(parse_metric(rule.metric)) for rule in gate.rules if rule.max_regression is not None))


def identify_judge(judging: RecordedVerdicts | None) -> tuple[str | None, dict[str, str]]:
    """Return the digest of the judge whose verdicts were used, with that of a second one, and the hashes of the rubrics
    they are recorded for and of the entailment model."""
    if judging is None:
        return None, {}
    rubrics = sorted(judging.rubrics.items())
    judge = f"{judging.judge} with {judging.second_judge}" if judging.second_judge else judging.judge
    hashes = {
        f"{name} ({lang})": rubric.hash for (name, lang), rubric in rubrics if name in judging.rubrics_with_verdicts
    }
    if judging.entailment_model is not None:
        hashes["entailment model"] = judging.entailment_model.digest
    return judge, hashes


def is_judge_metric(metric: str) -> bool:
    """Return whether a metric rests on the verdicts of a judge."""
    return parse_metric(metric).key_value("by", "rules") != "rules"


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


def find_other_judges(baseline: ComparisonSide, candidate: ComparisonSide) -> Iterator[Problem]:
    """Yield how the judges of two sides differ, or what they were asked: their verdicts are not comparable."""
    hint = "both must be judged again with the same, or compare only --metrics that no judge decides"
    if baseline.judge != candidate.judge:
        message = f"the judges differ (got {baseline.judge} and {candidate.judge}; {hint})"
        yield Problem("", None, "judge", message, "E_COMPARE_JUDGE")
    elif baseline.judge_models and candidate.judge_models and baseline.judge_models != candidate.judge_models:
        models = ", then ".join(" and ".join(side.judge_models) for side in (baseline, candidate))
        message = f"another model answered under the name of the judge (got {models}; {hint})"
        yield Problem("", None, "judge", message, "E_COMPARE_JUDGE")
    for rubric in sorted({*baseline.rubrics, *candidate.rubrics}):
        before, after = baseline.rubrics.get(rubric), candidate.rubrics.get(rubric)
        if before != after:
            message = f"rubric {rubric} differs (got {before} and {after}; {hint})"
            yield Problem("", None, "rubric", message, "E_COMPARE_RUBRIC")
