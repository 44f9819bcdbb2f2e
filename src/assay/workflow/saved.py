"""Encoding one side of a comparison as a baseline file, without questions, references, or text of chunks or answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import structs

from assay.errors import InputError, Problem
from assay.finding import Attribution, EvidenceWalk, Side
from assay.graders.catalog import grader_of, parse
from assay.graders.evidence import QUOTE
from assay.io.baselines import KIND, VERSION, AttributionLine, BaselineFile, ColumnLine, WalkLine, read_baseline
from assay.model import ERROR, NOT_APPLICABLE, SCORED, Case, Evidence, GoldenInfo, ScoreColumn, ScoreTable, User
from assay.scoring.measured import column_of, in_review
from assay.scoring.slices import Rows
from assay.scoring.snapshot import Snapshot


def loaded(path: str) -> Snapshot:
    """Return the side stored in a file of `assay baseline save`. Raises InputError if it cannot be read."""
    file = read_baseline(path)
    table = ScoreTable(
        file.config_id,
        tuple(case.id for case in file.cases),
        {line.metric: _decode_column(line) for line in file.columns},
        file.missing,
        file.checks,
        file.repeats,
        file.versions,
        uncalibrated=file.uncalibrated,
    )
    _check_columns(file.metrics, table, path)
    golden = file.golden
    side = Side(
        path,
        file.config_id,
        golden.digest,
        len(file.cases),
        file.versions,
        file.judge,
        file.rubrics,
        file.stage,
        file.assay_version,
    )
    attributions = {line.case_id: _decode_attribution(line) for line in file.attributions}
    return Snapshot(side, table, file.cases, file.metrics, file.definitions, attributions, file.made_with, golden)


def _check_columns(metrics: Sequence[str], table: ScoreTable, path: str) -> None:
    """Raise InputError if a metric, or a part from which it is computed, has no scores."""
    needed = [part for name in metrics for part in (name, *grader_of(parse(name)).parts)]
    problems = [
        Problem(path, None, "columns", f"no scores of {name} (expected those of every metric)", "E_BASELINE")
        for name in dict.fromkeys(needed)
        if column_of(table, parse(name)) is None
    ]
    if problems:
        raise InputError(problems)


def file_of(side: Snapshot) -> BaselineFile:
    """Return a side as a baseline file, without questions, references, or text of chunks or answers."""
    # The name of an evidence unit found by a quote is that quote, which a baseline must not hold.
    quoted = {case.id for case in side.cases if _has_quote(case)}
    table = side.table
    return BaselineFile(
        KIND,
        VERSION,
        side.side.assay_version,
        side.side.config_id,
        side.golden or GoldenInfo("", "", side.side.golden_digest, side.side.cases),
        side.side.stage,
        table.repeats,
        dict(table.versions),
        dict(side.made_with),
        side.side.judge,
        dict(side.side.rubrics),
        side.metrics,
        dict(side.definitions),
        table.uncalibrated,
        table.missing,
        tuple(_strip_case(case) for case in side.cases),
        table.checks,
        tuple(_encode_column(column) for _, column in sorted(table.columns.items())),
        tuple(
            _encode_attribution(attribution, case_id in quoted)
            for case_id, attribution in sorted(side.attributions.items())
        ),
    )


def _has_quote(case: Case) -> bool:
    return any(QUOTE in alternative for unit in case.evidence for alternative in unit.any_of)


def _strip_case(case: Case) -> Case:
    """Return a case with only the fields from which slices and clusters are made."""
    kinds = tuple(Evidence((), kind=unit.kind) for unit in case.evidence if unit.kind)
    return Case(
        case.id,
        "",
        behaviour=case.behaviour,
        evidence=kinds,
        user=User(locale=case.user.locale) if case.user is not None and case.user.locale else None,
        tags=case.tags,
        difficulty=case.difficulty,
        language=case.language,
        cluster=case.cluster,
        attributes=case.attributes,
    )


def _encode_column(column: ScoreColumn) -> ColumnLine:
    values = tuple(
        value if state == SCORED else None
        for value, state in zip(column.values.tolist(), column.status.tolist(), strict=True)
    )
    row_groups = [np.flatnonzero(column.status == state) for state in (NOT_APPLICABLE, ERROR)]
    row_groups.append(
        np.array([row for row in in_review(column).tolist() if column.status[row] == SCORED], dtype=np.intp)
    )
    return ColumnLine(column.metric, values, *(_group_rows_by_reason(column, rows) for rows in row_groups))


def _group_rows_by_reason(column: ScoreColumn, rows: Rows) -> dict[str, tuple[int, ...]]:
    rows_by_reason: dict[str, list[int]] = {}
    for row in rows.tolist():
        rows_by_reason.setdefault(column.reasons[column.reason[row]], []).append(row)
    return {reason: tuple(rows) for reason, rows in sorted(rows_by_reason.items())}


def _decode_column(line: ColumnLine) -> ScoreColumn:
    size = len(line.values)
    reasons = tuple(dict.fromkeys(("", *line.not_applicable, *line.errors, *line.needs_review)))
    status, reason_codes = np.full(size, SCORED, dtype=np.uint8), np.zeros(size, dtype=np.uint16)
    kinds = (NOT_APPLICABLE, line.not_applicable), (ERROR, line.errors), (SCORED, line.needs_review)
    for state, rows_by_reason in kinds:
        for reason_text, rows in rows_by_reason.items():
            status[list(rows)], reason_codes[list(rows)] = state, reasons.index(reason_text)
    values = np.array([0.0 if value is None else value for value in line.values], dtype=np.float64)
    return ScoreColumn(line.metric, values, status, reason_codes, reasons)


def _encode_attribution(attribution: Attribution, quoted: bool) -> AttributionLine:
    walk_lines = tuple(
        WalkLine(
            step.unit,
            f"unit {step.unit + 1}" if quoted else step.name,
            step.grade,
            step.required,
            tuple(step.ranks),
            tuple(step.ranks.values()),
            step.lost_at,
        )
        for step in attribution.walk
    )
    fields = {name: getattr(attribution, name) for name in AttributionLine.__struct_fields__ if name != "walk"}
    return AttributionLine(**fields, walk=walk_lines)


def _decode_attribution(line: AttributionLine) -> Attribution:
    walk = tuple(
        EvidenceWalk(
            step.unit,
            step.name,
            step.grade,
            step.required,
            dict(zip(step.stages, step.ranks, strict=True)),
            step.lost_at,
        )
        for step in line.walk
    )
    return Attribution(**{**structs.asdict(line), "walk": walk})
