"""Builds score tables: plans the columns of a run, scores blocks of rows and joins blocks by configuration.

Repeats of one case become one score before anything else is computed from it. The columns of a block do not depend on
which rows share it, and tables are in golden order, so the number of workers, block sizes and the order of files do not
change a single bit of the result (ADR 0029).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from assay.metrics.case_checks import list_checked_metrics, make_failed_column, run_checks
from assay.metrics.cases.absent_labels import list_absent_labels, mark_absent_labels
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.cases.settled_answers import AGAINST_RULES
from assay.metrics.catalog import (
    case_column_name,
    compute_column,
    explain_refused_calibration,
    find_metric,
    is_metric_measurable,
    may_metric_gate,
    parse_metric,
)
from assay.metrics.judged.judge_requests import RecordedVerdicts
from assay.metrics.metric import Batch, FactKey, JoinedRows, MetricName
from assay.records.answer_numbers import NO_NUMBER
from assay.records.counts import format_count, join_first
from assay.records.observations import Observation, TargetError
from assay.records.scores import (
    ERROR,
    NEEDS_REVIEW,
    NOT_APPLICABLE,
    SCORED,
    SETTLED,
    ReasonCodes,
    ScoreColumn,
    ScoreTable,
)
from assay.records.verdicts import Leniency
from assay.scoring.attribution_settings import JUDGE_METRIC, SIMILARITY_METRIC, QualityThreshold
from assay.scoring.column_values import find_settled_rows
from assay.scoring.passed_answers import PassRows, join_passes
from assay.scoring.same_answers import (
    combine_repeated_answers,
    concatenate_answers,
    number_unknown_answers,
)
from assay.stats.arrays import BoolArray, FloatArray, IndexArray, RowIndices

NO_OBSERVATION = "no observation"


class FoldedColumn(Struct, frozen=True):
    """A column with one row per case, and how far apart each case's repeats were (max − min; 0 where there was one)."""

    column: ScoreColumn
    spread: FloatArray


def fold_repeats(column: ScoreColumn, case_of_row: RowIndices, case_count: int) -> FoldedColumn:
    """Return the column with one row per case: the mean of the case's scored repeats.

    `case_of_row[i]` is the case (0 … `case_count` − 1) that row i observed; rows may come in any order. A case is not
    applicable where all its repeats are, and an error where it was never observed, or fewer than half of the repeats
    that apply were scored. It needs review where any of its repeats does. Source: Miller 2024, case means first.

    >>> rows = ScoreColumn("hit", np.array([1.0, 0.0, 1.0]), np.zeros(3, np.uint8), np.zeros(3, np.uint16))
    >>> folded = fold_repeats(rows, np.array([0, 0, 1]), 3)
    >>> folded.column.values.tolist(), folded.column.status.tolist(), folded.spread.tolist()
    ([0.5, 1.0, 0.0], [0, 0, 2], [1.0, 0.0, 0.0])
    """
    rows = _count(case_of_row, case_count)
    if len(case_of_row) == case_count and rows.all():
        return FoldedColumn(_arrange_rows(column, case_of_row), np.zeros(case_count))
    scored = _count(case_of_row[column.status == SCORED], case_count)
    applicable = rows - _count(case_of_row[column.status == NOT_APPLICABLE], case_count)
    status = np.full(case_count, SCORED, dtype=np.uint8)
    status[2 * scored < applicable] = ERROR
    status[applicable == 0] = NOT_APPLICABLE
    status[rows == 0] = ERROR
    values, spread = _means(column, case_of_row, case_count, status == SCORED)
    reason, reasons = _reasons(column, case_of_row, status, rows == 0)
    answers = combine_repeated_answers(column, case_of_row, case_count)
    return FoldedColumn(ScoreColumn(column.metric, values, status, reason, reasons, answers), spread)


def _arrange_rows(column: ScoreColumn, case_of_row: RowIndices) -> ScoreColumn:
    """Return a column without repeats, each row at its case."""
    reasons = tuple(sorted({"", *column.reasons}))
    codes = _number_reasons(column, reasons)
    is_noted = np.array([reason.startswith((NEEDS_REVIEW, SETTLED)) for reason in column.reasons])
    is_scored = column.status == SCORED
    values, status = np.zeros_like(column.values), np.empty_like(column.status)
    reason = np.empty(len(column.reason), dtype=codes.dtype)
    values[case_of_row] = np.where(is_scored, column.values, 0.0)
    status[case_of_row] = column.status
    reason[case_of_row] = np.where(is_scored & ~is_noted[column.reason], 0, codes[column.reason])
    answers = None
    if column.answers is not None:
        answers = np.empty_like(column.answers)
        answers[case_of_row] = column.answers
    return ScoreColumn(column.metric, values, status, reason, reasons, answers)


def _count(case_of_row: RowIndices, cases: int) -> RowIndices:
    return np.bincount(case_of_row, minlength=cases)


def _means(
    column: ScoreColumn, case_of_row: RowIndices, cases: int, scored: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return mean and spread by case; sums run over sorted values, so that the order of the rows changes no bit."""
    chosen = column.status == SCORED
    case, value = case_of_row[chosen], column.values[chosen]
    if _count(case, cases).max(initial=0) <= 1:  # no repeats: nothing to sort
        mean = np.zeros(cases)
        mean[case] = value
        return np.where(scored, mean, 0.0), np.zeros(cases)
    order = np.lexsort((value, case))
    case, value = case[order], value[order]
    low, high = np.full(cases, np.inf), np.full(cases, -np.inf)
    np.minimum.at(low, case, value)
    np.maximum.at(high, case, value)
    mean = np.bincount(case, weights=value, minlength=cases) / np.maximum(_count(case, cases), 1)
    mean = np.clip(mean, low, high, where=scored, out=np.zeros(cases))
    return mean, np.subtract(high, low, where=scored, out=np.zeros(cases))


def _reasons(
    column: ScoreColumn, case_of_row: RowIndices, status: npt.NDArray[np.uint8], unseen: BoolArray
) -> tuple[ReasonCodes, tuple[str, ...]]:
    """Return why each case has no score, or one that needs review or was settled: of its repeats' reasons for that,
    the first in alphabetical order, so that a case needs review where any of them does."""
    reasons = tuple(sorted({"", *column.reasons, *([NO_OBSERVATION] if unseen.any() else [])}))
    code_by_reason = _number_reasons(column, reasons)
    reason = np.full(len(status), len(reasons) - 1, dtype=code_by_reason.dtype)
    same = (column.status == status[case_of_row]) & (column.status != SCORED)
    np.minimum.at(reason, case_of_row[same], code_by_reason[column.reason[same]])
    reason[status == SCORED] = reasons.index("")
    reviewed = [code for code, why in enumerate(column.reasons) if why.startswith((NEEDS_REVIEW, SETTLED))]
    if reviewed:
        marked = np.isin(column.reason, reviewed) & (status[case_of_row] == SCORED)
        reason[case_of_row[marked]] = len(reasons)
        np.minimum.at(reason, case_of_row[marked], code_by_reason[column.reason[marked]])
    if unseen.any():
        reason[unseen] = reasons.index(NO_OBSERVATION)
    return reason, reasons


BLOCK_ROWS = 4096
_LEAKS = "visibility_leaks"
_FAILED = "failed"


class MetricPlan(Struct, frozen=True):
    """What a run computes.

    `requested` are the requested metrics, `measured` those that can be measured, `columns` and `facts` the per-case
    columns and facts that these metrics and the checks need. `looks_for_passes`: people read answers that rules passed.
    """

    requested: tuple[MetricName, ...]
    measured: tuple[MetricName, ...]
    columns: tuple[MetricName, ...]
    facts: tuple[FactKey, ...]
    looks_for_passes: bool = False


def plan_columns(
    names: Iterable[MetricName], judged_rubrics: Collection[str] = (), *, checks: bool = True
) -> MetricPlan:
    """Return the plan for these metrics; `judged_rubrics` are the rubrics on which verdicts are recorded.

    The metrics of the checks and those by which attribution tells good answers are among the columns, so that neither
    depends on what was requested, unless nobody asks for `checks`.
    """
    requested = tuple(dict.fromkeys(names))
    measured = tuple(name for name in requested if is_metric_measurable(name, judged_rubrics))
    needed = [case_column_name(name) for name in measured]
    needed += [parse_metric(part) for name in needed for part in find_metric(name).parts]
    if checks:
        needed += [parse_metric(text) for text in list_checked_metrics()]
        deciding = (parse_metric(text) for text in (SIMILARITY_METRIC, JUDGE_METRIC))
        needed += [name for name in deciding if is_metric_measurable(name, judged_rubrics)]
    # A metric of whole tables, such as `failed`, is added to the table once its rows are known.
    columns = tuple(name for name in dict.fromkeys(needed) if find_metric(name).compute is not None)
    facts = dict.fromkeys(key for name in columns for key in find_metric(name).needs(name))
    return MetricPlan(requested, measured, columns, tuple(facts))


class ScoredBlock(Struct):
    """Scored rows with their identity: which case, configuration, repeat and line of the file each one is."""

    case: npt.NDArray[np.int32]
    config: npt.NDArray[np.int32]
    repeat: npt.NDArray[np.int32]
    line: IndexArray
    start: IndexArray
    broken: BoolArray
    columns: dict[str, ScoreColumn] = field(default_factory=dict)
    passes: PassRows | None = None

    @classmethod
    def of_single_config(cls, case: npt.NDArray[np.integer], columns: dict[str, ScoreColumn]) -> ScoredBlock:
        """Make a block of one configuration, with one row for each of `case`, whose rows cannot be read again."""
        n = len(case)
        zeros = np.zeros(n, dtype=np.int32)
        positions = np.zeros(n, dtype=np.int64)
        return cls(case.astype(np.int32), zeros, zeros, positions, positions, np.zeros(n, dtype=np.bool_), columns)


EVIDENCE_FAMILIES = ("retrieval", "context")
"""The families of metrics that compare what was retrieved with the evidence of the case."""


def score_batch(plan: MetricPlan, batch: Batch) -> dict[str, ScoreColumn]:
    """Return the columns of one batch, each row by what it alone shows.

    Where required evidence is not in the corpus, what depends on it is an error of the golden set.
    """
    labels = list_absent_labels(batch.cases)
    columns: dict[str, ScoreColumn] = {}
    for name in plan.columns:
        column = compute_column(batch, name)
        if labels and find_metric(name).family in EVIDENCE_FAMILIES:
            column = mark_absent_labels(column, labels)
        columns[str(name)] = number_unknown_answers(column, batch)
    return columns


def find_leaked_rows(columns: Mapping[str, ScoreColumn]) -> BoolArray:
    """Return the rows on which something leaked; none where leaks are not measured, as of a ranking alone."""
    leaks = columns.get(_LEAKS)
    if leaks is None:
        return np.zeros(max((len(column.status) for column in columns.values()), default=0), dtype=np.bool_)
    return np.asarray((leaks.status == SCORED) & (leaks.values > 0), dtype=np.bool_)


def set_leaked_to_worst(columns: Mapping[str, ScoreColumn]) -> dict[str, ScoreColumn]:
    """Return columns in which the scores that yield to leaks are the worst of their range where a row leaked."""
    changed = dict(columns)
    if _LEAKS not in columns:  # scores of rankings alone
        return changed
    leaked = find_leaked_rows(columns)
    for name, column in columns.items() if leaked.any() else ():
        metric = find_metric(parse_metric(name))
        if metric.yields_to_leaks:
            values = np.where(leaked & (column.status == SCORED), metric.low, column.values)
            answers = None if column.answers is None else np.where(leaked, NO_NUMBER, column.answers)
            changed[name] = ScoreColumn(column.metric, values, column.status, column.reason, column.reasons, answers)
    return changed


def _number_reasons(column: ScoreColumn, reasons: Sequence[str]) -> ReasonCodes:
    """Return the index of each reason of a column in `reasons`, as narrow as they allow.

    A metric of one's own may raise another text on each case. One index more than there are reasons is free, because
    it marks rows whose reason is not known yet.
    """
    code_by_reason = {reason: code for code, reason in enumerate(reasons)}
    width = np.uint16 if len(reasons) <= np.iinfo(np.uint16).max else np.uint32
    return np.array([code_by_reason[reason] for reason in column.reasons], dtype=width)


def concatenate_columns(parts: Sequence[ScoreColumn]) -> ScoreColumn:
    """Return the rows of several columns of one metric as one column."""
    if len(parts) == 1:
        return parts[0]
    reasons = tuple(sorted({reason for part in parts for reason in part.reasons}))
    codes = [_number_reasons(part, reasons)[part.reason] for part in parts]
    return ScoreColumn(
        parts[0].metric,
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.status for part in parts]),
        np.concatenate(codes),
        reasons,
        concatenate_answers(parts),
    )


def join_blocks(blocks: Sequence[ScoredBlock]) -> ScoredBlock:
    """Return the rows of several blocks as one."""
    return ScoredBlock(
        case=np.concatenate([block.case for block in blocks]),
        config=np.concatenate([block.config for block in blocks]),
        repeat=np.concatenate([block.repeat for block in blocks]),
        line=np.concatenate([block.line for block in blocks]),
        start=np.concatenate([block.start for block in blocks]),
        broken=np.concatenate([block.broken for block in blocks]),
        columns={name: concatenate_columns([block.columns[name] for block in blocks]) for name in blocks[0].columns},
        passes=join_passes([block.passes for block in blocks]),
    )


def _rows_of(column: ScoreColumn, rows: RowIndices) -> ScoreColumn:
    answers = None if column.answers is None else column.answers[rows]
    return ScoreColumn(
        column.metric, column.values[rows], column.status[rows], column.reason[rows], column.reasons, answers
    )


def score_unobserved(plan: MetricPlan, joins: GoldenIndex, case_rows: Sequence[int]) -> dict[str, ScoreColumn]:
    """Return the columns of cases without observation; metrics that do not apply to a case stay not applicable."""
    batch = Batch(plan.facts)
    cases = [joins.case_index(position) for position in case_rows]
    batch.add_rows(JoinedRows(cases, [Observation(case.case.id, error=TargetError(NO_OBSERVATION)) for case in cases]))
    return score_batch(plan, batch)


UnobservedScorer = Callable[[Sequence[int]], dict[str, ScoreColumn]]
"""Returns the columns of cases without observation, which are given by their position in the golden set."""


def build_score_table(
    config_id: str,
    block: ScoredBlock,
    block_rows: RowIndices,
    case_ids: list[str],
    score_absent: UnobservedScorer,
    *,
    missing_as_zero: bool = False,
    judging: RecordedVerdicts | None = None,
    versions: dict[str, tuple[str, ...]] | None = None,
    notes: tuple[str, ...] = (),
    good: QualityThreshold | None = None,
) -> ScoreTable:
    """Return one configuration's scores in golden order from its rows (`block_rows`) of the joined blocks.

    Repeats are folded by mean first. A case without a row is an error for every metric that applies to it, or 0 for one
    that is better high where `missing_as_zero` asks for it (trec_eval's -c). `score_absent` says which metrics do not
    apply; `judging` says which scorers are calibrated, and `good` which metric decides whether an answer is right.
    """
    case = block.case[block_rows].astype(np.intp)
    order = np.lexsort((block.repeat[block_rows], case))
    block_rows, case = block_rows[order], case[order]
    row_counts = np.bincount(case, minlength=len(case_ids))
    missing = row_counts == 0
    absent = np.flatnonzero(missing)
    unobserved = score_absent(absent.tolist()) if len(absent) else {}
    own_rows = {name: _rows_of(column, block_rows) for name, column in block.columns.items()}
    own_columns: dict[str, ScoreColumn] = {}
    columns: dict[str, ScoreColumn] = {}
    for name, rows in set_leaked_to_worst(own_rows).items():
        columns[name] = _spare(fold_repeats(rows, case, len(case_ids)).column, absent, unobserved.get(name))
        if rows is not own_rows[name]:
            own = fold_repeats(own_rows[name], case, len(case_ids)).column
            own_columns[name] = _spare(own, absent, unobserved.get(name))
    broken = np.bincount(case[block.broken[block_rows]], minlength=len(case_ids)) > 0
    uncalibrated = tuple(text for text in (*columns, _FAILED) if not may_metric_gate(parse_metric(text), judging))
    refused = judging.refused_calibrations if judging is not None else {}
    reasons = {text: explain_refused_calibration(parse_metric(text), refused) for text in uncalibrated if refused}
    checks, failed = run_checks(case_ids, columns | own_columns, missing, broken, uncalibrated, good)
    if missing_as_zero:
        columns = {name: _as_zero(column, missing) for name, column in columns.items()}
    columns[_FAILED] = make_failed_column(failed, missing & (not missing_as_zero))
    return ScoreTable(
        config_id,
        case_ids,
        columns,
        tuple(case_id for case_id, gone in zip(case_ids, missing.tolist(), strict=True) if gone),
        checks,
        repeats=int(row_counts.max(initial=1)),
        versions=versions or {},
        notes=(*describe_settled_cases(case_ids, columns), *notes),
        uncalibrated=uncalibrated,
        before_leaks=own_columns,
        refused_calibrations={text: reason for text, reason in reasons.items() if reason},
        leniency=_collect_leniency(columns.keys() - set(uncalibrated), judging),
    )


def _collect_leniency(calibrated: Iterable[str], judging: RecordedVerdicts | None) -> dict[str, Leniency]:
    """Return by metric how much too much a judge gives, of those that give significantly more than people."""
    calibrations = judging.calibrations if judging is not None else {}
    by_metric = {text: calibrations[text].leniency for text in sorted(calibrated) if text in calibrations}
    return {text: leniency for text, leniency in by_metric.items() if leniency is not None and leniency.is_significant}


_MAX_SETTLED_NAMED = 5


def describe_settled_cases(case_ids: Sequence[str], columns: Mapping[str, ScoreColumn]) -> tuple[str, ...]:
    """Return the note that says how many cases have scores that people settled, who, and which."""
    settled_rows, rows_against_rules = set[int](), set[int]()
    reviewers = set[str]()
    for column in columns.values():
        rows = find_settled_rows(column)
        settled_rows.update(rows.tolist())
        for row in rows.tolist():
            reason = column.reasons[column.reason[row]]
            reviewers.update(reason.removeprefix(f"{SETTLED} by ").removesuffix(AGAINST_RULES).split(", "))
            if reason.endswith(AGAINST_RULES):
                rows_against_rules.add(row)
    if not settled_rows:
        return ()
    people = ", ".join(sorted(reviewers))
    against = f"; the rules say otherwise of {_list_cases(case_ids, rows_against_rules)}" if rows_against_rules else ""
    count = format_count(len(settled_rows), "case")
    return (f"{count} settled by a person ({people}): {_list_cases(case_ids, settled_rows)}{against}",)


def _list_cases(case_ids: Sequence[str], rows: Collection[int]) -> str:
    return join_first([case_ids[row] for row in sorted(rows)], _MAX_SETTLED_NAMED)


def _spare(column: ScoreColumn, absent: RowIndices, unobserved: ScoreColumn | None) -> ScoreColumn:
    """Return the column in which absent cases are not applicable where the case alone makes the metric so.

    `unobserved` holds the scores of the absent cases, None if there are none.
    """
    if unobserved is None:
        return column
    spared = unobserved.status == NOT_APPLICABLE
    if not spared.any():
        return column
    reasons = tuple(dict.fromkeys((*column.reasons, *unobserved.reasons)))
    status, reason = column.status.copy(), column.reason.copy()
    status[absent[spared]] = NOT_APPLICABLE
    reason[absent[spared]] = [reasons.index(unobserved.reasons[code]) for code in unobserved.reason[spared].tolist()]
    return ScoreColumn(column.metric, column.values, status, reason, reasons, column.answers)


def _as_zero(column: ScoreColumn, missing: BoolArray) -> ScoreColumn:
    """Return the column with the worst score for missing cases if the metric is better high.

    For other metrics (counts, costs, errors) missing cases become not applicable: no answer is no observed event.
    """
    metric_row = find_metric(parse_metric(column.metric))
    unseen = missing & (column.status == ERROR)
    status = column.status.copy()
    if metric_row.direction != "higher":
        status[unseen] = NOT_APPLICABLE
        return ScoreColumn(column.metric, column.values, status, column.reason, column.reasons, column.answers)
    status[unseen] = SCORED
    values = np.where(unseen, metric_row.low, column.values)
    return ScoreColumn(column.metric, values, status, column.reason, column.reasons, column.answers)


def list_case_columns(the_plan: MetricPlan) -> list[str]:
    """Return the per-case columns behind the metrics that were requested and measured, in their order."""
    return list(dict.fromkeys(str(case_column_name(name)) for name in the_plan.measured))
