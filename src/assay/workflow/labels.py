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
    picked: list[tuple[str, Asked]] = []
    notes: list[str] = []
    again: set[int] = set()
    for metric in known_metrics(drawing.metrics, scales_of(rubrics)):
        chosen, note = _chosen(run, metric, rubrics, drawing, bands or {})
        notes += [note] if note else []
        again |= set(range(len(picked), len(picked) + min(drawing.overlap, len(chosen))))
        picked += [(metric, each) for each in chosen]
    if not picked:
        raise InputError("nothing to label: no answer of this run can be asked about (" + "; ".join(notes) + ")")
    rows = [_row(f"r{number:04}", metric, each, rubrics) for number, (metric, each) in enumerate(picked, 1)]
    targets = {row.row_id: _target(metric, each) for row, (metric, each) in zip(rows, picked, strict=True)}
    key = KeyFile(FORMAT, golden_digest(run.golden), drawing.seed, targets)
    sheets = {"sheet-1": rows, "sheet-2": [row for place, row in enumerate(rows) if place in again]}
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
    labels, notes = _READERS.get(bringing.format, _of_tool)(bringing)
    refuse_twice(labels)
    lines = csv_lines(labels) if out.endswith(".csv") else jsonl_lines(labels)
    path = write_whole(out, lines)
    counts = Counter((label.source, label.rater, label.metric) for label in labels)
    said = [
        f"{rater} ({source}): {count} labels of {metric}" for (source, rater, metric), count in sorted(counts.items())
    ]
    return Brought(path, tuple(said), tuple(notes))


def bands_of(run: ScoreRun, drawing: Drawing, verdicts: str, judge: str | None) -> dict[tuple[str, Key], str]:
    """Return what a judge said of every item, by metric: the bands of a sample."""
    judging, _ = judging_of(verdicts, judge, rubrics_of(run, drawing.rubrics))
    named = known_metrics(drawing.metrics, scales_of(judging.rubrics))
    opinions = of_judge(run, "", judging, named).opinions
    return {(metric, key): said.label or "unscored" for metric in named for key, said in opinions[metric].items()}


def _of_sheets(bringing: Bringing) -> tuple[list[Label], list[str]]:
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
    empty = 0
    for path in sheets:
        try:
            found, left = load_sheet(path, key, scales, bringing.rater)
        except InputError as error:
            problems += error.problems
            continue
        labels += found
        empty += left
    if problems:
        raise InputError(problems)
    return labels, [f"{empty} rows have no label yet"] if empty else []


def _of_graded(bringing: Bringing) -> tuple[list[Label], list[str]]:
    scales = bringing.scales
    found = [load_graded(path, scales, bringing.rater) for path in bringing.files]
    return [label for each in found for label in each.labels], [str(flaw) for each in found for flaw in each.flawed]


def _of_tool(bringing: Bringing) -> tuple[list[Label], list[str]]:
    if bringing.format not in TOOLS:
        known = ", ".join((*_READERS, *TOOLS))
        raise InputError(f"--format: unknown (got {bringing.format!r}; expected one of {known})")
    golden = load_golden(bringing.golden).golden if bringing.golden is not None else None
    found = [load_opinions(path, bringing.format, golden, bringing.config) for path in bringing.files]
    return [label for each in found for label in each.labels], [
        f"left out: {note}" for each in found for note in each.notes
    ]


_READERS = {SHEET: _of_sheets, "graded": _of_graded}


def refuse_twice(labels: Sequence[Label]) -> None:
    """Raise InputError where one rater labelled one item more than once."""
    seen: set[tuple[str | None, ...]] = set()
    problems = []
    for label in labels:
        key = label.source, label.rater, label.case_id, label.config_id, label.metric, label.item
        if key in seen:
            message = (
                f"{label.rater} labelled {label.metric} of {label.case_id} twice (expected one label of each rater)"
            )
            problems.append(Problem("", None, "rater", message, "E_DUPLICATE_ID"))
        seen.add(key)
    if problems:
        raise InputError(problems)


def _chosen(
    run: ScoreRun, metric: str, rubrics: Rubrics, drawing: Drawing, bands: Mapping[tuple[str, Key], str]
) -> tuple[list[Asked], str]:
    found = {each.key: each for each in asked(run, metric, rubrics)}
    cases = run.cases
    strata = {
        key: (cases[key[0]].behaviour, next(iter(cases[key[0]].tags), ""), bands.get((metric, key), ""))
        for key in found
    }
    picked = stratified(strata, drawing.sample, drawing.seed)
    note = (
        f"{metric}: {len(found)} items to choose from, {drawing.sample} wanted" if len(found) < drawing.sample else ""
    )
    return [found[key] for key in picked], note


def _row(row_id: str, metric: str, each: Asked, rubrics: Rubrics) -> SheetRow:
    inputs = each.request.inputs
    answer = each.observation.answer
    rubric = rubric_of(rubrics, each.request.rubric, each.request.language)
    return SheetRow(
        row_id,
        metric,
        str(inputs.get("question") or ""),
        answer if isinstance(answer, str) else "",
        each.text,
        str(inputs.get("reference") or ""),
        sources_of(each.request),
        each.request.labels,
        tuple(label.meaning for label in rubric.labels),
    )


def _target(metric: str, each: Asked) -> Target:
    case_id, config_id, item = each.key
    answer = each.observation.answer
    hashed = answer_hash(answer) if isinstance(answer, str) else None
    return Target(case_id, metric, config_id, item or None, each.text, hashed)
