"""Exchanging human labels: export a blind sample for labelling, and import the labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from assay.errors import InputError, Problem
from assay.graders.judging import Rubrics, rubric_of
from assay.io.golden import golden_digest, load_golden
from assay.io.graded import load_graded
from assay.io.labelpage import label_page
from assay.io.labels import Scales, answer_hash, csv_lines, jsonl_lines, load_labels
from assay.io.opinions import TOOLS, load_opinions
from assay.io.sheets import (
    FORMAT,
    KeyFile,
    SheetRow,
    Target,
    is_sheet,
    key_bytes,
    load_key,
    load_sheet,
    sheet_csv,
    sheet_jsonl,
)
from assay.io.writing import write_whole
from assay.scoring.agreement import Key
from assay.scoring.sampling import stratified
from assay.verdict import Label
from assay.workflow.labelling import Asked, asked, known_metrics, rubrics_of, scales_of, sources_of
from assay.workflow.opinions import of_judge
from assay.workflow.replay import judging_of
from assay.workflow.score import ScoreRun

KEY = "key.json"
SHEET = "sheet"
DEFAULT_METRICS = ("faithfulness", "correctness")


@dataclass(frozen=True, slots=True)
class Drawing:
    """The sample to draw: metrics as humans label them, `sample` rows of each, of which `overlap` go to a second rater.

    `rubrics` are folders of rubrics to show the raters, instead of those of the run.
    """

    metrics: Sequence[str] = DEFAULT_METRICS
    sample: int = 100
    overlap: int = 30
    seed: int = 0
    language: str = "en"
    rubrics: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Drawn:
    """The sample that was written: files by description, the number of rows of each metric, and notes."""

    files: tuple[tuple[str, Path], ...]
    rows: Mapping[str, int]
    notes: tuple[str, ...]


def export_labels(
    run: ScoreRun, folder: Path, drawing: Drawing, bands: Mapping[tuple[str, Key], str] | None = None
) -> Drawn:
    """Write sheets for two raters, and the key, into a new or empty folder.

    `bands` are verdicts of a judge by metric and item: the sample is stratified by them, and they are not written.
    Raises InputError for a folder that is not empty, and if there is nothing to label.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        message = "is not empty: label sheets are never overwritten (expected a new or empty folder)"
        raise InputError([Problem(str(folder), None, "", message, "E_OVERWRITE")])
    rubrics = rubrics_of(run, drawing.rubrics)
    rows: list[SheetRow] = []
    second_sheet: list[SheetRow] = []
    targets: dict[str, Target] = {}
    notes: list[str] = []
    for metric in known_metrics(drawing.metrics, scales_of(rubrics)):
        items, note = _choose_items(run, metric, rubrics, drawing, bands or {})
        notes += [note] if note else []
        for position, item in enumerate(items):
            row = _sheet_row(f"r{len(rows) + 1:04}", metric, item, rubrics)
            rows.append(row)
            targets[row.row_id] = _sheet_target(metric, item)
            if position < drawing.overlap:
                second_sheet.append(row)
    if not rows:
        raise InputError("nothing to label: no answer of this run can be asked about (" + "; ".join(notes) + ")")
    key = KeyFile(FORMAT, golden_digest(run.golden), drawing.seed, targets)
    files = _write_sheet(folder, "sheet-1", rows, drawing.language)
    if second_sheet:
        files += _write_sheet(folder, "sheet-2", second_sheet, drawing.language)
    files.append(("key (not for the people who label)", write_whole(folder / KEY, [key_bytes(key)])))
    return Drawn(tuple(files), dict(Counter(row.metric for row in rows)), tuple(notes))


def _write_sheet(folder: Path, name: str, rows: Sequence[SheetRow], language: str) -> list[tuple[str, Path]]:
    """Write a sheet as CSV, JSON Lines and HTML page; return the files with their descriptions."""
    contents: dict[str, Iterable[bytes]] = {
        ".csv": sheet_csv(rows),
        ".jsonl": sheet_jsonl(rows),
        ".html": [label_page(rows, language)],
    }
    return [(f"{name}{suffix}", write_whole(folder / f"{name}{suffix}", lines)) for suffix, lines in contents.items()]


@dataclass(frozen=True, slots=True)
class Bringing:
    """The labels to import: files of one format, the key of the sheets, the rater, and the golden set and configuration
    that identify the cases of another tool.

    `rubrics` are folders of the rubrics that the raters used.
    """

    files: Sequence[str]
    format: str = SHEET
    key: str | None = None
    rater: str | None = None
    golden: str | None = None
    config: str | None = None
    rubrics: Sequence[str] = ()

    @property
    def scales(self) -> Scales:
        """The labels from which the raters could choose."""
        return scales_of(rubrics_of(None, self.rubrics))


class Brought(NamedTuple):
    """The path of the imported labels, their counts by rater and metric, and notes on what was left out."""

    path: Path
    counts: tuple[str, ...]
    notes: tuple[str, ...]


def import_labels(bringing: Bringing, out: str) -> Brought:
    """Write the labels of all files into one: CSV if its name ends in .csv, else JSON Lines.

    Raises InputError listing all problems, including a second label of one rater for one item.
    """
    labels, notes = _READERS.get(bringing.format, _read_external_scores)(bringing)
    refuse_twice(labels)
    lines = csv_lines(labels) if out.endswith(".csv") else jsonl_lines(labels)
    path = write_whole(out, lines)
    counts = Counter((label.source, label.rater, label.metric) for label in labels)
    count_lines = [
        f"{rater} ({source}): {count} labels of {metric}" for (source, rater, metric), count in sorted(counts.items())
    ]
    return Brought(path, tuple(count_lines), tuple(notes))


def bands_of(run: ScoreRun, drawing: Drawing, verdicts: str, judge: str | None) -> dict[tuple[str, Key], str]:
    """Return the label of a judge for every item, by metric, by which a sample is stratified."""
    judging, _ = judging_of(verdicts, judge, rubrics_of(run, drawing.rubrics))
    metrics = known_metrics(drawing.metrics, scales_of(judging.rubrics))
    opinions = of_judge(run, "", judging, metrics).opinions
    return {
        (metric, key): opinion.label or "unscored" for metric in metrics for key, opinion in opinions[metric].items()
    }


def _read_sheets(bringing: Bringing) -> tuple[list[Label], list[str]]:
    """Return the labels of filled sheets and of files of labels."""
    scales = bringing.scales
    sheets = [path for path in bringing.files if is_sheet(path)]
    labels = list(load_labels([path for path in bringing.files if path not in sheets], scales))
    if not sheets:
        return labels, []
    if bringing.key is None:
        raise InputError("--key: missing (got sheets; expected the key.json that was written next to them)")
    key = load_key(bringing.key)
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
    return labels, [f"{unlabelled_count} rows have no label yet"] if unlabelled_count else []


def _read_graded(bringing: Bringing) -> tuple[list[Label], list[str]]:
    scales = bringing.scales
    graded_files = [load_graded(path, scales, bringing.rater) for path in bringing.files]
    return [label for graded in graded_files for label in graded.labels], [
        str(flaw) for graded in graded_files for flaw in graded.flawed
    ]


def _read_external_scores(bringing: Bringing) -> tuple[list[Label], list[str]]:
    if bringing.format not in TOOLS:
        formats = ", ".join((*_READERS, *TOOLS))
        raise InputError(f"--format: unknown (got {bringing.format!r}; expected one of {formats})")
    golden = load_golden(bringing.golden).golden if bringing.golden is not None else None
    score_files = [load_opinions(path, bringing.format, golden, bringing.config) for path in bringing.files]
    return [label for scores in score_files for label in scores.labels], [
        f"left out: {note}" for scores in score_files for note in scores.notes
    ]


_READERS = {SHEET: _read_sheets, "graded": _read_graded}


def refuse_twice(labels: Sequence[Label]) -> None:
    """Raise InputError if a rater labelled an item more than once."""
    known_keys: set[tuple[str | None, ...]] = set()
    problems = []
    for label in labels:
        key = label.source, label.rater, label.case_id, label.config_id, label.metric, label.item
        if key in known_keys:
            message = (
                f"{label.rater} labelled {label.metric} of {label.case_id} twice (expected one label of each rater)"
            )
            problems.append(Problem("", None, "rater", message, "E_DUPLICATE_ID"))
        known_keys.add(key)
    if problems:
        raise InputError(problems)


def _choose_items(
    run: ScoreRun, metric: str, rubrics: Rubrics, drawing: Drawing, bands: Mapping[tuple[str, Key], str]
) -> tuple[list[Asked], str]:
    items_by_key = {item.key: item for item in asked(run, metric, rubrics)}
    cases = run.cases
    strata = {
        key: (cases[key[0]].behaviour, next(iter(cases[key[0]].tags), ""), bands.get((metric, key), ""))
        for key in items_by_key
    }
    picked = stratified(strata, drawing.sample, drawing.seed)
    note = (
        f"{metric}: {len(items_by_key)} items to choose from, {drawing.sample} wanted"
        if len(items_by_key) < drawing.sample
        else ""
    )
    return [items_by_key[key] for key in picked], note


def _sheet_row(row_id: str, metric: str, item: Asked, rubrics: Rubrics) -> SheetRow:
    inputs = item.request.inputs
    answer = item.observation.answer
    rubric = rubric_of(rubrics, item.request.rubric, item.request.language)
    return SheetRow(
        row_id,
        metric,
        str(inputs.get("question") or ""),
        answer if isinstance(answer, str) else "",
        item.text,
        str(inputs.get("reference") or ""),
        sources_of(item.request),
        item.request.labels,
        tuple(label.meaning for label in rubric.labels),
    )


def _sheet_target(metric: str, item: Asked) -> Target:
    case_id, config_id, item_id = item.key
    answer = item.observation.answer
    hash_of_answer = answer_hash(answer) if isinstance(answer, str) else None
    return Target(case_id, metric, config_id, item_id or None, item.text, hash_of_answer)
