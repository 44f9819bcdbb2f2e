"""Reads and writes `*-graded.jsonl`, the code benchmark's run log with grades by people or models (ADR 0038).

A grade or failure label that is not on the scale stays in its row next to a `grading_error`. It is not read as a label
and counts in no rate. A fully correct answer has no failure label.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from assay.errors import InputError, Problem
from assay.io.labels import Scales, answer_hash, label_problem
from assay.io.lines import opened, read_lines, text_of
from assay.io.outputs.runlog import RunLog
from assay.io.strictjson import decode_object
from assay.verdict import Label

GRADE, FAILURE = "grade", "failure_label"
BEST = "fully_correct"
NO_FAILURE = "none"
PERSON, JUDGE = "person", "judge"
_GRADED = ("grade", "failure_label", "grading_notes", "grading_error", "judge_confidence", "judge_model")
AnswerKey = tuple[str, str]
"""Identifies an answer: case and configuration."""


class Grade(NamedTuple):
    """The grade of one answer; `model` is None if a person graded."""

    grade: str
    failure: str | None = None
    notes: str = ""
    confidence: float | None = None
    model: str | None = None


class Graded(NamedTuple):
    """The content of a file: its labels, its grades and rows as written, and the problems of its grades."""

    labels: tuple[Label, ...]
    grades: dict[AnswerKey, Grade]
    rows: tuple[dict[str, Any], ...]
    flawed: tuple[Problem, ...]


def load_graded(path: str, scales: Scales, rater: str | None = None) -> Graded:
    """Read a run log with or without grades. The rater of a row is its `judge_model`, else `rater`, else `person`.

    Raises InputError for lines that are not rows of a run log.
    """
    labels: list[Label] = []
    grades: dict[AnswerKey, Grade] = {}
    rows: list[dict[str, Any]] = []
    flawed: list[Problem] = []
    problems: list[Problem] = []
    with opened(path) as source:
        for line in read_lines(source):
            if not line.data.strip():
                continue
            try:
                row = decode_object(text_of(line, source.name), source.name, line.number)
                log = msgspec.convert(row, RunLog)
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
                grades[place_of(row)] = Grade(
                    log.grade, log.failure_label, log.grading_notes or "", log.judge_confidence, log.judge_model
                )
            flawed += [Problem(source.name, line.number, field, message, "E_LABEL") for field, message in faults]
    if problems:
        raise InputError(problems)
    return Graded(tuple(labels), grades, tuple(rows), tuple(flawed))


def graded_lines(
    rows: Iterable[Mapping[str, Any]], grades: Mapping[AnswerKey, Grade], scales: Scales
) -> Iterator[bytes]:
    """Yield the rows with their grades as JSON Lines.

    The members of an earlier grading are replaced and all others stay as they are. A row without a grade says so in
    `grading_error`.
    """
    for row in rows:
        ungraded = {name: value for name, value in row.items() if name not in _GRADED}
        grade = grades.get(place_of(row))
        yield msgspec.json.encode(ungraded | _grade_members(grade, scales)) + b"\n"


def place_of(row: Mapping[str, Any]) -> AnswerKey:
    """Return the case and configuration of a row, as in its observation."""
    config = next((row[name] for name in ("config_id", "model") if row.get(name) is not None), "unknown")
    return str(row["question_id"]), str(config)


def grades_of(labels: Sequence[Label]) -> dict[AnswerKey, Grade]:
    """Return the grades that labels give, by answer.

    Raises InputError if several raters graded one answer: a row holds one grade, so one rater must be chosen.
    """
    failures = {(label.case_id, label.config_id): label.label for label in labels if label.metric == FAILURE}
    grades: dict[AnswerKey, Grade] = {}
    problems = []
    for label in labels:
        if label.metric != GRADE or label.label is None:
            continue
        answer_key = label.case_id, label.config_id or "unknown"
        if answer_key in grades:
            message = f"graded by several raters ({label.case_id}); expected one, named by --rater"
            problems.append(Problem("", None, "rater", message, "E_RATER"))
        failure = failures.get((label.case_id, label.config_id))
        model = label.rater if label.source == JUDGE else None
        grades[answer_key] = Grade(label.label, failure, label.note, None, model)
    if problems:
        raise InputError(problems)
    return grades


def _grade_members(grade: Grade | None, scales: Scales) -> dict[str, Any]:
    if grade is None:
        return {"grade": None, "failure_label": None, "grading_error": "not graded"}
    failure = None if grade.failure in (None, NO_FAILURE) or grade.grade == BEST else grade.failure
    faults = [label_problem(GRADE, grade.grade, scales)]
    if failure is not None:
        faults.append(label_problem(FAILURE, failure, scales))
    members = {
        "grade": grade.grade,
        "failure_label": failure,
        "grading_notes": grade.notes,
        "judge_confidence": grade.confidence,
        "judge_model": grade.model,
    }
    error = "; ".join(filter(None, faults))
    return members | ({"grading_error": error} if error else {})


def _read_labels(log: RunLog, scales: Scales, rater: str | None) -> tuple[list[Label], list[tuple[str, str]]]:
    """Return the valid labels of a row, and (field, message) for each invalid one."""
    labels: list[Label] = []
    faults: list[tuple[str, str]] = []
    config = next((name for name in (log.config_id, log.model) if name is not None), "unknown")
    row_rater, source = rater or PERSON, PERSON
    if log.judge_model:
        row_rater, source = log.judge_model, JUDGE
    hashed = answer_hash(log.answer) if isinstance(log.answer, str) else None
    if log.grading_error and log.grade is not None:
        return [], [("grade", f"left out of all rates: {log.grading_error}")]
    failure = None if log.grade == BEST else log.failure_label
    for metric, name in ((GRADE, log.grade), (FAILURE, failure)):
        if name is None:
            continue
        problem = label_problem(metric, name, scales)
        if problem:
            faults.append((metric, f"{problem}; left out of all rates"))
            continue
        label = Label(log.question_id, metric, row_rater, name, config_id=config, answer_hash=hashed, source=source)
        if metric == GRADE:
            label = msgspec.structs.replace(label, note=log.grading_notes or "")
        labels.append(label)
    return labels, faults
