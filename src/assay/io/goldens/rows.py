"""Formats whose cases are JSON objects: one on each line of a JSONL file, or in the list of a `.json` document.

The first line may be a header, `{"golden_set": {…}}`; a document may be `{"cases": […], …}` with the same members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from msgspec import Struct

from assay.errors import InputError, Problem
from assay.io.goldens.base import Header, SchemaVersion, Spot
from assay.io.goldens.builder import Builder
from assay.io.lines import Line, Source, open_file, read_lines, show_line, text_of
from assay.io.shape import MisfitError, fit, fit_open
from assay.io.strictjson import decode, decode_object, pointer
from assay.model import Case, Difficulty, Turn

MAX_DOCUMENT_BYTES = 256 * 2**20
LINE_SUFFIXES = (".jsonl", ".ndjson")

HEADER = "golden_set"


class Row(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Members that rows of every format may have besides their own."""

    tags: tuple[str, ...] = ()
    difficulty: Difficulty = "unknown"
    language: str | None = None
    cluster: str | None = None
    category: str | None = None
    domain: str | None = None
    attributes: dict[str, str] = {}
    history: tuple[Turn, ...] = ()
    notes: str = ""
    metadata: dict[str, Any] = {}
    schema_version: SchemaVersion | None = None


R = TypeVar("R", bound=Struct)
AnyRow = TypeVar("AnyRow", bound=Row)

ToCase = Callable[[R, dict[str, Any], Builder, Spot], Case]
"""Makes a case from a row, the common fields of a `Case`, the builder that notes problems, and the location."""


def read_rows(source: Source, builder: Builder, record: type[AnyRow], to_case: ToCase[AnyRow]) -> None:
    """Read every row as a `record` and add the case that `to_case` makes from it."""

    def add(row: AnyRow, free: dict[str, Any], spot: Spot) -> None:
        builder.same_version(row.schema_version, spot)
        builder.add(to_case(row, _common_fields(row, free, builder, spot), builder, spot), spot)

    read_records(source, builder, record, add)


def read_records(
    source: Source, builder: Builder, record: type[R], add: Callable[[R, dict[str, Any], Spot], None]
) -> None:
    """Pass every row that fits `record` to `add`, with its free-form `x_` members; note rows that do not fit."""
    for spot, row in _iterate_objects(source, builder):
        if HEADER in row:
            _read_header(row, builder, spot)
            continue
        try:
            fitted, free = fit_open(row, record, spot.at)
        except MisfitError as error:
            for field, message, code in error.misfits:
                builder.findings.error(spot.line, field, message, code)
        else:
            add(fitted, free, spot)


def first_content(source: Source) -> Line | None:
    """Return the first line that is not blank, None if all are."""
    return next((line for line in read_lines(source) if line.data.strip()), None)


def is_document(source: Source) -> bool:
    """Return whether the file is one JSON value. Raises InputError if its name says that each line is one."""
    first = first_content(source)
    if first is None or first.data.lstrip()[:1] not in (b"[", b"{"):
        return False
    is_list = first.data.lstrip().startswith(b"[")
    if is_list and source.suffix in LINE_SUFFIXES:
        message = (
            f"one JSON list (got {show_line(first)}; expected an object on each line, or a name that ends in .json)"
        )
        raise InputError([Problem(source.name, first.number, "", message, "E_FORMAT")])
    if is_list or source.suffix in LINE_SUFFIXES:
        return is_list
    try:
        return "cases" in decode_object(text_of(first, source.name), source.name, first.number)
    except InputError:
        return source.suffix == ".json"


def load_document(source: Source) -> Any:
    """Return the JSON value of a document. Raises InputError if it is too large or not strict JSON."""
    with open_file(source.path, source.name) as file:
        data = file.read(MAX_DOCUMENT_BYTES + 1)
    if len(data) > MAX_DOCUMENT_BYTES:
        message = f"document too large (got more than {MAX_DOCUMENT_BYTES} bytes; expected JSON Lines at this size)"
        raise InputError([Problem(source.name, None, "", message, "E_TOO_LARGE")])
    text = "\n".join(text_of(line, source.name) for line in read_lines(source, max_bytes=MAX_DOCUMENT_BYTES))
    return decode(text, source.name)


def _iterate_objects(source: Source, builder: Builder) -> Iterator[tuple[Spot, dict[str, Any]]]:
    if is_document(source):
        yield from _iterate_document_objects(source, builder)
        return
    for line in read_lines(source):
        if not line.data or line.data.isspace():
            continue
        try:
            row = decode_object(text_of(line, source.name), source.name, line.number)
        except InputError as error:
            builder.findings.absorb(error)
        else:
            yield Spot(line.number), row


def _iterate_document_objects(source: Source, builder: Builder) -> Iterator[tuple[Spot, dict[str, Any]]]:
    document = load_document(source)
    at, rows = "", document
    if isinstance(document, dict):
        at, rows = "cases", document.pop("cases", None)
        yield Spot(None, ""), {HEADER: document}
    if not isinstance(rows, list):
        builder.findings.error(None, at, "no list of cases (got no list; expected cases in brackets)", "E_ROW")
        return
    for index, row in enumerate(rows):
        spot = Spot(None, pointer(at, index))
        if isinstance(row, dict):
            yield spot, row
        else:
            builder.findings.error(None, spot.at, f"not an object (got {row!r:.80}; expected a case)", "E_ROW")


def _read_header(row: dict[str, Any], builder: Builder, spot: Spot) -> None:
    at = HEADER if spot.line is not None else ""
    if builder.begun or builder.cases or len(row) > 1:
        message = f"header out of place (got members {', '.join(row)}; expected {HEADER} alone, before every case)"
        builder.findings.error(spot.line, at, message, "E_HEADER")
        return
    try:
        builder.begin(fit(row[HEADER], Header, at), Spot(spot.line, at))
    except MisfitError as error:
        for field, message, code in error.misfits:
            builder.findings.error(spot.line, field, message, code)


def _common_fields(row: Row, free: dict[str, Any], builder: Builder, spot: Spot) -> dict[str, Any]:
    """Return the fields of a `Case` whose names are the same in every row format."""
    attributes = row.attributes
    for name, value in (("category", row.category), ("domain", row.domain)):
        if value is not None and attributes.setdefault(name, value) != value:
            message = f"given twice (got {value!r:.80} and {attributes[name]!r:.80}; expected one value)"
            builder.error(spot, f"attributes.{name}", message, "E_ATTRIBUTE")
    return {
        "tags": row.tags,
        "difficulty": row.difficulty,
        "language": row.language,
        "cluster": row.cluster,
        "attributes": attributes,
        "history": row.history,
        "notes": row.notes,
        "metadata": {**row.metadata, **free} if free else row.metadata,
    }
