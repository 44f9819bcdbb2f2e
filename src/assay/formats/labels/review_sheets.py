"""Review sheets, on which people settle what a judge left to review: sheets as for labels, and a key of their own.

The sheet is as blind as one for labels: it shows what the judge was asked and none of its verdicts. The key says which
item of which request each row is, so that a decision counts for exactly the texts that the person read.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from assay.formats.file_io import decode_line, open_source, read_lines
from assay.formats.labels.label_files import LabelRow, read_label_rows
from assay.formats.labels.label_sheets import ROW_ID, SHEET_COLUMNS, read_filled_row, refuse_other_key
from assay.formats.problems import ProblemList
from assay.formats.strict_json import MisfitError, convert_strictly, decode_json
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.verdicts import VerdictReview

REVIEW_KEY_FORMAT = 1


class ReviewedItem(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a row of a review sheet stands for: an item of a request, the labels to choose from, and the answer."""

    request: str
    item: str
    rubric: str
    labels: tuple[str, ...]
    case_id: str
    config_id: str


class ReviewSheetKey(Struct, frozen=True, forbid_unknown_fields=True):
    """The key of a review sheet: what each row stands for."""

    review_format: int
    rows: dict[str, ReviewedItem]


def load_review_key(path: str) -> ReviewSheetKey:
    """Read a key file. Raises InputError with everything that is wrong with it."""
    with open_source(path) as source:
        refuse_other_key(source, "the key.json of `assay judge review --out`")
        text = "\n".join(decode_line(line, source.name) for line in read_lines(source))
        value = decode_json(text, source.name)
    if not isinstance(value, dict) or "review_format" not in value:
        message = f"not the key of a review (got {shorten_repr(value)}; expected the one of `assay judge review --out`)"
        raise InputError([Problem(path, 1, "", message, "E_KEY")])
    try:
        key = convert_strictly(value, ReviewSheetKey)
    except MisfitError as error:
        raise InputError([Problem(path, None, *misfit) for misfit in error.misfits]) from None
    if key.review_format != REVIEW_KEY_FORMAT:
        message = f"of another format (got {key.review_format}; expected {REVIEW_KEY_FORMAT})"
        raise InputError([Problem(path, None, "review_format", message, "E_KEY")])
    return key


def load_review_sheet(
    path: str, key: ReviewSheetKey, reviewer: str | None = None, at: str | None = None
) -> tuple[list[tuple[int, VerdictReview]], int]:
    """Read a filled sheet; return its decisions with the numbers of their lines, and how many rows have none.

    The reviewer is that of the row, else `reviewer`; `at` is the time of the decisions. Raises InputError with
    everything that is wrong: rows that are not in the key, unknown labels, decisions without a reason or a name.
    """
    reviews: list[tuple[int, VerdictReview]] = []
    undecided = 0
    with open_source(path) as source:
        findings = ProblemList(source.name)
        try:
            for row in read_label_rows(source, SHEET_COLUMNS, (ROW_ID, "label")):
                review = _read_review(row, key, findings, reviewer, at)
                if review is not None:
                    reviews.append((row.line, review))
                else:
                    undecided += not row.members.get("label")
        except InputError as error:
            findings.add_raised(error)
    findings.raise_errors()
    return reviews, undecided


def _read_review(
    row: LabelRow, key: ReviewSheetKey, findings: ProblemList, reviewer: str | None, at: str | None
) -> VerdictReview | None:
    """Return the decision of a row; None if it has none, or is wrong in a way that was noted."""
    read = read_filled_row(row, key.rows, findings)
    if read is None:
        return None
    filled, item = read
    label = (filled.label or "").strip()
    if not label:
        return None
    person, reason = (filled.rater or "").strip() or (reviewer or "").strip(), filled.note.strip()
    problems = _check_decision(label, person, reason, item.labels)
    for field, message, code in problems:
        findings.add_error(row.line, field, message, code)
    if problems:
        return None
    return VerdictReview(item.request, item.item, person, item.rubric, label, reason, item.case_id, item.config_id, at)


def _check_decision(label: str, person: str, reason: str, labels: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return what is wrong with a decision: field, message, code."""
    problems = []
    if label not in labels:
        message = f"not a label of this row (got {shorten_repr(label)}; expected one of {', '.join(labels)})"
        problems.append(("label", message, "E_LABEL"))
    if not person:
        problems.append(("rater", "no name (expected who decided, or --reviewer NAME for all rows)", "E_REVIEWER"))
    if not reason:
        problems.append(("note", "decided without a reason (expected one in a sentence)", "E_REASON"))
    return problems
