"""Drafts candidates of every kind from a corpus by templates.

No model is asked. Every candidate has its quote and says what drafted it; the filters decide what is left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import msgspec

from assay.golden.candidate import Candidate, DraftKind
from assay.golden.question_templates import (
    DraftedQuestion,
    ask_about_row,
    ask_definition,
    ask_quantity,
    clean_heading,
)
from assay.metrics.access_rules import has_expired, is_visible, read_corpus_access
from assay.records.digest import compute_text_digest
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, Selector, User
from assay.text.languages import KnownLanguage, guess_language, has_diacritics
from assay.text.normalisation import fold_text, normalise_nfc
from assay.text.statements import Statement, list_statements

MAX_OF_CHUNK = 4
"""The largest number of plain candidates of one chunk, so that a long table does not fill the set."""
MAX_DERIVED = 12
"""The largest number of candidates of each derived kind: spellings, pairs, denials, questions without an answer."""
T = TypeVar("T")
_DENIED = {"en": "You may not see this.", "vi": "Bạn không có quyền xem thông tin này."}
_ABSENT = {"en": "The documents do not say.", "vi": "Tài liệu không nêu thông tin này."}
_PLANTED = ("Zentravia", "Quorbel", "Mistelune", "Ardovane")
_OFF_DOMAIN = {
    "en": (
        "Which team won the football World Cup in 1998?",
        "How many moons does the planet Saturn have?",
        "Who composed the opera The Magic Flute?",
        "What is the boiling point of ethanol at sea level?",
    ),
    "vi": (
        "Đội tuyển nào vô địch World Cup bóng đá năm 1998?",
        "Sao Thổ có bao nhiêu mặt trăng?",
        "Ai sáng tác vở opera Cây sáo thần?",
        "Nhiệt độ sôi của ethanol ở mực nước biển là bao nhiêu?",
    ),
}


class _Draft(msgspec.Struct, frozen=True):
    """A drafted question with the statement and the chunk that it came from."""

    asked: DraftedQuestion
    statement: Statement
    chunk: CorpusChunk
    language: KnownLanguage
    subject: str


def draft_candidates(corpus: Corpus, as_of: str | None = None) -> list[Candidate]:
    """Return candidates of every kind that the templates can draft, the plain ones in the order of the corpus.

    Chunks that have expired on the day `as_of` only serve to find what changed.
    """
    current = [chunk for chunk in corpus.chunks.values() if chunk.text and not has_expired(chunk.valid_to, as_of)]
    drafts = [draft for chunk in current for draft in _draft_chunk(chunk)]
    candidates = [_make_candidate(draft) for draft in drafts]
    candidates += _draft_spellings(candidates)
    candidates += _draft_pairs(drafts)
    candidates = _draft_versions(drafts, corpus, as_of) + candidates
    candidates += _draft_denials(drafts, corpus)
    candidates += _draft_absent(drafts)
    folded = [fold_text(chunk.text) for chunk in corpus.chunks.values() if chunk.text]
    distinct = list({candidate.case.id: candidate for candidate in candidates}.values())
    return [add_quotes(candidate, folded) for candidate in distinct]


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


def _draft_chunk(chunk: CorpusChunk) -> Iterator[_Draft]:
    text = chunk.text or ""
    language = guess_language(text) or "en"
    drafts: list[_Draft] = []
    for statement in list_statements(text):
        subject = clean_heading(statement.heading or (chunk.section or "").rpartition(" > ")[2])
        if not subject:
            continue
        asked: Iterable[DraftedQuestion | None]
        if statement.kind == "row":
            asked = ask_about_row(statement, subject, language)
        else:
            asked = (ask_definition(statement, subject, language) or ask_quantity(statement, language),)
        drafts += [_Draft(item, statement, chunk, language, subject) for item in asked if item is not None]
    # Spread over the chunk: the first of each statement, then the second, …
    step = max(1, len(drafts) // MAX_OF_CHUNK)
    yield from drafts[::step][:MAX_OF_CHUNK]


def _tell_kind(asked: DraftedQuestion) -> DraftKind:
    if asked.is_code:
        return "acronym-or-code"
    return "table-or-numeric" if asked.is_table or asked.must_have else "exact"


def _make_candidate(draft: _Draft) -> Candidate:
    kind = _tell_kind(draft.asked)
    tags = {"exact": ("exact",), "acronym-or-code": ("code",)}.get(
        kind, ("table",) if draft.asked.is_table else ("numeric",)
    )
    return _finish(
        draft, kind, draft.asked.question, tags, (_cite(draft),), draft.asked.reference, draft.asked.must_have
    )


def _cite(draft: _Draft) -> Evidence:
    """Return a unit of evidence: the chunk by its id and the target's own ids of it, with its quote."""
    quote = (draft.chunk.text or "")[draft.statement.start : draft.statement.end]
    selectors: list[Selector] = [{"chunk_id": draft.chunk.chunk_id}]
    target_chunks = draft.chunk.metadata.get("target_chunks", ())
    if isinstance(target_chunks, list):
        selectors += [{"chunk_id": str(name)} for name in target_chunks]
    return Evidence(tuple(selectors), quote=quote, text_hash=draft.chunk.text_hash)


def _finish(
    draft: _Draft,
    kind: DraftKind,
    question: str,
    tags: tuple[str, ...],
    evidence: tuple[Evidence, ...],
    reference: str,
    must_have: tuple[str, ...] = (),
    **fields: Any,
) -> Candidate:
    chunks = tuple(str(unit.any_of[0]["chunk_id"]) for unit in evidence) or (draft.chunk.chunk_id,)
    identity = compute_text_digest("\n".join([kind, question, *chunks, str(fields.get("user", ""))]))
    provenance = {"drafted_by": "templates-1", "kind": kind, "drafted_from": list(chunks)}
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


# ── derived kinds ────────────────────────────────────────────────────────────────────────────────────────────────────


def _draft_spellings(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return Vietnamese questions again without diacritics, in the cluster of the first."""
    derived = []
    for candidate in _spread(candidates, MAX_DERIVED):
        case = candidate.case
        if case.language != "vi" or not has_diacritics(case.question):
            continue
        spelled = msgspec.structs.replace(
            case,
            id=f"no-diacritic-{case.id.rpartition('-')[2]}",
            question=strip_diacritics(case.question),
            tags=("no-diacritic",),
            cluster=case.id,
        )
        derived.append(Candidate(spelled, "no-diacritic", candidate.drafted_from))
    return derived


def strip_diacritics(text: str) -> str:
    """Return a text in plain letters, each in the case it had.

    >>> strip_diacritics("Mức P3 là gì?")
    'Muc P3 la gi?'
    """
    letters = []
    for letter in normalise_nfc(text):
        plain = fold_text(letter) if letter.isalpha() else letter
        letters.append(plain.upper() if letter.isupper() else plain)
    return "".join(letters)


def _draft_pairs(drafts: Sequence[_Draft]) -> list[Candidate]:
    """Return questions that ask for two facts of one document which lie in two chunks."""
    by_document: dict[tuple[str | None, str | None], list[_Draft]] = defaultdict(list)
    for draft in drafts:
        by_document[draft.chunk.document, draft.chunk.version].append(draft)
    pairs = []
    for members in by_document.values():
        firsts = list({draft.chunk.chunk_id: draft for draft in members}.values())
        pairs += [(first, second) for first, second in pairwise(firsts)][:2]
    derived = []
    for first, second in _spread(pairs, MAX_DERIVED):
        if first.language != second.language or read_corpus_access(first.chunk) != read_corpus_access(second.chunk):
            continue
        question = f"{first.asked.question.rstrip('?')}{', và ' if first.language == 'vi' else ', and '}"
        question += second.asked.question[:1].lower() + second.asked.question[1:]
        reference = f"{first.asked.reference.rstrip('. ')}. {second.asked.reference}"
        must_have = (*first.asked.must_have, *second.asked.must_have)
        units = (_cite(first), _cite(second))
        derived.append(_finish(first, "multi-hop", question, ("multi-hop",), units, reference, must_have))
    return derived


def _draft_versions(drafts: Sequence[_Draft], corpus: Corpus, as_of: str | None) -> list[Candidate]:
    """Return questions whose answer is another one in an expired version of the same document."""
    expired = [
        chunk for chunk in corpus.chunks.values() if chunk.text and has_expired(chunk.valid_to, as_of or "9999-12-31")
    ]
    old_by_document: dict[str | None, list[_Draft]] = defaultdict(list)
    for chunk in expired:
        old_by_document[chunk.document] += _draft_chunk(chunk)
    derived = []
    for draft in drafts:
        for old in old_by_document.get(draft.chunk.document, ()):
            is_same_place = old.subject == draft.subject and old.chunk.version != draft.chunk.version
            new_value, old_value = draft.asked.must_have, old.asked.must_have
            if is_same_place and new_value and old_value and new_value != old_value:
                units = (_cite(draft), msgspec.structs.replace(_cite(old), grade=0, required=False))
                asked = draft.asked
                derived.append(_finish(draft, "stale", asked.question, ("stale",), units, asked.reference, new_value))
                break
    return derived[:MAX_DERIVED]


def _draft_denials(drafts: Sequence[_Draft], corpus: Corpus) -> list[Candidate]:
    """Return questions about restricted chunks, asked by a user of the corpus who may not see them."""
    roles = sorted({role for chunk in corpus.chunks.values() for role in chunk.roles})
    tenants = sorted({chunk.tenant for chunk in corpus.chunks.values() if chunk.tenant is not None})
    restricted = [draft for draft in drafts if draft.chunk.roles] + [
        draft for draft in drafts if not draft.chunk.roles and draft.chunk.tenant is not None
    ]
    derived = []
    for draft in _spread_chunks(restricted):
        user = make_stranger(draft.chunk, roles, tenants)
        if user is not None:
            unit = _cite(draft)
            denied = _finish(
                draft, "access", draft.asked.question, ("access",), (unit,), _DENIED[draft.language], user=user
            )
            case = msgspec.structs.replace(denied.case, behaviour="permission_denied")
            derived.append(msgspec.structs.replace(denied, case=case))
    return derived[:MAX_DERIVED]


def make_stranger(chunk: CorpusChunk, roles: Sequence[str], tenants: Sequence[str]) -> User | None:
    """Return a user who may not see a chunk: of another role, else of another tenant; None if there is none."""
    strangers = [User(chunk.tenant, (role,)) for role in roles if role not in chunk.roles]
    if chunk.roles:
        strangers.append(User(chunk.tenant, ("employee",)))
    strangers += [User(tenant, ("employee",)) for tenant in tenants if tenant != chunk.tenant]
    return next((user for user in strangers if not is_visible(read_corpus_access(chunk), user, None)), None)


def _draft_absent(drafts: Sequence[_Draft]) -> list[Candidate]:
    """Return questions without an answer: a planted name, an attribute of another table, and off the domain."""
    rows = [draft for draft in drafts if draft.asked.is_table and len(draft.statement.header) > 2]
    derived = []
    for number, draft in enumerate(_spread_chunks(rows)[:4]):
        name = _PLANTED[number % len(_PLANTED)]
        question = draft.asked.question.replace(f"“{draft.statement.cells[0]}”", f"“{name}”")
        derived.append(_make_absent(draft, question, ("no-answer", "adjacent")))
    for first, second in pairwise(_spread_chunks(rows)[:5]):
        attribute = second.statement.header[-1]
        if attribute in first.statement.header or first.language != second.language:
            continue
        question = first.asked.question.replace(first.statement.header[-1].lower(), attribute.lower())
        if question != first.asked.question:
            derived.append(_make_absent(first, question, ("no-answer", "missing-data")))
    for language in dict.fromkeys(draft.language for draft in drafts):
        first = next(draft for draft in drafts if draft.language == language)
        derived += [_make_absent(first, question, ("no-answer", "off-domain")) for question in _OFF_DOMAIN[language]]
    return derived


def _make_absent(draft: _Draft, question: str, tags: tuple[str, ...]) -> Candidate:
    return _finish(draft, "no-answer", question, tags, (), _ABSENT[draft.language], behaviour="abstain")


def _spread_chunks(drafts: Sequence[_Draft]) -> list[_Draft]:
    """Return the first draft of each chunk, those of other documents first."""
    firsts = list({draft.chunk.chunk_id: draft for draft in reversed(drafts)}.values())[::-1]
    seen: set[str | None] = set()
    ahead: list[_Draft] = []
    behind: list[_Draft] = []
    for draft in firsts:
        (behind if draft.chunk.document in seen else ahead).append(draft)
        seen.add(draft.chunk.document)
    return ahead + behind


def _spread(items: Sequence[T], limit: int) -> Sequence[T]:
    """Return at most `limit` items, evenly spaced."""
    step = max(1, -(-len(items) // limit))
    return items[::step]
