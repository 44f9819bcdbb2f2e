"""Label sheets, on which people label blindly: as CSV, as JSON Lines or as a self-contained page, and the key to them.

A sheet holds no configuration, no score, no verdict and no id of a case or chunk. The key, which the people who label
do not get, says which case and configuration each row belongs to. The page sends nothing anywhere: its only output is
the file that the person saves (`offline_page`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from assay.formats.file_io import Source, decode_line, open_source, read_lines
from assay.formats.labels.label_files import (
    LabelRow,
    LabelScales,
    check_label_metric,
    check_label_name,
    detect_separator,
    encode_csv_record,
    read_label_rows,
    recognise_other_file,
)
from assay.formats.labels.offline_page import build_offline_page
from assay.formats.problems import ProblemList
from assay.formats.strict_json import MisfitError, convert_strictly, decode_json
from assay.records.digest import compute_digest
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.verdicts import Label

T = TypeVar("T")

SHEET_KEY_FORMAT = 1
ROW_ID = "row_id"


class SheetRow(Struct, frozen=True):
    """One item to label.

    `item` is the claim, citation or fact, "" for the whole answer. `options` are the labels to choose from and
    `meanings` their explanations, in the same order.
    """

    row_id: str
    metric: str
    question: str
    answer: str
    item: str
    reference: str
    sources: tuple[str, ...]
    options: tuple[str, ...]
    meanings: tuple[str, ...]


def make_row_id(kind: str, number: int, item: Sequence[str | None]) -> str:
    """Return the id of a row: its number in its sheet, and some of the digest of the item that it shows.

    A filled sheet can therefore not be read with the key of another one. `kind` is a letter for each kind of sheet.

    >>> make_row_id("r", 1, ("leave", "v1", None)) == make_row_id("r", 1, ("leave", "v2", None))
    False
    """
    return f"{kind}{number:04}-{compute_digest(list(item))[7:13]}"


class LabelledItem(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a row of a sheet stands for, which only the key says."""

    case_id: str
    metric: str
    config_id: str | None = None
    item: str | None = None
    text: str = ""
    answer_hash: str | None = None
    case_hash: str | None = None
    sample: int | None = None


class SheetKey(Struct, frozen=True, forbid_unknown_fields=True):
    """The key of a sheet: the digest of the golden set, the seed of the sample, and what each row stands for.

    `scales` are the labels that people chose from, by metric, each with its value.
    """

    format: int
    golden: str
    seed: int
    rows: dict[str, LabelledItem]
    scales: dict[str, dict[str, float | None]] = {}


class FilledRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A row as a person fills it in; what the sheet shows may be left out."""

    row_id: str
    label: str | None = None
    note: str = ""
    rater: str | None = None
    metric: str | None = None
    question: Any = None
    answer: Any = None
    item: Any = None
    reference: Any = None
    sources: Any = None
    options: Any = None
    meanings: Any = None


SHEET_COLUMNS = (*SheetRow.__struct_fields__, "label", "note", "rater")


def encode_sheet_csv(rows: Iterable[SheetRow]) -> Iterator[bytes]:
    """Yield a sheet as CSV, header first, with empty cells for label, note and rater."""
    yield encode_csv_record(SHEET_COLUMNS)
    for row in rows:
        sources = "\n\n".join(f"[{number}] {text}" for number, text in enumerate(row.sources, 1))
        meanings = "\n".join(f"{name}: {text}" for name, text in zip(row.options, row.meanings, strict=True))
        yield encode_csv_record(
            [
                row.row_id,
                row.metric,
                row.question,
                row.answer,
                row.item,
                row.reference,
                sources,
                " | ".join(row.options),
                meanings,
                "",
                "",
                "",
            ]
        )


def encode_sheet_jsonl(rows: Iterable[SheetRow]) -> Iterator[bytes]:
    """Yield a sheet as JSON Lines, with `label` null and an empty `note`."""
    for row in rows:
        yield msgspec.json.encode({**msgspec.structs.asdict(row), "label": None, "note": ""}) + b"\n"


def encode_key(key: Struct) -> bytes:
    """Return the content of the key file of a sheet."""
    return msgspec.json.format(msgspec.json.encode(key, order="sorted"), indent=2) + b"\n"


def load_sheet_key(path: str) -> SheetKey:
    """Read a key file. Raises InputError with everything that is wrong with it."""
    with open_source(path) as source:
        refuse_other_key(source, "the key.json that was written with the sheet")
        text = "\n".join(decode_line(line, source.name) for line in read_lines(source))
        value = decode_json(text, source.name)
        if not isinstance(value, dict):
            raise InputError(
                [Problem(path, 1, "", f"not a key (got {shorten_repr(value)}; expected an object)", "E_KEY")]
            )
        if "review_format" in value:
            message = "the key of a review, whose decisions are no labels (expected `assay judge settle` to read it)"
            raise InputError([Problem(path, None, "review_format", message, "E_KEY")])
        try:
            key = convert_strictly(value, SheetKey)
        except MisfitError as error:
            raise InputError([Problem(path, None, *misfit) for misfit in error.misfits]) from None
    if key.format != SHEET_KEY_FORMAT:
        raise InputError(
            [Problem(path, None, "format", f"of another format (got {key.format}; expected {SHEET_KEY_FORMAT})")]
        )
    return key


def refuse_other_key(source: Source, expected: str) -> None:
    """Raise InputError for a file that is no key and known for something else: a page, a sheet, labels or a folder."""
    kind = "a folder" if source.path.is_dir() else ""
    kind = kind or ("a sheet" if _is_sheet(source) else recognise_other_file(source))
    if kind:
        raise InputError([Problem(source.name, None, "", f"is {kind}, not a key (expected {expected})", "E_KEY")])


def is_label_sheet(path: str) -> bool:
    """Return whether a file is a sheet rather than a file of labels: a sheet has row ids."""
    with open_source(path) as source:
        return _is_sheet(source)


def _is_sheet(source: Source) -> bool:
    first = next((line for line in read_lines(source) if line.data.strip()), None)
    if first is None:
        return False
    text = decode_line(first, source.name)
    try:
        value = json.loads(text)
    except ValueError:
        return ROW_ID in [cell.strip(' "') for cell in text.split(detect_separator(text))]
    except RecursionError:
        return False
    return isinstance(value, dict) and ROW_ID in value


def load_sheet(path: str, key: SheetKey, scales: LabelScales, rater: str | None = None) -> tuple[list[Label], int]:
    """Read a filled sheet and return its labels, and the number of rows without one.

    The rater is that of the row, or else `rater`, or else the name of the file. Raises InputError with everything that
    is wrong: rows that are not in the key, unknown labels, a row labelled twice by one rater.
    """
    labels: dict[tuple[str, str], Label] = {}
    empty = 0
    with open_source(path) as source:
        findings = ProblemList(source.name)
        sheet_rater = rater or Path(source.name).name.partition(".")[0]
        try:
            for row in read_label_rows(source, SHEET_COLUMNS, (ROW_ID, "label")):
                label = _read_label(row, key, scales, sheet_rater, findings)
                if label is None:
                    empty += not row.members.get("label")
                    continue
                label_key = label.rater, str(row.members[ROW_ID])
                if label_key in labels:
                    findings.add_error(
                        row.line, ROW_ID, f"labelled twice by {shorten_repr(label.rater)}", "E_DUPLICATE_ID"
                    )
                labels[label_key] = label
        except InputError as error:
            findings.add_raised(error)
    findings.raise_errors()
    return list(labels.values()), empty


def _read_label(row: LabelRow, key: SheetKey, scales: LabelScales, rater: str, findings: ProblemList) -> Label | None:
    """Return the label of a row; None if it is empty, or wrong in a way that was noted."""
    read = read_filled_row(row, key.rows, findings)
    if read is None:
        return None
    filled, target = read
    label_name = (filled.label or "").strip()
    if not label_name:
        return None
    unknown_metric = check_label_metric(target.metric, scales)
    problem = unknown_metric or check_label_name(target.metric, label_name, scales)
    if problem:
        hint = " (a rubric of your own? name its folder with --rubrics)" if unknown_metric else ""
        findings.add_error(row.line, "label", f"{problem}{hint}", "E_LABEL")
        return None
    return Label(
        target.case_id,
        target.metric,
        (filled.rater or "").strip() or rater,
        label_name,
        config_id=target.config_id,
        item=target.item,
        text=target.text,
        answer_hash=target.answer_hash,
        note=filled.note,
        case_hash=target.case_hash,
        sample=target.sample,
    )


def read_filled_row(row: LabelRow, rows: Mapping[str, T], findings: ProblemList) -> tuple[FilledRow, T] | None:
    """Return a filled row, and the row of the key that it is; None where it is none, which was noted."""
    try:
        filled = convert_strictly(row.members, FilledRow)
    except MisfitError as error:
        for misfit in error.misfits:
            findings.add_error(row.line, misfit.field, misfit.message, misfit.code)
        return None
    if filled.row_id not in rows:
        row_ids = sorted(rows)
        expected = f"expected one of {row_ids[0]} … {row_ids[-1]}" if row_ids else "it has none"
        message = f"not a row of this key (got {shorten_repr(filled.row_id)}; {expected})"
        findings.add_error(row.line, ROW_ID, message, "E_KEY")
        return None
    return filled, rows[filled.row_id]


def build_label_page(rows: Sequence[SheetRow], language: str = "en", *, must_explain: bool = False) -> bytes:
    """Return the page for one or more rows. Its language, English or Vietnamese, can be changed on the page.

    With `must_explain` the page saves no label without a reason.
    """
    contents = [msgspec.structs.asdict(row) for row in rows]
    sheet = compute_digest(contents)
    if must_explain:
        return build_offline_page("label", [row | {"must_explain": True} for row in contents], sheet, language)
    return build_offline_page("label", list(rows), sheet, language)
