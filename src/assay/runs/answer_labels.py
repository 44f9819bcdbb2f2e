"""Labels of answers as an input of scoring: what people decided, read from files and attached to cases (ADR 187)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import structs

from assay.formats.labels.label_files import encode_labels_jsonl, find_label_faults, get_labelled_item, load_labels
from assay.formats.labels.label_sheets import is_label_sheet
from assay.formats.problems import make_value_error
from assay.formats.strict_json import MisfitError, convert_strictly
from assay.metrics.cases.settled_answers import ANSWER_SCALES, UNCLEAR, SettledMetric, digest_expectations
from assay.records.counts import format_count
from assay.records.digest import compute_answer_hash
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import AnswerLabel, Case, GoldenSet
from assay.records.scores import ScoreTable
from assay.records.verdicts import Label
from assay.scoring.column_values import format_case_ids, list_settled_cases


def load_answer_labels(paths: Sequence[str]) -> tuple[Label, ...]:
    """Read files of labels, in which one label may stand several times; those for calibration are passed over.

    Raises InputError with everything that is wrong in a file, including a label without the hash of its answer.
    """
    labels: dict[tuple[str | None, ...], Label] = {}
    for path in paths:
        _refuse_sheet(path)
        labels_of_file = load_labels([path], ANSWER_SCALES, only_known=True)
        if not labels_of_file:
            message = "holds no label of an answer (expected some of the metrics correct_answer or behaviour)"
            raise InputError([Problem(path, None, "metric", message, "E_LABEL")])
        check_answer_labels(labels_of_file, path)
        for label in labels_of_file:
            key = (*get_labelled_item(label), label.label, label.case_hash, str(label.sample))
            labels.pop(key, None)  # a label that is given again is the last one of its rater
            labels[key] = label
    return tuple(labels.values())


def _refuse_sheet(path: str) -> None:
    """Raise InputError for a filled sheet, whose labels must be imported first."""
    if is_label_sheet(path):
        message = "is a sheet (expected its labels: `assay labels import SHEET --key key.json --out labels.jsonl`)"
        raise InputError([Problem(path, None, "", message, "E_LABEL")])


def read_answer_labels(labels: Any) -> tuple[Label, ...]:
    """Return labels as Python gives them: paths of files, or a list of Labels or dictionaries.

    Raises InputError with everything that is wrong with them.
    """
    label_values = [labels] if isinstance(labels, (str, Path, Label, Mapping)) else labels
    if not isinstance(label_values, Iterable):
        message = f"no labels (got {shorten_repr(labels)}; expected files of labels, or what label_answer returns)"
        raise make_value_error("labels", message)
    label_values = list(label_values)
    if all(isinstance(label, (str, Path)) for label in label_values):
        return load_answer_labels([str(path) for path in label_values])
    read: list[Label] = []
    problems: list[Problem] = []
    labels_by_item: dict[tuple[str | None, ...], tuple[str | None, int]] = {}
    for number, label in enumerate(label_values, 1):
        try:
            read.append(label if isinstance(label, Label) else convert_strictly(label, Label))
        except MisfitError as error:
            problems += [Problem("labels", number, *misfit) for misfit in error.misfits]
            continue
        problems += [
            Problem("labels", number, field, message, "E_LABEL")
            for field, message in find_label_faults(read[-1], ANSWER_SCALES)
        ]
        key = *get_labelled_item(read[-1]), read[-1].case_hash
        before, first = labels_by_item.setdefault(key, (read[-1].label, number))
        if before != read[-1].label:
            got = f"{shorten_repr(read[-1].label)} of {read[-1].rater} after {shorten_repr(before)} in row {first}"
            message = f"one answer labelled twice by one person (got {got}; expected the label that counts)"
            problems.append(Problem("labels", number, "label", message, "E_DUPLICATE_ID"))
    if problems:
        raise InputError(problems)
    check_answer_labels(read, "labels")
    return tuple(read)


@contextmanager
def open_label_files(labels: Any) -> Iterator[list[str]]:
    """Yield the paths of files that hold labels: those that are given, and one for Labels and dictionaries.

    Problems of these are named by their place in the list.
    """
    label_values = [labels] if isinstance(labels, (str, Path, Label, Mapping)) else list(labels)
    paths = [str(label) for label in label_values if isinstance(label, (str, Path))]
    rows = [label for label in label_values if not isinstance(label, (str, Path))]
    if not rows:
        yield paths
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "labels.jsonl")
        path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
        try:
            yield [*paths, str(path)]
        except InputError as error:
            problems = []
            for problem in error.problems:
                message = problem.message.replace(str(path), "labels")
                place = "labels" if problem.path == str(path) else problem.path
                problems.append(structs.replace(problem, path=place, message=message))
            raise InputError(problems, more=error.more) from None


def make_answer_label(
    case: Case, answer: str, label: str, rater: str, *, metric: str, note: str, sample: int | None = None
) -> Label:
    """Return a person's label of an answer to a case, bound to both. Raises InputError for one that does not exist."""
    made = Label(
        case.id,
        metric,
        rater,
        label,
        answer_hash=compute_answer_hash(answer),
        note=note,
        case_hash=digest_expectations(case),
        sample=sample,
    )
    faults = list(find_label_faults(made, ANSWER_SCALES))
    if not rater.strip():
        faults.append(("rater", "no name (expected who decided)"))
    if faults:
        raise InputError([Problem("", None, field, message, "E_LABEL") for field, message in faults])
    return made


def check_answer_labels(labels: Iterable[Label], source: str) -> None:
    """Raise InputError for labels that do not say which answer was read, or that another tool gave."""
    problems = []
    for label in labels:
        if label.answer_hash is None:
            message = (
                f"no answer_hash of {label.case_id} (expected that of the answer that was read, as "
                "`assay labels export --only ambiguous` and `assay labels import` write it, and assay.label_answer)"
            )
            problems.append(Problem(source, None, "answer_hash", message, "E_LABEL"))
        elif label.source != "person":
            message = f"not by a person (got {shorten_repr(label.source)} of {label.case_id}; expected human labels)"
            problems.append(Problem(source, None, "source", message, "E_LABEL"))
    if problems:
        raise InputError(problems)


def attach_answer_labels(golden: GoldenSet, labels: Sequence[Label]) -> tuple[GoldenSet, tuple[str, ...]]:
    """Return a golden set whose cases know what people decided about answers to them, and notes about the other labels.

    A label that was given for other expectations of its case is left out, and so is one of a case that is not there.
    Of several labels that one person gave an answer, the last counts.
    """
    if not labels:
        return golden, ()
    labels, changed = _keep_last_labels(labels)
    cases = {case.id: case for case in golden.cases}
    attached: dict[str, list[AnswerLabel]] = {}
    unknown, outdated, unclear = [], [], []
    for label in labels:
        case = cases.get(label.case_id)
        if case is None:
            unknown.append(label.case_id)
        elif label.case_hash is not None and label.case_hash != digest_expectations(case):
            outdated.append(label.case_id)
        elif label.label is None:
            unclear.append(label.case_id)
        else:
            unclear += [label.case_id] if label.label == UNCLEAR else []
            metric, answer_hash = cast(SettledMetric, label.metric), label.answer_hash or ""
            answer_label = AnswerLabel(metric, label.label, label.rater, answer_hash, label.note, label.sample)
            attached.setdefault(label.case_id, []).append(answer_label)
    with_labels = tuple(
        structs.replace(case, answer_labels=tuple(attached[case.id])) if case.id in attached else case
        for case in golden.cases
    )
    disagreed = [case.id for case in with_labels if _is_disputed(case)]
    notes = (
        _describe("{count} of answers {ids}: no such case in the golden set", unknown),
        _describe("{count} of answers {ids} given when the case expected something else: read them again", outdated),
        _describe("{count} of answers {ids} left open by the person", unclear),
        f"the last label counts where one person gave several to an answer: {', '.join(changed)}" if changed else "",
        f"people disagree about answers to {format_case_ids(disagreed)}: these are unknown until they agree"
        if disagreed
        else "",
    )
    return structs.replace(golden, cases=with_labels), tuple(filter(None, notes))


def _keep_last_labels(labels: Sequence[Label]) -> tuple[Sequence[Label], list[str]]:
    """Return the last label of each person about an answer, and who changed their mind about which case."""
    last: dict[tuple[str | None, ...], list[Label]] = {}
    changed: dict[str, None] = {}
    for label in labels:
        alike = last.setdefault((label.case_id, label.metric, label.rater, label.answer_hash, label.case_hash), [])
        if alike and alike[-1].label != label.label:
            changed.setdefault(f"{label.rater} on {label.case_id}, {label.label}")
            alike.clear()
        alike.append(label)  # one that says the same may be of a sample, and the other not
    return [label for alike in last.values() for label in alike], list(changed)


def describe_unmatched_labels(cases: Sequence[Case], tables: Mapping[str, ScoreTable]) -> tuple[str, ...]:
    """Return the note that names the cases of which people read other answers than those that were scored."""
    settled: set[str] = set()
    for table in tables.values():
        settled |= list_settled_cases(table)
    decided = [case for case in cases if any(label.label != UNCLEAR for label in case.answer_labels)]
    unmatched = [case.id for case in decided if case.id not in settled and not _is_disputed(case)]
    if not unmatched:
        return ()
    noun = "a label of an answer" if len(unmatched) == 1 else "labels of answers"
    return (f"{noun} to {format_case_ids(unmatched)} that nobody gave here: changed since, or refused or in error now",)


def _is_disputed(case: Case) -> bool:
    """Return whether people gave one answer to a case different labels."""
    labels: dict[tuple[str, str], str] = {}
    decisions = (label for label in case.answer_labels if label.label != UNCLEAR)
    return any(labels.setdefault((label.metric, label.answer_hash), label.label) != label.label for label in decisions)


def _describe(sentence: str, case_ids: Sequence[str]) -> str:
    if not case_ids:
        return ""
    ids = format_case_ids(list(dict.fromkeys(case_ids)))
    return sentence.format(count=format_count(len(case_ids), "label"), ids=f"({ids})")


def encode_answer_labels(golden: GoldenSet) -> bytes:
    """Return what people decided about answers to a golden set, as a file of labels; empty where nobody did."""
    return b"".join(encode_labels_jsonl(_list_labels(golden)))


def _list_labels(golden: GoldenSet) -> Iterator[Label]:
    for case in golden.cases:
        for label in case.answer_labels:
            yield Label(
                case.id,
                label.metric,
                label.rater,
                label.label,
                answer_hash=label.answer_hash,
                note=label.note,
                case_hash=digest_expectations(case),
                sample=label.sample,
            )
