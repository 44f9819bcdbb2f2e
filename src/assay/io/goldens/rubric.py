"""Format `rubric`: questions with the keywords of a correct answer and the patterns of a wrong one (ADR 0038)."""

from __future__ import annotations

from typing import Any, Literal

from assay.io.goldens.base import Spot
from assay.io.goldens.builder import Builder
from assay.io.goldens.rows import Row, read_rows
from assay.io.lines import Source
from assay.model import AnswerKind, Case, Evidence, NonNegative, Rubric

DECISIVE = ("correct_keywords", "incorrect_patterns", "expected_context_ids")
FIELDS = {
    "evidence": "expected_context_ids",
    "reference": "expected_answer",
    "rubric.correct_keywords": "correct_keywords",
    "rubric.incorrect_patterns": "incorrect_patterns",
}


class RubricRow(Row, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
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


def read(source: Source, builder: Builder) -> None:
    """Read rubric cases; an expected context becomes evidence."""
    read_rows(source, builder, RubricRow, _case)


def _case(row: RubricRow, common: dict[str, Any], builder: Builder, spot: Spot) -> Case:
    chunk_ids = builder.clean(row.expected_context_ids, spot, "evidence")
    return Case(
        id=row.id,
        question=row.question,
        reference=row.expected_answer or None,
        rubric=Rubric(row.correct_keywords, row.incorrect_patterns, row.match, row.kind, row.tolerance),
        evidence=tuple([Evidence(({"chunk_id": chunk_id},)) for chunk_id in chunk_ids]),
        **common,
    )
