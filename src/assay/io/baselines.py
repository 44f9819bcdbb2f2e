"""A baseline as a file to commit: the scores of every case of one configuration, without the text of chunks or answers.

The same baseline is the same bytes. One line for each metric and each case, so that a diff shows what moved.
"""

from __future__ import annotations

from collections.abc import Iterator
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
MAX_BYTES = 256 * 2**20


class ColumnLine(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One metric: a number for every case, null where there is none; rows without one, and numbers that need review,
    by their reason."""

    metric: str
    values: tuple[float | None, ...]
    not_applicable: dict[str, tuple[Count, ...]] = {}
    errors: dict[str, tuple[Count, ...]] = {}
    needs_review: dict[str, tuple[Count, ...]] = {}


class WalkLine(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One unit of evidence: its rank in every stage, in the order of the pipeline."""

    unit: Count
    name: str
    grade: int
    required: bool
    stages: tuple[str, ...]
    ranks: tuple[Position | None, ...]
    lost_at: str | None = None


class AttributionLine(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One case's attribution without the sentences around it, which may quote."""

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
    """Everything in the file; `cases` have what slices and clusters are made from, and no question; `uncalibrated`
    names the columns that may inform and not gate."""

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


def write_baseline(found: BaselineFile, path: str) -> Path:
    """Write a baseline, whole or not at all."""
    return write_whole(path, _parts(found))


def read_baseline(path: str) -> BaselineFile:
    """Return the baseline of a file. Raises InputError where it is none, or does not agree with itself."""
    file = Path(path)
    try:
        size = file.stat().st_size
        if size > MAX_BYTES:
            raise _refused(path, "", f"too large (got {size} bytes; expected {MAX_BYTES} at most)")
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise _refused(path, "", f"cannot be read: {reason} (expected a file of `assay baseline save`)") from None
    except UnicodeDecodeError as error:
        raise _refused(path, "", f"not UTF-8 (byte {error.start}; expected a file of `assay baseline save`)") from None
    value = strictjson.decode_object(text, path)
    if value.get("kind") != KIND:
        what = "a report, which holds no scores of cases" if "configs" in value else "something else"
        raise _refused(path, "kind", f"not a baseline (got {what}; expected a file of `assay baseline save`)")
    if value.get("version") != VERSION:  # before its fields: those of another version are others
        got = shown(value["version"]) if "version" in value else "none"
        raise _refused(path, "version", f"of another version (got {got}; expected {VERSION}: save it again)")
    try:
        found = fit(value, BaselineFile)
    except MisfitError as error:
        raise InputError([Problem(path, None, *misfit) for misfit in error.misfits]) from None
    problems = list(_contradictions(found, path))
    if problems:
        raise InputError(problems)
    return found


def _contradictions(found: BaselineFile, path: str) -> Iterator[Problem]:
    ids = [case.id for case in found.cases]
    size = len(ids)
    if len(set(ids)) < size:
        yield _problem(path, "cases", "an id stands twice (expected each case once)")
    for column in found.columns:
        field = f"columns: {column.metric}"
        if len(column.values) != size:
            yield _problem(path, field, f"another number of values (got {len(column.values)}; expected {size})")
            continue
        silent = [row for rows in (*column.not_applicable.values(), *column.errors.values()) for row in rows]
        if sorted(silent) != [row for row, value in enumerate(column.values) if value is None]:
            yield _problem(path, field, "rows without a value and rows with a reason differ (expected the same)")
        doubtful = {row for rows in column.needs_review.values() for row in rows}
        if not doubtful <= set(range(size)) - set(silent):
            yield _problem(path, field, "a row that needs review has no value (expected one)")
    for metric in found.metrics:
        if metric not in found.definitions:
            yield _problem(path, "definitions", f"no definition of {metric} (expected one for every metric)")
    for each in found.attributions:
        if any(len(walk.stages) != len(walk.ranks) for walk in each.walk):
            yield _problem(path, f"attributions: {each.case_id}", "stages and ranks differ in number")


def _parts(found: BaselineFile) -> Iterator[bytes]:
    fields = found.__struct_fields__
    yield b"{\n"
    for place, name in enumerate(fields):
        value: Any = getattr(found, name)
        yield msgspec.json.encode(name) + b": "
        if isinstance(value, tuple) and value and isinstance(value[0], Struct):
            yield b"[\n  " + b",\n  ".join(msgspec.json.encode(each, order="deterministic") for each in value) + b"\n]"
        else:
            yield msgspec.json.encode(value, order="deterministic")
        yield b",\n" if place + 1 < len(fields) else b"\n"
    yield b"}\n"


def _problem(path: str, field: str, message: str) -> Problem:
    return Problem(path, None, field, message, "E_BASELINE")


def _refused(path: str, field: str, message: str) -> InputError:
    return InputError([_problem(path, field, message)])
