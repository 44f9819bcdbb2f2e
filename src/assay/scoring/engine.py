"""Builds score tables: plans the columns of a run, scores blocks of rows and joins blocks by configuration.

The columns of a block do not depend on which rows share it, and tables are in golden order, so the number of workers,
block sizes and the order of files do not change a single bit of the result (ADR 0029).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from assay.graders.base import Batch, FactKey, Joins
from assay.graders.catalog import column_name, grader_of, is_measurable, may_gate, parse
from assay.graders.checks import checked_metrics, failed_column, run_checks
from assay.graders.names import MetricName
from assay.graders.rows import Rows
from assay.model import ERROR, NOT_APPLICABLE, SCORED, Observation, ScoreColumn, ScoreTable, TargetError
from assay.scoring.fold import NO_OBSERVATION, fold

BLOCK_ROWS = 4096
_LEAKS = "visibility_leaks"
_FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run computes.

    `names` are the requested metrics, `measured` those that can be measured, `columns` and `facts` the per-case columns
    and facts that these metrics and the checks need.
    """

    names: tuple[MetricName, ...]
    measured: tuple[MetricName, ...]
    columns: tuple[MetricName, ...]
    facts: tuple[FactKey, ...]


def plan(names: Iterable[MetricName], held: Collection[str] = ()) -> Plan:
    """Return the plan for these metrics; `held` are the rubrics on which verdicts are recorded.

    The metrics of the checks are always among the columns.
    """
    asked = tuple(dict.fromkeys(names))
    measured = tuple(name for name in asked if is_measurable(name, held))
    wanted = [column_name(name) for name in measured]
    wanted += [parse(part) for name in wanted for part in grader_of(name).parts]
    wanted += [parse(text) for text in checked_metrics()]
    columns = tuple(name for name in dict.fromkeys(wanted) if name.base != _FAILED)
    facts = dict.fromkeys(key for name in columns for key in grader_of(name).needs(name))
    return Plan(asked, measured, columns, tuple(facts))


@dataclass(slots=True)
class Block:
    """Scored rows with their identity: which case, configuration, repeat and line of the file each one is."""

    case: npt.NDArray[np.int32]
    config: npt.NDArray[np.int32]
    repeat: npt.NDArray[np.int32]
    line: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    broken: npt.NDArray[np.bool_]
    columns: dict[str, ScoreColumn] = field(default_factory=dict)


def score_batch(the_plan: Plan, batch: Batch) -> dict[str, ScoreColumn]:
    """Return the columns of one batch. Where a row leaked, scores that yield to leaks become their worst."""
    columns: dict[str, ScoreColumn] = {}
    for name in the_plan.columns:
        compute = grader_of(name).compute
        assert compute is not None, name
        columns[str(name)] = compute(batch, name)
    leaks = columns[_LEAKS]
    leaked = (leaks.status == SCORED) & (leaks.values > 0)
    if leaked.any():
        for name in the_plan.columns:
            if grader_of(name).yields_to_leaks:
                found = columns[str(name)]
                values = np.where(leaked & (found.status == SCORED), grader_of(name).low, found.values)
                columns[str(name)] = ScoreColumn(found.metric, values, found.status, found.reason, found.reasons)
    return columns


def concatenate(parts: Sequence[ScoreColumn]) -> ScoreColumn:
    """Return the rows of several columns of one metric as one column."""
    if len(parts) == 1:
        return parts[0]
    reasons = tuple(sorted({reason for part in parts for reason in part.reasons}))
    place = {reason: code for code, reason in enumerate(reasons)}
    codes = [np.array([place[why] for why in part.reasons], dtype=np.uint16)[part.reason] for part in parts]
    return ScoreColumn(
        parts[0].metric,
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.status for part in parts]),
        np.concatenate(codes),
        reasons,
    )


def join_blocks(blocks: Sequence[Block]) -> Block:
    """Return the rows of several blocks as one."""
    return Block(
        case=np.concatenate([block.case for block in blocks]),
        config=np.concatenate([block.config for block in blocks]),
        repeat=np.concatenate([block.repeat for block in blocks]),
        line=np.concatenate([block.line for block in blocks]),
        start=np.concatenate([block.start for block in blocks]),
        broken=np.concatenate([block.broken for block in blocks]),
        columns={name: concatenate([block.columns[name] for block in blocks]) for name in blocks[0].columns},
    )


def _rows_of(column: ScoreColumn, rows: npt.NDArray[np.intp]) -> ScoreColumn:
    return ScoreColumn(column.metric, column.values[rows], column.status[rows], column.reason[rows], column.reasons)


def unobserved(the_plan: Plan, joins: Joins, places: Sequence[int]) -> dict[str, ScoreColumn]:
    """Return the columns of cases without observation; metrics that do not apply to a case stay not applicable."""
    batch = Batch(the_plan.facts)
    cases = [joins.case(place) for place in places]
    batch.add(Rows(cases, [Observation(case.case.id, error=TargetError(NO_OBSERVATION)) for case in cases]))
    return score_batch(the_plan, batch)


def table(
    config_id: str,
    rows: Block,
    chosen: npt.NDArray[np.intp],
    the_plan: Plan,
    joins: Joins,
    *,
    missing_as_zero: bool = False,
    versions: dict[str, tuple[str, ...]] | None = None,
    notes: tuple[str, ...] = (),
) -> ScoreTable:
    """Return one configuration's scores in golden order from its rows (`chosen`) of the joined blocks.

    Repeats are folded by mean first. A case without a row is an error for every metric that applies to it, or 0 for one
    that is better high where `missing_as_zero` asks for it (trec_eval's -c).
    """
    case_ids = [case.id for case in joins.golden.cases]
    case = rows.case[chosen].astype(np.intp)
    order = np.lexsort((rows.repeat[chosen], case))
    chosen, case = chosen[order], case[order]
    seen = np.bincount(case, minlength=len(case_ids))
    missing = seen == 0
    absent = np.flatnonzero(missing)
    nothing = unobserved(the_plan, joins, absent.tolist())
    columns: dict[str, ScoreColumn] = {}
    for name, column in rows.columns.items():
        folded = fold(_rows_of(column, chosen), case, len(case_ids)).column
        columns[name] = _spare(folded, absent, nothing[name])
    broken = np.bincount(case[rows.broken[chosen]], minlength=len(case_ids)) > 0
    uncalibrated = tuple(text for text in (*columns, _FAILED) if not may_gate(parse(text), joins.judging))
    checks, failed = run_checks(case_ids, columns, missing, broken, uncalibrated)
    if missing_as_zero:
        columns = {name: _as_zero(column, missing) for name, column in columns.items()}
    columns[_FAILED] = failed_column(failed, missing & (not missing_as_zero))
    return ScoreTable(
        config_id,
        case_ids,
        columns,
        tuple(case_id for case_id, gone in zip(case_ids, missing.tolist(), strict=True) if gone),
        checks,
        repeats=int(seen.max(initial=1)),
        versions=versions or {},
        notes=notes,
        uncalibrated=uncalibrated,
    )


def _spare(column: ScoreColumn, absent: npt.NDArray[np.intp], nothing: ScoreColumn) -> ScoreColumn:
    """Return the column in which absent cases are not applicable where the case alone makes the metric so."""
    spared = nothing.status == NOT_APPLICABLE
    if not spared.any():
        return column
    reasons = tuple(dict.fromkeys((*column.reasons, *nothing.reasons)))
    status, reason = column.status.copy(), column.reason.copy()
    status[absent[spared]] = NOT_APPLICABLE
    reason[absent[spared]] = [reasons.index(nothing.reasons[code]) for code in nothing.reason[spared].tolist()]
    return ScoreColumn(column.metric, column.values, status, reason, reasons)


def _as_zero(column: ScoreColumn, missing: npt.NDArray[np.bool_]) -> ScoreColumn:
    """Return the column with the worst score for missing cases if the metric is better high.

    For other metrics (counts, costs, errors) missing cases become not applicable: no answer is no observed event.
    """
    grader = grader_of(parse(column.metric))
    unseen = missing & (column.status == ERROR)
    status = column.status.copy()
    if grader.direction != "higher":
        status[unseen] = NOT_APPLICABLE
        return ScoreColumn(column.metric, column.values, status, column.reason, column.reasons)
    status[unseen] = SCORED
    values = np.where(unseen, grader.low, column.values)
    return ScoreColumn(column.metric, values, status, column.reason, column.reasons)
