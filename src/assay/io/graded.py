"""`*-graded.jsonl` ([000]): a run log with grades, of a person or of a model in one schema, in and out.

A grade or failure label that is not in the list stays in its row, with a `grading_error` beside it, and is no label:
it counts in no rate. A fully correct answer has no failure label.
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
Place = tuple[str, str]
"""Which answer: case and configuration."""


class Grade(NamedTuple):
    """What is written beside an answer; `model` is None for a person."""

    grade: str
    failure: str | None = None
    notes: str = ""
    confidence: float | None = None
    model: str | None = None


class Graded(NamedTuple):
    """A file read: its labels, its grades as they stand, its rows as written, and what is wrong with grades."""

    labels: tuple[Label, ...]
    grades: dict[Place, Grade]
    rows: tuple[dict[str, Any], ...]
    flawed: tuple[Problem, ...]


def load_graded(path: str, scales: Scales, rater: str | None = None) -> Graded:
    """Read a run log with or without grades. The rater of a row is its `judge_model`, else `rater`, else `person`.

    Raises InputError for lines that are no run log.
    """
    labels: list[Label] = []
    grades: dict[Place, Grade] = {}
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
            found, wrong = _labels(log, scales, rater)
            labels += found
            if log.grade is not None:
                grades[place_of(row)] = Grade(
                    log.grade, log.failure_label, log.grading_notes or "", log.judge_confidence, log.judge_model
                )
            flawed += [Problem(source.name, line.number, field, message, "E_LABEL") for field, message in wrong]
    if problems:
        raise InputError(problems)
    return Graded(tuple(labels), grades, tuple(rows), tuple(flawed))


def graded_lines(rows: Iterable[Mapping[str, Any]], grades: Mapping[Place, Grade], scales: Scales) -> Iterator[bytes]:
    """Yield the rows with their grades; what an earlier grading wrote is replaced, so that grading again changes
    nothing else. A row without a grade says so in `grading_error`."""
    for row in rows:
        kept = {name: value for name, value in row.items() if name not in _GRADED}
        grade = grades.get(place_of(row))
        yield msgspec.json.encode(kept | _members(grade, scales)) + b"\n"


def place_of(row: Mapping[str, Any]) -> Place:
    """Return which answer a row holds, as its observation is called."""
    config = next((row[name] for name in ("config_id", "model") if row.get(name) is not None), "unknown")
    return str(row["question_id"]), str(config)


def grades_of(labels: Sequence[Label]) -> dict[Place, Grade]:
    """Return the grades that labels give, where each answer has one. Raises InputError where raters differ in number:
    a row holds one grade, so one rater must be chosen."""
    failures = {(each.case_id, each.config_id): each.label for each in labels if each.metric == FAILURE}
    found: dict[Place, Grade] = {}
    problems = []
    for each in labels:
        if each.metric != GRADE or each.label is None:
            continue
        place = each.case_id, each.config_id or "unknown"
        if place in found:
            message = f"graded by several raters ({each.case_id}); expected one, named by --rater"
            problems.append(Problem("", None, "rater", message, "E_RATER"))
        failure = failures.get((each.case_id, each.config_id))
        found[place] = Grade(each.label, failure, each.note, None, each.rater if each.source == JUDGE else None)
    if problems:
        raise InputError(problems)
    return found


def _members(grade: Grade | None, scales: Scales) -> dict[str, Any]:
    if grade is None:
        return {"grade": None, "failure_label": None, "grading_error": "not graded"}
    failure = None if grade.failure in (None, NO_FAILURE) or grade.grade == BEST else grade.failure
    wrong = [label_problem(GRADE, grade.grade, scales)]
    wrong += [label_problem(FAILURE, failure, scales)] if failure is not None else []
    members = {
        "grade": grade.grade,
        "failure_label": failure,
        "grading_notes": grade.notes,
        "judge_confidence": grade.confidence,
        "judge_model": grade.model,
    }
    error = "; ".join(filter(None, wrong))
    return members | ({"grading_error": error} if error else {})


def _labels(log: RunLog, scales: Scales, rater: str | None) -> tuple[list[Label], list[tuple[str, str]]]:
    """Return the labels of a row, and what is wrong with those that it gives."""
    labels: list[Label] = []
    wrong: list[tuple[str, str]] = []
    config = next((name for name in (log.config_id, log.model) if name is not None), "unknown")
    who, source = (log.judge_model, JUDGE) if log.judge_model else (rater or PERSON, PERSON)
    hashed = answer_hash(log.answer) if isinstance(log.answer, str) else None
    if log.grading_error and log.grade is not None:
        return [], [("grade", f"left out of all rates: {log.grading_error}")]
    failure = None if log.grade == BEST else log.failure_label
    for metric, said in ((GRADE, log.grade), (FAILURE, failure)):
        if said is None:
            continue
        if problem := label_problem(metric, said, scales):
            wrong.append((metric, f"{problem}; left out of all rates"))
            continue
        note = log.grading_notes or "" if metric == GRADE else ""
        labels.append(
            Label(log.question_id, metric, who, said, config_id=config, answer_hash=hashed, source=source, note=note)
        )
    return labels, wrong
