"""Reads and writes baseline files: the scores of every case of one configuration, meant to be committed.

A baseline holds no text of chunks or answers. Equal baselines are written as equal bytes, with one line for each metric
and each case, so that a diff shows which scores changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from assay.errors import InputError, Problem, shown
from assay.finding import Cause, Confidence, Fault
from assay.io import strictjson
from assay.io.shape import MisfitError, fit
from assay.io.writing import write_whole
from assay.model import Case, CaseChecks, Count, GoldenInfo, Position

KIND: Literal["assay-baseline"] = "assay-baseline"
VERSION = 2
MAX_BASELINE_BYTES = 256 * 2**20


class ColumnLine(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The scores of one metric: a number or null for every case.

    The other members give, for each reason, the indices of the cases without a score, and of those whose score needs
    review.
    """

    metric: str
    values: tuple[float | None, ...]
    not_applicable: dict[str, tuple[Count, ...]] = {}
    errors: dict[str, tuple[Count, ...]] = {}
    needs_review: dict[str, tuple[Count, ...]] = {}


class WalkLine(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
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
    verdict: Fault
    cause: Cause | None = None
    subtype: str = ""
    stage: str | None = None
    confidence: Confidence = "medium"
    good: bool | None = None
    reached: bool | None = None
    signal: str = ""
    walk: tuple[WalkLine, ...] = ()
    also: tuple[Cause, ...] = ()


class BaselineFile(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything in the file.

    `cases` hold what slices and clusters are computed from, and no question. `uncalibrated` names the metrics that are
    reported but may not gate, because their scorer is not calibrated.
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


def write_baseline(baseline: BaselineFile, path: str) -> Path:
    """Write a baseline completely or not at all, and return its path. Raises IncompleteError if that fails."""
    return write_whole(path, _encode_lines(baseline))


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
    value = strictjson.decode_object(text, path)
    if value.get("kind") != KIND:
        got = "a report, which holds no scores of cases" if "configs" in value else "something else"
        raise _refused(path, "kind", f"not a baseline (got {got}; expected a file of `assay baseline save`)")
    if value.get("version") != VERSION:  # checked before the members, because another version has other members
        got = shown(value["version"]) if "version" in value else "none"
        raise _refused(path, "version", f"of another version (got {got}; expected {VERSION}: save it again)")
    try:
        baseline = fit(value, BaselineFile)
    except MisfitError as error:
        raise InputError([Problem(path, None, *misfit) for misfit in error.misfits]) from None
    problems = list(_find_contradictions(baseline, path))
    if problems:
        raise InputError(problems)
    return baseline


def _find_contradictions(baseline: BaselineFile, path: str) -> Iterator[Problem]:
    case_ids = [case.id for case in baseline.cases]
    if len(set(case_ids)) < len(case_ids):
        yield _problem(path, "cases", "a case id is given twice (expected each case once)")
    for column in baseline.columns:
        yield from _find_column_contradictions(column, len(case_ids), path)
    for metric in baseline.metrics:
        if metric not in baseline.definitions:
            yield _problem(path, "definitions", f"no definition of {metric} (expected one for every metric)")
    for attribution in baseline.attributions:
        if any(len(trace.stages) != len(trace.ranks) for trace in attribution.walk):
            yield _problem(path, f"attributions: {attribution.case_id}", "stages and ranks differ in number")


def _find_column_contradictions(column: ColumnLine, case_count: int, path: str) -> Iterator[Problem]:
    field = f"columns: {column.metric}"
    if len(column.values) != case_count:
        yield _problem(path, field, f"another number of values (got {len(column.values)}; expected {case_count})")
        return
    unscored = list(chain.from_iterable([*column.not_applicable.values(), *column.errors.values()]))
    if sorted(unscored) != [row for row, value in enumerate(column.values) if value is None]:
        yield _problem(path, field, "rows without a value and rows with a reason differ (expected the same)")
    in_review = set(chain.from_iterable(column.needs_review.values()))
    scored = set(range(case_count)) - set(unscored)
    if not in_review <= scored:
        yield _problem(path, field, "a row that needs review has no value (expected one)")


def _encode_lines(baseline: BaselineFile) -> Iterator[bytes]:
    """Yield the file: lists of records with one record on each line, every other member on one line."""
    names = baseline.__struct_fields__
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
