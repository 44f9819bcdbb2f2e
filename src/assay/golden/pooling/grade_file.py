"""Reads the grades that people gave to pooled chunks: as the page saves them, or a table or list that they wrote.

A file of the page says which golden set it is about, by its digest; one about another is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

from assay.formats.file_io import decode_line, open_source, read_lines
from assay.formats.labels.decision_rows import load_decision_rows
from assay.formats.problems import ProblemList, join_field
from assay.formats.strict_json import MisfitError, convert_strictly, decode_json, decode_json_object
from assay.golden.pooling.pooled_chunks import FACT_GRADE, ChunkGrade, GradeSource, is_pooled
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import PEOPLE, Case, Corpus, GoldenSet

GRADE_FORMAT = 1
MAX_GRADE_BYTES = 64 * 2**20


class SavedGrade(Struct, frozen=True, forbid_unknown_fields=True):
    """One grade as it is saved; who gave it stands once, in the file."""

    case: str
    chunk: str
    grade: Annotated[int, Meta(ge=0, le=FACT_GRADE)]
    note: str = ""


class GradeFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of grades: of which golden set, by whom, and whether a person or a rubric gave them."""

    format: int
    golden: str
    by: str
    grades: tuple[SavedGrade, ...]
    source: GradeSource = "person"


class HandGrade(Struct, frozen=True, forbid_unknown_fields=True):
    """One grade of a file that people write: each row says what it is about, and may say who gave it."""

    case: str
    chunk: str
    grade: Annotated[int, Meta(ge=0, le=FACT_GRADE)]
    by: str = PEOPLE
    note: str = ""


REQUIRED_COLUMNS = ("case", "chunk", "grade")


def load_grades(path: str, golden: GoldenSet, digest: str, name: str, corpus: Corpus | None) -> list[ChunkGrade]:
    """Read grades for a golden set, whose file is called `name`: those of the page, or rows that people wrote.

    Raises InputError with everything that is wrong: another golden set, cases and chunks that do not exist, a chunk
    graded twice.
    """
    saved = _load_saved_grades(path)
    findings = ProblemList(path)
    cases = {case.id: case for case in golden.cases}
    graded: set[tuple[str, str]] = set()
    grades = []
    if saved is not None:
        _check_file(saved, path, digest, name, findings)
        for number, row in enumerate(saved.grades):
            _check_grade(row, cases, name, corpus, graded, findings, None, f"grades[{number}]")
            grades.append(ChunkGrade(row.case, row.chunk, row.grade, saved.by, saved.source, row.note))
    else:
        for line, place, written in load_decision_rows(path, HandGrade, REQUIRED_COLUMNS, ("grade",)):
            _check_grade(written, cases, name, corpus, graded, findings, line, place)
            if not written.by.strip():
                message = f"no name (got {written.by!r}; expected who gave the grade, or no such field)"
                findings.add_error(line, join_field(place, "by"), message, "E_REVIEWER")
            grades.append(ChunkGrade(written.case, written.chunk, written.grade, written.by, "person", written.note))
    findings.raise_errors()
    return grades


def _load_saved_grades(path: str) -> GradeFile | None:
    """Return the file that the page saves; None for rows that people wrote: a table, a list, or objects with a case."""
    with open_source(path, max_bytes=MAX_GRADE_BYTES) as source:
        lines = [decode_line(line, source.name) for line in read_lines(source, max_bytes=MAX_GRADE_BYTES)]
    first = next((line for line in lines if line.strip()), "").strip()
    if not first.startswith("{"):
        return None
    if first.endswith("}") and "case" in decode_json_object(first, path, 1):
        return None
    try:
        return convert_strictly(decode_json("\n".join(lines), path), GradeFile)
    except MisfitError as error:
        raise InputError([Problem(path, None, *misfit) for misfit in error.misfits]) from None


def _check_file(saved: GradeFile, path: str, digest: str, name: str, findings: ProblemList) -> None:
    """Raise InputError for a file of another format or set; note that nobody is named."""
    if saved.format != GRADE_FORMAT:
        message = f"of another format (got {saved.format}; expected {GRADE_FORMAT})"
        raise InputError([Problem(path, None, "format", message, "E_FORMAT")])
    if saved.golden != digest:
        message = (
            f"grades for another golden set (got {shorten_repr(saved.golden)}; {name} has {digest}): name the set that "
            f"was judged, or make the page again with assay golden pool"
        )
        raise InputError([Problem(path, None, "golden", message, "E_DIGEST")])
    if not saved.by.strip():
        findings.add_error(None, "by", f"no name (got {saved.by!r}; expected who gave the grades)", "E_REVIEWER")


def _check_grade(
    row: SavedGrade | HandGrade,
    cases: Mapping[str, Case],
    name: str,
    corpus: Corpus | None,
    graded: set[tuple[str, str]],
    findings: ProblemList,
    line: int | None,
    place: str,
) -> None:
    """Note what is wrong with one grade, and add its chunk to those that were graded."""
    if row.case not in cases or not is_pooled(cases[row.case]):
        message = f"no such answer case (got {shorten_repr(row.case)}; expected an id of {name})"
        findings.add_error(line, join_field(place, "case"), message, "E_ID")
    if not row.chunk.strip() or (corpus is not None and row.chunk not in corpus.chunks):
        message = f"no such chunk (got {shorten_repr(row.chunk)}; expected an id of the corpus)"
        findings.add_error(line, join_field(place, "chunk"), message, "E_ID")
    if (row.case, row.chunk) in graded:
        message = f"graded twice (got {shorten_repr(row.chunk)} again for {row.case}; expected it once)"
        findings.add_error(line, place or "chunk", message, "E_DUPLICATE_ID")
    graded.add((row.case, row.chunk))
