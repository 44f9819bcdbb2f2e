"""Reads and writes human labels: JSON Lines or CSV with one `Label` on each row, and `*-graded.jsonl`.

Any number of raters may label an item. Cells are data, never formulas: on output a cell that a spreadsheet would run as
a formula gets a leading `'`, which reading removes. `*-graded.jsonl` is the code benchmark's run log with grades by
people or models (ADR 0038). A grade or failure label that is not on its scale stays in its row next to a
`grading_error`: it is not read as a label and counts in no rate. A fully correct answer has no failure label.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec
from msgspec import Struct

from assay.formats.csv_records import read_csv_records
from assay.formats.file_io import Source, decode_line, open_source, read_lines
from assay.formats.problems import NameChecker, ProblemList, find_time_fault
from assay.formats.recorded_outputs.run_log import RunLogRow
from assay.formats.strict_json import MisfitError, convert_strictly, decode_json_object, describe_unknown_field
from assay.records.digest import compute_answer_hash, compute_digest
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.verdicts import Label
from assay.text.escaping import escape_csv_cell
from assay.text.late_pattern import LatePattern

LabelScale = Mapping[str, float | None]
"""The labels of a metric, each with the number that it stands for, or None."""
LabelScales = Mapping[str, LabelScale]
"""Scales by the base name of a metric."""

LABEL_COLUMNS: tuple[str, ...] = Label.__struct_fields__
_REQUIRED = ("case_id", "metric", "rater")
_NAMED = ("case_id", "rater", "config_id", "item")
_MAX_CSV_BYTES = 256 * 2**20
_LINE_BREAK = LatePattern(r"(?<!\r)\r++\n")


class LabelRow(Struct, frozen=True):
    """One row as written: its members and the number of its first line."""

    line: int
    members: dict[str, Any]


def load_labels(
    paths: Sequence[str], scales: LabelScales, left_out: Container[str] = (), *, only_known: bool = False
) -> tuple[Label, ...]:
    """Read the labels of several files, each CSV or JSON Lines, which is detected from the content.

    Labels of the metrics in `left_out` are passed over, and with `only_known` all those of metrics without a scale.
    Raises InputError with everything wrong in all files: unknown
    fields, metrics and labels, numbers outside [0, 1], and a second label of the same rater for the same item.
    """
    labels: dict[tuple[str | None, ...], tuple[Label, str]] = {}
    problems: list[Problem] = []
    more = 0
    for path in paths:
        with open_source(path) as source:
            findings = ProblemList(source.name)
            names = NameChecker(findings)
            try:
                _refuse_other_file(source)
                for row in read_label_rows(source, LABEL_COLUMNS, _REQUIRED):
                    metric = row.members.get("metric")
                    is_meant = metric in scales or bool(get_close_matches(str(metric), list(scales), n=1, cutoff=0.8))
                    if metric not in left_out and (not only_known or is_meant):
                        _add_label(row, names, findings, scales, labels)
            except InputError as error:
                findings.add_raised(error)
        try:
            findings.raise_errors()
        except InputError as error:
            problems += error.problems
            more += error.more
    if problems:
        raise InputError(problems, more=more)
    return tuple(label for label, _ in labels.values())


def recognise_other_file(source: Source) -> str:
    """Return what a file is that is known for something else than a key or a sheet; "" for any other file."""
    first = _read_first_line(source)
    if first.startswith("<"):
        return _PAGE
    members = _name_members(first)
    if len(_LABEL_MEMBERS & members.keys()) >= _FEWEST_MEMBERS:
        return "a file of labels"
    is_row = first.startswith("{") and members and "rows" not in members
    return f"a file of {_describe_rows(members)}" if is_row else ""


def _refuse_other_file(source: Source) -> None:
    """Raise InputError for a file that is recognised as none of labels: one line instead of some for each row."""
    if source.path.is_dir():
        return
    first = _read_first_line(source)
    members = _name_members(first)
    kind = ""
    if first.startswith("<"):
        kind = _PAGE
    elif first == "{":
        kind = "a JSON object over several lines"
    elif len(members) > (not first.startswith("{")) and len(_LABEL_MEMBERS & members.keys()) < _FEWEST_MEMBERS:
        kind = _describe_rows(members)
    if kind:
        message = f"no file of labels (got {kind}; expected case_id, metric, rater and label, or a filled sheet)"
        raise InputError([Problem(source.name, 1, "", message, "E_LABEL")])


_LABEL_MEMBERS = {"case_id", "metric", "rater", "label"}
_FEWEST_MEMBERS = 2
"""A row with so many members of a label is one, whatever else is wrong with it."""
_MOST_NAMED = 60
_PAGE = "an HTML page"


def _describe_rows(members: Iterable[str]) -> str:
    names = ", ".join(members)
    return f"rows of {names if len(names) <= _MOST_NAMED else names[:_MOST_NAMED] + '…'}"


def _read_first_line(source: Source) -> str:
    line = next((line for line in read_lines(source) if line.data.strip()), None)
    return decode_line(line, source.name).strip() if line is not None else ""


def _name_members(first: str) -> dict[str, None]:
    """Return the names of the members of a row in JSON, or of the columns of a CSV file; none where it is neither."""
    if not first.startswith("{"):
        return dict.fromkeys(cell.strip(' "') for cell in first.split(detect_separator(first)))
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return {}
    return dict.fromkeys(row)


def read_label_rows(source: Source, columns: Sequence[str], required: Sequence[str]) -> Iterator[LabelRow]:
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
                yield LabelRow(
                    line.number, decode_json_object(decode_line(line, source.name), source.name, line.number)
                )
    else:
        yield from _csv_rows(source, columns, required)


def encode_labels_jsonl(labels: Iterable[Label]) -> Iterator[bytes]:
    """Yield labels as JSON Lines."""
    for label in labels:
        yield msgspec.json.encode(label) + b"\n"


def encode_labels_csv(labels: Iterable[Label]) -> Iterator[bytes]:
    """Yield labels as CSV, header first."""
    yield encode_csv_record(LABEL_COLUMNS)
    for label in labels:
        members = msgspec.structs.asdict(label)
        yield encode_csv_record(["" if members[name] is None else str(members[name]) for name in LABEL_COLUMNS])


def encode_csv_record(cells: Iterable[str]) -> bytes:
    """Return one CSV record: formulas escaped, line breaks as `\\n`, and NUL, which CSV cannot hold, as U+FFFD."""
    buffer = io.StringIO(newline="")
    clean = [_LINE_BREAK.sub("\n", escape_formula(cell)).replace("\0", "\ufffd") for cell in cells]
    csv.writer(buffer).writerow(clean)
    return buffer.getvalue().encode("utf-8", "backslashreplace")


def escape_formula(text: str) -> str:
    """Return `text`, with a `'` before it if a spreadsheet or `unescape_formula` would otherwise read something else.

    >>> escape_formula("=1+1"), escape_formula("'=1+1"), unescape_formula(escape_formula("'=1+1"))
    ("'=1+1", "''=1+1", "'=1+1")
    """
    return "'" + text if escape_csv_cell(text.lstrip("'")) != text.lstrip("'") else text


def unescape_formula(cell: str) -> str:
    """Return the text that `escape_formula` was given; a formula without a `'` stays as it is.

    >>> unescape_formula("'-5"), unescape_formula("=1+1"), unescape_formula("'tis")
    ('-5', '=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and escape_formula(cell[1:]) == cell else cell


def detect_separator(header: str) -> str:
    """Return the separator of a CSV file, detected from a header of plain names.

    Spreadsheets write semicolons in locales with a decimal comma, and tabs in their text format.

    >>> detect_separator('row_id;label'), detect_separator("row_id\\tlabel"), detect_separator("row_id")
    (';', '\\t', ',')
    """
    return max(",;\t", key=header.count)


def compute_labels_digest(labels: Iterable[Label]) -> str:
    """Return the digest of labels, which does not depend on their order."""
    return compute_digest(sorted(map(msgspec.json.encode, labels)))


def check_label_metric(metric: str, scales: LabelScales) -> str:
    """Return what is wrong with the metric of a label; empty if nothing is."""
    if metric.partition("(")[0] in scales:
        return ""
    return f"unknown metric (got {shorten_repr(metric)}; {_suggest_name(metric, list(scales))})"


def check_label_name(metric: str, label: str, scales: LabelScales) -> str:
    """Return what is wrong with a label of a metric that has a scale; empty if nothing is.

    >>> check_label_name("faithfulness", "suported", {"faithfulness": {"supported": 1.0, "not_found": 0.0}})
    "unknown label (got 'suported'; did you mean 'supported'? expected supported, not_found)"
    """
    scale = scales[metric.partition("(")[0]]
    return "" if label in scale else f"unknown label (got {shorten_repr(label)}; {_suggest_name(label, list(scale))})"


def _suggest_name(name: str, known_names: list[str]) -> str:
    close = get_close_matches(name.lower(), known_names, n=1, cutoff=0.6)
    return (f"did you mean {close[0]!r}? " if close else "") + f"expected {', '.join(known_names)}"


def _add_label(
    row: LabelRow,
    names: NameChecker,
    findings: ProblemList,
    scales: LabelScales,
    labels: dict[tuple[str | None, ...], tuple[Label, str]],
) -> None:
    """Add the label of a row with its location, or note what is wrong with the row."""
    members = {name: _clean_value(name, value, row.line, names) for name, value in row.members.items()}
    try:
        label = convert_strictly(members, Label)
    except MisfitError as error:
        for misfit in error.misfits:
            findings.add_error(row.line, misfit.field, misfit.message, misfit.code)
        return
    faults = list(find_label_faults(label, scales))
    for field, message in faults:
        findings.add_error(row.line, field, message, "E_LABEL")
    key = (*get_labelled_item(label), label.config_id)
    if key in labels:
        first = labels[key][1]
        message = (
            f"labelled twice (got {shorten_repr(label.case_id)} by {shorten_repr(label.rater)} again; it is at {first})"
        )
        findings.add_error(row.line, "case_id", message, "E_DUPLICATE_ID")
    elif not faults:
        labels[key] = label, f"{findings.path}:{row.line}"


def get_labelled_item(label: Label) -> tuple[str | None, ...]:
    """Return who labelled what: one rater gives an item one label, and several answers of a case several."""
    return label.rater, label.source, label.case_id, label.metric, label.item, label.answer_hash


def _clean_value(name: str, value: Any, line: int, names: NameChecker) -> Any:
    return names.normalise(value, line, name) if name in _NAMED and isinstance(value, str) else value


def find_label_faults(label: Label, scales: LabelScales) -> Iterator[tuple[str, str]]:
    """Yield (field, message) for each fault of a label."""
    date_fault = find_time_fault(label.at) if label.at is not None else ""
    if date_fault:
        yield "at", date_fault
    if label.label is None and label.value is None:
        yield "label", "missing (got neither label nor value; expected one of them)"
    if label.value is not None and not 0 <= label.value <= 1:
        yield "value", f"out of range (got {label.value:g}; expected a number from 0 to 1)"
    if label.sample is not None and label.sample < 1:
        yield "sample", f"out of range (got {label.sample}; expected the size of a sample, 1 or more)"
    metric_fault = check_label_metric(label.metric, scales)
    if metric_fault:
        yield "metric", metric_fault
    elif label.label is not None:
        yield from _find_name_faults(label.metric, label.label, label.value, scales)


def _find_name_faults(metric: str, name: str, value: float | None, scales: LabelScales) -> Iterator[tuple[str, str]]:
    """Yield the fault of a label's name: it is not on the scale, or stands for another number than `value`."""
    name_fault = check_label_name(metric, name, scales)
    if name_fault:
        yield "label", name_fault
        return
    scale_value = scales[metric.partition("(")[0]][name]
    if value is not None and value != scale_value:
        expected = "none" if scale_value is None else f"{scale_value:g}"
        yield "value", f"contradicts the label (got {value:g}; expected {expected} for {name})"


def _csv_rows(source: Source, columns: Sequence[str], required: Sequence[str]) -> Iterator[LabelRow]:
    lines: list[str] = []
    size = 0
    for line in read_lines(source):
        size += len(line.data) + 1
        if size > _MAX_CSV_BYTES:
            raise InputError([Problem(source.name, None, "", "too large for CSV (expected JSON Lines)", "E_TOO_LARGE")])
        lines.append(decode_line(line, source.name))
    first = next((line for line in lines if line.strip()), "")
    rows = read_csv_records(lines, source.name, detect_separator(first))
    records = ((number, cells) for number, cells in rows if any(cells))
    head = next(records, None)
    if head is None:  # only blank lines, separators or empty quotes
        raise InputError([Problem(source.name, None, "", "empty (got no row; expected labels)", "E_EMPTY")])
    header_line, header_cells = head
    header = [cell.strip() for cell in header_cells]
    faults = [
        (name, describe_unknown_field(name, list(columns)), "E_UNKNOWN_FIELD") for name in header if name not in columns
    ]
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
        members: dict[str, Any] = {
            name: unescape_formula(cell) for name, cell in zip(header, record, strict=True) if cell
        }
        not_numbers = _parse_number_cells(members)
        if not_numbers:
            problems += [Problem(source.name, number, name, message, "E_NUMBER") for name, message in not_numbers]
            continue
        yield LabelRow(number, members)
    if problems:
        raise InputError(problems)


def _parse_number_cells(members: dict[str, Any]) -> list[tuple[str, str]]:
    """Turn the cells of a CSV row that are numbers into numbers; return (field, message) for those that are none."""
    faults = []
    for name, parse, expected in (("value", _parse_number, "a number from 0 to 1"), ("sample", int, "a whole number")):
        if name in members:
            try:
                members[name] = parse(members[name])
            except ValueError:
                faults.append((name, f"not a number (got {shorten_repr(members[name])}; expected {expected})"))
    return faults


def _parse_number(cell: str) -> float:
    value = float(cell)
    if not math.isfinite(value):
        raise ValueError(cell)
    return value


GRADE_METRIC, FAILURE_METRIC = "grade", "failure_label"
BEST_GRADE = "fully_correct"
NO_FAILURE_LABEL = "none"
PERSON_SOURCE, JUDGE_SOURCE = "person", "judge"
_GRADED = ("grade", "failure_label", "grading_notes", "grading_error", "judge_confidence", "judge_model")
AnswerKey = tuple[str, str]
"""Identifies an answer: case and configuration."""


class Grade(Struct, frozen=True):
    """The grade of one answer; `model` is None if a person graded."""

    grade: str
    failure: str | None = None
    notes: str = ""
    confidence: float | None = None
    model: str | None = None


class GradedRun(Struct, frozen=True):
    """The content of a file: its labels, its grades and rows as written, and the problems of its grades."""

    labels: tuple[Label, ...]
    grades: dict[AnswerKey, Grade]
    rows: tuple[dict[str, Any], ...]
    flawed: tuple[Problem, ...]


def load_graded(path: str, scales: LabelScales, rater: str | None = None) -> GradedRun:
    """Read a run log with or without grades. The rater of a row is its `judge_model`, else `rater`, else `person`.

    Raises InputError for lines that are not rows of a run log.
    """
    labels: list[Label] = []
    grades: dict[AnswerKey, Grade] = {}
    rows: list[dict[str, Any]] = []
    flawed: list[Problem] = []
    problems: list[Problem] = []
    with open_source(path) as source:
        for line in read_lines(source):
            if not line.data.strip():
                continue
            try:
                row = decode_json_object(decode_line(line, source.name), source.name, line.number)
                log = msgspec.convert(row, RunLogRow)
            except InputError as error:
                problems += error.problems
                continue
            except msgspec.ValidationError as error:
                problems.append(Problem(source.name, line.number, "", f"not a run log: {error}", "E_TYPE"))
                continue
            rows.append(row)
            row_labels, faults = _read_labels(log, scales, rater)
            labels += row_labels
            if log.grade is not None:
                grades[read_answer_key(row)] = Grade(
                    log.grade, log.failure_label, log.grading_notes or "", log.judge_confidence, log.judge_model
                )
            flawed += [Problem(source.name, line.number, field, message, "E_LABEL") for field, message in faults]
    if problems:
        raise InputError(problems)
    return GradedRun(tuple(labels), grades, tuple(rows), tuple(flawed))


def encode_graded(
    rows: Iterable[Mapping[str, Any]], grades: Mapping[AnswerKey, Grade], scales: LabelScales
) -> Iterator[bytes]:
    """Yield the rows with their grades as JSON Lines.

    The members of an earlier grading are replaced and all others stay as they are. A row without a grade says so in
    `grading_error`.
    """
    for row in rows:
        ungraded = {name: value for name, value in row.items() if name not in _GRADED}
        grade = grades.get(read_answer_key(row))
        yield msgspec.json.encode(ungraded | _grade_members(grade, scales)) + b"\n"


def read_answer_key(row: Mapping[str, Any]) -> AnswerKey:
    """Return the case and configuration of a row, as in its observation."""
    config = next((row[name] for name in ("config_id", "model") if row.get(name) is not None), "unknown")
    return str(row["question_id"]), str(config)


def collect_grades(labels: Sequence[Label]) -> dict[AnswerKey, Grade]:
    """Return the grades that labels give, by answer.

    Raises InputError if several raters graded one answer: a row holds one grade, so one rater must be chosen.
    """
    failures = {(label.case_id, label.config_id): label.label for label in labels if label.metric == FAILURE_METRIC}
    grades: dict[AnswerKey, Grade] = {}
    problems = []
    for label in labels:
        if label.metric != GRADE_METRIC or label.label is None:
            continue
        answer_key = label.case_id, label.config_id or "unknown"
        if answer_key in grades:
            message = f"graded by several raters ({label.case_id}); expected one, named by --rater"
            problems.append(Problem("", None, "rater", message, "E_RATER"))
        failure = failures.get((label.case_id, label.config_id))
        model = label.rater if label.source == JUDGE_SOURCE else None
        grades[answer_key] = Grade(label.label, failure, label.note, None, model)
    if problems:
        raise InputError(problems)
    return grades


def _grade_members(grade: Grade | None, scales: LabelScales) -> dict[str, Any]:
    if grade is None:
        return {"grade": None, "failure_label": None, "grading_error": "not graded"}
    failure = None if grade.failure in (None, NO_FAILURE_LABEL) or grade.grade == BEST_GRADE else grade.failure
    faults = [check_label_name(GRADE_METRIC, grade.grade, scales)]
    if failure is not None:
        faults.append(check_label_name(FAILURE_METRIC, failure, scales))
    members = {
        "grade": grade.grade,
        "failure_label": failure,
        "grading_notes": grade.notes,
        "judge_confidence": grade.confidence,
        "judge_model": grade.model,
    }
    error = "; ".join(filter(None, faults))
    return members | ({"grading_error": error} if error else {})


def _read_labels(log: RunLogRow, scales: LabelScales, rater: str | None) -> tuple[list[Label], list[tuple[str, str]]]:
    """Return the valid labels of a row, and (field, message) for each invalid one."""
    labels: list[Label] = []
    faults: list[tuple[str, str]] = []
    config = next((name for name in (log.config_id, log.model) if name is not None), "unknown")
    row_rater, source = rater or PERSON_SOURCE, PERSON_SOURCE
    if log.judge_model:
        row_rater, source = log.judge_model, JUDGE_SOURCE
    hashed = compute_answer_hash(log.answer) if isinstance(log.answer, str) else None
    if log.grading_error and log.grade is not None:
        return [], [("grade", f"left out of all rates: {log.grading_error}")]
    failure = None if log.grade == BEST_GRADE else log.failure_label
    for metric, name in ((GRADE_METRIC, log.grade), (FAILURE_METRIC, failure)):
        if name is None:
            continue
        problem = check_label_name(metric, name, scales)
        if problem:
            faults.append((metric, f"{problem}; left out of all rates"))
            continue
        label = Label(log.question_id, metric, row_rater, name, config_id=config, answer_hash=hashed, source=source)
        if metric == GRADE_METRIC:
            label = msgspec.structs.replace(label, note=log.grading_notes or "")
        labels.append(label)
    return labels, faults
