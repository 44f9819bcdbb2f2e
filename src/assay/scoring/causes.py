"""The root causes of [001]: the sign of each, what to try first, and the rules that tell them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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

INDEX, GENERATE, CITE = "index", "generate", "cite"


class Note(NamedTuple):
    """What a cause looks like, and what to try first."""

    sign: str
    fix: str


NOTES: Mapping[Cause, Note] = MappingProxyType(
    {
        "parser": Note(
            "the indexed text lacks a table, heading or footnote of the document",
            "mend the parser: OCR, extraction of tables and footnotes, headings",
        ),
        "chunking": Note(
            "the evidence is cut, merged or spread over chunks that are not those of the corpus",
            "chunk by section, with overlap or parent and child chunks; then relink the labels",
        ),
        "embedding": Note(
            "the vector search does not find the evidence",
            "another embedding model; normalise queries (codes, abbreviations, diacritics); add examples",
        ),
        "bm25_analyzer": Note(
            "the evidence shares words with the question and the keyword search does not find it",
            "mend the analyzer: fold diacritics and case, keep codes whole, add synonyms",
        ),
        "hybrid_merge": Note(
            "one search has the evidence near the top and the merge loses it",
            "merge by reciprocal rank, set the weights again, enlarge the pool",
        ),
        "reranker": Note(
            "the evidence is handed to the reranker within reach and comes out too low",
            "another reranking model or prompt; train it on pairs; rerank more candidates",
        ),
        "context_builder": Note(
            "the evidence is ranked high enough and is not in the context",
            "raise the token budget; remove duplicates; pack by rank",
        ),
        "generator": Note(
            "the evidence is in the context and the answer does not use it as it should",
            "tighten the prompt; another model; constrained output; examples, also of refusals",
        ),
        "citation": Note(
            "the answer is right and cites something else",
            "align each claim with its source; validate citations against the context",
        ),
        "acl": Note(
            "the asker is shown too much, or is denied what they may see",
            "make the filters mandatory and test them; keep the policy as code",
        ),
        "stale_index": Note(
            "an old version is served, or the version in force is not indexed",
            "index again; record the index version; alert on freshness",
        ),
        "golden_label_issue": Note(
            "the label contradicts the corpus or its own evidence",
            "correct the golden set: relink the evidence, or mend the reference",
        ),
        "judge_noise": Note(
            "the judge contradicts what the answer's text shows, or itself",
            "ask for more votes; calibrate the judge; prefer the deterministic signal here",
        ),
        "insufficient_trace": Note(
            "the trace does not tell",
            "report every stage with its chunks, and the text of the context; score with a corpus",
        ),
    }
)


# ── access ───────────────────────────────────────────────────────────────────────────────────────────────────────


def leaked(case: Inquiry) -> Blame | None:
    """Something was shown that the asker must not see; obeying a planted instruction is the generator's doing."""
    if not case.leaks.count(ANYWHERE):
        return None
    planted = case.case.case.forbidden_text if INJECTION in case.case.case.tags else ()
    obeyed = canaries(case.answer, planted) if case.answer else []
    if obeyed and not case.leaks.ids and set(case.leaks.text) <= set(obeyed):
        return Blame("generator", GENERATE, ("a planted instruction was followed",), "high")
    places = [name for name, ids in case.leaks.ids.items() if ids] + (["the answer"] if case.leaks.text else [])
    count = case.leaks.count(ANYWHERE)
    seen = f"{count} {'item' if count == 1 else 'items'} that this user must not see, in {', '.join(places)}"
    return Blame("acl", places[0], (seen,), "medium" if case.leaks.self_reported else "high")


def locked_out(case: Inquiry) -> Blame | None:
    """Denied, or shown nothing at all, where nothing is to be denied; a search that is down shows nobody anything."""
    if case.good is not False or case.case.accepted_bits >> 2 & 1:
        return None
    found = any(step.rank(unit) is not None for step in case.steps for unit in case.required)
    if case.did == "permission_denied" and not found:
        seen = "permission was denied, and no stage returned what the case needs, which this user may see"
        return Blame("acl", _first_stage(case), (seen,), "high" if case.required else "medium")
    user = case.case.case.user
    if case.required and case.steps and user is not None and not any(step.ids for step in case.steps):
        if case.view is not None and not case.view.returned:
            seen = "no stage returned anything, for this case or any other of the run"
            return Blame("insufficient_trace", _first_stage(case), (seen,), "low", ("acl", "stale_index"))
        return Blame("acl", _first_stage(case), ("no stage returned anything for this user",), "medium")
    return None


def _first_stage(case: Inquiry) -> str | None:
    return case.steps[0].name if case.steps else None


# ── behaviour ────────────────────────────────────────────────────────────────────────────────────────────────────


def answered_anyway(case: Inquiry) -> Blame | None:
    """Answered where only a refusal or a hand-over was right."""
    if case.good is not False or case.did != "answer" or case.case.accepted_bits & 1:
        return None
    return Blame("generator", GENERATE, (f"answered where {case.case.case.behaviour} was expected",), "high")


# ── version ──────────────────────────────────────────────────────────────────────────────────────────────────────


def outdated_version(case: Inquiry) -> Blame | None:
    """A superseded version was served instead of the evidence, or its document is not in the index."""
    if case.good is not False and case.reached is not False:
        return None
    corpus = case.case.corpus
    superseded = case.case.joins.superseded(case.case.as_of)
    if corpus is None or superseded is None:
        return None
    for unit in case.lost:
        chunks = [corpus.chunks[chunk_id] for chunk_id in case.chunk_ids(unit)]
        if chunks and case.view is not None and all(case.view.missing(chunk) for chunk in chunks):
            return _unindexed(case, unit, chunks[0])
    documents = {corpus.chunks[each].document for unit in case.required for each in case.chunk_ids(unit)}
    old = [
        known
        for chunk in case.arrived
        if superseded.count([chunk]) and (known := corpus.chunks[chunk.chunk_id]).document in documents
    ]
    if old and (case.reached is False or _taken_from(case, old)):
        names = ", ".join(known.chunk_id for known in old)
        return Blame("stale_index", INDEX, (f"superseded, and shown to the generator: {names}",), "high")
    return None


def _unindexed(case: Inquiry, unit: int, known: CorpusChunk) -> Blame:
    assert case.view is not None
    version = " ".join(part for part in (known.document, known.version) if part)
    evidence = [f"no trace of this run shows anything of {version}, which holds {case.name(unit)}"]
    later = case.view.later(known)
    if later:
        evidence.append(f"it is in force since {known.valid_from}, later than everything that was shown")
    return Blame("stale_index", INDEX, tuple(evidence), "high" if later else "medium")


def _taken_from(case: Inquiry, old: list[CorpusChunk]) -> bool:
    """Whether the answer rests on a superseded text rather than on the one in force."""
    texts = [known.text for known in old if known.text]
    truth = [text for unit in case.required for text in case.truth(unit)]
    stale = [number for number in strange_numbers(case.answer, truth) if not strange_numbers(number, texts)]
    wrong = [fact for fact in case.content.wrong if holds(texts, fact)]
    return bool(stale or wrong) or support(case.answer, texts) > support(case.answer, truth)


# ── stages ───────────────────────────────────────────────────────────────────────────────────────────────────────


def lost_on_the_way(case: Inquiry) -> Blame | None:
    """Required evidence did not reach the generator: how its text was indexed, else the stage that lost it."""
    if case.reached is not False:
        return None
    found = [_of_index(case, unit) or blame(case.loss(unit)) for unit in sorted(case.lost, key=partial(_weight, case))]
    first = min(found, key=lambda each: (each.cause == "insufficient_trace", each.stage != INDEX))
    also = [cause for each in found for cause in (each.cause, *each.also) if cause != first.cause]
    evidence = tuple(dict.fromkeys(fact for each in found if each.cause == first.cause for fact in each.evidence))
    return first._replace(also=tuple(dict.fromkeys(also)), evidence=evidence)


def _weight(case: Inquiry, unit: int) -> bool:
    """Lost units that hold what the answer lacks come first."""
    return not any(holds(case.truth(unit), fact) for fact in case.content.missing)


def worn_text(case: Inquiry) -> Blame | None:
    """The evidence arrived, but its indexed text lacks what the answer needed."""
    if case.good is not False or not case.reached:
        return None
    for unit in case.required:
        damaged = _of_index(case, unit)
        if damaged is None:
            continue
        shown, truth = case.shown_of(unit), case.truth(unit)
        lacking = [fact for fact in case.content.missing if holds(truth, fact) and not holds(shown, fact)]
        if lacking:
            return damaged._replace(evidence=(*damaged.evidence, f"what is indexed of it lacks “{lacking[0]}”"))
        if damaged.cause == "insufficient_trace":
            continue
        asked = (_words(truth) - _words(shown)).keys() & _words([case.query]).keys()
        if asked or case.did != "answer":
            seen = f"the question's “{min(asked)}” stands in what is lost" if asked else "it was not found to answer"
            return damaged._replace(evidence=(*damaged.evidence, seen), confidence="medium")
    return None


def _words(texts: Iterable[str]) -> Counter[str]:
    return Counter(word for text in texts for word in tokens(text))


def _of_index(case: Inquiry, unit: int) -> Blame | None:
    """What is wrong with the indexed text of a unit, where every chunk that covers it has something wrong."""
    ids = case.chunk_ids(unit)
    found = [case.view.damage(chunk_id) for chunk_id in ids] if case.view is not None else []
    damages: list[Damage] = [each for each in found if each is not None]
    if not damages or len(damages) < len(ids):
        return None
    kind, seen = damages[0]
    if kind == "unclear":
        return Blame("insufficient_trace", INDEX, (seen,), "low", ("parser", "chunking"))
    return Blame(kind, INDEX, (seen,), "high")


# ── generation and citation ──────────────────────────────────────────────────────────────────────────────────────


def misused(case: Inquiry) -> Blame | None:
    """The generator had what it needed, and the answer is not good."""
    if case.good is not False or not case.reached:
        return None
    evidence = ["all required evidence was in the context"]
    if case.did != "answer":
        evidence.append(f"the answer is {case.did.replace('_', ' ') if case.did else 'empty'}")
    if case.content.missing:
        evidence.append("missing: " + ", ".join(case.content.missing))
    if case.content.wrong:
        evidence.append("wrong: " + ", ".join(case.content.wrong))
    invented = strange_numbers(case.answer, [*case.context, case.case.case.question]) if case.context else []
    if invented:
        evidence.append("not in the context: " + ", ".join(invented))
    return Blame("generator", GENERATE, tuple(evidence), "high" if case.context else "medium")


def cited_elsewhere(case: Inquiry) -> Blame | None:
    """An answer that nothing else is wrong with, and whose citations are missing, or are not from the context."""
    if case.good is False or not case.miscited:
        return None
    cited = case.seen.citations or ()
    for unit in case.required:
        damaged = _of_index(case, unit)
        if damaged is not None and damaged.cause == "chunking" and case.view is not None:
            pieces = [name for name in cited if case.view.strange(name)]
            if pieces:
                return damaged._replace(evidence=(*damaged.evidence, f"cited: {', '.join(pieces)}"))
    evidence = (f"the answer is {'good' if case.good else 'not known to be wrong'} and cites {_listed(cited)}",)
    return Blame("citation", CITE, evidence, "high" if case.good else "medium")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"
