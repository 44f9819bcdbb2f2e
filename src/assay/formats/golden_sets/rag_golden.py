"""Formats `rag-golden` and `rag-qrels`: questions with chunk ids and graded relevance (ADR 0038).

An id of `expected_chunk_ids` is a required unit, graded by `relevance` or 3; without that list every chunk of relevance
1 or more is required. With both, a chunk that only `relevance` lists is graded but not required (recall ignores it,
ndcg rewards it), and an expected id without a grade, or with grade 0, is an error: contradictory labels must be fixed
by their author. Under `permission_denied` the listed chunks are the forbidden ones.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from assay.formats.file_io import Source
from assay.formats.golden_builder import CaseLocation, GoldenBuilder
from assay.formats.golden_sets.json_cases import BaseGoldenRow, read_golden_rows
from assay.formats.strict_json import join_field
from assay.records.errors import shorten_repr
from assay.records.golden_set import AnswerFormat, Behaviour, Case, Evidence, Grade, Rubric, User

RAG_GOLDEN_MEMBERS = (
    "expected_chunk_ids",
    "relevance",
    "expected_behavior",
    "expected_answer",
    "user_context",
    "forbidden_chunk_ids",
)
RAG_GOLDEN_NAMES = {
    "evidence": "expected_chunk_ids",
    "behaviour": "expected_behavior",
    "reference": "expected_answer",
    "user": "user_context",
    "user.tenant": "user_context.tenant_id",
    "user.id": "user_context.user_id",
    "forbidden": "forbidden_chunk_ids",
}
RAG_QRELS_MEMBERS = ("relevant_chunks",)
RAG_QRELS_NAMES = {"id": "query_id", "evidence": "relevant_chunks"}


class UserContext(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The user who asks, as a `rag-golden` row describes them."""

    tenant_id: str | None = None
    roles: tuple[str, ...] = ()
    locale: str | None = None
    position: float | None = None
    position_scope: str | None = None
    as_of: str | None = None
    user_id: str | None = None


class RagGoldenRow(BaseGoldenRow, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One line of `rag-golden`."""

    id: str
    question: str
    expected_answer: str | None = None
    expected_chunk_ids: tuple[str, ...] = ()
    relevance: dict[str, Grade] = field(default_factory=dict)
    must_cite: tuple[str, ...] = ()
    must_have: tuple[str, ...] = ()
    rubric: Rubric | None = None
    answer_format: AnswerFormat | None = None
    expected_behavior: Behaviour = "answer"
    also_accept: tuple[Behaviour, ...] = ()
    forbidden_chunk_ids: tuple[str, ...] = ()
    forbidden_text: tuple[str, ...] = ()
    user_context: UserContext | None = None


class JudgedChunk(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One judgment of `rag-qrels`."""

    chunk_id: str
    relevance: Grade
    reason: str = ""


class RagQrelsRow(BaseGoldenRow, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One line of `rag-qrels`."""

    query_id: str
    relevant_chunks: tuple[JudgedChunk, ...]
    question: str = ""


def read_rag_golden(source: Source, builder: GoldenBuilder) -> None:
    """Read `rag-golden` rows; an empty `expected_answer`, as in rows of refusals, means none."""
    read_golden_rows(source, builder, RagGoldenRow, _golden_case)


def read_rag_qrels(source: Source, builder: GoldenBuilder) -> None:
    """Read `rag-qrels` rows: one query with its judged chunks; the question is optional."""
    read_golden_rows(source, builder, RagQrelsRow, _qrels_case)


def _golden_case(row: RagGoldenRow, common: dict[str, Any], builder: GoldenBuilder, spot: CaseLocation) -> Case:
    evidence = _make_evidence(row, builder, spot)
    forbidden_ids = builder.clean_names(row.forbidden_chunk_ids, spot, "forbidden")
    return Case(
        id=row.id,
        question=row.question,
        behaviour=row.expected_behavior,
        also_accept=row.also_accept,
        reference=row.expected_answer or None,
        must_have=row.must_have,
        rubric=row.rubric,
        answer_format=row.answer_format,
        evidence=evidence,
        must_cite=row.must_cite,
        forbidden=tuple([{"chunk_id": chunk_id} for chunk_id in forbidden_ids]),
        forbidden_text=row.forbidden_text,
        user=_make_user(row.user_context),
        **common,
    )


def _make_user(context: UserContext | None) -> User | None:
    if context is None:
        return None
    return User(
        context.tenant_id,
        context.roles,
        context.position,
        context.position_scope,
        context.locale,
        context.as_of,
        context.user_id,
    )


def _make_evidence(row: RagGoldenRow, builder: GoldenBuilder, spot: CaseLocation) -> tuple[Evidence, ...]:
    expected = builder.clean_names(row.expected_chunk_ids, spot, "expected_chunk_ids")
    if not row.relevance:
        return tuple([Evidence(({"chunk_id": chunk_id},)) for chunk_id in expected])
    grades = _normalise_grades(row.relevance, builder, spot)
    if not expected:
        return tuple([Evidence(({"chunk_id": chunk_id},), grade, grade > 0) for chunk_id, grade in grades.items()])
    units = []
    for index, chunk_id in enumerate(expected):
        grade = grades.pop(chunk_id, None)
        if not grade:
            got = f"{shorten_repr(chunk_id)} with {'no grade' if grade is None else 'grade 0'} in relevance"
            message = f"expected chunk without relevance (got {got}; expected a grade from 1 to 10, or no relevance)"
            builder.note_error(spot, f"expected_chunk_ids[{index}]", message, "E_GRADE")
        units.append(Evidence(({"chunk_id": chunk_id},), grade or 3))
    units += [Evidence(({"chunk_id": chunk_id},), grade, False) for chunk_id, grade in grades.items()]
    return tuple(units)


def _normalise_grades(relevance: dict[str, int], builder: GoldenBuilder, spot: CaseLocation) -> dict[str, int]:
    normalised = builder.names.normalised  # most ids were normalised before
    grades = {normalised.get(raw) or _clean_key(raw, builder, spot): grade for raw, grade in relevance.items()}
    if len(grades) < len(relevance):
        message = f"ids equal after NFC normalisation (got {list(relevance)!a:.160}; expected each chunk once)"
        builder.note_error(spot, "relevance", message, "E_DUPLICATE_ID")
    return grades


def _clean_key(raw: str, builder: GoldenBuilder, spot: CaseLocation) -> str:
    return builder.clean_name(raw, spot, join_field("relevance", raw))


def _qrels_case(row: RagQrelsRow, common: dict[str, Any], builder: GoldenBuilder, spot: CaseLocation) -> Case:
    units: dict[str, Evidence] = {}
    for index, judged in enumerate(row.relevant_chunks):
        name = f"relevant_chunks[{index}].chunk_id"
        chunk_id = builder.clean_name(judged.chunk_id, spot, name)
        if chunk_id in units:
            message = f"chunk judged twice (got {shorten_repr(judged.chunk_id)} again; expected each chunk once)"
            builder.note_error(spot, name, message, "E_DUPLICATE_ID")
        grade = judged.relevance
        units[chunk_id] = Evidence(({"chunk_id": chunk_id},), grade, grade > 0, judged.reason)
    return Case(id=row.query_id, question=row.question, evidence=tuple(units.values()), **common)
