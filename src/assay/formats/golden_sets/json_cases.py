"""Formats whose cases are JSON objects, among them `assay`, the native one: one `Case` per line or one `GoldenSet`.

The first line of a JSONL file may be a header, `{"golden_set": {…}}`; a `.json` document may be `{"cases": […], …}`
with the same members.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from assay.formats.file_io import Line, Source, decode_line, open_unpacked, quote_line_start, read_lines
from assay.formats.foreign.chunk_shapes import ShapeError
from assay.formats.foreign.member_names import BEHAVIOUR_KEYS, EVIDENCE_ID_KEYS, ID_KEYS, QUESTION_KEYS, REFERENCE_KEYS
from assay.formats.golden_builder import (
    CaseLocation,
    GoldenBuilder,
    GoldenHeader,
    SchemaVersion,
    normalise_evidence,
    normalise_selectors,
)
from assay.formats.strict_json import (
    Misfit,
    MisfitError,
    convert_open,
    convert_strictly,
    decode_json,
    decode_json_object,
    join_field,
)
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import AlikeKind, Case, DifferingKind, Difficulty, Evidence, Nugget, Turn

MAX_DOCUMENT_BYTES = 256 * 2**20
JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")

HEADER_MEMBER = "golden_set"


class BaseGoldenRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
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
    variant_of: str | None = None
    variant: AlikeKind | DifferingKind | None = None
    nuggets: tuple[Nugget, ...] = ()
    schema_version: SchemaVersion | None = None


R = TypeVar("R", bound=Struct)
AnyRow = TypeVar("AnyRow", bound=BaseGoldenRow)

ToCase = Callable[[R, dict[str, Any], GoldenBuilder, CaseLocation], Case]
"""Makes a case from a row, the common fields of a `Case`, the builder that notes problems, and the location."""


def read_golden_rows(source: Source, builder: GoldenBuilder, record: type[AnyRow], to_case: ToCase[AnyRow]) -> None:
    """Read every row as a `record` and add the case that `to_case` makes from it."""

    def add(row: AnyRow, free: dict[str, Any], spot: CaseLocation) -> None:
        builder.check_version(row.schema_version, spot)
        builder.add_case(to_case(row, _common_fields(row, free, builder, spot), builder, spot), spot)

    read_golden_records(source, builder, record, add)


def read_golden_records(
    source: Source,
    builder: GoldenBuilder,
    record: type[R],
    add: Callable[[R, dict[str, Any], CaseLocation], None],
    expand: Callable[[dict[str, Any], str], list[Misfit]] | None = None,
) -> None:
    """Pass every row that fits `record` to `add`, with its free-form `x_` members; note rows that do not fit.

    `expand` may write the short forms of a row out first, and returns what is no short form.
    """
    for spot, row in _iterate_objects(source, builder):
        if HEADER_MEMBER in row:
            _read_header(row, builder, spot)
            continue
        misfits = use_own_names(row, record, spot.path)
        _use_own_turns(row)
        misfits += expand(row, spot.path) if expand is not None else []
        try:
            fitted, free = convert_open(row, record, spot.path)
        except MisfitError as error:
            misfits += error.misfits
        else:
            if not misfits:
                add(fitted, free, spot)
        for field, message, code in misfits:
            builder.findings.add_error(spot.line, field, message, code)


_SAME_MEMBERS = (QUESTION_KEYS, REFERENCE_KEYS, BEHAVIOUR_KEYS, ID_KEYS, EVIDENCE_ID_KEYS)
"""Names of one thing, in the formats of Assay and in other tools; each format has one of them."""


_UNITS = "evidence"


@cache
def _list_other_names(record: type[Struct]) -> dict[str, str]:
    """Return the names that a format does not have, each with the one that it has for the same thing."""
    fields = record.__struct_encode_fields__
    own_by_name: dict[str, str] = {}
    for names in _SAME_MEMBERS:
        own = [name for name in names if name in fields]
        if len(own) == 1:
            own_by_name.update((name, own[0]) for name in names if name != own[0])
    if _UNITS in fields and own_by_name.keys().isdisjoint(EVIDENCE_ID_KEYS) and not set(EVIDENCE_ID_KEYS) & set(fields):
        own_by_name.update(dict.fromkeys(EVIDENCE_ID_KEYS, _UNITS))
    return own_by_name


def fits_record(names: Iterable[str], record: type[Struct]) -> bool:
    """Return whether a format has every member of a row, under this or another name.

    >>> fits_record(["id", "query", "expected_answer", "evidence"], Case), fits_record(["id", "shelf"], Case)
    (True, False)
    """
    other_names = _list_other_names(record)
    return all(other_names.get(name, name) in record.__struct_encode_fields__ for name in names)


def use_own_names(row: dict[str, Any], record: type[Struct], at: str) -> list[Misfit]:
    """Give the members of a row the names of its format, and return those with two values."""
    other_names = _list_other_names(record)
    if other_names.keys().isdisjoint(row):
        return []
    misfits = []
    for name in [name for name in row if name in other_names]:
        own = other_names[name]
        value = row.pop(name)
        if own == _UNITS:
            if "permission_denied" in (row.get("behaviour"), row.get("expected_behavior")):
                message = (
                    f"evidence, or what must not be shown? (got {shorten_repr(value)}; expected evidence or forbidden)"
                )
                misfits.append(Misfit(join_field(at, name) if at else name, message, "E_EVIDENCE"))
                continue
            ids = value if isinstance(value, list) else [value]
            value = [{"any_of": [{"chunk_id": chunk_id}]} for chunk_id in ids]
        if own in row and row[own] != value:
            got = f"{own}: {shorten_repr(row[own])} and {name}: {shorten_repr(value)}"
            message = f"two values of one thing (got {got}; expected one of them)"
            misfits.append(Misfit(join_field(at, own) if at else own, message, "E_KEY_TWICE"))
        row.setdefault(own, value)
    return misfits


def _use_own_turns(row: dict[str, Any]) -> None:
    """Give the text of earlier turns its own name; messages of model endpoints call it `content`."""
    history = row.get("history")
    for turn in history if isinstance(history, list) else ():
        if isinstance(turn, dict) and "text" not in turn and isinstance(turn.get("content"), str):
            turn["text"] = turn.pop("content")


def first_content(source: Source) -> Line | None:
    """Return the first line that is not blank, None if all are."""
    return next((line for line in read_lines(source) if line.data.strip()), None)


def is_document(source: Source) -> bool:
    """Return whether the file is one JSON value. Raises InputError if its name says that each line is one."""
    first = first_content(source)
    if first is None or first.data.lstrip()[:1] not in (b"[", b"{"):
        return False
    is_list = first.data.lstrip().startswith(b"[")
    if is_list and source.suffix in JSON_LINES_SUFFIXES:
        message = (
            f"one JSON list (got {quote_line_start(first)}; expected an object on each line, or a "
            f"name that ends in .json)"
        )
        raise InputError([Problem(source.name, first.number, "", message, "E_FORMAT")])
    if is_list or source.suffix in JSON_LINES_SUFFIXES:
        return is_list
    try:
        return "cases" in decode_json_object(decode_line(first, source.name), source.name, first.number)
    except InputError:
        return source.suffix == ".json"


def load_document(source: Source) -> Any:
    """Return the JSON value of a document. Raises InputError if it is too large or not strict JSON."""
    with open_unpacked(source) as file:
        data = file.read(MAX_DOCUMENT_BYTES + 1)
    if len(data) > MAX_DOCUMENT_BYTES:
        message = f"document too large (got more than {MAX_DOCUMENT_BYTES} bytes; expected JSON Lines at this size)"
        raise InputError([Problem(source.name, None, "", message, "E_TOO_LARGE")])
    text = "\n".join(decode_line(line, source.name) for line in read_lines(source, max_bytes=MAX_DOCUMENT_BYTES))
    return decode_json(text, source.name)


def _iterate_objects(source: Source, builder: GoldenBuilder) -> Iterator[tuple[CaseLocation, dict[str, Any]]]:
    if is_document(source):
        yield from _iterate_document_objects(source, builder)
        return
    for line in read_lines(source):
        if not line.data or line.data.isspace():
            continue
        try:
            row = decode_json_object(decode_line(line, source.name), source.name, line.number)
        except InputError as error:
            builder.findings.add_raised(error)
        else:
            yield CaseLocation(line.number), row


def _iterate_document_objects(source: Source, builder: GoldenBuilder) -> Iterator[tuple[CaseLocation, dict[str, Any]]]:
    document = load_document(source)
    at, rows = "", document
    if isinstance(document, dict):
        at, rows = "cases", document.pop("cases", None)
        yield CaseLocation(None, ""), {HEADER_MEMBER: document}
    if not isinstance(rows, list):
        builder.findings.add_error(None, at, "no list of cases (got no list; expected cases in brackets)", "E_ROW")
        return
    for index, row in enumerate(rows):
        spot = CaseLocation(None, join_field(at, index))
        if isinstance(row, dict):
            yield spot, row
        else:
            builder.findings.add_error(None, spot.path, f"not an object (got {row!r:.80}; expected a case)", "E_ROW")


def _read_header(row: dict[str, Any], builder: GoldenBuilder, spot: CaseLocation) -> None:
    at = HEADER_MEMBER if spot.line is not None else ""
    if builder.has_header or builder.cases or len(row) > 1:
        message = (
            f"header out of place (got members {', '.join(row)}; expected {HEADER_MEMBER} alone, before every case)"
        )
        builder.findings.add_error(spot.line, at, message, "E_HEADER")
        return
    try:
        builder.set_header(convert_strictly(row[HEADER_MEMBER], GoldenHeader, at), CaseLocation(spot.line, at))
    except MisfitError as error:
        for field, message, code in error.misfits:
            builder.findings.add_error(spot.line, field, message, code)


def _common_fields(
    row: BaseGoldenRow, free: dict[str, Any], builder: GoldenBuilder, spot: CaseLocation
) -> dict[str, Any]:
    """Return the fields of a `Case` whose names are the same in every row format."""
    attributes = row.attributes
    for name, value in (("category", row.category), ("domain", row.domain)):
        if value is not None and attributes.setdefault(name, value) != value:
            message = f"given twice (got {value!r:.80} and {attributes[name]!r:.80}; expected one value)"
            builder.note_error(spot, f"attributes.{name}", message, "E_ATTRIBUTE")
    return {
        "tags": row.tags,
        "difficulty": row.difficulty,
        "language": row.language,
        "cluster": row.cluster,
        "attributes": attributes,
        "history": row.history,
        "notes": row.notes,
        "metadata": {**row.metadata, **free} if free else row.metadata,
        "variant_of": row.variant_of,
        "variant": row.variant,
        "nuggets": row.nuggets,
    }


NATIVE_MEMBERS = ("evidence", "behaviour", "forbidden", "symbols", "user")
SHORT_SELECTOR_FIELDS = ("chunk_id", "document", "section", "page", "path", "symbol", "title", "quote")
"""The fields of a selector that may stand in a unit without `any_of`: they are one selector, the quote among them."""
_TEXT_FIELDS = ("text", "content", "passage", "snippet", "sentence")
"""Other names of the quote of a unit; beside a quote, or two of them, they are no clear one."""
_OTHER_ID_FIELDS = ("id", "_id", "doc_id", "document_id", "doc", "source", "file", "passage_id")
_BESIDE_SELECTOR = frozenset(("grade", "required", "reason"))
_UNIT_FIELDS = tuple(name for name in Evidence.__struct_fields__ if name != "any_of")


def read_native_golden(source: Source, builder: GoldenBuilder) -> None:
    """Read native cases; `x_` members go to `metadata`."""

    def add(case: Case, free: dict[str, Any], spot: CaseLocation) -> None:
        changes: dict[str, Any] = {}
        if free:
            changes["metadata"] = {**case.metadata, **free}
        if case.evidence:
            changes["evidence"] = normalise_evidence(case.evidence, builder, spot)
        if case.forbidden:
            changes["forbidden"] = normalise_selectors(case.forbidden, builder, spot, "forbidden")
        builder.add_case(replace(case, **changes) if changes else case, spot)

    read_golden_records(source, builder, Case, add, _expand_short_forms)


def _expand_short_forms(row: dict[str, Any], at: str) -> list[Misfit]:
    """Write units such as `{"chunk_id": "c1"}` out with `any_of`, and return what is no unit: see ADR 154."""
    units = row.get("evidence")
    field = f"{at}.evidence" if at else "evidence"
    misfits = []
    if isinstance(units, (str, dict)):
        example = units if isinstance(units, dict) and units.keys() <= set(SHORT_SELECTOR_FIELDS) else {"chunk_id": "…"}
        message = f"no list (got {shorten_repr(units)}; expected units in brackets: [{_write_example(example)}])"
        misfits.append(Misfit(field, message, "E_TYPE"))
        del row["evidence"]
    elif isinstance(units, list):
        for index, unit in enumerate(units):
            try:
                units[index] = _expand_unit(unit)
            except ShapeError as error:
                misfits.append(Misfit(join_field(field, index), str(error), "E_EVIDENCE"))
                units[index] = {"any_of": [{"chunk_id": "?"}]}  # so that the conversion does not report it again
    forbidden = row.get("forbidden")
    selectors = forbidden if isinstance(forbidden, list) else []
    for index, selector in enumerate(selectors):
        if isinstance(selector, str):
            expected = _write_example({"chunk_id": selector})
            message = f"an id without a field (got {shorten_repr(selector)}; expected {expected})"
            misfits.append(Misfit(join_field(f"{at}.forbidden" if at else "forbidden", index), message, "E_EVIDENCE"))
            selectors[index] = {"chunk_id": "?"}  # as above
    return misfits


def _expand_unit(unit: Any) -> Any:
    """Return a unit with its selector in `any_of`. Raises ShapeError if it can be read in two ways, or in none."""
    if isinstance(unit, str):
        as_id, as_text = _write_example({"chunk_id": unit}), _write_example({"quote": unit})
        message = f"an id or a text? (got {shorten_repr(unit)}; expected {as_id}, or {as_text} for text of the chunk)"
        raise ShapeError(message)
    alternatives = unit.get("any_of") if isinstance(unit, dict) else unit
    if isinstance(alternatives, list) and alternatives and all(isinstance(item, str) for item in alternatives):
        example = _write_example({"any_of": [{"chunk_id": item} for item in alternatives[:2]]})
        raise ShapeError(f"ids without a field (got {shorten_repr(alternatives)}; expected {example})")
    if not isinstance(unit, dict) or "any_of" in unit:
        return unit
    selector = {key: unit[key] for key in unit if key in SHORT_SELECTOR_FIELDS}
    others = {key: unit[key] for key in unit if key not in selector}
    texts = [name for name in _TEXT_FIELDS if isinstance(others.get(name), str)]
    if len(texts) == 1 and "quote" not in selector:
        selector["quote"] = others.pop(texts[0])
    if selector and others.keys() <= _BESIDE_SELECTOR:
        return {"any_of": [selector], **others}
    for name in texts:
        selector.setdefault("quote", unit[name])
    other_id = next((key for key in _OTHER_ID_FIELDS if isinstance(unit.get(key), str)), None)
    if other_id is not None and selector.keys().isdisjoint(("chunk_id", "document")):
        selectors = ({"chunk_id": unit[other_id], **selector}, {"document": unit[other_id], **selector})
        as_chunk, as_document = map(_write_example, selectors)
        raise ShapeError(
            f"the id of a chunk or of a document? (got {shorten_repr(unit)}; expected {as_chunk} for what the search "
            f"returns under this id, or {as_document} for any chunk of this document)"
        )
    example = _write_example(selector or {"chunk_id": "…"})
    message = f"a unit without any_of (got {shorten_repr(unit)}; expected {example}, and beside any_of only "
    raise ShapeError(f"{message}{', '.join(_UNIT_FIELDS)})")


def _write_example(value: Any) -> str:
    """Return a value as JSON that can be copied into the file; long texts are cut."""
    if isinstance(value, str):
        return json.dumps(value if len(value) <= 40 else value[:39] + "…", ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(map(_write_example, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_write_example(key)}: {_write_example(item)}' for key, item in value.items())}}}"
    return json.dumps(value, default=str)
