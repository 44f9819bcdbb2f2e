"""Format `rubric`: questions with the keywords of a correct answer and the patterns of a wrong one (ADR 0038)."""

from __future__ import annotations

from typing import Any, Literal

from assay.formats.file_io import Source
from assay.formats.golden_builder import CaseLocation, GoldenBuilder
from assay.formats.golden_sets.json_cases import BaseGoldenRow, read_golden_rows
from assay.records.golden_set import AnswerKind, Case, Evidence, NonNegative, Rubric

RUBRIC_MEMBERS = ("correct_keywords", "incorrect_patterns", "expected_context_ids")
RUBRIC_NAMES = {
    "evidence": "expected_context_ids",
    "reference": "expected_answer",
    "rubric.correct_keywords": "correct_keywords",
    "rubric.incorrect_patterns": "incorrect_patterns",
}


class RubricRow(BaseGoldenRow, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One rubric case."""

    id: str
    question: str
    correct_keywords: tuple[str, ...]
    incorrect_patterns: tuple[str, ...] = ()
    match: Literal["any", "all"] = "any"
    kind: AnswerKind = "text"
    tolerance: NonNegative = 0.0
    expected_context_ids: tuple[str, ...] = ()
    expected_answer: str | None = None


def read_rubric_cases(source: Source, builder: GoldenBuilder) -> None:
    """Read rubric cases; an expected context becomes evidence."""
    read_golden_rows(source, builder, RubricRow, _case)


def _case(row: RubricRow, common: dict[str, Any], builder: GoldenBuilder, spot: CaseLocation) -> Case:
    chunk_ids = builder.clean_names(row.expected_context_ids, spot, "evidence")
    return Case(
        id=row.id,
        question=row.question,
        reference=row.expected_answer or None,
        rubric=Rubric(row.correct_keywords, row.incorrect_patterns, row.match, row.kind, row.tolerance),
        evidence=tuple([Evidence(({"chunk_id": chunk_id},)) for chunk_id in chunk_ids]),
        **common,
    )
