"""Rules for evidence that is in the index under another id than its label names, or whose label names another chunk.

Where an answer is right and cites what it was shown, no search has failed, whatever ids the lists have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from assay.attribution.cause_finding import RECORD_CORPUS, RECORD_TEXTS, CauseFinding
from assay.attribution.cause_terms import GENERATE_STAGE, INDEX_STAGE
from assay.attribution.one_case.case_facts import CaseFacts
from assay.attribution.one_case.contained_facts import contains_fact, quote_facts
from assay.attribution.rules.generation_causes import IGNORED
from assay.attribution.rules.index_causes import find_index_defect
from assay.records.findings import CauseConfidence, RootCause
from assay.records.observations import Chunk
from assay.text.citation_markers import remove_citation_markers
from assay.text.tokens import is_stop_word, tokenise_text

_QUOTED = 6
"""How many words in a row an answer must have of a text to quote it."""


def find_quoted_evidence(case: CaseFacts) -> CauseFinding | None:
    """The answer quotes evidence that no stage has, and cites a chunk of the context for it that has other words, like
    every other: the text of the evidence was in the context under another id.

    Without a citation a model may know the words by heart.
    """
    cited = [chunk.chunk_id for chunk in case.arrived_chunks if case.is_citing(chunk.chunk_id)]
    if case.good is False or case.behaviour != "answer" or not cited:
        return None
    for unit in case.lost_units:
        if any(step.find_rank(unit) is not None for step in case.steps):
            continue
        quoted = _find_quote(case.answer, case.get_expected_texts(unit), case.context_texts)
        if quoted is not None:
            fact = f"the answer quotes {case.get_unit_name(unit)}, “{quoted}”, and cites {', '.join(cited)} for it"
            return CauseFinding("chunking", INDEX_STAGE, (fact,), "medium", ("stale_index",), "other_ids")
    return None


_ENCLOSED = 5
"""How many words a text must at least have for another one that has them all in a row to be known to contain it."""


def find_enclosed_evidence(case: CaseFacts) -> CauseFinding | None:
    """All lost evidence of a bad answer is in the context after all, whole, within the text of another id: a section
    that is shown in the place of its part, or a part with its neighbours. No step has lost it."""
    if case.good is not False or not case.lost_units:
        return None
    facts = []
    for unit in case.lost_units:
        owner = _find_enclosing(case, [*case.get_expected_texts(unit), *case.list_ranked_texts(unit)])
        if owner is None or _has_known_defect(
            case, unit
        ):  # documents that were split or merged otherwise are the cause
            return None
        facts.append(f"{owner} in the context has the whole text of {case.get_unit_name(unit)}")
    others: tuple[RootCause, ...] = ("golden_label_issue",)
    subcause = "" if case.behaviour == "answer" else IGNORED
    return CauseFinding("generator", GENERATE_STAGE, tuple(facts), "medium", others, subcause)


def _find_enclosing(case: CaseFacts, texts: Sequence[str]) -> str | None:
    """Return a chunk of the context whose text has one of these texts within it and more, None if none has."""
    wanted = [words for words in map(tokenise_text, texts) if len(words) >= _ENCLOSED]
    for chunk in case.arrived_chunks:
        own = tokenise_text(chunk.text or "")
        whole = f" {' '.join(own)} "
        if any(len(words) < len(own) and f" {' '.join(words)} " in whole for words in wanted):
            return chunk.chunk_id
    return None


def _find_quote(answer: str, texts: Iterable[str], other_texts: Iterable[str]) -> str | None:
    """Return the first words in a row of an answer that texts have and other texts have not, None without any."""
    words = tokenise_text(remove_citation_markers(answer))
    sources = [f" {' '.join(tokenise_text(text))} " for text in texts]
    others = [f" {' '.join(tokenise_text(text))} " for text in other_texts]
    for start in range(len(words) - _QUOTED + 1):
        run = " ".join(words[start : start + _QUOTED])
        if any(f" {run} " in text for text in sources) and not any(f" {run} " in text for text in others):
            return run
    return None


def find_answered_elsewhere(case: CaseFacts) -> CauseFinding | None:
    """A right answer cites a chunk of the context that no label names, or says what such a chunk has, and no evidence
    is in the context.

    What the answer says was found, so that no search lost it. Either its text is in the index under another id, or the
    label names another chunk than the one that says it (ADR 0149).
    """
    if not case.good or case.behaviour != "answer" or not case.lost_units:
        return None
    cited = [chunk for chunk in case.unlabelled_chunks if case.is_citing(chunk.chunk_id)]
    sources = cited or list_fact_sources(case)
    if not sources or any(_has_known_defect(case, unit) for unit in case.lost_units):
        return None
    names, lost = ", ".join(chunk.chunk_id for chunk in sources), ", ".join(map(case.get_unit_name, case.lost_units))
    grounds = f"cites {names}" if cited else f"has what {names} in the context says"
    fact = f"the answer is right and {grounds}, so that no search failed; {lost}, which is labelled, is not shown"
    if _lack_facts(case, [chunk.text for chunk in sources]):
        return None  # what is cited does not say it: the model may know it by heart
    if not case.has_shown_texts and _lack_facts(case, [case.get_chunk_text(name) for name in case.arrived_ids]):
        lack = "the corpus has nothing of what the answer says for any chunk of the context"
        return CauseFinding(
            "chunking", INDEX_STAGE, (fact, lack), "low", ("stale_index",), "other_ids", (RECORD_TEXTS,)
        )
    return CauseFinding(
        "insufficient_trace",
        None,
        (fact,),
        "low",
        ("golden_label_issue", "chunking"),
        record=(RECORD_TEXTS, RECORD_CORPUS),
    )


def list_fact_sources(case: CaseFacts) -> list[Chunk]:
    """Return the chunks of the context that no label names and that have everything the case looks for."""
    texts = {chunk.chunk_id: case.get_chunk_text(chunk.chunk_id) for chunk in case.unlabelled_chunks}
    return [
        chunk
        for chunk in case.unlabelled_chunks
        if case.facts and all(contains_fact([texts[chunk.chunk_id] or ""], fact) for fact in case.facts)
    ]


def _is_about_question(case: CaseFacts, chunk: Chunk) -> bool:
    """Whether a chunk has a word of the question, those of grammar aside: a figure alone may be there by chance."""
    asked = {word for word in tokenise_text(case.case.case.question) if not is_stop_word(word)}
    return not asked.isdisjoint(tokenise_text(case.get_chunk_text(chunk.chunk_id) or ""))


def suspect_label(case: CaseFacts, finding: CauseFinding) -> CauseFinding:
    """Return the finding on a bad answer with the label among its candidates, where the labelled evidence is not known
    to say what the case looks for and another chunk of the context does, which is about what is asked."""
    if case.good is not False or not case.required_units or finding.cause in _SETTLED:
        return finding
    sources = [chunk for chunk in list_fact_sources(case) if _is_about_question(case, chunk)]
    texts = [text for unit in case.required_units for text in case.get_expected_texts(unit)]
    texts += [text for unit in case.required_units for text in case.list_ranked_texts(unit)]
    is_supported = any(contains_fact(texts, fact) for fact in case.facts)
    if not sources or is_supported or "golden_label_issue" in finding.also:
        return finding
    names = ", ".join(map(case.get_unit_name, case.required_units))
    wanted = quote_facts(case.facts[:_MOST_QUOTED])
    lack = "the labelled evidence does not" if texts else "no stage has a text of the labelled evidence"
    fact = f"{sources[0].chunk_id} in the context has {wanted}, which the case looks for; {lack} ({names})"
    label: tuple[RootCause, ...] = ("golden_label_issue",)
    # Where no text of the evidence is known, only the other chunk speaks against the label, and may have it by chance.
    also = (*label, *finding.also) if texts else (*finding.also[:1], *label, *finding.also[1:])
    confidence: CauseConfidence = "medium" if finding.confidence == "high" else finding.confidence
    return structs.replace(finding, evidence=(*finding.evidence, fact), also=also, confidence=confidence)


_MOST_QUOTED = 3
_SETTLED: tuple[RootCause, ...] = ("acl", "golden_label_issue", "judge_noise")
"""Causes that are told before the label could explain anything, and the label itself."""


def _has_known_defect(case: CaseFacts, unit: int) -> bool:
    defect = find_index_defect(case, unit)
    return defect is not None and defect.cause != "insufficient_trace"


def _lack_facts(case: CaseFacts, texts: Sequence[str | None]) -> bool:
    """Whether all texts are known, and none has anything that the case looks for."""
    known_texts = [text for text in texts if text]
    is_known = bool(case.facts) and len(known_texts) == len(texts)
    return is_known and not any(contains_fact(known_texts, fact) for fact in case.facts)
