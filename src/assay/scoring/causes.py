"""The root causes of a bad answer: the sign of each, what to try first, and the rules that detect it.

The causes are those of the `rag-trace` contract (see ADR 0038).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from assay.finding import Cause
from assay.graders.visibility import ANYWHERE, INJECTION
from assay.metrics.leaks import canaries
from assay.metrics.text import tokens
from assay.model import CorpusChunk
from assay.scoring.blame import Blame, blame
from assay.scoring.indexed import Damage
from assay.scoring.inquiry import Inquiry, holds, strange_numbers, support

INDEX_STAGE, GENERATE_STAGE, CITE_STAGE = "index", "generate", "cite"


class CauseNote(NamedTuple):
    """The sign of a cause, and what to try first."""

    sign: str
    fix: str


NOTES: Mapping[Cause, CauseNote] = MappingProxyType(
    {
        "parser": CauseNote(
            "the indexed text lacks a table, heading or footnote of the document",
            "fix the parser: OCR, extraction of tables and footnotes, headings",
        ),
        "chunking": CauseNote(
            "the evidence is cut, merged or spread over chunks that are not those of the corpus",
            "chunk by section, with overlap or parent and child chunks; then relink the labels",
        ),
        "embedding": CauseNote(
            "the vector search does not find the evidence",
            "another embedding model; normalise queries (codes, abbreviations, diacritics); add examples",
        ),
        "bm25_analyzer": CauseNote(
            "the evidence shares words with the question and the keyword search does not find it",
            "fix the analyzer: fold diacritics and case, keep codes whole, add synonyms",
        ),
        "hybrid_merge": CauseNote(
            "one search has the evidence near the top and the merge loses it",
            "merge by reciprocal rank, retune the weights, enlarge the pool",
        ),
        "reranker": CauseNote(
            "the reranker receives the evidence near the top and ranks it too low",
            "another reranking model or prompt; train it on pairs; rerank more candidates",
        ),
        "context_builder": CauseNote(
            "the evidence is ranked high enough and is not in the context",
            "raise the token budget; remove duplicates; pack by rank",
        ),
        "generator": CauseNote(
            "the evidence is in the context and the answer does not use it as it should",
            "tighten the prompt; another model; constrained output; examples, also of refusals",
        ),
        "citation": CauseNote(
            "the answer is right and cites something else",
            "align each claim with its source; validate citations against the context",
        ),
        "acl": CauseNote(
            "the user is shown too much, or is denied what they may see",
            "make the filters mandatory and test them; keep the policy as code",
        ),
        "stale_index": CauseNote(
            "an old version is served, or the version in force is not indexed",
            "rebuild the index; record the index version; alert on freshness",
        ),
        "golden_label_issue": CauseNote(
            "the label contradicts the corpus or its own evidence",
            "correct the golden set: relink the evidence, or fix the reference",
        ),
        "judge_noise": CauseNote(
            "the judge contradicts the text of the answer, or itself",
            "ask for more votes; calibrate the judge; prefer the deterministic signal here",
        ),
        "insufficient_trace": CauseNote(
            "the trace does not show the cause",
            "report every stage with its chunks, and the text of the context; score with a corpus",
        ),
    }
)


# ── access ───────────────────────────────────────────────────────────────────────────────────────────────────────


def leaked(case: Inquiry) -> Blame | None:
    """Something was shown that the user must not see. Following an injected prompt is the generator's mistake."""
    if not case.leaks.count(ANYWHERE):
        return None
    injected = case.case.case.forbidden_text if INJECTION in case.case.case.tags else ()
    followed = canaries(case.answer, injected) if case.answer else []
    if followed and not case.leaks.ids and set(case.leaks.text) <= set(followed):
        return Blame("generator", GENERATE_STAGE, ("a planted instruction was followed",), "high")
    locations = [name for name, ids in case.leaks.ids.items() if ids]
    if case.leaks.text:
        locations.append("the answer")
    count = case.leaks.count(ANYWHERE)
    fact = f"{count} {'item' if count == 1 else 'items'} that this user must not see, in {', '.join(locations)}"
    return Blame("acl", locations[0], (fact,), "medium" if case.leaks.self_reported else "high")


def locked_out(case: Inquiry) -> Blame | None:
    """Access was denied, or nothing was shown, although the user may see what the case needs.

    If no stage returned anything in the whole run, the search may be down, so access is only one possible cause.
    """
    if case.good is not False or case.case.accepted_bits >> 2 & 1:
        return None
    is_retrieved = any(step.rank(unit) is not None for step in case.steps for unit in case.required)
    if case.did == "permission_denied" and not is_retrieved:
        fact = "permission was denied, and no stage returned what the case needs, which this user may see"
        return Blame("acl", _first_stage(case), (fact,), "high" if case.required else "medium")
    user = case.case.case.user
    if case.required and case.steps and user is not None and not any(step.ids for step in case.steps):
        if case.view is not None and not case.view.returned:
            fact = "no stage returned anything, for this case or any other of the run"
            return Blame("insufficient_trace", _first_stage(case), (fact,), "low", ("acl", "stale_index"))
        return Blame("acl", _first_stage(case), ("no stage returned anything for this user",), "medium")
    return None


def _first_stage(case: Inquiry) -> str | None:
    return case.steps[0].name if case.steps else None


# ── behaviour ────────────────────────────────────────────────────────────────────────────────────────────────────


def answered_anyway(case: Inquiry) -> Blame | None:
    """The system answered a case that expects a refusal or an escalation."""
    if case.good is not False or case.did != "answer" or case.case.accepted_bits & 1:
        return None
    return Blame("generator", GENERATE_STAGE, (f"answered where {case.case.case.behaviour} was expected",), "high")


# ── version ──────────────────────────────────────────────────────────────────────────────────────────────────────


def outdated_version(case: Inquiry) -> Blame | None:
    """A superseded version was shown instead of the evidence, or the document of the evidence is not in the index."""
    if case.good is not False and case.reached is not False:
        return None
    corpus = case.case.corpus
    superseded = case.case.joins.superseded(case.case.as_of)
    if corpus is None or superseded is None:
        return None
    for unit in case.lost:
        chunks = [corpus.chunks[chunk_id] for chunk_id in case.chunk_ids(unit)]
        if chunks and case.view is not None and all(case.view.missing(chunk) for chunk in chunks):
            return _report_missing_document(case, unit, chunks[0])
    documents = {corpus.chunks[chunk_id].document for unit in case.required for chunk_id in case.chunk_ids(unit)}
    # `superseded` counts only chunks of the corpus, so the look-up cannot fail.
    superseded_chunks = [corpus.chunks[chunk.chunk_id] for chunk in case.arrived if superseded.count([chunk])]
    old_chunks = [corpus_chunk for corpus_chunk in superseded_chunks if corpus_chunk.document in documents]
    if old_chunks and (case.reached is False or _is_answer_from(case, old_chunks)):
        names = ", ".join(corpus_chunk.chunk_id for corpus_chunk in old_chunks)
        return Blame("stale_index", INDEX_STAGE, (f"superseded, and shown to the generator: {names}",), "high")
    return None


def _report_missing_document(case: Inquiry, unit: int, corpus_chunk: CorpusChunk) -> Blame:
    assert case.view is not None
    version = " ".join(part for part in (corpus_chunk.document, corpus_chunk.version) if part)
    evidence = [f"no trace of this run shows anything of {version}, which holds {case.name(unit)}"]
    is_newer = case.view.later(corpus_chunk)
    if is_newer:
        evidence.append(f"it is in force since {corpus_chunk.valid_from}, later than everything that was shown")
    return Blame("stale_index", INDEX_STAGE, tuple(evidence), "high" if is_newer else "medium")


def _is_answer_from(case: Inquiry, old_chunks: list[CorpusChunk]) -> bool:
    """Whether the answer is based on a superseded text rather than on the one in force."""
    old_texts = [corpus_chunk.text for corpus_chunk in old_chunks if corpus_chunk.text]
    valid_texts = [text for unit in case.required for text in case.truth(unit)]
    for number in strange_numbers(case.answer, valid_texts):
        if not strange_numbers(number, old_texts):
            return True
    if any(holds(old_texts, fact) for fact in case.content.wrong):
        return True
    return support(case.answer, old_texts) > support(case.answer, valid_texts)


# ── stages ───────────────────────────────────────────────────────────────────────────────────────────────────────


def lost_on_the_way(case: Inquiry) -> Blame | None:
    """Required evidence did not reach the generator, because of how its text was indexed or of a stage that lost it."""
    if case.reached is not False:
        return None
    # Units that hold what the answer lacks come first; then a known cause, and one of the index, wins over others.
    lost_units = sorted(case.lost, key=partial(_has_no_missing_fact, case))
    losses = [_find_index_defect(case, unit) or blame(case.loss(unit)) for unit in lost_units]
    first = min(losses, key=lambda loss: (loss.cause == "insufficient_trace", loss.stage != INDEX_STAGE))
    also: dict[Cause, None] = {}
    evidence: dict[str, None] = {}
    for loss in losses:
        also |= dict.fromkeys(cause for cause in (loss.cause, *loss.also) if cause != first.cause)
        if loss.cause == first.cause:
            evidence |= dict.fromkeys(loss.evidence)
    return first._replace(also=tuple(also), evidence=tuple(evidence))


def _has_no_missing_fact(case: Inquiry, unit: int) -> bool:
    return not any(holds(case.truth(unit), fact) for fact in case.content.missing)


def worn_text(case: Inquiry) -> Blame | None:
    """The evidence reached the generator, but its indexed text lacks what the answer needed."""
    if case.good is not False or not case.reached:
        return None
    for unit in case.required:
        defect = _find_index_defect(case, unit)
        if defect is None:
            continue
        shown_texts, expected_texts = case.shown_of(unit), case.truth(unit)
        for fact in case.content.missing:
            if holds(expected_texts, fact) and not holds(shown_texts, fact):
                return defect._replace(evidence=(*defect.evidence, f"its indexed text lacks “{fact}”"))
        if defect.cause == "insufficient_trace":
            continue
        lost_words = _count_words(expected_texts) - _count_words(shown_texts)
        lost_query_words = lost_words.keys() & _count_words([case.query]).keys()
        if lost_query_words:
            fact = f"the lost text has the question's word “{min(lost_query_words)}”"
        elif case.did != "answer":
            fact = "it was not found to answer"
        else:
            continue
        return defect._replace(evidence=(*defect.evidence, fact), confidence="medium")
    return None


def _count_words(texts: Iterable[str]) -> Counter[str]:
    return Counter(word for text in texts for word in tokens(text))


def _find_index_defect(case: Inquiry, unit: int) -> Blame | None:
    """Return what is wrong with the indexed text of a unit, if all chunks that cover it have a defect."""
    chunk_ids = case.chunk_ids(unit)
    if case.view is None or not chunk_ids:
        return None
    defects: list[Damage] = []
    for chunk_id in chunk_ids:
        defect = case.view.damage(chunk_id)
        if defect is None:
            return None
        defects.append(defect)
    kind, fact = defects[0]
    if kind == "unclear":
        return Blame("insufficient_trace", INDEX_STAGE, (fact,), "low", ("parser", "chunking"))
    return Blame(kind, INDEX_STAGE, (fact,), "high")


# ── generation and citation ──────────────────────────────────────────────────────────────────────────────────────


def misused(case: Inquiry) -> Blame | None:
    """The generator had all required evidence and the answer is still not good."""
    if case.good is not False or not case.reached:
        return None
    evidence = ["all required evidence was in the context"]
    if case.did != "answer":
        evidence.append(f"the answer is {case.did.replace('_', ' ') if case.did else 'empty'}")
    if case.content.missing:
        evidence.append("missing: " + ", ".join(case.content.missing))
    if case.content.wrong:
        evidence.append("wrong: " + ", ".join(case.content.wrong))
    invented_numbers = strange_numbers(case.answer, [*case.context, case.case.case.question]) if case.context else []
    if invented_numbers:
        evidence.append("not in the context: " + ", ".join(invented_numbers))
    return Blame("generator", GENERATE_STAGE, tuple(evidence), "high" if case.context else "medium")


def cited_elsewhere(case: Inquiry) -> Blame | None:
    """The citations are missing or not from the context, and nothing else is wrong with the answer."""
    if case.good is False or not case.miscited:
        return None
    cited = case.seen.citations or ()
    for unit in case.required:
        defect = _find_index_defect(case, unit)
        if defect is not None and defect.cause == "chunking" and case.view is not None:
            pieces = [name for name in cited if case.view.strange(name)]
            if pieces:
                return defect._replace(evidence=(*defect.evidence, f"cited: {', '.join(pieces)}"))
    quality = "good" if case.good else "not known to be wrong"
    evidence = (f"the answer is {quality} and cites {', '.join(cited) or 'nothing'}",)
    return Blame("citation", CITE_STAGE, evidence, "high" if case.good else "medium")
