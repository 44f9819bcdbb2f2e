"""Drafts candidates of every kind from a corpus by templates.

No model is asked. Every candidate has its quote and says what drafted it; the filters decide what is left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from assay.golden.candidate import Candidate
from assay.golden.derived_drafts import (
    draft_absent,
    draft_codes,
    draft_injections,
    draft_paraphrases,
    draft_relational,
    identify_plain,
)
from assay.golden.drafted_parts import (
    MAX_DERIVED,
    SourcedDraft,
    add_quotes,
    cite_draft,
    finish_draft,
    make_stranger,
    spread_chunks,
    spread_items,
)
from assay.golden.lint_evidence import list_content_words
from assay.golden.question_templates import (
    DraftedQuestion,
    ask_about_row,
    ask_about_subject,
    ask_definition,
    ask_quantity,
    clean_heading,
    lead_with_heading,
)
from assay.metrics.access_rules import has_expired, read_corpus_access
from assay.records.golden_set import Corpus, CorpusChunk
from assay.text.languages import KnownLanguage, guess_language, has_diacritics
from assay.text.normalisation import fold_text, normalise_nfc
from assay.text.statements import Statement, list_statements

MAX_OF_CHUNK = 4
"""The largest number of plain candidates of one chunk, so that a long table does not fill the set."""
_DENIED = {"en": "You may not see this.", "vi": "Bạn không có quyền xem thông tin này."}


def draft_candidates(corpus: Corpus, as_of: str | None = None) -> list[Candidate]:
    """Return candidates of every kind that the templates can draft, the plain ones in the order of the corpus.

    Chunks that have expired on the day `as_of` only serve to find what changed.
    """
    current = [chunk for chunk in corpus.chunks.values() if chunk.text and not has_expired(chunk.valid_to, as_of)]
    drafts = [draft for chunk in current for draft in _draft_chunk(chunk)]
    candidates = [_make_candidate(draft) for draft in drafts]
    candidates += _draft_spellings(candidates)
    candidates += draft_paraphrases(drafts)
    candidates += draft_relational(current)
    candidates += draft_codes(drafts)
    candidates += _draft_pairs(drafts)
    candidates = _draft_versions(drafts, corpus, as_of) + candidates
    candidates += _draft_denials(drafts, corpus)
    candidates += draft_absent(drafts)
    candidates += draft_injections(drafts, current)
    folded = [fold_text(chunk.text) for chunk in corpus.chunks.values() if chunk.text]
    distinct = list({candidate.case.id: candidate for candidate in candidates}.values())
    return [add_quotes(candidate, folded) for candidate in distinct]


def _draft_chunk(chunk: CorpusChunk) -> Iterator[SourcedDraft]:
    text = chunk.text or ""
    language = guess_language(text) or "en"
    drafts: list[SourcedDraft] = []
    for statement in list_statements(text):
        subject = clean_heading(statement.heading or (chunk.section or "").rpartition(" > ")[2])
        if not subject:
            continue
        asked: Iterable[DraftedQuestion | None]
        if statement.kind == "row":
            asked = ask_about_row(statement, subject, language)
        else:
            asked = (_ask_about_text(statement, subject, language, text),)
        drafts += [SourcedDraft(item, statement, chunk, language, subject) for item in asked if item is not None]
    # Spread over the chunk: the first of each statement, then the second, …
    step = max(1, len(drafts) // MAX_OF_CHUNK)
    yield from drafts[::step][:MAX_OF_CHUNK]


def _ask_about_text(statement: Statement, subject: str, language: KnownLanguage, text: str) -> DraftedQuestion | None:
    definition = ask_definition(statement, subject, language)
    if definition is not None:
        return definition
    quantity = ask_quantity(statement, language)
    if quantity is not None:
        return quantity._replace(question=lead_with_heading(quantity.question, subject, language))
    asked = ask_about_subject(statement, subject, language)
    if asked is None:
        return None
    said_of = asked.question.rpartition("”")[2] if language == "vi" else asked.question.rpartition(" about ")[2]
    topic = list_content_words(said_of.removesuffix("được quy định thế nào?"))
    alike = [other for other in list_statements(text) if topic <= list_content_words(other.text)]
    return asked if topic and len(alike) == 1 else None  # else it would not be clear which sentence is meant


def _make_candidate(draft: SourcedDraft) -> Candidate:
    kind = draft.kind
    tags = {"exact": ("exact",), "acronym-or-code": ("code",)}.get(
        kind, ("table",) if draft.asked.is_table else ("numeric",)
    )
    return finish_draft(
        draft, kind, draft.asked.question, tags, (cite_draft(draft),), draft.asked.reference, draft.asked.must_have
    )


# ── derived kinds ────────────────────────────────────────────────────────────────────────────────────────────────────


def _draft_spellings(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return Vietnamese questions again without diacritics, in the cluster of the first."""
    derived = []
    for candidate in spread_items(candidates, MAX_DERIVED):
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


def _draft_pairs(drafts: Sequence[SourcedDraft]) -> list[Candidate]:
    """Return questions that ask for two facts of one document which lie in two chunks."""
    by_document: dict[tuple[str | None, str | None], list[SourcedDraft]] = defaultdict(list)
    for draft in drafts:
        by_document[draft.chunk.document, draft.chunk.version].append(draft)
    pairs = []
    for members in by_document.values():
        firsts = list({draft.chunk.chunk_id: draft for draft in members}.values())
        pairs += [(first, second) for first, second in pairwise(firsts)][:2]
    derived = []
    for first, second in spread_items(pairs, MAX_DERIVED):
        if first.language != second.language or read_corpus_access(first.chunk) != read_corpus_access(second.chunk):
            continue
        question = f"{first.asked.question.rstrip('?')}{', và ' if first.language == 'vi' else ', and '}"
        question += second.asked.question[:1].lower() + second.asked.question[1:]
        reference = f"{first.asked.reference.rstrip('. ')}. {second.asked.reference}"
        must_have = (*first.asked.must_have, *second.asked.must_have)
        units = (cite_draft(first), cite_draft(second))
        derived.append(finish_draft(first, "multi-hop", question, ("multi-hop",), units, reference, must_have))
    return derived


def _draft_versions(drafts: Sequence[SourcedDraft], corpus: Corpus, as_of: str | None) -> list[Candidate]:
    """Return questions whose answer is another one in an expired version of the same document."""
    expired = [
        chunk for chunk in corpus.chunks.values() if chunk.text and has_expired(chunk.valid_to, as_of or "9999-12-31")
    ]
    old_by_document: dict[str | None, list[SourcedDraft]] = defaultdict(list)
    for chunk in expired:
        old_by_document[chunk.document] += _draft_chunk(chunk)
    derived = []
    for draft in drafts:
        for old in old_by_document.get(draft.chunk.document, ()):
            is_same_place = old.subject == draft.subject and old.chunk.version != draft.chunk.version
            new_value, old_value = draft.asked.must_have, old.asked.must_have
            if is_same_place and new_value and old_value and new_value != old_value:
                units = (cite_draft(draft), msgspec.structs.replace(cite_draft(old), grade=0, required=False))
                asked = draft.asked
                derived.append(
                    finish_draft(draft, "stale", asked.question, ("stale",), units, asked.reference, new_value)
                )
                break
    return derived[:MAX_DERIVED]


def _draft_denials(drafts: Sequence[SourcedDraft], corpus: Corpus) -> list[Candidate]:
    """Return questions about restricted chunks, asked by a user of the corpus who may not see them."""
    roles = sorted({role for chunk in corpus.chunks.values() for role in chunk.roles})
    tenants = sorted({chunk.tenant for chunk in corpus.chunks.values() if chunk.tenant is not None})
    restricted = [draft for draft in drafts if draft.chunk.roles] + [
        draft for draft in drafts if not draft.chunk.roles and draft.chunk.tenant is not None
    ]
    derived = []
    for draft in spread_chunks(restricted, 2):
        user = make_stranger(draft.chunk, roles, tenants)
        if user is not None:
            unit = cite_draft(draft)
            denied = finish_draft(
                draft, "access", draft.asked.question, ("access",), (unit,), _DENIED[draft.language], user=user
            )
            cluster = identify_plain(draft)
            case = msgspec.structs.replace(denied.case, behaviour="permission_denied", cluster=cluster)
            derived.append(msgspec.structs.replace(denied, case=case))
    return derived[:MAX_DERIVED]
