"""Reads the grades that people gave to pooled chunks, as the page saves them.

A file says which golden set it is about, by its digest; one about another is refused.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from assay.formats.file_io import decode_line, open_source, read_lines
from assay.formats.problems import ProblemList
from assay.formats.strict_json import MisfitError, convert_strictly, decode_json
from assay.golden.pooling.pooled_chunks import FACT_GRADE, ChunkGrade, GradeSource, is_pooled
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Corpus, GoldenSet

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


def load_grades(path: str, golden: GoldenSet, digest: str, name: str, corpus: Corpus | None) -> list[ChunkGrade]:
    """Read grades for a golden set, whose file is called `name`.

    Raises InputError with everything that is wrong: another golden set, cases and chunks that do not exist, a chunk
    graded twice.
    """
    with open_source(path, max_bytes=MAX_GRADE_BYTES) as source:
        lines = [decode_line(line, source.name) for line in read_lines(source, max_bytes=MAX_GRADE_BYTES)]
    saved = _convert_grades(decode_json("\n".join(lines), path), path)
    if saved.format != GRADE_FORMAT:
        message = f"of another format (got {saved.format}; expected {GRADE_FORMAT})"
        raise InputError([Problem(path, None, "format", message, "E_FORMAT")])
    if saved.golden != digest:
        message = (
            f"grades for another golden set (got {shorten_repr(saved.golden)}; {name} has {digest}): name the set that "
            f"was judged, or make the page again with assay golden pool"
        )
        raise InputError([Problem(path, None, "golden", message, "E_DIGEST")])
    findings = ProblemList(path)
    if not saved.by.strip():
        findings.add_error(None, "by", f"no name (got {saved.by!r}; expected who gave the grades)", "E_REVIEWER")
    cases = {case.id: case for case in golden.cases}
    graded: set[tuple[str, str]] = set()
    for number, row in enumerate(saved.grades):
        if row.case not in cases or not is_pooled(cases[row.case]):
            message = f"no such answer case (got {shorten_repr(row.case)}; expected an id of {name})"
            findings.add_error(None, f"grades[{number}].case", message, "E_ID")
        if not row.chunk.strip() or (corpus is not None and row.chunk not in corpus.chunks):
            message = f"no such chunk (got {shorten_repr(row.chunk)}; expected an id of the corpus)"
            findings.add_error(None, f"grades[{number}].chunk", message, "E_ID")
        if (row.case, row.chunk) in graded:
            message = f"graded twice (got {shorten_repr(row.chunk)} again for {row.case}; expected it once)"
            findings.add_error(None, f"grades[{number}]", message, "E_DUPLICATE_ID")
        graded.add((row.case, row.chunk))
    findings.raise_errors()
    return [ChunkGrade(row.case, row.chunk, row.grade, saved.by, saved.source, row.note) for row in saved.grades]


def _convert_grades(value: Any, path: str) -> GradeFile:
    if not isinstance(value, dict):
        message = f"no grades (got {shorten_repr(value)}; expected the file that the page of golden pool saves)"
        raise InputError([Problem(path, None, "", message, "E_FORMAT")])
    try:
        return convert_strictly(value, GradeFile)
    except MisfitError as error:
        raise InputError([Problem(path, None, *misfit) for misfit in error.misfits]) from None
