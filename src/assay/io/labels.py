"""Reads and writes human labels as JSON Lines or CSV: one `Label` on each row, with any number of raters.

Cells are data, never formulas: on output a cell that a spreadsheet would run as a formula gets a leading `'`, which
reading removes.
"""

from __future__ import annotations

import csv
import io
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import msgspec

from assay.digest import digest
from assay.errors import InputError, Problem, shown
from assay.io.findings import Findings
from assay.io.lines import MAX_LINE_BYTES, Source, opened, read_lines, text_of
from assay.io.names import Names, moment_fault
from assay.io.shape import MisfitError, fit, unknown
from assay.io.strictjson import decode_object
from assay.report.safe import csv_cell
from assay.verdict import Label

Scale = Mapping[str, float | None]
"""The labels of a metric, each with the number that it stands for, or None."""
Scales = Mapping[str, Scale]
"""Scales by the base name of a metric."""

COLUMNS: tuple[str, ...] = Label.__struct_fields__
_REQUIRED = ("case_id", "metric", "rater")
_NAMED = ("case_id", "rater", "config_id", "item")
_MAX_CSV_BYTES = 256 * 2**20
_LINE_BREAK = re.compile(r"\r+\n")


class Row(NamedTuple):
    """One row as written: its members and the number of its first line."""

    line: int
    members: dict[str, Any]


def load_labels(paths: Sequence[str], scales: Scales) -> tuple[Label, ...]:
    """Read the labels of several files, each CSV or JSON Lines, which is detected from the content.

    Raises InputError with everything wrong in all of them: unknown fields, metrics and labels, numbers outside [0, 1],
    and a second label of the same rater for the same item.
    """
    labels: dict[tuple[str | None, ...], tuple[Label, str]] = {}
    problems: list[Problem] = []
    more = 0
    for path in paths:
        with opened(path) as source:
            findings = Findings(source.name)
            names = Names(findings)
            try:
                for row in rows_of(source, COLUMNS, _REQUIRED):
                    _add_label(row, names, findings, scales, labels)
            except InputError as error:
                findings.absorb(error)
        try:
            findings.raise_errors()
        except InputError as error:
            problems += error.problems
            more += error.more
    if problems:
        raise InputError(problems, more=more)
    return tuple(label for label, _ in labels.values())


def rows_of(source: Source, columns: Sequence[str], required: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a CSV or JSON Lines file; empty CSV cells are left out of the members.

    Raises InputError for any other file, and for missing or unknown CSV columns.
    """
    if source.path.is_dir():
        raise InputError([Problem(source.name, None, "", "is a folder (expected a file of labels)", "E_NO_FILE")])
    first = next((line for line in read_lines(source) if line.data.strip()), None)
    if first is None:
        raise InputError([Problem(source.name, None, "", "empty (got no row; expected labels)", "E_EMPTY")])
    if first.data.lstrip().startswith(b"{"):
        for line in read_lines(source):
            if line.data.strip():
                yield Row(line.number, decode_object(text_of(line, source.name), source.name, line.number))
    else:
        yield from _csv_rows(source, columns, required)


def jsonl_lines(labels: Iterable[Label]) -> Iterator[bytes]:
    """Yield labels as JSON Lines."""
    for label in labels:
        yield msgspec.json.encode(label) + b"\n"


def csv_lines(labels: Iterable[Label]) -> Iterator[bytes]:
    """Yield labels as CSV, header first."""
    yield csv_line(COLUMNS)
    for label in labels:
        members = msgspec.structs.asdict(label)
        yield csv_line(["" if members[name] is None else str(members[name]) for name in COLUMNS])


def csv_line(cells: Iterable[str]) -> bytes:
    """Return one CSV record: formulas escaped, line breaks as `\\n`, and NUL, which CSV cannot hold, as U+FFFD."""
    buffer = io.StringIO(newline="")
    clean = [_LINE_BREAK.sub("\n", quoted(cell)).replace("\0", "\ufffd") for cell in cells]
    csv.writer(buffer).writerow(clean)
    return buffer.getvalue().encode("utf-8", "backslashreplace")


def quoted(text: str) -> str:
    """Return `text`, with a `'` before it if a spreadsheet or `unquoted` would otherwise read something else.

    >>> quoted("=1+1"), quoted("'=1+1"), unquoted(quoted("'=1+1"))
    ("'=1+1", "''=1+1", "'=1+1")
    """
    return "'" + text if csv_cell(text.lstrip("'")) != text.lstrip("'") else text


def unquoted(cell: str) -> str:
    """Return the text that `quoted` was given; a formula without a `'` stays as it is.

    >>> unquoted("'-5"), unquoted("=1+1"), unquoted("'tis")
    ('-5', '=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and quoted(cell[1:]) == cell else cell


def separator_of(header: str) -> str:
    """Return the separator of a CSV file, detected from a header of plain names.

    Spreadsheets write semicolons in locales with a decimal comma, and tabs in their text format.

    >>> separator_of('row_id;label'), separator_of("row_id\\tlabel"), separator_of("row_id")
    (';', '\\t', ',')
    """
    return max(",;\t", key=header.count)


def labels_digest(labels: Iterable[Label]) -> str:
    """Return the digest of labels, which does not depend on their order."""
    return digest(sorted(map(msgspec.json.encode, labels)))


def answer_hash(answer: str) -> str:
    """Return the digest of an answer in Unicode NFC, which tells whether a label belongs to this answer.

    >>> answer_hash("a")[:14]
    'sha256:ac8d834'
    """
    return digest(unicodedata.normalize("NFC", answer))


def metric_problem(metric: str, scales: Scales) -> str:
    """Return what is wrong with the metric of a label; empty if nothing is."""
    if metric.partition("(")[0] in scales:
        return ""
    return f"unknown metric (got {shown(metric)}; {_suggest_name(metric, list(scales))})"


def label_problem(metric: str, label: str, scales: Scales) -> str:
    """Return what is wrong with a label of a metric that has a scale; empty if nothing is.

    >>> label_problem("faithfulness", "suported", {"faithfulness": {"supported": 1.0, "not_found": 0.0}})
    "unknown label (got 'suported'; did you mean 'supported'? expected supported, not_found)"
    """
    scale = scales[metric.partition("(")[0]]
    return "" if label in scale else f"unknown label (got {shown(label)}; {_suggest_name(label, list(scale))})"


def _suggest_name(name: str, known_names: list[str]) -> str:
    close = get_close_matches(name.lower(), known_names, n=1, cutoff=0.6)
    return (f"did you mean {close[0]!r}? " if close else "") + f"expected {', '.join(known_names)}"


def _add_label(
    row: Row,
    names: Names,
    findings: Findings,
    scales: Scales,
    labels: dict[tuple[str | None, ...], tuple[Label, str]],
) -> None:
    """Add the label of a row with its location, or note what is wrong with the row."""
    members = {name: _clean_value(name, value, row.line, names) for name, value in row.members.items()}
    try:
        label = fit(members, Label)
    except MisfitError as error:
        for misfit in error.misfits:
            findings.error(row.line, misfit.field, misfit.message, misfit.code)
        return
    faults = list(_find_faults(label, scales))
    for field, message in faults:
        findings.error(row.line, field, message, "E_LABEL")
    key = label.rater, label.source, label.case_id, label.config_id, label.metric, label.item
    if key in labels:
        first = labels[key][1]
        message = f"labelled twice (got {shown(label.case_id)} by {shown(label.rater)} again; it is at {first})"
        findings.error(row.line, "case_id", message, "E_DUPLICATE_ID")
    elif not faults:
        labels[key] = label, f"{findings.path}:{row.line}"


def _clean_value(name: str, value: Any, line: int, names: Names) -> Any:
    return names.clean(value, line, name) if name in _NAMED and isinstance(value, str) else value


def _find_faults(label: Label, scales: Scales) -> Iterator[tuple[str, str]]:
    """Yield (field, message) for each fault of a label."""
    date_fault = moment_fault(label.at) if label.at is not None else ""
    if date_fault:
        yield "at", date_fault
    if label.label is None and label.value is None:
        yield "label", "missing (got neither label nor value; expected one of them)"
    if label.value is not None and not 0 <= label.value <= 1:
        yield "value", f"out of range (got {label.value:g}; expected a number from 0 to 1)"
    metric_fault = metric_problem(label.metric, scales)
    if metric_fault:
        yield "metric", metric_fault
    elif label.label is not None:
        yield from _find_name_faults(label.metric, label.label, label.value, scales)


def _find_name_faults(metric: str, name: str, value: float | None, scales: Scales) -> Iterator[tuple[str, str]]:
    """Yield the fault of a label's name: it is not on the scale, or stands for another number than `value`."""
    name_fault = label_problem(metric, name, scales)
    if name_fault:
        yield "label", name_fault
        return
    scale_value = scales[metric.partition("(")[0]][name]
    if value is not None and value != scale_value:
        expected = "none" if scale_value is None else f"{scale_value:g}"
        yield "value", f"contradicts the label (got {value:g}; expected {expected} for {name})"


def _csv_rows(source: Source, columns: Sequence[str], required: Sequence[str]) -> Iterator[Row]:
    if source.path.stat().st_size > _MAX_CSV_BYTES:
        raise InputError([Problem(source.name, None, "", "too large for CSV (expected JSON Lines)", "E_TOO_LARGE")])
    lines = [text_of(line, source.name) for line in read_lines(source)]
    records = _read_records(lines, source.name, separator_of(next(line for line in lines if line.strip())))
    header_line, header_cells = next(records)
    header = [cell.strip() for cell in header_cells]
    faults = [(name, unknown(name, list(columns)), "E_UNKNOWN_FIELD") for name in header if name not in columns]
    faults += [(name, f"missing column (expected {name})", "E_MISSING") for name in required if name not in header]
    faults += [(name, "column given twice", "E_KEY_TWICE") for name in dict.fromkeys(header) if header.count(name) > 1]
    if faults:
        raise InputError([Problem(source.name, header_line, *fault) for fault in faults])
    problems = []
    for number, record in records:
        if len(record) != len(header):
            message = f"wrong number of cells (got {len(record)}; expected {len(header)} as in the header)"
            problems.append(Problem(source.name, number, "", message, "E_CELLS"))
            continue
        members: dict[str, Any] = {name: unquoted(cell) for name, cell in zip(header, record, strict=True) if cell}
        if "value" in members:
            try:
                members["value"] = _parse_number(members["value"])
            except ValueError:
                message = f"not a number (got {shown(members['value'])}; expected a number from 0 to 1)"
                problems.append(Problem(source.name, number, "value", message, "E_NUMBER"))
                continue
        yield Row(number, members)
    if problems:
        raise InputError(problems)


def _read_records(lines: list[str], name: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(MAX_LINE_BYTES)
    reader = csv.reader((line + "\n" for line in lines), delimiter=separator, strict=True)
    while True:
        begin = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            message = f"broken CSV (got: {error}; expected RFC 4180: quotes doubled inside quotes, and closed)"
            raise InputError([Problem(name, begin, "", message, "E_CSV")]) from None
        if any(cells):
            yield begin, cells


def _parse_number(cell: str) -> float:
    value = float(cell)
    if not math.isfinite(value):
        raise ValueError(cell)
    return value
