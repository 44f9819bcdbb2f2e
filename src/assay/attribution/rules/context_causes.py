"""Texts that were cut or exchanged between the ranking and the context."""

from __future__ import annotations

from collections import Counter

from assay.attribution.cause_finding import CauseFinding
from assay.attribution.one_case.case_facts import CaseFacts
from assay.attribution.one_case.contained_facts import contains_fact
from assay.records.observations import CONTEXT_STAGE
from assay.text.claims.passages import quote_difference
from assay.text.normalisation import fold_text
from assay.text.tokens import tokenise_text


def find_truncated_text(case: CaseFacts) -> CauseFinding | None:
    """The generator was shown less of the evidence's text than an earlier stage had, under the same id."""
    if case.good is not False or not case.reached or case.last_step is None:
        return None
    for chunk in case.arrived_chunks:
        whole_text = case.get_whole_text(chunk.chunk_id)
        if chunk.text is None or whole_text is None or not _is_evidence(case, chunk.chunk_id):
            continue
        if chunk.text_hash is not None:  # the hash of the whole text says that the trace shows an excerpt
            continue
        lost = Counter(tokenise_text(whole_text)) - Counter(tokenise_text(chunk.text))
        added = Counter(tokenise_text(chunk.text)) - Counter(tokenise_text(whole_text))
        # A text that was cut inside a word has one word that the whole text does not have.
        if not lost or added.total() > 1 or lost.total() <= added.total():
            continue
        missing = [fact for fact in case.content_quality.missing if contains_fact([whole_text], fact)]
        if case.content_quality.missing and not [fact for fact in missing if not contains_fact([chunk.text], fact)]:
            continue
        passage = quote_difference(whole_text, chunk.text)
        fact = f"{chunk.chunk_id} is shown without “{passage}”, which an earlier stage has"
        return CauseFinding("context_builder", CONTEXT_STAGE, (fact,), "high", subcause="text_truncated")
    return None


def find_exchanged_text(case: CaseFacts) -> CauseFinding | None:
    """Evidence, or what the answer cites, is shown with the text that an earlier stage has under another id.

    A text that contains the chunk's own, such as that of its parent, is none of another chunk.
    """
    if case.last_step is None:
        return None
    texts: dict[str, str] = {}
    for chunk in [chunk for step in case.steps if step is not case.last_step for chunk in step.stage.chunks]:
        if chunk.text:
            texts.setdefault(chunk.chunk_id, fold_text(chunk.text))
    for chunk in case.arrived_chunks:
        own, shown = texts.get(chunk.chunk_id), fold_text(chunk.text or "")
        if own is None or own in shown or not (_is_evidence(case, chunk.chunk_id) or case.is_citing(chunk.chunk_id)):
            continue
        owner = next((name for name, text in texts.items() if text == shown), None)
        if owner is not None:
            fact = f"{chunk.chunk_id} is shown with the text that an earlier stage has for {owner}"
            return CauseFinding("context_builder", CONTEXT_STAGE, (fact,), "high", subcause="text_exchanged")
    return None


def _is_evidence(case: CaseFacts, chunk_id: str) -> bool:
    masks = case.case.evidence.unit_masks(case.arrived_chunks)
    return any(mask and chunk.chunk_id == chunk_id for chunk, mask in zip(case.arrived_chunks, masks, strict=True))
