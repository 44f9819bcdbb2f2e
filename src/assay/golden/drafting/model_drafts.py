"""What a model is asked to draft from a corpus, and how its replies become candidates or are thrown away.

Code chooses the passages, the user and what is looked for in the answer; the model writes texts alone.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from assay.golden.candidate import Candidate, DraftKind, RejectedCandidate, RejectReason
from assay.golden.drafting.document_languages import find_other_language
from assay.golden.drafting.drafted_parts import add_quotes, make_reader, make_stranger
from assay.golden.drafting.row_names import clean_heading
from assay.golden.drafting_prompts import ABSENT_KINDS, DECLINED, make_draft_request
from assay.golden.lint_evidence import list_content_words
from assay.golden.lint_finding import LintedSet
from assay.golden.orders import is_ordering
from assay.metrics.cases.access_rules import has_expired, is_in_force, read_corpus_access
from assay.records.counts import format_count
from assay.records.digest import compute_text_digest
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet, Selector, User
from assay.records.verdicts import JudgeRequest, Verdict
from assay.text.languages import guess_language
from assay.text.normalisation import fold_text
from assay.text.quantities.measures import find_measures
from assay.text.safety.demanded_words import list_demands

FEWEST_CHARACTERS = 40
"""The fewest characters of a chunk from which a model is asked to draft."""
MOST_LINKED = 4
"""The largest number of chunks with a word that links them: a word of many chunks links none."""
DENIED_REFERENCE = {"en": "You may not see this.", "vi": "Bạn không có quyền xem thông tin này."}
_CODE = re.compile(r"\b(?:[A-Z][A-Z0-9]{1,}(?:-\d+)?|[A-Z]\d)\b")
_KIND_OF: dict[str, tuple[DraftKind, tuple[str, ...]]] = {
    "exact": ("exact", ("exact",)),
    "paraphrase": ("paraphrase", ("paraphrase",)),
    "relational": ("relational", ("relational", "paraphrase")),
    "multi-hop": ("multi-hop", ("multi-hop",)),
    "table-or-numeric": ("table-or-numeric", ("numeric",)),
    "acronym-or-code": ("acronym-or-code", ("code",)),
    "stale": ("stale", ("stale",)),
    "access": ("access", ("access",)),
    "injection": ("injection", ("prompt-injection",)),
    "adjacent": ("no-answer", ("no-answer", "adjacent")),
    "missing-data": ("no-answer", ("no-answer", "missing-data")),
    "off-domain": ("no-answer", ("no-answer", "off-domain")),
}
MODEL_KINDS = tuple(_KIND_OF)
"""The kinds that a model can be asked for."""
COVERAGE_KIND = {
    "relational": "paraphrase",
    "adjacent": "no-answer",
    "missing-data": "no-answer",
    "off-domain": "no-answer",
}
"""The kind of the coverage matrix that such candidates count for, where it has another name."""


class PlannedDraft(msgspec.Struct, frozen=True):
    """One candidate to ask a model for: its kind, the chunks that it is shown, and the request."""

    kind: str
    chunks: tuple[CorpusChunk, ...]
    language: str
    request: JudgeRequest


def plan_drafts(
    corpus: Corpus, per_kind: int, seed: int = 0, as_of: str | None = None, kinds: Collection[str] = MODEL_KINDS
) -> list[PlannedDraft]:
    """Return what to ask a model for: at most `per_kind` candidates of each kind, chosen by `seed`.

    A chunk with orders to a model in it is shown for the kind `injection` alone, chunks that have expired on the day
    `as_of` for `stale` alone.
    """
    readable = [chunk for chunk in corpus.chunks.values() if len(chunk.text or "") >= FEWEST_CHARACTERS]
    current = [chunk for chunk in readable if is_in_force(chunk, as_of)]
    clean = [chunk for chunk in current if not is_ordering(chunk.text or "")]
    groups: dict[str, list[tuple[CorpusChunk, ...]]] = {kind: [(chunk,) for chunk in clean] for kind in MODEL_KINDS}
    groups["table-or-numeric"] = [(chunk,) for chunk in clean if _has_figures(chunk.text or "")]
    groups["acronym-or-code"] = [(chunk,) for chunk in clean if _CODE.search(chunk.text or "")]
    groups["access"] = [(chunk,) for chunk in clean if chunk.roles or chunk.tenant is not None]
    groups["injection"] = [(chunk,) for chunk in current if list_demands(chunk.text or "")]
    groups["multi-hop"] = find_linked_chunks(clean, LintedSet(GoldenSet(()), corpus))
    groups["stale"] = find_versions(clean, readable, as_of)
    planned: list[PlannedDraft] = []
    for kind in (kind for kind in MODEL_KINDS if kind in kinds):
        order = {_order_by_seed(seed, kind, group): group for group in groups[kind]}
        planned += [_plan_draft(kind, order[key], seed) for key in sorted(order)[:per_kind]]
    return planned


def _plan_draft(kind: str, chunks: tuple[CorpusChunk, ...], seed: int) -> PlannedDraft:
    language = guess_language(chunks[0].text or "") or find_other_language(chunks[:1]) or "en"
    passages = [{"id": chunk.chunk_id, "text": chunk.text or ""} for chunk in chunks]
    return PlannedDraft(kind, chunks, language, make_draft_request(kind, passages, language, str(seed)))


def _order_by_seed(seed: int, kind: str, chunks: Iterable[CorpusChunk]) -> bytes:
    names = " ".join(chunk.chunk_id for chunk in chunks)
    return hashlib.sha256(f"{seed} {kind} {names}".encode()).digest()


def _has_figures(text: str) -> bool:
    return "|" in text or bool(list(find_measures(text)))


def find_linked_chunks(chunks: Sequence[CorpusChunk], linted: LintedSet) -> list[tuple[CorpusChunk, ...]]:
    """Return pairs of chunks that share rare words and readers, each chunk with the one that it shares most with."""
    words = [list_content_words(chunk.text or "") for chunk in chunks]
    by_word: dict[str, list[int]] = defaultdict(list)
    for index, own in enumerate(words):
        for word in own:
            by_word[word].append(index)
    shared: dict[tuple[int, int], float] = defaultdict(float)
    for word in sorted(by_word):
        members = by_word[word]
        if 2 <= len(members) <= MOST_LINKED:
            for position, first in enumerate(members):
                for second in members[position + 1 :]:
                    shared[first, second] += linted.frequencies.idf_weight(word)
    pairs: list[tuple[CorpusChunk, ...]] = []
    used: set[int] = set()
    for (first, second), _ in sorted(shared.items(), key=lambda item: (-item[1], item[0])):
        one, other = chunks[first], chunks[second]
        is_same_text = fold_text(one.text or "") == fold_text(other.text or "")
        if used & {first, second} or is_same_text or read_corpus_access(one) != read_corpus_access(other):
            continue
        used |= {first, second}
        pairs.append((one, other))
    return pairs


def find_versions(
    current: Sequence[CorpusChunk], chunks: Sequence[CorpusChunk], as_of: str | None
) -> list[tuple[CorpusChunk, ...]]:
    """Return pairs of a chunk that holds now and one of the same section of an expired version, with another text."""
    expired: dict[tuple[str | None, str], CorpusChunk] = {}
    for chunk in chunks:
        if has_expired(chunk.valid_to, as_of or "9999-12-31"):
            expired.setdefault((chunk.document, _name_section(chunk)), chunk)
    pairs: list[tuple[CorpusChunk, ...]] = []
    for chunk in current:
        old = expired.get((chunk.document, _name_section(chunk)))
        if (
            old is not None
            and old.version != chunk.version
            and fold_text(old.text or "") != fold_text(chunk.text or "")
        ):
            pairs.append((chunk, old))
    return pairs


def _name_section(chunk: CorpusChunk) -> str:
    return fold_text(clean_heading((chunk.section or "").rpartition(" > ")[2]))


# ── replies ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def build_candidates(
    planned: Sequence[PlannedDraft], verdicts: Mapping[str, Verdict], model: str, corpus: Corpus
) -> Iterator[Candidate | RejectedCandidate]:
    """Yield the candidates of the replies, and one that was thrown away for each reply of no use.

    `verdicts` are the replies by the digest of their request; what was not asked gives nothing.
    """
    folded = [fold_text(chunk.text) for chunk in corpus.chunks.values() if chunk.text]
    roles = sorted({role for chunk in corpus.chunks.values() for role in chunk.roles})
    tenants = sorted({chunk.tenant for chunk in corpus.chunks.values() if chunk.tenant is not None})
    for plan in planned:
        verdict = verdicts.get(plan.request.digest)
        if verdict is None:
            continue
        candidate = _make_candidate(plan, verdict, model)
        rejection = _check_reply(plan, verdict, candidate)
        if rejection is not None:
            yield RejectedCandidate(candidate, *rejection)
            continue
        candidate = add_quotes(candidate, folded)
        yield candidate
        stranger = make_stranger(plan.chunks[0], roles, tenants) if plan.kind == "access" else None
        if stranger is not None:
            yield _make_denied(candidate, stranger, plan.language)


def _check_reply(plan: PlannedDraft, verdict: Verdict, candidate: Candidate) -> tuple[RejectReason, str] | None:
    """Return why a reply gives no candidate, whatever the corpus says."""
    if verdict.unscored is not None:
        return "bad-reply", f"{verdict.unscored}: {verdict.message}"
    if any(item.label == DECLINED for item in verdict.items):
        return "declined", ""
    case = candidate.case
    for text in (case.question, case.reference or ""):
        language = guess_language(text)
        if language is not None and language != plan.language:
            return "wrong-language", f"{language} (expected {plan.language})"
    written = " ".join((case.question, case.reference or "", *case.must_have))
    carried = next((marker for marker in case.forbidden_text if marker in written), None)
    if carried is not None:
        return "instruction", carried
    if plan.kind in ABSENT_KINDS:
        is_answered = bool(case.evidence or case.must_have)
        return ("bad-reply", "evidence for a question that must have no answer") if is_answered else None
    needed = 2 if plan.kind == "multi-hop" else 1
    cited = [unit for unit in case.evidence if unit.grade]
    if len(cited) < needed:
        return "unsupported", f"{len(cited)} of {format_count(needed, 'passage')} quoted"
    expired = plan.chunks[1].chunk_id if plan.kind == "stale" else None
    if any(unit.any_of[0]["chunk_id"] == expired for unit in cited):
        return "unsupported", "quotes the version that no longer holds"
    return None


def _make_candidate(plan: PlannedDraft, verdict: Verdict, model: str) -> Candidate:
    kind, tags = _KIND_OF[plan.kind]
    texts = {item.id: item.reasoning for item in verdict.items}
    chunks = {chunk.chunk_id: chunk for chunk in plan.chunks}
    quotes = [(item.source, item.quote) for item in verdict.items if item.id.startswith("evidence.")]
    units = [_cite(chunks[source], quote or "") for source, quote in quotes if source in chunks]
    is_absent = plan.kind in ABSENT_KINDS
    if plan.kind == "stale" and units:
        units.append(msgspec.structs.replace(_cite(plan.chunks[1], None), grade=0, required=False))
    digest = compute_text_digest(f"{plan.request.digest} {texts.get('question', '')}").removeprefix("sha256:")
    names = tuple(chunks)
    provenance: dict[str, object] = {
        "drafted_by": f"model {model}",
        "kind": kind,
        "drafted_from": list(names),
        "request": plan.request.digest,
    }
    if "injection" in verdict.flags:
        provenance["orders_in_passages"] = True
    text = plan.chunks[0].text or ""
    case = Case(
        id=f"{kind}-{digest[:10]}",
        question=texts.get("question", ""),
        behaviour="abstain" if is_absent else "answer",
        reference=texts.get("reference") or None,
        must_have=tuple(texts[name] for name in texts if name.startswith("must_have.")),
        evidence=tuple(units),
        forbidden_text=list_demands(text) if kind == "injection" else (),
        user=make_reader(plan.chunks[0]),
        tags=tags,
        difficulty="hard" if kind in ("relational", "multi-hop") else "unknown",
        language=plan.language,
        metadata={"provenance": provenance},
    )
    return Candidate(case, kind, names, f"model {model}")


def _cite(chunk: CorpusChunk, quote: str | None) -> Evidence:
    selectors: list[Selector] = [{"chunk_id": chunk.chunk_id}]
    target_chunks = chunk.metadata.get("target_chunks", ())
    if isinstance(target_chunks, list):
        selectors += [{"chunk_id": str(name)} for name in target_chunks]
    return Evidence(tuple(selectors), quote=quote, text_hash=chunk.text_hash)


def _make_denied(candidate: Candidate, stranger: User, language: str) -> Candidate:
    """Return the twin of a candidate: asked by someone who may not see its evidence."""
    case = msgspec.structs.replace(
        candidate.case,
        id=f"{candidate.case.id}-denied",
        behaviour="permission_denied",
        also_accept=("abstain",),
        reference=DENIED_REFERENCE.get(language, DENIED_REFERENCE["en"]),
        must_have=(),
        user=stranger,
    )
    return msgspec.structs.replace(candidate, case=case)
