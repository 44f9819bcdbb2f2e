"""Reads and writes label sheets, as CSV and JSON Lines, and the key that identifies their rows.

Labelling is blind: a sheet holds no configuration, no score, no verdict and no id of a case or chunk. The key, which
the people who label do not get, says which case and configuration each row belongs to.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from assay.errors import InputError, Problem, shown
from assay.io.findings import Findings
from assay.io.labels import Row, Scales, csv_line, label_problem, rows_of, separator_of
from assay.io.lines import opened, read_lines, text_of
from assay.io.shape import MisfitError, fit
from assay.io.strictjson import decode
from assay.verdict import Label

FORMAT = 1
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


class Target(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a row of a sheet stands for, which only the key says."""

    case_id: str
    metric: str
    config_id: str | None = None
    item: str | None = None
    text: str = ""
    answer_hash: str | None = None


class KeyFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The key of a sheet: the digest of the golden set, the seed of the sample, and what each row stands for."""

    format: int
    golden: str
    seed: int
    rows: dict[str, Target]


class _FilledRow(Struct, frozen=True, forbid_unknown_fields=True):
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


COLUMNS = (*SheetRow.__struct_fields__, "label", "note", "rater")


def sheet_csv(rows: Iterable[SheetRow]) -> Iterator[bytes]:
    """Yield a sheet as CSV, header first, with empty cells for label, note and rater."""
    yield csv_line(COLUMNS)
    for row in rows:
        sources = "\n\n".join(f"[{number}] {text}" for number, text in enumerate(row.sources, 1))
        meanings = "\n".join(f"{name}: {text}" for name, text in zip(row.options, row.meanings, strict=True))
        yield csv_line(
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


def sheet_jsonl(rows: Iterable[SheetRow]) -> Iterator[bytes]:
    """Yield a sheet as JSON Lines, with `label` null and an empty `note`."""
    for row in rows:
        yield msgspec.json.encode({**msgspec.structs.asdict(row), "label": None, "note": ""}) + b"\n"


def key_bytes(key: KeyFile) -> bytes:
    """Return the content of a key file."""
    return msgspec.json.format(msgspec.json.encode(key, order="sorted"), indent=2) + b"\n"


def load_key(path: str) -> KeyFile:
    """Read a key file. Raises InputError with everything that is wrong with it."""
    with opened(path) as source:
        text = "\n".join(text_of(line, source.name) for line in read_lines(source))
        value = decode(text, source.name)
        if not isinstance(value, dict):
            raise InputError([Problem(path, 1, "", f"not a key (got {shown(value)}; expected an object)", "E_KEY")])
        try:
            key = fit(value, KeyFile)
        except MisfitError as error:
            raise InputError([Problem(path, None, *misfit) for misfit in error.misfits]) from None
    if key.format != FORMAT:
        raise InputError([Problem(path, None, "format", f"of another format (got {key.format}; expected {FORMAT})")])
    return key


def is_sheet(path: str) -> bool:
    """Return whether a file is a sheet rather than a file of labels: a sheet has row ids."""
    with opened(path) as source:
        first = next((line for line in read_lines(source) if line.data.strip()), None)
        if first is None:
            return False
        text = text_of(first, source.name)
    try:
        value = json.loads(text)
    except ValueError:
        return ROW_ID in [cell.strip(' "') for cell in text.split(separator_of(text))]
    return isinstance(value, dict) and ROW_ID in value


def load_sheet(path: str, key: KeyFile, scales: Scales, rater: str | None = None) -> tuple[list[Label], int]:
    """Read a filled sheet and return its labels, and the number of rows without one.

    The rater is that of the row, or else `rater`, or else the name of the file. Raises InputError with everything that
    is wrong: rows that are not in the key, unknown labels, a row labelled twice by one rater.
    """
    labels: dict[tuple[str, str], Label] = {}
    empty = 0
    with opened(path) as source:
        findings = Findings(source.name)
        sheet_rater = rater or Path(source.name).name.partition(".")[0]
        try:
            for row in rows_of(source, COLUMNS, (ROW_ID, "label")):
                label = _read_label(row, key, scales, sheet_rater, findings)
                if label is None:
                    empty += not row.members.get("label")
                    continue
                label_key = label.rater, str(row.members[ROW_ID])
                if label_key in labels:
                    findings.error(row.line, ROW_ID, f"labelled twice by {shown(label.rater)}", "E_DUPLICATE_ID")
                labels[label_key] = label
        except InputError as error:
            findings.absorb(error)
    findings.raise_errors()
    return list(labels.values()), empty


def _read_label(row: Row, key: KeyFile, scales: Scales, rater: str, findings: Findings) -> Label | None:
    """Return the label of a row; None if it is empty, or wrong in a way that was noted."""
    try:
        filled = fit(row.members, _FilledRow)
    except MisfitError as error:
        for misfit in error.misfits:
            findings.error(row.line, misfit.field, misfit.message, misfit.code)
        return None
    target = key.rows.get(filled.row_id)
    label_name = (filled.label or "").strip()
    if target is None:
        message = f"not a row of this key (got {shown(filled.row_id)}; {_describe_row_ids(key)})"
        findings.error(row.line, ROW_ID, message, "E_KEY")
        return None
    if not label_name:
        return None
    problem = label_problem(target.metric, label_name, scales)
    if problem:
        findings.error(row.line, "label", problem, "E_LABEL")
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
    )


def _describe_row_ids(key: KeyFile) -> str:
    row_ids = sorted(key.rows)
    return f"expected one of {row_ids[0]} … {row_ids[-1]}" if row_ids else "it has none"
