"""The use cases of labels: draw a blind sample for people, and bring back what they said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
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
    """What to draw: metrics as people label them, `sample` rows of each, of which `overlap` go to a second person.

    `rubrics` are folders of rubrics that people are asked with, instead of those of the run.
    """

    metrics: Sequence[str] = DEFAULT_METRICS
    sample: int = 100
    overlap: int = 30
    seed: int = 0
    language: str = "en"
    rubrics: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn and written: files by what they are, and how many rows each metric has."""

    files: tuple[tuple[str, Path], ...]
    rows: Mapping[str, int]
    notes: tuple[str, ...]


def export_labels(
    run: ScoreRun, folder: Path, drawing: Drawing, bands: Mapping[tuple[str, Key], str] | None = None
) -> Drawn:
    """Write sheets for two people, and the key, into a new or empty folder.

    `bands` are verdicts of a judge by metric and item: they spread the sample and are not written. Raises InputError
    for a folder that holds something, and where nothing can be labelled.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        message = "is not empty: sheets that people fill in are never written over (expected a new or empty folder)"
        raise InputError([Problem(str(folder), None, "", message, "E_OVERWRITE")])
    rubrics = rubrics_of(run, drawing.rubrics)
    sampled_items: list[tuple[str, Asked]] = []
    notes: list[str] = []
    second_sheet_rows: set[int] = set()
    for metric in known_metrics(drawing.metrics, scales_of(rubrics)):
        chosen, note = _choose_items(run, metric, rubrics, drawing, bands or {})
        notes += [note] if note else []
        second_sheet_rows |= set(range(len(sampled_items), len(sampled_items) + min(drawing.overlap, len(chosen))))
        sampled_items += [(metric, each) for each in chosen]
    if not sampled_items:
        raise InputError("nothing to label: no answer of this run can be asked about (" + "; ".join(notes) + ")")
    rows = [
        _sheet_row(f"r{number:04}", metric, each, rubrics) for number, (metric, each) in enumerate(sampled_items, 1)
    ]
    targets = {row.row_id: _sheet_target(metric, each) for row, (metric, each) in zip(rows, sampled_items, strict=True)}
    key = KeyFile(FORMAT, golden_digest(run.golden), drawing.seed, targets)
    sheets = {"sheet-1": rows, "sheet-2": [row for place, row in enumerate(rows) if place in second_sheet_rows]}
    files = [
        (f"{name}{suffix}", write_whole(folder / f"{name}{suffix}", lines))
        for name, part in sheets.items()
        if part
        for suffix, lines in (
            (".csv", sheet_csv(part)),
            (".jsonl", sheet_jsonl(part)),
            (".html", [label_page(part, drawing.language)]),
        )
    ]
    files.append(("key (not for the people who label)", write_whole(folder / KEY, [key_bytes(key)])))
    counts = {metric: sum(row.metric == metric for row in rows) for metric in dict.fromkeys(row.metric for row in rows)}
    return Drawn(tuple(files), counts, tuple(notes))


@dataclass(frozen=True, slots=True)
class Bringing:
    """What to bring back: files of one format, the key of sheets, whose labels, and how a tool's cases are told.

    `rubrics` are folders of the rubrics that people were asked with.
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
        """The labels that people could choose from."""
        return scales_of(rubrics_of(None, self.rubrics))


class Brought(NamedTuple):
    """Where labels were written, how many of each rater and metric, and what was left out."""

    path: Path
    counts: tuple[str, ...]
    notes: tuple[str, ...]


def import_labels(bringing: Bringing, out: str) -> Brought:
    """Write the labels of all files as one, JSON Lines or, under a name that ends in .csv, CSV.

    Raises InputError with everything wrong, also for a second label of one rater for one item.
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
    """Return what a judge said of every item, by metric: the bands of a sample."""
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
        raise InputError("--key: missing (got sheets; expected the key.json that was written beside them)")
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
    return [label for each in graded_files for label in each.labels], [
        str(flaw) for each in graded_files for flaw in each.flawed
    ]


def _read_external_scores(bringing: Bringing) -> tuple[list[Label], list[str]]:
    if bringing.format not in TOOLS:
        formats = ", ".join((*_READERS, *TOOLS))
        raise InputError(f"--format: unknown (got {bringing.format!r}; expected one of {formats})")
    golden = load_golden(bringing.golden).golden if bringing.golden is not None else None
    score_files = [load_opinions(path, bringing.format, golden, bringing.config) for path in bringing.files]
    return [label for each in score_files for label in each.labels], [
        f"left out: {note}" for each in score_files for note in each.notes
    ]


_READERS = {SHEET: _read_sheets, "graded": _read_graded}


def refuse_twice(labels: Sequence[Label]) -> None:
    """Raise InputError where one rater labelled one item more than once."""
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
    items_by_key = {each.key: each for each in asked(run, metric, rubrics)}
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
