"""Writing `*-graded.jsonl`, the graded run log of the code benchmark (ADR 0038): each row with its human or model
grade."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from assay.io.graded import graded_lines, grades_of, load_graded, place_of
from assay.io.labels import load_labels
from assay.io.rubrics import load_rubrics
from assay.io.writing import write_whole
from assay.workflow.labelling import scales_of
from assay.workflow.outputs import refuse_overwriting

SUFFIX = "-graded.jsonl"


class Written(NamedTuple):
    """Where the grades were written, the number of rows and of graded rows, and notes for the user."""

    path: Path
    rows: int
    graded: int
    notes: tuple[str, ...]


def write_graded(
    runlog: str, labels: Sequence[str], rater: str | None, out: str | None, rubrics: Sequence[str] = ()
) -> Written:
    """Write a graded copy of a run log. The grades are those of one rater: the one named, else the only one.

    `rubrics` are folders of the rubrics that the raters used. Raises InputError for bad files, for several raters if
    none is named, and if the file to write is one of those read.
    """
    scales = scales_of(load_rubrics(rubrics))
    name = Path(runlog)
    target = out if out is not None else str(name.with_name(name.name.removesuffix(name.suffix) + SUFFIX))
    refuse_overwriting([target], [runlog, *labels])
    rows = load_graded(runlog, scales).rows
    human_labels = load_labels(labels, scales)
    grades = grades_of([label for label in human_labels if rater in (None, label.rater)])
    answer_keys = [place_of(row) for row in rows]
    unused = len(grades.keys() - set(answer_keys))
    notes = (f"{unused} grades belong to answers that the run log does not have",) if unused else ()
    path = write_whole(target, graded_lines(rows, grades, scales))
    return Written(path, len(rows), sum(answer_key in grades for answer_key in answer_keys), notes)
