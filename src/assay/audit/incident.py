"""Rebuilds one production answer for the day when somebody says that it was wrong.

Every citation is checked again (it exists, this user may see it, it supports its claim) with the corpus of then and
that of now. Every claim of the answer has its evidence, and one without says at which step the evidence was lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec
from msgspec import Struct, structs

from assay.audit.cited_sources import (
    CitedBy,
    CitedSource,
    find_reachable,
    identify_source,
    list_cited_sources,
    strip_links,
)
from assay.audit.incident_summary import compare_with_case, describe_near_case, list_evidence_places
from assay.audit.judged_labels import find_judged_labels
from assay.metrics.cases.access_rules import is_early, may_see_chunk
from assay.metrics.cases.case_index import CaseIndex, GoldenIndex
from assay.metrics.judged.judge_requests import RecordedVerdicts
from assay.metrics.leaks.find_leaks import Leaks, find_leaks
from assay.metrics.leaks.withheld_text import WithheldTexts
from assay.metrics.parsed_answer import Citation, ParsedAnswer
from assay.records.audit_records import AuditRecord, Finding
from assay.records.counts import format_count
from assay.records.digest import compute_text_digest
from assay.records.golden_set import Case, Corpus, CorpusChunk, GoldenSet, User
from assay.records.observations import CONTEXT_STAGE, Chunk, Observation, Stage, Usage, find_stage, is_text_id
from assay.text.answer_similarity import compute_answer_similarity
from assay.text.claims.claim_segments import Claim
from assay.text.claims.claim_support import score_support
from assay.text.claims.passages import IndexedSources
from assay.text.claims.source_support import SourceSupport
from assay.text.escaping import WITHHELD
from assay.text.normalisation import normalise_nfc
from assay.text.tokens import DocumentFrequencies, tokenise_text

MAX_CANDIDATES = 30
"""Chunks of a corpus that are compared with a claim: those that share most words with it."""
MAX_NEAR_CASES = 3
MAX_SUCCESSORS = 3
"""Current chunks that are named in place of one that is not in force any more."""
MIN_NEAR_SIMILARITY = 0.35
NO_CONTEXT = "the record has no context: what was retrieved stands for what the model was shown"
NO_USER = "the record has no tenant and roles of the user: whether a source was reachable is unknown"
BY_POSITION = "markers such as [2] that no list explains were assumed to give the position of a chunk among those shown"
UNCALIBRATED = "support is estimated by rules that are not calibrated here: use it as a hint, not as a measurement"


class CitationState(Struct, frozen=True):
    """A citation by one corpus: None where it cannot be told. `support` is the verdict on its claim.

    `expired_since` is the day from which what it cites was not in force any more, by the dates of that corpus;
    `current` are the chunks of the same document and section that are in force and that the user may see.
    """

    exists: bool | None
    reachable: bool | None
    support: str | None
    expired_since: str | None = None
    current: tuple[str, ...] = ()


class CitationCheck(Struct, frozen=True):
    """One citation with its claim (None: of the answer as a whole), then and now (None without a corpus of now).

    `text_changed`: the text that was shown is not the one that the corpus of now has. `by` is how the source was named:
    by name, by a number in the answer's own list, by the place among what was shown (an assumption), or by a link;
    `chunks` are those that it meant then. `judged` is the label that a judge gave the citation, None without one.
    """

    name: str
    claim: str | None
    then: CitationState
    now: CitationState | None
    text_changed: bool | None
    by: CitedBy = "name"
    chunks: tuple[str, ...] = ()
    judged: str | None = None


class ClaimCheck(Struct, frozen=True):
    """One claim of the answer: its verdict by the context, its evidence, and for a claim without any, the step.

    `judged` is the label that a judge gave the claim, None where none is recorded.
    """

    text: str
    verdict: str
    source: str | None
    quote: str | None
    reasons: tuple[str, ...]
    lost_at: str | None
    judged: str | None = None


class ShownChunk(Struct, frozen=True):
    """A chunk of a stage; `restricted` if the user may not see it, and its text is then withheld."""

    chunk_id: str
    score: float | None
    text: str | None
    restricted: bool


class NearCase(Struct, frozen=True):
    """A golden case that asks nearly the same: what it expects, and what the answer does with it ("" without one)."""

    case_id: str
    question: str
    similarity: float
    answer_similarity: float | None
    expected: str = ""
    stated: str = ""


class AnswerNow(Struct, frozen=True):
    """What the system answers to the same question now, and how that differs from the answer of then.

    `changes` are pieces of both answers in order, each `same`, `removed` (only then) or `added` (only now).
    """

    target: str
    at: str
    answer: str | None
    behaviour: str
    error: str | None
    changes: tuple[tuple[str, str], ...]


class Incident(Struct, frozen=True):
    """Everything that is known of one answer. Restricted text is withheld in all of it, unless it was asked for.

    `stale` are the chunks of the context that had expired or been replaced by a newer version on that day. `summary`
    says in sentences what is known of the answer, first of all.
    """

    record: AuditRecord
    sequence: int
    day: str
    chain_faults: tuple[str, ...]
    behaviour: str
    stages: tuple[tuple[str, tuple[ShownChunk, ...]], ...]
    claims: tuple[ClaimCheck, ...]
    citations: tuple[CitationCheck, ...]
    leaks: tuple[str, ...]
    near_cases: tuple[NearCase, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    stale: tuple[str, ...] = ()
    answer_now: AnswerNow | None = None
    summary: tuple[str, ...] = ()


class IncidentSources(Struct, frozen=True):
    """What the answer is checked with: the corpus of then and of now, a golden set, the day of now, and verdicts."""

    corpus_then: Corpus | None = None
    corpus_now: Corpus | None = None
    golden: GoldenSet | None = None
    day: str | None = None
    judging: RecordedVerdicts | None = None


def build_incident(
    record: AuditRecord,
    sequence: int,
    day: str,
    chain_faults: Sequence[str],
    findings: Sequence[Finding],
    sources: IncidentSources,
    *,
    show_restricted: bool = False,
) -> Incident:
    """Return the answer with every claim and citation checked again."""
    observation, notes = rebuild_observation(record)
    then = _read_answer(record, observation, sources.corpus_then, record.at[:10])
    now = _read_answer(record, observation, sources.corpus_now, sources.day) if sources.corpus_now is not None else None
    leaks = find_leaks(then.case, observation)
    if record.user is None:
        notes.append(NO_USER)
    if sources.corpus_then is None:
        notes.append("no corpus of that time: sources are known only by what the record says")
    claims = () if observation.answer is None or then.is_refusal else _check_claims(then, sources, record)
    if claims:
        notes.append(UNCALIBRATED)
    citations = tuple(_check_citations(then, now))
    if any(check.by == "position" for check in citations):
        notes.append(BY_POSITION)
    if sources.judging is not None and claims:
        corpora = [sources.corpus_then, sources.corpus_now, None]
        judged = find_judged_labels(then.case.case, observation, corpora, [sources.golden, None], sources.judging)
        claims = tuple(
            structs.replace(check, judged=judged.claims.get(claim.id))
            for check, claim in zip(claims, then.claims, strict=True)
        )
        citations = tuple(
            structs.replace(check, judged=judged.citations.get((check.claim, check.name))) for check in citations
        )
        notes += judged.notes
    near_cases = find_near_cases(record, sources.golden) if sources.golden is not None else []
    near_cases, sentences = _compare_near_cases(near_cases, then, observation, sources, record)
    incident = Incident(
        record,
        sequence,
        day,
        tuple(chain_faults),
        then.behaviour if then.answer else "no answer",
        tuple((stage.name, _show_chunks(stage, leaks)) for stage in observation.stages or ()),
        claims,
        citations,
        tuple(f"{place}: {', '.join(items)}" for place, items in _list_leaks(leaks)),
        tuple(near_cases),
        tuple(findings),
        tuple(notes),
        stale=tuple(_list_stale_chunks(then, record.at[:10])),
        summary=(*sentences, _summarise_claims(claims, then, is_leaking=any(_list_leaks(leaks)))),
    )
    return incident if show_restricted else _withhold(incident, then.case, observation, leaks)


def _compare_near_cases(
    near_cases: Sequence[NearCase],
    then: ParsedAnswer,
    observation: Observation,
    sources: IncidentSources,
    record: AuditRecord,
) -> tuple[list[NearCase], list[str]]:
    """Return the near cases with what they expect, and sentences on the nearest: whether the answer agrees with it, and
    where its evidence was lost if not."""
    compared_cases: list[NearCase] = []
    sentences: list[str] = []
    cases = {case.id: case for case in sources.golden.cases} if sources.golden is not None else {}
    corpus = sources.corpus_then if sources.corpus_then is not None else sources.corpus_now
    for near in near_cases:
        case, answer = cases[near.case_id], record.answer
        if not answer:
            compared_cases.append(near)
            continue
        compared = compare_with_case(case, answer, then.behaviour, corpus)
        compared_cases.append(structs.replace(near, expected=compared.expected, stated=compared.stated))
        if not sentences:
            sentences.append(describe_near_case(case, record.question or "", near.similarity, compared, record.user))
            if not compared.is_right:
                sentences += list_evidence_places(case, observation, corpus, compared.wanted)
    return compared_cases, sentences


def _summarise_claims(claims: Sequence[ClaimCheck], then: ParsedAnswer, *, is_leaking: bool) -> str:
    """Return in a sentence what the rules found of the claims of an answer in what was shown to the model."""
    if not then.answer:
        return "there is no answer"
    if not claims:
        return "the answer claims nothing, or declines"
    counts = Counter(claim.verdict for claim in claims)
    lost = next((claim for claim in claims if claim.lost_at), None)
    if lost is not None:
        return f"“{lost.text}” is {_VERDICT_WORDS[lost.verdict]} what was shown to the model; {lost.lost_at}"
    supported, number = counts["supported"], len(claims)
    shown = "what was shown to the model" + (", with what this user may not see," if is_leaking else "")
    if supported == number:
        return f"{shown} supports {'its claim' if number == 1 else 'every claim'}"
    return f"{shown} supports {supported} of {format_count(number, 'claim')}; of the others the rules cannot tell"


_VERDICT_WORDS = {"not_found": "not in", "contradicted": "contradicted by"}


def rebuild_observation(record: AuditRecord) -> tuple[Observation, list[str]]:
    """Return the record as an observation, and what had to be assumed."""
    notes: list[str] = []
    stages = record.stages
    if stages is None and record.retrieved_uids is not None:
        stages = (Stage("retrieved", tuple(Chunk(chunk_id) for chunk_id in record.retrieved_uids)),)
    if stages and all(stage.name != CONTEXT_STAGE for stage in stages):
        stages = (*stages, Stage(CONTEXT_STAGE, stages[-1].chunks))
        notes.append(NO_CONTEXT)
    if record.time_source == "received":
        notes.append("the producer gave no time: it is that of the receipt")
    observation = Observation(
        record.id,
        record.config_id or "unknown",
        question=record.question,
        query_rewrite=record.query_rewrite,
        stages=stages,
        answer=record.answer,
        behaviour=record.behaviour,
        citations=record.citations,
        tool_calls=record.tool_calls,
        usage=Usage(
            end_to_end_ms=record.latency_ms,
            prompt_tokens=record.prompt_tokens,
            completion_tokens=record.completion_tokens,
            context_tokens=record.context_tokens,
            cost_usd=record.cost_usd,
        ),
        versions=record.versions,
        error=record.error,
    )
    return observation, notes


def _read_answer(
    record: AuditRecord, observation: Observation, corpus: Corpus | None, as_of: str | None
) -> ParsedAnswer:
    user = None if record.user is None else structs.replace(record.user, as_of=as_of)
    case = Case(id=record.id, question=record.question or "", user=user)
    golden = GoldenSet((case,), as_of=as_of)
    return ParsedAnswer(GoldenIndex(golden, corpus).case_index(0), observation)


# ── claims ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _check_claims(reading: ParsedAnswer, sources: IncidentSources, record: AuditRecord) -> tuple[ClaimCheck, ...]:
    texts = reading.context_texts
    checks = []
    for claim in reading.claims:
        if isinstance(texts, str):
            checks.append(ClaimCheck(claim.text, "unknown", None, None, (texts,), None))
            continue
        support = score_support(claim.text, reading.index_sources(CONTEXT_STAGE))
        quote = None
        redacted = _list_redacted(claim, texts.get(support.source or "") or "", reading, record)
        if support.source is not None:
            quote = normalise_nfc(texts[support.source])[support.start : support.end]
        lost_at = None
        if support.verdict in ("not_found", "contradicted"):
            lost_at = locate_lost_evidence(claim, support, reading, sources, record)
        checks.append(
            ClaimCheck(
                claim.text,
                support.verdict,
                support.source,
                quote,
                tuple(_list_reasons(support, redacted)),
                lost_at,
            )
        )
    return tuple(checks)


def _list_redacted(claim: Claim, source_text: str, reading: ParsedAnswer, record: AuditRecord) -> list[str]:
    """Return the rules that replaced something in a claim or in the source that is nearest to it."""
    claim_text = reading.answer[claim.start : claim.end]
    return [name for name in record.redacted if f"[{name}]" in claim_text or f"[{name}]" in source_text]


def _list_reasons(support: SourceSupport, redacted: Sequence[str]) -> Iterable[str]:
    yield from support.contradictions
    missing = support.describe_missing()
    if missing:
        yield f"in no source that was shown: {', '.join(missing)}"
    if redacted and support.verdict != "supported":
        yield f"its text or its source was redacted before storing ({', '.join(redacted)}): that cannot be compared"
    elif support.verdict == "unknown" and not support.contradictions and not support.missing_facts:
        yield "the rules found some of its words in what was shown, and not enough to tell"


def locate_lost_evidence(
    claim: Claim, support: SourceSupport, reading: ParsedAnswer, sources: IncidentSources, record: AuditRecord
) -> str:
    """Return at which step the evidence of a claim was lost, by where the claim is supported.

    The stages before the context, then the corpus of then, then that of now, as far as the user may see them.
    """
    shown_ids = _context_ids(reading.observation)
    earlier = {
        chunk.chunk_id: chunk.text
        for stage in reading.observation.stages or ()
        for chunk in stage.chunks
        if chunk.text and chunk.chunk_id not in shown_ids
    }
    idf = reading.case.golden_index.idf
    source = _find_support(claim, earlier, idf)
    if source is not None:
        return f"context: {source} says so; it was retrieved and not shown to the model"
    for corpus, as_of, sentence in (
        (sources.corpus_then, record.at[:10], "retrieval: {} says so; it was in the index and not retrieved"),
        (sources.corpus_now, sources.day, "index: {} says so today; it was not in the corpus of then"),
    ):
        if corpus is not None:
            source = _find_support(claim, _visible_texts(corpus, record.user, as_of), idf)
            if source is not None and source not in shown_ids:
                return sentence.format(source)
    if support.verdict == "contradicted":
        return f"generation: it contradicts {support.source}, which the model was shown"
    return "generation: no source that was examined says so"


def _context_ids(observation: Observation) -> set[str]:
    context = find_stage(observation, CONTEXT_STAGE)
    return {chunk.chunk_id for chunk in context.chunks} if context is not None else set()


def _visible_texts(corpus: Corpus, user: User | None, as_of: str | None) -> dict[str, str]:
    return {
        chunk_id: chunk.text
        for chunk_id, chunk in corpus.chunks.items()
        if chunk.text and not is_early(chunk.valid_from, as_of) and may_see_chunk(user, chunk)
    }


def _find_support(claim: Claim, texts: dict[str, str], idf: DocumentFrequencies) -> str | None:
    """Return the chunk that supports a claim by itself, among those that share most words with it."""
    words = set(tokenise_text(claim.text))
    shared = {chunk_id: len(words & set(tokenise_text(text))) for chunk_id, text in texts.items()}
    for chunk_id in sorted(shared, key=lambda name: (-shared[name], name))[:MAX_CANDIDATES]:
        if not shared[chunk_id]:
            return None
        if score_support(claim.text, IndexedSources([(chunk_id, texts[chunk_id])], idf)).verdict == "supported":
            return chunk_id
    return None


# ── citations ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _check_citations(then: ParsedAnswer, now: ParsedAnswer | None) -> Iterable[CitationCheck]:
    later = {} if now is None else {identify_source(source): source for source in list_cited_sources(now)}
    for source in list_cited_sources(then):
        citation = source.citation
        now_state = None
        if now is not None:
            now_state = _citation_state(now, later.get(identify_source(source)), in_corpus_only=True)
        yield CitationCheck(
            citation.name,
            None if citation.claim is None else citation.claim.text,
            _citation_state(then, source, in_corpus_only=False),
            now_state,
            None if now is None else _has_changed(citation, now),
            source.by,
            tuple(citation.texts),
        )


def _citation_state(reading: ParsedAnswer, source: CitedSource | None, *, in_corpus_only: bool) -> CitationState:
    if source is None:
        return CitationState(False, None, None)
    corpus, texts = reading.case.corpus, source.citation.texts
    exists: bool | None = bool(texts)
    if not texts and not source.is_checkable:
        exists = None
    elif in_corpus_only and corpus is not None:  # the record has the text of then
        has_ids = not any(map(is_text_id, texts))
        corpus_chunks = [chunk for name, text in texts.items() for chunk in _find_corpus_chunks(reading, name, text)]
        texts = {chunk.chunk_id: chunk.text or "" for chunk in corpus_chunks}
        exists = True if texts else False if has_ids else None  # a text that is gone may have another wording now
    reachable: bool | None = None
    if exists and reading.case.case.user is not None and corpus is not None:
        reachable = find_reachable(source, reading)
    support = _find_citation_support(reading, source.citation, texts) if exists else None
    expired_since, current = _find_successors(reading, texts) if exists else (None, ())
    return CitationState(exists, reachable, support, expired_since, current)


def _find_successors(reading: ParsedAnswer, cited: Mapping[str, str]) -> tuple[str | None, tuple[str, ...]]:
    """Return since when all cited chunks are out of force, and what is in force in their place; nothing if one is."""
    corpus, day = reading.case.corpus, reading.case.as_of
    user = reading.case.case.user or User()  # of an unknown user only what everybody may see is named
    superseded = reading.case.golden_index.superseded_versions(day)
    twins = [_find_corpus_chunks(reading, name, text) for name, text in cited.items()]
    cited_chunks = list(chain.from_iterable(twins)) if all(twins) else []
    ends = [None if superseded is None else superseded.find_end(chunk.chunk_id) for chunk in cited_chunks]
    known_ends = [end for end in ends if end is not None]
    if superseded is None or corpus is None or not ends or len(known_ends) < len(ends):
        return None, ()
    in_force = [
        chunk
        for chunk in corpus.chunks.values()
        if superseded.find_end(chunk.chunk_id) is None
        and not is_early(chunk.valid_from, day)
        and may_see_chunk(user, chunk)
    ]
    old = [chunk for chunk in cited_chunks if chunk.document is not None]
    for describe_place in (_name_section, _name_heading, _name_document):
        places = {describe_place(chunk) for chunk in old}
        current = [chunk.chunk_id for chunk in in_force if describe_place(chunk) in places]
        if current:
            return max(known_ends), tuple(current[:MAX_SUCCESSORS])
    return max(known_ends), ()


def _name_section(chunk: CorpusChunk) -> tuple[str | None, ...]:
    return chunk.document, chunk.section


def _name_heading(chunk: CorpusChunk) -> tuple[str | None, ...]:
    """Return the document and the last heading: those above it often name the version."""
    return chunk.document, None if chunk.section is None else chunk.section.rpartition(" > ")[2]


def _name_document(chunk: CorpusChunk) -> tuple[str | None, ...]:
    return (chunk.document,)


def _find_citation_support(reading: ParsedAnswer, citation: Citation, cited: Mapping[str, str]) -> str | None:
    """Return the verdict on the claim by the cited chunks alone; for the answer as a whole, that on its best claim."""
    claims = reading.claims if citation.claim is None else (citation.claim,)
    texts = [(chunk_id, text) for chunk_id, text in cited.items() if text]
    if not claims or not texts:
        return None
    sources = IndexedSources(texts, reading.case.golden_index.idf)
    statements = [strip_links(claim.text, with_words=kept) for claim in claims for kept in (True, False)]
    supports = [score_support(text, sources) for text in dict.fromkeys(statements) if text]
    return max(supports, key=lambda support: support.z).verdict if supports else None


def _find_corpus_chunks(reading: ParsedAnswer, chunk_id: str, text: str) -> Sequence[CorpusChunk]:
    """Return the chunks of the corpus that a chunk with this text is: by its id, or by its text where it has none."""
    corpus_texts = reading.case.golden_index.corpus_texts
    return corpus_texts.find_chunks(Chunk(chunk_id, text=text)) if corpus_texts is not None else ()


def _has_changed(citation: Citation, now: ParsedAnswer) -> bool | None:
    pairs = [
        (text, chunk.text)
        for chunk_id, text in citation.texts.items()
        for chunk in _find_corpus_chunks(now, chunk_id, text)
        if text and chunk.text
    ]
    if not pairs:
        return None
    return any(compute_text_digest(shown) != compute_text_digest(present or "") for shown, present in pairs)


# ── leaks, near cases ────────────────────────────────────────────────────────────────────────────────────────────────


def _list_leaks(leaks: Leaks) -> Iterator[tuple[str, list[str]]]:
    """Yield each place in which something leaked with the names of what did."""
    yield from leaks.ids.items()
    if leaks.text:
        yield "answer", [f"words or facts of {format_count(len(leaks.text), 'restricted text')}"]


def _list_stale_chunks(then: ParsedAnswer, day: str) -> Iterable[str]:
    """Yield the chunks of the context that had expired or were of a replaced version when the question was asked."""
    superseded = then.case.golden_index.superseded_versions(day)
    context = find_stage(then.observation, CONTEXT_STAGE)
    if superseded is None or context is None:
        return
    for chunk in context.chunks:
        if superseded.count_superseded((chunk,)):
            yield chunk.chunk_id


def _show_chunks(stage: Stage, leaks: Leaks) -> tuple[ShownChunk, ...]:
    forbidden = set(leaks.ids.get(stage.name, ()))
    return tuple(
        ShownChunk(chunk.chunk_id, chunk.score, chunk.text, chunk.chunk_id in forbidden) for chunk in stage.chunks
    )


def find_near_cases(record: AuditRecord, golden: GoldenSet) -> list[NearCase]:
    """Return the golden cases whose questions share most of their rare words with the one that was asked."""
    if not record.question:
        return []
    word_sets = {case.id: set(tokenise_text(case.question)) for case in golden.cases}
    idf = DocumentFrequencies.from_texts(case.question for case in golden.cases)
    asked = set(tokenise_text(record.question))
    near: list[NearCase] = []
    for case in golden.cases:
        words = word_sets[case.id]
        union = sum(sorted(idf.idf_weight(word) for word in asked | words))
        similarity = sum(sorted(idf.idf_weight(word) for word in asked & words)) / union if union else 0.0
        if similarity < MIN_NEAR_SIMILARITY:
            continue
        alike = None
        if case.reference and record.answer:
            alike = compute_answer_similarity(record.answer, case.reference, case.question, idf)
        near.append(NearCase(case.id, case.question, similarity, alike))
    return sorted(near, key=lambda case: (-case.similarity, case.case_id))[:MAX_NEAR_CASES]


def _withhold(incident: Incident, case: CaseIndex, observation: Observation, leaks: Leaks) -> Incident:
    """Return the incident without any text that the user of the answer may not see."""
    hidden = tuple(
        (name, tuple(structs.replace(chunk, text=None) if chunk.restricted else chunk for chunk in chunks))
        for name, chunks in incident.stages
    )
    incident = structs.replace(incident, stages=hidden)
    texts = WithheldTexts(case, observation, leaks)
    plain = msgspec.to_builtins(incident)
    lines = tuple(_withhold_leak(texts, place, items) for place, items in _list_leaks(leaks))
    return structs.replace(msgspec.convert(texts.withhold(plain), Incident), leaks=lines)


def _withhold_leak(texts: WithheldTexts, place: str, items: Sequence[str]) -> str:
    """Return the line of a leak with its place, and with the names of what leaked where they give nothing away."""
    shown_place = texts.withhold(place)
    line = f"{shown_place}: {', '.join(texts.withhold(list(items)))}"
    if WITHHELD not in line and texts.withhold(line) == line:
        return line
    return f"{shown_place}: {format_count(len(items), 'name')} withheld"
