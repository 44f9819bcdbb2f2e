"""Exchanges human labels: exports a blind, stratified sample for labelling, and imports the labels.

The sample is the same for the same seed, whatever the order of the items. Labels are also written into
`*-graded.jsonl`, the graded run log of the code benchmark (ADR 0038): each row with its human or model grade.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from assay.calibration.collect_scorer_labels import (
    LabelItem,
    check_label_metrics,
    collect_judge_labels,
    iterate_label_items,
    label_scales,
    load_label_rubrics,
    source_texts,
)
from assay.calibration.rater_agreement import ItemKey
from assay.formats.file_io import write_atomically
from assay.formats.golden_files import compute_golden_digest, load_golden
from assay.formats.labels.external_scores import EXTERNAL_TOOLS, load_external_scores
from assay.formats.labels.label_files import (
    LabelScales,
    collect_grades,
    encode_graded,
    encode_labels_csv,
    encode_labels_jsonl,
    get_labelled_item,
    load_graded,
    load_labels,
    read_answer_key,
)
from assay.formats.labels.label_sheets import (
    SHEET_KEY_FORMAT,
    LabelledItem,
    SheetKey,
    SheetRow,
    build_label_page,
    encode_key,
    encode_sheet_csv,
    encode_sheet_jsonl,
    is_label_sheet,
    load_sheet,
    load_sheet_key,
    make_row_id,
)
from assay.formats.run_files.overwriting import refuse_overwriting
from assay.judging.load_verdicts import open_verdicts
from assay.judging.rubric_files import load_rubrics
from assay.metrics.cases.settled_answers import ANSWER_SCALES
from assay.metrics.judged.judge_requests import Rubrics, find_rubric
from assay.records.counts import format_count
from assay.records.digest import compute_answer_hash
from assay.records.errors import InputError, Problem
from assay.records.verdicts import Label
from assay.scoring.scored_run import ScoredRun

K = TypeVar("K", bound=Hashable)


def sample_stratified(strata: Mapping[K, tuple[str, ...]], size: int, seed: int = 0) -> list[K]:
    """Return `size` of the keys (all, where there are fewer), every stratum with its share, in a shuffled order.

    Shares are proportional (largest remainder), so that rates in the sample are those of the whole: a sample with more
    of what a judge failed would need weights. Keys must be sortable.

    >>> strata = {f"q{n}": ("hr",) if n < 8 else ("acl",) for n in range(10)}
    >>> sorted(sample_stratified(strata, 5, seed=1))
    ['q0', 'q1', 'q4', 'q5', 'q8']
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    members: dict[tuple[str, ...], list[K]] = {}
    for key in sorted(strata):  # type: ignore[type-var]  # no type says "sortable"
        members.setdefault(strata[key], []).append(key)
    shares = _shares({stratum: len(members[stratum]) for stratum in sorted(members)}, min(size, len(strata)))
    chosen = [
        members[stratum][position]
        for stratum, share in shares.items()
        for position in generator.permutation(len(members[stratum]))[:share].tolist()
    ]
    return [chosen[position] for position in generator.permutation(len(chosen)).tolist()]


def _shares(sizes: Mapping[tuple[str, ...], int], total: int) -> dict[tuple[str, ...], int]:
    """Return how many of each stratum to take, `total` together."""
    everything = sum(sizes.values())
    exact = {stratum: total * size / everything for stratum, size in sizes.items()}
    shares = {stratum: int(share) for stratum, share in exact.items()}
    by_remainder = sorted(exact, key=lambda stratum: (shares[stratum] - exact[stratum], stratum))
    for stratum in by_remainder[: total - sum(shares.values())]:
        shares[stratum] += 1
    return shares


KEY_FILE = "key.json"
SHEET_FORMAT = "sheet"
DEFAULT_LABEL_METRICS = ("faithfulness", "correctness")


@dataclass(frozen=True, slots=True)
class LabelSampleRequest:
    """The sample to draw: metrics as humans label them, `sample` rows of each, of which `overlap` go to a second rater.

    `rubrics` are folders of rubrics to show the raters, instead of those of the run.
    """

    metrics: Sequence[str] = DEFAULT_LABEL_METRICS
    sample: int = 100
    overlap: int = 30
    seed: int = 0
    language: str = "en"
    rubrics: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class LabelSample:
    """The sample that was written: files by description, the number of rows of each metric, and notes."""

    files: tuple[tuple[str, Path], ...]
    rows: Mapping[str, int]
    notes: tuple[str, ...]


def export_labels(
    run: ScoredRun, folder: Path, request: LabelSampleRequest, bands: Mapping[tuple[str, ItemKey], str] | None = None
) -> LabelSample:
    """Write sheets for two raters, and the key, into a new or empty folder.

    `bands` are verdicts of a judge by metric and item: the sample is stratified by them, and they are not written.
    Raises InputError for a folder that is not empty, and if there is nothing to label.
    """
    refuse_used_folder(folder)
    rubrics = load_label_rubrics(run, request.rubrics)
    rows: list[SheetRow] = []
    second_sheet: list[SheetRow] = []
    targets: dict[str, LabelledItem] = {}
    notes: list[str] = []
    scales = label_scales(rubrics)
    for metric in check_label_metrics(request.metrics, scales):
        items, note = _choose_items(run, metric, rubrics, request, bands or {})
        notes += [note] if note else []
        for position, item in enumerate(items):
            target = _sheet_target(metric, item)
            shown = target.case_id, metric, target.config_id, target.item, target.text, target.answer_hash
            row = make_sheet_row(make_row_id("r", len(rows) + 1, shown), metric, item, rubrics)
            rows.append(row)
            targets[row.row_id] = target
            if position < request.overlap:
                second_sheet.append(row)
    if not rows:
        raise InputError("nothing to label: no answer of this run can be asked about (" + "; ".join(notes) + ")")
    bases = {row.metric.partition("(")[0] for row in rows}
    chosen_from = {metric: dict(scales[metric]) for metric in sorted(bases)}
    key = SheetKey(SHEET_KEY_FORMAT, compute_golden_digest(run.golden), request.seed, targets, chosen_from)
    files = write_sheet(folder, "sheet-1", rows, request.language)
    if second_sheet:
        files += write_sheet(folder, "sheet-2", second_sheet, request.language)
    files.append(("key (not for the people who label)", write_atomically(folder / KEY_FILE, [encode_key(key)])))
    return LabelSample(tuple(files), dict(Counter(row.metric for row in rows)), tuple(notes))


def refuse_used_folder(folder: Path) -> None:
    """Raise InputError for a folder that has anything in it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        message = "is not empty: label sheets are never overwritten (expected a new or empty folder)"
        raise InputError([Problem(str(folder), None, "", message, "E_OVERWRITE")])


def write_sheet(
    folder: Path, name: str, rows: Sequence[SheetRow], language: str, *, must_explain: bool = False
) -> list[tuple[str, Path]]:
    """Write a sheet as CSV, JSON Lines and HTML page; return the files with their descriptions."""
    contents: dict[str, Iterable[bytes]] = {
        ".csv": encode_sheet_csv(rows),
        ".jsonl": encode_sheet_jsonl(rows),
        ".html": [build_label_page(rows, language, must_explain=must_explain)],
    }
    return [
        (f"{name}{suffix}", write_atomically(folder / f"{name}{suffix}", lines)) for suffix, lines in contents.items()
    ]


@dataclass(frozen=True, slots=True)
class LabelImportRequest:
    """The labels to import: files of one format, the key of the sheets, the rater, and the golden set and configuration
    that identify the cases of another tool.

    `rubrics` are folders of the rubrics that the raters used.
    """

    files: Sequence[str]
    format: str = SHEET_FORMAT
    key: str | None = None
    rater: str | None = None
    golden: str | None = None
    config: str | None = None
    rubrics: Sequence[str] = ()

    @property
    def scales(self) -> LabelScales:
        """The labels from which the raters could choose: those of the key, and of the rubrics where it has none."""
        of_sheets = load_sheet_key(self.key).scales if self.key is not None else {}
        return {**label_scales(load_label_rubrics(None, self.rubrics)), **ANSWER_SCALES, **of_sheets}


class ImportedLabels(NamedTuple):
    """The path of the imported labels, their counts by rater and metric, and notes on what was left out.

    `are_of_answers`: all of them say whether answers are right or what they do, which scoring reads.
    """

    path: Path
    counts: tuple[str, ...]
    notes: tuple[str, ...]
    are_of_answers: bool = False


def import_labels(request: LabelImportRequest, out_path: str) -> ImportedLabels:
    """Write the labels of all files into one: CSV if its name ends in .csv, else JSON Lines.

    Raises InputError listing all problems, including a second label of one rater for one item.
    """
    labels, notes = _READERS.get(request.format, _read_external_scores)(request)
    refuse_duplicate_labels(labels)
    if not labels:
        raise InputError(f"nothing to import: {'; '.join(notes) or 'no row has a label'} (nothing was written)")
    _refuse_losing_labels(out_path, labels, request.scales)
    lines = encode_labels_csv(labels) if out_path.endswith(".csv") else encode_labels_jsonl(labels)
    path = write_atomically(out_path, lines)
    counts = Counter((label.source, label.rater, label.metric) for label in labels)
    count_lines = [
        f"{rater} ({source}): {format_count(count, 'label')} of {metric}"
        for (source, rater, metric), count in sorted(counts.items())
    ]
    are_of_answers = bool(labels) and all(label.metric in ANSWER_SCALES for label in labels)
    return ImportedLabels(path, tuple(count_lines), tuple(notes), are_of_answers)


def _refuse_losing_labels(out_path: str, labels: Sequence[Label], scales: LabelScales) -> None:
    """Raise InputError if a file of labels would be replaced by one that lacks any of them."""
    try:
        lost = [label for label in load_labels([out_path], scales) if label not in labels]
    except InputError:  # it does not exist, or is no file of labels
        return
    if lost:
        raters = ", ".join(sorted({label.rater for label in lost}))
        message = f"holds {format_count(len(lost), 'label')} ({raters}) that would be lost (expected another --out)"
        raise InputError([Problem(out_path, None, "", message, "E_OVERWRITE")])


def judge_bands(
    run: ScoredRun, request: LabelSampleRequest, verdicts: str, judge: str | None
) -> dict[tuple[str, ItemKey], str]:
    """Return the label of a judge for every item, by metric, by which a sample is stratified."""
    judging, _ = open_verdicts(verdicts, judge, load_label_rubrics(run, request.rubrics))
    metrics = check_label_metrics(request.metrics, label_scales(judging.rubrics))
    opinions = collect_judge_labels(run, "", judging, metrics).labels
    return {
        (metric, key): opinion.label or "unscored" for metric in metrics for key, opinion in opinions[metric].items()
    }


def _read_sheets(bringing: LabelImportRequest) -> tuple[list[Label], list[str]]:
    """Return the labels of filled sheets and of files of labels."""
    scales = bringing.scales
    sheets = [path for path in bringing.files if is_label_sheet(path)]
    labels = list(load_labels([path for path in bringing.files if path not in sheets], scales))
    if not sheets:
        return labels, []
    if bringing.key is None:
        raise InputError("--key: missing (got sheets; expected the key.json that was written next to them)")
    key = load_sheet_key(bringing.key)
    problems: list[Problem] = []
    unlabelled_count = 0
    for path in sheets:
        try:
            sheet_labels, unlabelled_rows = load_sheet(path, key, scales, bringing.rater)
        except InputError as error:
            problems += error.problems
            continue
        labels += sheet_labels
        unlabelled_count += unlabelled_rows
    if problems:
        raise InputError(problems)
    return labels, [
        f"{format_count(unlabelled_count, 'row has', 'rows have')} no label yet"
    ] if unlabelled_count else []


def _read_graded(bringing: LabelImportRequest) -> tuple[list[Label], list[str]]:
    scales = bringing.scales
    graded_files = [load_graded(path, scales, bringing.rater) for path in bringing.files]
    return [label for graded in graded_files for label in graded.labels], [
        str(flaw) for graded in graded_files for flaw in graded.flawed
    ]


def _read_external_scores(bringing: LabelImportRequest) -> tuple[list[Label], list[str]]:
    if bringing.format not in EXTERNAL_TOOLS:
        formats = ", ".join((*_READERS, *EXTERNAL_TOOLS))
        raise InputError(f"--format: unknown (got {bringing.format!r}; expected one of {formats})")
    golden = load_golden(bringing.golden).golden if bringing.golden is not None else None
    score_files = [load_external_scores(path, bringing.format, golden, bringing.config) for path in bringing.files]
    return [label for scores in score_files for label in scores.labels], [
        f"left out: {note}" for scores in score_files for note in scores.notes
    ]


_READERS = {SHEET_FORMAT: _read_sheets, "graded": _read_graded}


def refuse_duplicate_labels(labels: Sequence[Label]) -> None:
    """Raise InputError if a rater labelled an item more than once."""
    known_keys: set[tuple[str | None, ...]] = set()
    problems = []
    for label in labels:
        key = (*get_labelled_item(label), label.config_id)
        if key in known_keys:
            message = (
                f"{label.rater} labelled {label.metric} of {label.case_id} twice (expected one label of each rater)"
            )
            problems.append(Problem("", None, "rater", message, "E_DUPLICATE_ID"))
        known_keys.add(key)
    if problems:
        raise InputError(problems)


def _choose_items(
    run: ScoredRun, metric: str, rubrics: Rubrics, drawing: LabelSampleRequest, bands: Mapping[tuple[str, ItemKey], str]
) -> tuple[list[LabelItem], str]:
    items_by_key = {item.key: item for item in iterate_label_items(run, metric, rubrics)}
    cases = run.cases
    strata = {
        key: (cases[key[0]].behaviour, next(iter(cases[key[0]].tags), ""), bands.get((metric, key), ""))
        for key in items_by_key
    }
    picked = sample_stratified(strata, drawing.sample, drawing.seed)
    note = (
        f"{metric}: {format_count(len(items_by_key), 'item')} to choose from, {drawing.sample} wanted"
        if len(items_by_key) < drawing.sample
        else ""
    )
    return [items_by_key[key] for key in picked], note


def make_sheet_row(row_id: str, metric: str, item: LabelItem, rubrics: Rubrics) -> SheetRow:
    """Return the row that shows an item as a judge is shown it, without any id."""
    inputs = item.request.inputs
    answer = item.observation.answer
    rubric = find_rubric(rubrics, item.request.rubric, item.request.language)
    return SheetRow(
        row_id,
        metric,
        str(inputs.get("question") or ""),
        answer if isinstance(answer, str) else "",
        item.text,
        str(inputs.get("reference") or ""),
        source_texts(item.request),
        item.request.labels,
        tuple(label.meaning for label in rubric.labels),
    )


def _sheet_target(metric: str, item: LabelItem) -> LabelledItem:
    case_id, config_id, item_id = item.key
    answer = item.observation.answer
    hash_of_answer = compute_answer_hash(answer) if isinstance(answer, str) else None
    return LabelledItem(case_id, metric, config_id, item_id or None, item.text, hash_of_answer)


GRADED_SUFFIX = "-graded.jsonl"


class GradedFile(NamedTuple):
    """Where the grades were written, the number of rows and of graded rows, and notes for the user."""

    path: Path
    rows: int
    graded: int
    notes: tuple[str, ...]


def write_graded(
    runlog: str, labels: Sequence[str], rater: str | None, out: str | None, rubrics: Sequence[str] = ()
) -> GradedFile:
    """Write a graded copy of a run log. The grades are those of one rater: the one named, else the only one.

    `rubrics` are folders of the rubrics that the raters used. Raises InputError for bad files, for several raters if
    none is named, and if the file to write is one of those read.
    """
    scales = label_scales(load_rubrics(rubrics))
    name = Path(runlog)
    target = out if out is not None else str(name.with_name(name.name.removesuffix(name.suffix) + GRADED_SUFFIX))
    refuse_overwriting([target], [runlog, *labels])
    rows = load_graded(runlog, scales).rows
    human_labels = load_labels(labels, scales)
    grades = collect_grades([label for label in human_labels if rater in (None, label.rater)])
    answer_keys = [read_answer_key(row) for row in rows]
    unused = len(grades.keys() - set(answer_keys))
    notes = (
        (f"{format_count(unused, 'grade belongs', 'grades belong')} to answers that the run log does not have",)
        if unused
        else ()
    )
    path = write_atomically(target, encode_graded(rows, grades, scales))
    return GradedFile(path, len(rows), sum(answer_key in grades for answer_key in answer_keys), notes)
