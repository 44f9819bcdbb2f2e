"""Reads what reviewers decided: files that the review page saves, and lists that people write.

A file of the page says which candidates it is about, by their digest; one about others is refused.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

from assay.formats.file_io import decode_line, open_source, read_lines
from assay.formats.golden_files import LoadedGolden
from assay.formats.problems import ProblemList
from assay.formats.strict_json import MisfitError, convert_strictly, decode_json, join_field
from assay.golden.candidate import ReviewDecision
from assay.golden.settlement import describe_decision
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case
from assay.runs.python_values import read_golden_value

REVIEW_FORMAT = 1
MAX_REVIEW_BYTES = 64 * 2**20
_FIXED_FIELDS = ("id", "metadata")


class PageDecision(Struct, frozen=True, forbid_unknown_fields=True):
    """One decision as the page saves it; the reviewer stands once, in the file."""

    case: str
    decision: str
    reason: str = ""
    edited: dict[str, Any] = {}


class ReviewFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A file that the review page saves: of which candidates, by whom, and whether it settles disagreements."""

    format: int
    candidates: str
    reviewer: str
    decisions: tuple[PageDecision, ...]
    settles: bool = False


@dataclass(frozen=True, slots=True)
class LoadedReview:
    """The decisions of one file, in its order."""

    path: str
    decisions: tuple[ReviewDecision, ...]


def load_reviews(
    paths: Sequence[str], candidates: LoadedGolden, name: str, digests: Container[str] = ()
) -> list[LoadedReview]:
    """Read the decisions of several reviewers on the candidates, whose file is called `name`.

    `digests` are those of the files that the candidates are of, if there are several: a review is of one of them.

    Raises InputError with everything that is wrong with all of them: decisions on other candidates, unknown decisions,
    rejections without a reason, edits that make no case, and a person who decided twice in two ways.
    """
    reviews = []
    problems: list[Problem] = []
    for path in paths:
        try:
            reviews.append(load_review(path, candidates, name, digests))
        except InputError as error:
            problems += error.problems
    first: dict[tuple[str, str, bool], tuple[str, ReviewDecision]] = {}
    for review in reviews:
        for decision in review.decisions:
            key = decision.reviewer, decision.case, decision.settles
            other_path, other = first.setdefault(key, (review.path, decision))
            if other != decision:
                message = (
                    f"decided twice by {decision.reviewer!r} (got {describe_decision(decision)}; {other_path} has "
                    f"{describe_decision(other)}): leave one of the two files out"
                )
                problems.append(Problem(review.path, None, decision.case, message, "E_DUPLICATE_ID"))
    if problems:
        raise InputError(problems)
    return reviews


def load_review(path: str, candidates: LoadedGolden, name: str, digests: Container[str] = ()) -> LoadedReview:
    """Read the decisions of one file on the candidates. Raises InputError with everything that is wrong with it."""
    with open_source(path, max_bytes=MAX_REVIEW_BYTES) as source:
        lines = [decode_line(line, source.name) for line in read_lines(source, max_bytes=MAX_REVIEW_BYTES)]
    value = decode_json("\n".join(lines), path)
    decisions, at = _convert_review(value, path, candidates, name, digests)
    findings = ProblemList(path)
    cases = {case.id: case for case in candidates.golden.cases}
    decided: set[tuple[str, str]] = set()
    for number, decision in enumerate(decisions):
        field = join_field(at, number)
        for member, message, code in _check_decision(decision, cases, name):
            findings.add_error(None, f"{field}.{member}", message, code)
        if (decision.reviewer, decision.case) in decided:
            message = f"decided twice (got {shorten_repr(decision.case)} again; expected one decision of a person)"
            findings.add_error(None, join_field(field, "case"), message, "E_DUPLICATE_ID")
        decided.add((decision.reviewer, decision.case))
    findings.raise_errors()
    _check_edited_cases(decisions, cases, at, findings)
    findings.raise_errors()
    return LoadedReview(path, tuple(decisions))


def _check_edited_cases(
    decisions: Sequence[ReviewDecision], cases: dict[str, Case], at: str, findings: ProblemList
) -> None:
    """Note the edits that reading a golden set would refuse: what is frozen must be readable."""
    for number, decision in enumerate(decisions):
        if not decision.edited:
            continue
        try:
            read_golden_value([apply_edit(cases[decision.case], decision.edited)])
        except InputError as error:
            for problem in error.problems:
                field = f"{join_field(at, number)}.edited.{problem.field}"
                findings.add_error(None, field, f"{decision.case}: {problem.message}", problem.code)


def _convert_review(
    value: Any, path: str, candidates: LoadedGolden, name: str, digests: Container[str]
) -> tuple[list[ReviewDecision], str]:
    """Return the decisions of a file, and the field in which they are."""
    try:
        if isinstance(value, list):
            written = convert_strictly(value, list[ReviewDecision])  # type: ignore[type-var]  # a list too
            return [_read_written_edit(decision) for decision in written], ""
        if not isinstance(value, dict):
            message = f"no review (got {shorten_repr(value)}; expected the file that the review page saves, or a list)"
            raise InputError([Problem(path, None, "", message, "E_FORMAT")])
        review = convert_strictly(value, ReviewFile)
    except MisfitError as error:
        raise InputError([Problem(path, None, *misfit) for misfit in error.misfits]) from None
    if review.format != REVIEW_FORMAT:
        message = f"of another format (got {review.format}; expected {REVIEW_FORMAT})"
        raise InputError([Problem(path, None, "format", message, "E_FORMAT")])
    if review.candidates != candidates.digest and review.candidates not in digests:
        message = (
            f"a review of other candidates (got {shorten_repr(review.candidates)}; {name} has {candidates.digest}): "
            f"name the file that was reviewed, or make the page again with assay golden review {name}"
        )
        raise InputError([Problem(path, None, "candidates", message, "E_DIGEST")])
    decisions = [
        ReviewDecision(row.case, row.decision, review.reviewer, row.reason, row.edited, review.settles)
        for row in review.decisions
    ]
    return decisions, "decisions"


def _read_written_edit(decision: ReviewDecision) -> ReviewDecision:
    """Return a decision that a person wrote: `edit` with the edited fields is what the page saves as an acceptance."""
    if decision.decision == "edit" and decision.edited:
        return msgspec.structs.replace(decision, decision="accept")
    return decision


def _check_decision(decision: ReviewDecision, cases: dict[str, Case], name: str) -> list[tuple[str, str, str]]:
    """Return what is wrong with a decision: field, message, code."""
    faults = []
    case = cases.get(decision.case)
    if case is None:
        message = f"no such candidate (got {shorten_repr(decision.case)}; expected an id of {name})"
        faults.append(("case", message, "E_ID"))
    if not decision.reviewer.strip():
        message = f"no name (got {decision.reviewer!r}; expected the name of a person)"
        faults.append(("reviewer", message, "E_REVIEWER"))
    if decision.decision == "edit":
        message = f'{decision.case}: edits nothing (expected the new fields, such as "edited": {{"question": "…"}})'
        faults.append(("edited", message, "E_EDIT"))
    elif decision.decision not in ("accept", "reject"):
        message = f"unknown (got {shorten_repr(decision.decision)}; expected accept, edit or reject)"
        faults.append(("decision", message, "E_DECISION"))
    if decision.decision == "reject" and not decision.reason.strip():
        message = f"{decision.case}: rejected without a reason (got {decision.reason!r}; expected one)"
        faults.append(("reason", message, "E_REASON"))
    if case is not None and decision.edited:
        faults += _check_edit(case, decision)
    return faults


def _check_edit(case: Case, decision: ReviewDecision) -> list[tuple[str, str, str]]:
    if decision.decision == "reject":
        return [("edited", f"{case.id}: rejected and edited (expected one of the two)", "E_EDIT")]
    fixed = [field for field in _FIXED_FIELDS if field in decision.edited]
    if fixed:
        return [(f"edited.{fixed[0]}", f"{case.id}: cannot be edited (expected another field)", "E_EDIT")]
    try:
        edited = apply_edit(case, decision.edited)
    except MisfitError as error:
        return [(f"edited.{misfit.field}", f"{case.id}: {misfit.message}", "E_EDIT") for misfit in error.misfits]
    if not edited.question.strip():
        message = f"{case.id}: empty (got {edited.question!r}; expected a question)"
        return [("edited.question", message, "E_EDIT")]
    return []


def apply_edit(case: Case, edited: dict[str, Any]) -> Case:
    """Return a case with some fields replaced. Raises MisfitError with every value that does not fit."""
    return convert_strictly({**msgspec.to_builtins(case), **edited}, Case)
