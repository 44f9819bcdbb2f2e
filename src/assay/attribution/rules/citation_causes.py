"""Citations that are missing, name something else than the source of what is said, or name too much."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from assay.attribution.cause_finding import RECORD_CORPUS, RECORD_TEXTS, CauseFinding
from assay.attribution.cause_terms import INDEX_STAGE
from assay.attribution.index.chunk_words import is_piece_name
from assay.attribution.one_case.case_facts import CaseFacts
from assay.attribution.one_case.contained_facts import contains_fact
from assay.attribution.rules.index_causes import find_index_defect
from assay.metrics.grounding.citation_placement import judge_placements
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.findings import CauseConfidence, RootCause
from assay.text.citation_markers import remove_citation_markers

CITE_STAGE = "cite"


def find_uncited_answer(case: CaseFacts) -> CauseFinding | None:
    """The target reports its citations, and this answer has none although its evidence was shown.

    Without a `must_cite` that fails no check (ADR 0006), so that it is a doubt.
    """
    is_reported = case.observation.citations is not None and not case.observation.citations
    has_evidence = bool(case.required_units) and case.reached is True
    if not is_reported or not has_evidence or case.behaviour != "answer" or case.good is False:
        return None
    if remove_citation_markers(case.answer) != case.answer:
        return None
    fact = "the target reports citations, and the answer has none, in its text or beside it"
    return CauseFinding("citation", CITE_STAGE, (fact,), "medium", subcause="uncited")


def find_wrong_citation(case: CaseFacts) -> CauseFinding | None:
    """The citations are missing, not from the context or beside the evidence, and the answer is not known to be bad."""
    if case.good is False:
        return None
    cited = case.observation.citations or ()
    if not case.is_miscited:
        return _find_misplaced_citation(case, cited)
    for unit in case.required_units:
        defect = find_index_defect(case, unit)
        if defect is not None and defect.cause == "chunking" and case.index_view is not None:
            pieces = [name for name in cited if case.index_view.indexed.is_unknown_chunk(name)]
            if pieces:
                return structs.replace(defect, evidence=(*defect.evidence, f"cited: {', '.join(pieces)}"))
    quality = "good" if case.good else "not known to be wrong"
    confidence: CauseConfidence = "high" if case.good else "medium"
    outside = case.list_outside_citations()
    if cited and not outside:
        return (
            _report_missing_source(case, cited, confidence)
            or _find_misplaced_citation(case, cited)
            or _report_citation_beside_source(case, confidence)
        )
    evidence = (f"the answer is {quality} and cites {', '.join(outside) or 'nothing'}",)
    subcause = "outside_context" if outside else "uncited"
    return CauseFinding("citation", CITE_STAGE, evidence, confidence, subcause=subcause)


def _report_missing_source(case: CaseFacts, cited: tuple[str, ...], confidence: CauseConfidence) -> CauseFinding | None:
    """All citations are from the context, and a source that the case requires is not among them."""
    missing = case.list_missing_sources()
    if not missing:
        return None
    unknown = [name for name in missing if not case.is_known_source(name)]
    if unknown:
        fact = f"{', '.join(unknown)}, which the case requires, is no chunk or document of the corpus or of the trace"
        return CauseFinding("golden_label_issue", None, (fact,), "medium", ("citation",), "unknown_source")
    fact = f"the answer cites {', '.join(cited)} and not {', '.join(missing)}, which the case requires"
    return CauseFinding("citation", CITE_STAGE, (fact,), confidence, subcause="other_source")


def _report_citation_beside_source(case: CaseFacts, confidence: CauseConfidence) -> CauseFinding | None:
    """A claim cites a chunk of the context, and another one supports it far better (ADR 0100)."""
    misplaced = judge_placements(ParsedAnswer(case.case, case.observation)).misplaced
    if not misplaced:
        return None
    evidence = tuple(f"cites {name} for what stands in {better}" for name, better in misplaced)
    return CauseFinding("citation", CITE_STAGE, evidence, confidence, subcause="wrong_in_context")


def _find_misplaced_citation(case: CaseFacts, cited: tuple[str, ...]) -> CauseFinding | None:
    """The answer cites only chunks of the context that are no evidence, while the evidence is in the context."""
    if not cited or not case.required_units or not case.reached or case.behaviour != "answer":
        return None
    masks = case.case.evidence.unit_masks(case.arrived_chunks)
    labelled = {chunk.chunk_id for chunk, mask in zip(case.arrived_chunks, masks, strict=True) if mask}
    if any(case.is_citing(name) for name in labelled):
        return _find_lesser_citation(case, cited)
    pieces = [name for name in cited if case.index_view is not None and case.index_view.indexed.is_unknown_chunk(name)]
    if pieces:
        fact = f"cites {', '.join(pieces)}, which the corpus does not have and which is part of its documents"
        return CauseFinding("chunking", INDEX_STAGE, (fact,), "medium", ("golden_label_issue",), "other_ids")
    pieces = [name for name in cited if any(is_piece_name(name, whole) for whole in labelled)]
    if pieces and case.case.corpus is None:
        fact = f"cites {', '.join(pieces)}, which is named as a piece of the evidence"
        return CauseFinding(
            "chunking", INDEX_STAGE, (fact,), "low", ("golden_label_issue",), "other_ids", (RECORD_CORPUS,)
        )
    texts = [text for text in map(case.get_chunk_text, cited) if text]
    evidence = (f"cites {', '.join(cited)}; the evidence in the context is {', '.join(sorted(labelled))}",)
    answered_facts = [fact for fact in case.facts if contains_fact([case.answer], fact)]
    if answered_facts and texts and all(contains_fact(texts, fact) for fact in answered_facts):
        fact = "what is cited has all that the case looks for"
        return CauseFinding(
            "golden_label_issue", None, (*evidence, fact), "medium", ("citation",), "unlabelled_duplicate"
        )
    if not case.has_shown_texts:  # the context may show the text of the evidence under the id that is cited
        others: tuple[RootCause, ...] = ("context_builder",)
        return CauseFinding("citation", CITE_STAGE, evidence, "medium", others, "wrong_in_context", (RECORD_TEXTS,))
    confidence: CauseConfidence = "high" if texts else "medium"
    return CauseFinding("citation", CITE_STAGE, evidence, confidence, subcause="wrong_in_context")


def _find_lesser_citation(case: CaseFacts, cited: tuple[str, ...]) -> CauseFinding | None:
    """The answer cites a lesser source that has none of its facts, and not the required chunk that has them."""
    required_texts = dict(case.list_evidence_texts())
    if not case.context_texts:
        return _report_wholesale_citation(case, cited)
    answered_facts = [fact for fact in case.facts if contains_fact([case.answer], fact)]
    if not contains_every_fact(required_texts.values(), answered_facts):
        return None
    idle = [name for name in cited if _is_idle(case.get_chunk_text(name), answered_facts)]
    if any(map(case.is_citing, required_texts)):
        return _report_idle_citations(idle, cited)
    if len(idle) < len(cited):
        return None
    evidence = (
        f"cites {', '.join(cited)}, which has nothing of what the answer states; {', '.join(required_texts)} has",
    )
    return CauseFinding("citation", CITE_STAGE, evidence, "medium", subcause="wrong_in_context")


def _report_wholesale_citation(case: CaseFacts, cited: tuple[str, ...]) -> CauseFinding | None:
    """No text tells what the cited chunks have, and the run cites whatever it shows."""
    masks = case.case.evidence.unit_masks(case.arrived_chunks)
    idle = [chunk.chunk_id for chunk, mask in zip(case.arrived_chunks, masks, strict=True) if not mask]
    idle = [name for name in idle if name in cited]
    if case.index_view is None or not case.index_view.is_cited_wholesale or len(idle) < 2:
        return None
    fact = f"cites {', '.join(idle)}, which are no evidence, as the answers of the run cite all that they are shown"
    return CauseFinding("citation", CITE_STAGE, (fact,), "low", subcause="over_cited", record=(RECORD_TEXTS,))


def _is_idle(text: str | None, facts: Sequence[str]) -> bool:
    """Whether a cited text is known and has none of the facts of the answer."""
    return bool(text) and not any(contains_fact([text or ""], fact) for fact in facts)


def _report_idle_citations(idle: list[str], cited: tuple[str, ...]) -> CauseFinding | None:
    """The source is cited, and beside it at least as many chunks that have nothing of what the answer states."""
    if 2 * len(idle) < len(cited) or len(idle) < 2:
        return None
    fact = f"cites {', '.join(idle)}, which have nothing of what the answer states"
    return CauseFinding("citation", CITE_STAGE, (fact,), "medium", subcause="over_cited")


def contains_every_fact(texts: Iterable[str], facts: Sequence[str]) -> bool:
    """Return whether there are facts and texts have every one of them."""
    known_texts = list(texts)
    return bool(facts) and all(contains_fact(known_texts, fact) for fact in facts)
