"""The use case of `*-graded.jsonl` ([000]): grades of people or models written beside the rows of a run log."""

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
    """Where the grades were written, how many rows there are and have one, and what to say of them."""

    path: Path
    rows: int
    graded: int
    notes: tuple[str, ...]


def write_graded(
    runlog: str, labels: Sequence[str], rater: str | None, out: str | None, rubrics: Sequence[str] = ()
) -> Written:
    """Write a run log with grades beside it, never over it. Grades of one rater: the one named, else the only one.

    `rubrics` are folders of the rubrics that people were asked with.
    Raises InputError for bad files, several raters, and a file to write that is one of those read.
    """
    scales = scales_of(load_rubrics(rubrics))
    name = Path(runlog)
    target = out if out is not None else str(name.with_name(name.name.removesuffix(name.suffix) + SUFFIX))
    refuse_overwriting([target], [runlog, *labels])
    rows = load_graded(runlog, scales).rows
    given = load_labels(labels, scales)
    grades = grades_of([label for label in given if rater in (None, label.rater)])
    places = [place_of(row) for row in rows]
    unused = len(grades.keys() - set(places))
    notes = (f"{unused} grades are of answers that the run log does not have",) if unused else ()
    path = write_whole(target, graded_lines(rows, grades, scales))
    return Written(path, len(rows), sum(place in grades for place in places), notes)
