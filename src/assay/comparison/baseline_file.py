"""Reads and writes baseline files: the scores of every case of one configuration, meant to be committed.

A baseline holds no questions, no references, and no text of chunks or answers; of answers that nobody can tell the
score of it holds short digests, by which the same answer is known again (ADR 162). Equal baselines are written as equal
bytes, with one line for each metric and each case, so that a diff shows which scores changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec import Struct, structs

from assay.formats import strict_json
from assay.formats.file_io import write_atomically
from assay.formats.strict_json import MisfitError, convert_strictly
from assay.metrics.case_checks import ANSWER_UNKNOWN
from assay.metrics.cases.case_index import QUOTE
from assay.metrics.catalog import find_metric, parse_metric
from assay.records.answer_numbers import NO_NUMBER
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.findings import Attribution, CauseConfidence, ComparisonSide, EvidenceTrace, FaultParty, RootCause
from assay.records.golden_set import Case, Count, Evidence, Position, User
from assay.records.scores import (
    ERROR,
    NOT_APPLICABLE,
    SCORED,
    CaseChecks,
    GoldenInfo,
    ScoreColumn,
    ScoreTable,
    VariantEvents,
)
from assay.scoring.case_clusters import name_clusters
from assay.scoring.column_values import find_column, find_rows_in_review
from assay.scoring.paired_scores import ScoreSnapshot
from assay.scoring.version_match import list_contents
from assay.stats.arrays import RowIndices

BASELINE_KIND: Literal["assay-baseline"] = "assay-baseline"
BASELINE_VERSION = 5
MAX_BASELINE_BYTES = 256 * 2**20
_ANSWER_DIGEST = re.compile(r"(?!0{16})[0-9a-f]{16}")


class ColumnLine(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The scores of one metric: a number or null for every case.

    The other members give, for each reason, the indices of the cases without a score, and of those whose score needs
    review; and, for each answer of which nobody can tell the score, by a digest of it, the indices of its cases.
    """

    metric: str
    values: tuple[float | None, ...]
    not_applicable: dict[str, tuple[Count, ...]] = {}
    errors: dict[str, tuple[Count, ...]] = {}
    needs_review: dict[str, tuple[Count, ...]] = {}
    answers: dict[str, tuple[Count, ...]] = {}


class TraceLine(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The ranks of one unit of evidence in every stage, in the order of the pipeline."""

    unit: Count
    name: str
    grade: int
    required: bool
    stages: tuple[str, ...]
    ranks: tuple[Position | None, ...]
    lost_at: str | None = None


class AttributionLine(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The attribution of one case, without the sentences that explain it, because they may quote."""

    case_id: str
    verdict: FaultParty
    cause: RootCause | None = None
    subtype: str = ""
    stage: str | None = None
    confidence: CauseConfidence = "medium"
    good: bool | None = None
    reached: bool | None = None
    signal: str = ""
    traces: tuple[TraceLine, ...] = ()
    also: tuple[RootCause, ...] = ()


class BaselineFile(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything in the file.

    `cases` hold what slices and clusters are computed from, and no question; `contents` are digests of what each of
    them asks and expects, by which the cases are known that another version of the golden set has too. `uncalibrated`
    names the metrics that are reported but may not gate, because their scorer is not calibrated.
    """

    kind: Literal["assay-baseline"]
    version: int
    assay_version: str
    config_id: str
    golden: GoldenInfo
    stage: str
    repeats: int
    versions: dict[str, tuple[str, ...]]
    made_with: dict[str, str]
    judge: str | None
    rubrics: dict[str, str]
    metrics: tuple[str, ...]
    definitions: dict[str, str]
    uncalibrated: tuple[str, ...]
    missing: tuple[str, ...]
    cases: tuple[Case, ...]
    checks: tuple[CaseChecks, ...]
    columns: tuple[ColumnLine, ...]
    attributions: tuple[AttributionLine, ...]
    variant_events: tuple[VariantEvents, ...] = ()
    contents: tuple[str, ...] = ()
    judge_models: tuple[str, ...] = ()


def write_baseline(baseline: BaselineFile, path: str) -> Path:
    """Write a baseline completely or not at all, and return its path. Raises IncompleteError if that fails."""
    return write_atomically(path, _encode_lines(baseline))


def read_baseline(path: str) -> BaselineFile:
    """Read a baseline file. Raises InputError for any other file, and for a baseline that contradicts itself."""
    file = Path(path)
    try:
        size = file.stat().st_size
        if size > MAX_BASELINE_BYTES:
            raise _refused(path, "", f"too large (got {size} bytes; expected {MAX_BASELINE_BYTES} at most)")
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise _refused(path, "", f"cannot be read: {reason} (expected a file of `assay baseline save`)") from None
    except UnicodeDecodeError as error:
        raise _refused(path, "", f"not UTF-8 (byte {error.start}; expected a file of `assay baseline save`)") from None
    try:
        value = strict_json.decode_json_object(text, path)
    except InputError as error:
        sides = "; a side is a run folder or a file of `assay baseline save`"
        problems = [structs.replace(problem, message=f"{problem.message}{sides}") for problem in error.problems]
        raise InputError(problems) from None
    if value.get("kind") != BASELINE_KIND:
        got = "a report, which holds no scores of cases" if "configs" in value else "something else"
        raise _refused(path, "kind", f"not a baseline (got {got}; expected a file of `assay baseline save`)")
    _upgrade_baseline(value)
    if value.get("version") != BASELINE_VERSION:  # checked first, because another version has other members
        got = shorten_repr(value["version"]) if "version" in value else "none"
        raise _refused(path, "version", f"of another version (got {got}; expected {BASELINE_VERSION}: save it again)")
    try:
        baseline = convert_strictly(value, BaselineFile)
    except MisfitError as error:
        raise InputError([Problem(path, None, *misfit) for misfit in error.misfits]) from None
    problems = list(_find_contradictions(baseline, path))
    if problems:
        raise InputError(problems)
    return baseline


def _upgrade_baseline(value: dict[str, Any]) -> None:
    """Bring what an earlier version wrote into the form of this one, in place.

    Version 2 has another name for the evidence traces of an attribution; version 3 lacks only the digests of answers,
    and version 4 those of what cases ask and expect.
    """
    attributions = value.get("attributions")
    if value.get("version") == 2 and isinstance(attributions, list):
        for attribution in attributions:
            if isinstance(attribution, dict) and "walk" in attribution:
                attribution["traces"] = attribution.pop("walk")
            if isinstance(attribution, dict) and attribution.get("subtype") == "locked_out":
                attribution["subtype"] = "access_denied"
        value["version"] = 3
    if value.get("version") in (3, 4):
        value["version"] = BASELINE_VERSION


def _find_contradictions(baseline: BaselineFile, path: str) -> Iterator[Problem]:
    case_ids = [case.id for case in baseline.cases]
    if len(set(case_ids)) < len(case_ids):
        yield _problem(path, "cases", "a case id is given twice (expected each case once)")
    if baseline.contents and len(baseline.contents) != len(case_ids):
        got = f"got {len(baseline.contents)}; expected {len(case_ids)}"
        yield _problem(path, "contents", f"another number of digests than of cases ({got})")
    for column in baseline.columns:
        yield from _find_column_contradictions(column, len(case_ids), path)
    for metric in baseline.metrics:
        if metric not in baseline.definitions:
            yield _problem(path, "definitions", f"no definition of {metric} (expected one for every metric)")
    for attribution in baseline.attributions:
        if any(len(trace.stages) != len(trace.ranks) for trace in attribution.traces):
            yield _problem(path, f"attributions: {attribution.case_id}", "stages and ranks differ in number")


def _find_column_contradictions(column: ColumnLine, case_count: int, path: str) -> Iterator[Problem]:
    field = f"columns: {column.metric}"
    if len(column.values) != case_count:
        yield _problem(path, field, f"another number of values (got {len(column.values)}; expected {case_count})")
        return
    unscored = list(chain.from_iterable([*column.not_applicable.values(), *column.errors.values()]))
    if sorted(unscored) != [row for row, value in enumerate(column.values) if value is None]:
        yield _problem(path, field, "rows without a value and rows with a reason differ (expected the same)")
    answered = list(chain.from_iterable(column.answers.values()))
    may_answer = set(range(case_count)) if column.metric == ANSWER_UNKNOWN else set(unscored)
    if not set(answered) <= may_answer or len(set(answered)) < len(answered):
        message = "an answer without a score is that of a row with a value, or two answers are of one row"
        yield _problem(path, field, f"{message} (expected each row without a value once at most)")
    if not all(map(_ANSWER_DIGEST.fullmatch, column.answers)):
        yield _problem(path, field, "not a digest of an answer (expected 16 hexadecimal digits, not all 0)")
    in_review = set(chain.from_iterable(column.needs_review.values()))
    scored = set(range(case_count)) - set(unscored)
    if not in_review <= scored:
        yield _problem(path, field, "a row that needs review has no value (expected one)")


def _encode_lines(baseline: BaselineFile) -> Iterator[bytes]:
    """Yield the file: lists of records with one record on each line, every other member on one line."""
    names = [name for name in baseline.__struct_fields__ if name != "variant_events" or baseline.variant_events]
    yield b"{\n"
    for name in names:
        value: Any = getattr(baseline, name)
        yield msgspec.json.encode(name) + b": "
        if isinstance(value, tuple) and value and isinstance(value[0], Struct):
            records = [msgspec.json.encode(record, order="deterministic") for record in value]
            yield b"[\n  " + b",\n  ".join(records) + b"\n]"
        else:
            yield msgspec.json.encode(value, order="deterministic")
        yield b"\n" if name == names[-1] else b",\n"
    yield b"}\n"


def _problem(path: str, field: str, message: str) -> Problem:
    return Problem(path, None, field, message, "E_BASELINE")


def _refused(path: str, field: str, message: str) -> InputError:
    return InputError([_problem(path, field, message)])


def decode_baseline(path: str) -> ScoreSnapshot:
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
        variant_events=file.variant_events,
    )
    _check_columns(file.metrics, table, path)
    golden = file.golden
    side = ComparisonSide(
        path,
        file.config_id,
        golden.digest,
        len(file.cases),
        file.versions,
        file.judge,
        file.rubrics,
        file.stage,
        file.assay_version,
        judge_models=file.judge_models,
    )
    attributions = {line.case_id: _decode_attribution(line) for line in file.attributions}
    contents = dict(zip(table.case_ids, file.contents, strict=False))
    return ScoreSnapshot(
        side,
        table,
        file.cases,
        file.metrics,
        file.definitions,
        attributions,
        file.made_with,
        golden,
        contents=contents,
    )


def _check_columns(metrics: Sequence[str], table: ScoreTable, path: str) -> None:
    """Raise InputError if a metric, or a part from which it is computed, has no scores."""
    needed = [part for name in metrics for part in (name, *find_metric(parse_metric(name)).parts)]
    problems = [
        Problem(path, None, "columns", f"no scores of {name} (expected those of every metric)", "E_BASELINE")
        for name in dict.fromkeys(needed)
        if find_column(table, parse_metric(name)) is None
    ]
    if problems:
        raise InputError(problems)


def encode_baseline(side: ScoreSnapshot) -> BaselineFile:
    """Return a side as a baseline file, without questions, references, or text of chunks or answers."""
    # The name of an evidence unit found by a quote is that quote, which a baseline must not hold.
    quoted = {case.id for case in side.cases if _has_quote(case)}
    table = side.table
    return BaselineFile(
        BASELINE_KIND,
        BASELINE_VERSION,
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
        tuple(map(_strip_case, side.cases, name_clusters(side.cases))),
        table.checks,
        tuple(_encode_column(column) for _, column in sorted(table.columns.items())),
        tuple(
            _encode_attribution(attribution, case_id in quoted)
            for case_id, attribution in sorted(side.attributions.items())
        ),
        table.variant_events,
        tuple(list_contents(side).values()),
        side.side.judge_models,
    )


def _has_quote(case: Case) -> bool:
    return any(QUOTE in alternative for unit in case.evidence for alternative in unit.any_of)


def _strip_case(case: Case, cluster: str) -> Case:
    """Return a case with only the fields from which slices are made, and its cluster, which questions may have made."""
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
        cluster=cluster if case.cluster is not None or cluster != case.id else None,
        attributes=case.attributes,
    )


def _encode_column(column: ScoreColumn) -> ColumnLine:
    values = tuple(
        value if state == SCORED else None
        for value, state in zip(column.values.tolist(), column.status.tolist(), strict=True)
    )
    row_groups = [np.flatnonzero(column.status == state) for state in (NOT_APPLICABLE, ERROR)]
    row_groups.append(
        np.array([row for row in find_rows_in_review(column).tolist() if column.status[row] == SCORED], dtype=np.intp)
    )
    reasons = [_group_rows_by_reason(column, rows) for rows in row_groups]
    return ColumnLine(column.metric, values, reasons[0], reasons[1], reasons[2], _group_rows_by_answer(column))


def _group_rows_by_answer(column: ScoreColumn) -> dict[str, tuple[int, ...]]:
    rows_by_answer: dict[str, list[int]] = {}
    for row, number in enumerate(() if column.answers is None else column.answers.tolist()):
        if number and (column.status[row] != SCORED or column.metric == ANSWER_UNKNOWN):
            rows_by_answer.setdefault(f"{number:016x}", []).append(row)
    return {digest: tuple(rows) for digest, rows in sorted(rows_by_answer.items())}


def _group_rows_by_reason(column: ScoreColumn, rows: RowIndices) -> dict[str, tuple[int, ...]]:
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
    answers = None
    if line.answers:
        answers = np.full(size, NO_NUMBER)
        for digest, rows in line.answers.items():
            answers[list(rows)] = int(digest, 16)
    return ScoreColumn(line.metric, values, status, reason_codes, reasons, answers)


def _encode_attribution(attribution: Attribution, quoted: bool) -> AttributionLine:
    trace_lines = tuple(
        TraceLine(
            step.unit,
            f"unit {step.unit + 1}" if quoted else step.name,
            step.grade,
            step.required,
            tuple(step.ranks),
            tuple(step.ranks.values()),
            step.lost_at,
        )
        for step in attribution.traces
    )
    fields = {name: getattr(attribution, name) for name in AttributionLine.__struct_fields__ if name != "traces"}
    return AttributionLine(**fields, traces=trace_lines)


def _decode_attribution(line: AttributionLine) -> Attribution:
    traces = tuple(
        EvidenceTrace(
            step.unit,
            step.name,
            step.grade,
            step.required,
            dict(zip(step.stages, step.ranks, strict=True)),
            step.lost_at,
        )
        for step in line.traces
    )
    return Attribution(**{**structs.asdict(line), "traces": traces})
