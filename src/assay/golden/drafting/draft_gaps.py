"""Says of which kinds too few candidates are left, and why: what the corpus lacks, or what the templates cannot."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from assay.golden.candidate import (
    REJECT_REASONS,
    Candidate,
    DocumentGap,
    DraftReading,
    DraftReport,
    KindGap,
    RejectReason,
)
from assay.golden.coverage_matrix import CoverageTarget, count_kinds
from assay.golden.drafting.corpus_words import is_numbered_name
from assay.golden.drafting.document_languages import (
    KNOWN_LANGUAGES,
    count_other_languages,
    describe_other_languages,
    find_other_language,
    name_language,
)
from assay.golden.drafting.heading_questions import ask_abbreviations
from assay.metrics.cases.access_rules import has_expired, is_in_force
from assay.records.counts import format_count
from assay.records.golden_set import Case, Corpus, CorpusChunk
from assay.text.languages import guess_language, has_diacritics
from assay.text.quantities.measures import find_measures
from assay.text.statements import Statement, list_statements

PLAIN_KINDS = ("exact", "table-or-numeric", "acronym-or-code")
_ASK_A_MODEL = "name a --model, which drafts the kinds that the templates cannot"
_CODE = re.compile(r"\b[A-Z]{2,}-?\d+\b|\b[A-Z]\d{1,3}\b")


class _Material(NamedTuple):
    """What the gaps are explained by: the chunks, their statements, and how many gave a plain question."""

    chunks: Sequence[CorpusChunk]
    statements: Sequence[Statement]
    asked: int
    as_of: str | None
    other_languages: Mapping[str, int]

    @property
    def reading(self) -> str:
        """How much was read, and how much of it gave a question."""
        read = format_count(len(self.statements), "statement")
        return f"{read} read, of which {self.asked} gave a plain question"


def read_drafted(report: DraftReport, corpus: Corpus, as_of: str | None) -> DraftReading:
    """Return how many chunks and statements were read, and how many gave a plain question."""
    material = _collect_material(report, corpus, as_of)
    others = count_other_languages(corpus)
    return DraftReading(len(material.chunks), len(material.statements), material.asked, others)


def explain_gaps(
    report: DraftReport,
    corpus: Corpus,
    targets: Mapping[str, CoverageTarget],
    existing: Sequence[Case] = (),
    as_of: str | None = None,
) -> tuple[KindGap, ...]:
    """Return the kinds of which candidates and existing cases together make fewer than the targets, with reasons."""
    material = _collect_material(report, corpus, as_of)
    cases = [*existing, *(candidate.case for candidate in report.kept)]
    thrown: dict[str, Counter[RejectReason]] = {}
    for row in report.rejected:
        thrown.setdefault(row.candidate.kind, Counter())[row.reason] += 1
    gaps = []
    for cell in count_kinds(cases, targets):
        if not cell.missing:
            continue
        explain = _EXPLAIN.get(cell.kind)
        if explain is None:
            reason, remedy = "the templates draft no such questions", "write such cases by hand"
        else:
            reason, remedy = explain(material)
        lost = thrown.get(cell.kind)
        if lost:
            rejections = ", ".join(f"{count} {REJECT_REASONS[name]}" for name, count in sorted(lost.items()))
            reason += f"; thrown away: {rejections}"
        gaps.append(KindGap(cell.kind, len(cell.cases), cell.target, reason, remedy))
    return tuple(gaps)


def explain_documents(report: DraftReport, corpus: Corpus, as_of: str | None = None) -> tuple[DocumentGap, ...]:
    """Return the documents that no candidate is about, in the order of the corpus, each with the reason."""
    by_document: dict[str, list[CorpusChunk]] = {}
    names: dict[str, str] = {}
    for chunk in corpus.chunks.values():
        names[chunk.chunk_id] = name = " ".join(filter(None, (chunk.document or chunk.chunk_id, chunk.version)))
        by_document.setdefault(name, []).append(chunk)
    about = [candidate for candidate in report.kept if "off-domain" not in candidate.case.tags]
    kept = {names.get(chunk) for candidate in about for chunk in candidate.drafted_from}
    thrown: dict[str, Counter[RejectReason]] = {}
    for row in report.rejected:
        for name in {names[chunk] for chunk in row.candidate.drafted_from if chunk in names}:
            thrown.setdefault(name, Counter())[row.reason] += 1
    return tuple(
        DocumentGap(name, _explain_document(chunks, thrown.get(name, Counter()), as_of))
        for name, chunks in by_document.items()
        if name not in kept
    )


def _explain_document(chunks: Sequence[CorpusChunk], thrown: Counter[RejectReason], as_of: str | None) -> str:
    texts = [chunk for chunk in chunks if chunk.text]
    if not texts:
        return "it has no text"
    if not any(is_in_force(chunk, as_of) for chunk in texts):
        first = texts[0]
        bounds = [
            f"from {first.valid_from}" if first.valid_from else "",
            f"until {first.valid_to}" if first.valid_to else "",
        ]
        return f"it is not in force on {as_of} (valid {' '.join(filter(None, bounds))})"
    if thrown:
        rejections = ", ".join(f"{count} {REJECT_REASONS[name]}" for name, count in sorted(thrown.items()))
        return f"thrown away: {rejections}"
    language = find_other_language(texts)
    if language is not None:
        return f"it is in {name_language(language)}: {KNOWN_LANGUAGES}, a --model others"
    count = sum(len(list_statements(chunk.text or "")) for chunk in texts)
    return f"the templates make no question of its {format_count(count, 'sentence and row', 'sentences and rows')}"


def _collect_material(report: DraftReport, corpus: Corpus, as_of: str | None) -> _Material:
    chunks = [chunk for chunk in corpus.chunks.values() if chunk.text]
    current = [chunk for chunk in chunks if is_in_force(chunk, as_of)]
    statements = [statement for chunk in current for statement in list_statements(chunk.text or "")]
    drafted = [*report.kept, *(row.candidate for row in report.rejected)]
    asked = {_name_statement(candidate) for candidate in drafted if candidate.kind in PLAIN_KINDS}
    return _Material(chunks, statements, len(asked), as_of, count_other_languages(corpus))


def _name_statement(candidate: Candidate) -> tuple[str, str]:
    quotes = [unit.quote or "" for unit in candidate.case.evidence]
    return "\n".join(candidate.drafted_from), "\n".join(quotes)


# ── what each kind needs ─────────────────────────────────────────────────────────────────────────────────────────────


def _explain_exact(material: _Material) -> tuple[str, str]:
    remedy = "write sentences that name their subject and say one thing of it, or "
    if not material.other_languages:
        return material.reading, remedy + _ASK_A_MODEL
    others = describe_other_languages(material.other_languages.items())
    return f"{material.reading}; {others}", f"{remedy}name a --model, which drafts in the language of the documents"


def _explain_paraphrase(material: _Material) -> tuple[str, str]:
    return f"the templates know other words for few of {material.asked} plain questions", _ASK_A_MODEL


def _explain_spelling(material: _Material) -> tuple[str, str]:
    vietnamese = [chunk for chunk in material.chunks if guess_language(chunk.text or "") == "vi"]
    if not any(has_diacritics(chunk.text or "") for chunk in vietnamese):
        return "no document is in Vietnamese", "nothing to do: the kind is for languages with such letters"
    return f"few questions are in Vietnamese; {material.reading}", _ASK_A_MODEL


def _explain_codes(material: _Material) -> tuple[str, str]:
    spelled = [part for part in material.statements if any(ask_abbreviations(part, "en"))]
    coded = [part for part in material.statements if _CODE.search(part.text)]
    if not spelled and not coded:
        return "no abbreviation is spelled out and no code is written", "nothing to do if the documents use none"
    return (
        f"{format_count(len(spelled), 'statement')} with an abbreviation spelled out, "
        f"{format_count(len(coded), 'statement')} with a code",
        _ASK_A_MODEL,
    )


def _explain_pairs(material: _Material) -> tuple[str, str]:
    names = Counter(
        name
        for chunk in material.chunks
        for name in {row.cells[0] for row in list_statements(chunk.text or "") if row.cells}
    )
    shared = [name for name, count in names.items() if count > 1 or is_numbered_name(name)]
    names_text = f"{format_count(len(shared), 'name stands', 'names stand')}" if shared else "no name stands"
    reason = f"{names_text} in tables of several chunks; {material.reading}"
    return reason, "name a thing by the same words wherever it is written about, or " + _ASK_A_MODEL


def _explain_numbers(material: _Material) -> tuple[str, str]:
    rows = [part for part in material.statements if part.kind == "row"]
    numeric = [part for part in material.statements if part.kind != "row" and find_measures(part.text)]
    reason = f"{format_count(len(rows), 'row')} of tables, {format_count(len(numeric), 'sentence')} with a number"
    if not rows and not numeric:
        return "no document has a table or a number", "nothing to do if there are none"
    return f"{reason}; {material.reading}", "give tables headers, and amounts a unit and a named subject"


def _explain_unanswered(material: _Material) -> tuple[str, str]:
    return f"they are made of plain questions about tables and terms; {material.reading}", _ASK_A_MODEL


def _explain_access(material: _Material) -> tuple[str, str]:
    restricted = [chunk for chunk in material.chunks if chunk.roles or chunk.tenant or chunk.position is not None]
    if not restricted:
        return (
            "no document is restricted to roles, tenants or users",
            "write who may read a document into its front matter (roles: [hr], or tenant: NAME)",
        )
    names = {chunk.document or chunk.chunk_id for chunk in restricted}
    reason = f"{format_count(len(names), 'restricted document')}, of which few gave a question"
    return f"{reason}; {material.reading}", "restrict more documents, or " + _ASK_A_MODEL


def _explain_versions(material: _Material) -> tuple[str, str]:
    expired = [chunk for chunk in material.chunks if has_expired(chunk.valid_to, material.as_of or "9999-12-31")]
    if not any(chunk.valid_to for chunk in material.chunks):
        return (
            "no document has an earlier version that ended (valid_to)",
            "keep earlier versions in the corpus, with version and valid_to in their front matter",
        )
    if not expired:
        return f"no version has ended on {material.as_of}", "name a later day (--as-of)"
    return (
        f"{format_count(len(expired), 'chunk')} of earlier versions; few say otherwise what a question asks",
        "keep the headings of a document the same in both versions, or " + _ASK_A_MODEL,
    )


_EXPLAIN: dict[str, Callable[[_Material], tuple[str, str]]] = {
    "exact": _explain_exact,
    "paraphrase": _explain_paraphrase,
    "no-diacritic": _explain_spelling,
    "acronym-or-code": _explain_codes,
    "multi-hop": _explain_pairs,
    "table-or-numeric": _explain_numbers,
    "no-answer": _explain_unanswered,
    "injection": _explain_unanswered,
    "access": _explain_access,
    "stale": _explain_versions,
}
