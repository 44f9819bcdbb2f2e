"""Format `answer-csv`: a spreadsheet of questions with reference answers, citations and refusals (ADR 0038).

The dialect is RFC 4180: commas (or semicolons, as spreadsheets write them where numbers have commas), double quotes,
quoted line breaks; cells are data, never formulas. The expected citations of a row are what the answer must cite and
also its evidence, because they are the sources of the fact. A row
with `must_refuse` true (or TRUE, as spreadsheets write it) expects abstention; `permission_denied` is accepted too,
because the column does not distinguish them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from assay.formats.csv_records import read_csv_records
from assay.formats.file_io import Source, decode_line, read_lines
from assay.formats.foreign.frame_shapes import IMPORT_REMEDY
from assay.formats.foreign.member_names import QUESTION_KEYS
from assay.formats.golden_builder import CaseLocation, GoldenBuilder
from assay.formats.strict_json import describe_unknown_field
from assay.records.counts import format_count
from assay.records.errors import shorten_repr
from assay.records.golden_set import Case, Evidence
from assay.text.late_pattern import LatePattern

REQUIRED_COLUMNS = ("question_id", "question", "expected_answer", "must_refuse")
OPTIONAL = ("expected_citations", "notes", "category", "tags")
_SEPARATORS = (",", ";")
ANSWER_CSV_NAMES = {
    "id": "question_id",
    "reference": "expected_answer",
    "evidence": "expected_citations",
    "must_cite": "expected_citations",
}

_CATEGORY = LatePattern(r"(\w[\w-]*(?: [\w-]+){0,2}):\s")


class Record(NamedTuple):
    """The cells of one record and the line on which it begins."""

    line: int
    cells: list[str]


def read_answer_csv(source: Source, builder: GoldenBuilder) -> None:
    """Read the records below the header. Without a `category` column it is taken from notes such as `off-domain: …`."""
    records = _read_records(source)
    header = next(records, None)
    if header is None or not _is_valid_header(header, builder, source.name):
        return
    derived_categories = 0
    for record in records:
        if len(record.cells) != len(header.cells):
            message = f"wrong number of cells (got {len(record.cells)}; expected {len(header.cells)} as in the header)"
            builder.findings.add_error(record.line, "", message, "E_CELLS")
        else:
            row = dict(zip(header.cells, record.cells, strict=True))
            derived_categories += _add_case(row, builder, CaseLocation(record.line))
    if derived_categories:
        message = (
            f"category taken from the beginning of notes (got {format_count(derived_categories, 'row')}; "
            "expected a category column)"
        )
        builder.findings.add_warning(None, "notes", message, "E_CATEGORY")


def find_separator(source: Source) -> str:
    """Return what separates the cells of a table: that by which its first line has the most columns of this format."""
    first = next((decode_line(line, source.name) for line in read_lines(source) if line.data.strip()), "")
    return max(_SEPARATORS, key=lambda separator: len(list_known_columns(first, separator)))  # the comma if none has


def list_known_columns(header: str, separator: str) -> list[str]:
    """Return the columns of this format that a first line has.

    >>> list_known_columns("question;question_id;x", ";")
    ['question', 'question_id']
    """
    cells = [cell.strip().strip('"') for cell in header.split(separator)]
    return [cell for cell in cells if cell in (*REQUIRED_COLUMNS, *OPTIONAL)]


def _read_records(source: Source) -> Iterator[Record]:
    """Yield the records that are not blank; line numbers count line breaks inside quotes."""
    lines = (decode_line(line, source.name) for line in read_lines(source))
    yield from map(Record._make, read_csv_records(lines, source.name, find_separator(source)))


def _is_valid_header(header: Record, builder: GoldenBuilder, name: str) -> bool:
    """Return whether the columns can be used; notes an error for each one that cannot.

    A table of questions that is plainly none of this format is one error, which names what reads it.
    """
    columns = [*REQUIRED_COLUMNS, *OPTIONAL]
    if not {"question_id", "must_refuse"} & set(header.cells) and set(QUESTION_KEYS) & set(header.cells):
        expected = f"the columns {', '.join(REQUIRED_COLUMNS)}; {IMPORT_REMEDY.format(name=name)}"
        message = f"another table of questions (got {shorten_repr(header.cells)}; expected {expected})"
        builder.findings.add_error(header.line, "", message, "E_HEADER")
        return False
    faults = [
        (name, describe_unknown_field(name, columns), "E_UNKNOWN_FIELD") for name in header.cells if name not in columns
    ]
    if len(faults) == len(header.cells):
        message = f"no header (got {shorten_repr(header.cells)}; expected the columns {', '.join(REQUIRED_COLUMNS)})"
        faults = [("", message, "E_HEADER")]
    else:
        faults += [
            (name, f"missing column (got {shorten_repr(header.cells)}; expected {name})", "E_MISSING")
            for name in REQUIRED_COLUMNS
            if name not in header.cells
        ]
        faults += [
            (name, f"column given twice (got {name} again; expected it once)", "E_KEY_TWICE")
            for name in columns
            if header.cells.count(name) > 1
        ]
    for name, message, code in faults:
        builder.findings.add_error(header.line, name, message, code)
    return not faults


def _add_case(row: dict[str, str], builder: GoldenBuilder, spot: CaseLocation) -> bool:
    """Add the case of a row; return whether its category came from the notes."""
    notes = row.get("notes", "")
    category_in_notes = _CATEGORY.match(notes) if "category" not in row else None
    category = category_in_notes[1] if category_in_notes else row.get("category", "")
    cited = builder.clean_names(_split_items(row.get("expected_citations", "")), spot, "expected_citations")
    must_refuse = row["must_refuse"].strip().lower()
    if must_refuse not in ("true", "false"):
        message = f"unknown value (got {shorten_repr(row['must_refuse'])}; expected true or false)"
        builder.findings.add_error(spot.line, "must_refuse", message, "E_ENUM")
    if must_refuse == "true" and cited:
        message = f"must_refuse with citations (got {shorten_repr(list(cited))}; expected none, or must_refuse false)"
        builder.findings.add_error(spot.line, "expected_citations", message, "E_BEHAVIOUR")
        cited = ()
    case = Case(
        id=row["question_id"],
        question=row["question"],
        behaviour="abstain" if must_refuse == "true" else "answer",
        also_accept=("permission_denied",) if must_refuse == "true" else (),
        reference=row["expected_answer"] or None,
        evidence=tuple([Evidence(({"chunk_id": chunk_id},)) for chunk_id in cited]),
        must_cite=cited,
        tags=_split_items(row.get("tags", "")),
        attributes={"category": category} if category else {},
        notes=notes,
    )
    builder.add_case(case, spot)
    return category_in_notes is not None


def _split_items(cell: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in cell.split(";")) if cell.strip() else ()
