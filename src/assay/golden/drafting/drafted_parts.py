"""The parts of drafted candidates: a question with its source, its evidence, its reader, and who may not read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from assay.golden.candidate import TEMPLATES, Candidate, DraftKind
from assay.golden.drafting.question_forms import DraftedQuestion
from assay.metrics.cases.access_rules import may_see_chunk
from assay.records.digest import compute_text_digest
from assay.records.golden_set import Case, CorpusChunk, Evidence, Selector, User
from assay.text.languages import KnownLanguage
from assay.text.normalisation import fold_text
from assay.text.quantities.measures import find_measures
from assay.text.statements import Statement

MAX_DERIVED = 12
"""The largest number of candidates of each derived kind: spellings, pairs, denials, questions without an answer."""
T = TypeVar("T")


class SourcedDraft(msgspec.Struct, frozen=True):
    """A drafted question with the statement and the chunk that it came from."""

    asked: DraftedQuestion
    statement: Statement
    chunk: CorpusChunk
    language: KnownLanguage
    subject: str

    @property
    def kind(self) -> DraftKind:
        """The kind of its plain candidate."""
        if self.asked.is_code:
            return "acronym-or-code"
        is_numeric = any(find_measures(fact) for fact in self.asked.must_have)
        return "table-or-numeric" if self.asked.is_table or is_numeric else "exact"


def add_quotes(candidate: Candidate, folded_texts: Sequence[str]) -> Candidate:
    """Return a candidate whose evidence is found by its quote too, where only one chunk has it.

    So a target that has ids of its own needs none of the corpus.
    """
    units = []
    for unit in candidate.case.evidence:
        folded = fold_text(unit.quote or "")
        if folded and sum(folded in text for text in folded_texts) == 1:
            unit = msgspec.structs.replace(unit, any_of=(*unit.any_of, {"quote": unit.quote or ""}))
        units.append(unit)
    return msgspec.structs.replace(candidate, case=msgspec.structs.replace(candidate.case, evidence=tuple(units)))


def cite_draft(draft: SourcedDraft) -> Evidence:
    """Return a unit of evidence: the chunk by its id and the target's own ids of it, with its quote."""
    quote = draft.asked.quote or (draft.chunk.text or "")[draft.statement.start : draft.statement.end]
    selectors: list[Selector] = [{"chunk_id": draft.chunk.chunk_id}]
    target_chunks = draft.chunk.metadata.get("target_chunks", ())
    if isinstance(target_chunks, list):
        selectors += [{"chunk_id": str(name)} for name in target_chunks]
    return Evidence(tuple(selectors), quote=quote, text_hash=draft.chunk.text_hash)


def finish_draft(
    draft: SourcedDraft,
    kind: DraftKind,
    question: str,
    tags: tuple[str, ...],
    evidence: tuple[Evidence, ...],
    reference: str,
    must_have: tuple[str, ...] = (),
    **fields: Any,
) -> Candidate:
    """Return a candidate of a draft; `fields` are further fields of its case."""
    chunks = tuple(str(unit.any_of[0]["chunk_id"]) for unit in evidence) or (draft.chunk.chunk_id,)
    identity = compute_text_digest("\n".join([kind, question, *chunks, str(fields.get("user", ""))]))
    provenance = {"drafted_by": TEMPLATES, "kind": kind, "drafted_from": list(chunks)}
    case = Case(
        id=f"{kind}-{identity.removeprefix('sha256:')[:10]}",
        question=question,
        reference=reference,
        must_have=must_have,
        evidence=evidence,
        user=make_reader(draft.chunk),
        tags=tags,
        language=draft.language,
        metadata={"provenance": provenance},
    )
    return Candidate(msgspec.structs.replace(case, **fields), kind, chunks)


def make_reader(chunk: CorpusChunk) -> User | None:
    """Return a user who may see a chunk, None if everybody may."""
    if chunk.tenant is None and not chunk.roles and chunk.position is None:
        return None
    position = chunk.position + 1 if chunk.position is not None else None
    return User(chunk.tenant, tuple(sorted(chunk.roles)[:1]), position, chunk.position_scope)


ANONYMOUS = "anonymous"
"""The id of a user without tenant and roles: a case that expects a denial says who asks."""


def make_stranger(chunk: CorpusChunk, roles: Sequence[str], tenants: Sequence[str]) -> User | None:
    """Return a user who may not see a chunk: of another role, else of no role or of another tenant; None without any.

    Roles and tenants are those of the corpus, so that a target knows them; only of a single tenant there is no other.
    """
    strangers = [User(chunk.tenant, (role,)) for role in roles if role not in chunk.roles]
    if chunk.roles:
        strangers.append(User(chunk.tenant) if chunk.tenant is not None else User(id=ANONYMOUS))
    if not chunk.roles and chunk.tenant is not None and tenants == [chunk.tenant]:
        strangers.append(User(f"not-{chunk.tenant}"))
    strangers += [User(tenant) for tenant in tenants if tenant != chunk.tenant]
    return next((user for user in strangers if not may_see_chunk(user, chunk)), None)


def spread_chunks(drafts: Sequence[SourcedDraft], of_each: int = 1) -> list[SourcedDraft]:
    """Return at most `of_each` drafts of each chunk: first those of other documents, then of other chunks."""
    by_chunk: dict[str, list[SourcedDraft]] = {}
    for draft in drafts:
        by_chunk.setdefault(draft.chunk.chunk_id, []).append(draft)
    ordered: list[SourcedDraft] = []
    for turn in range(of_each):
        met: set[str | None] = set()
        ahead: list[SourcedDraft] = []
        behind: list[SourcedDraft] = []
        for members in by_chunk.values():
            if turn < len(members):
                (behind if members[turn].chunk.document in met else ahead).append(members[turn])
                met.add(members[turn].chunk.document)
        ordered += ahead + behind
    return ordered


def spread_items(items: Sequence[T], limit: int) -> Sequence[T]:
    """Return at most `limit` items, evenly spaced."""
    step = max(1, -(-len(items) // limit))
    return items[::step]
