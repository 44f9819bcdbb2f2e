"""Citation precision: does each citation name the source of a claim, rather than a neighbour, a surplus or nothing?

A cited source is compared with the other chunks of the context: it is wrong if another chunk supports every claim that
it is cited for clearly better. The comparison needs no scale, unlike the support itself, because all chunks are read by
the same rules. Where no chunk of the context supports a claim, nothing can be said against what is cited for it
(ADR 0040).
"""

from __future__ import annotations

import math

from assay.metrics.answer_metric import Scorers, define_answer_metric
from assay.metrics.judged.judge_requests import Outcome, not_applicable_outcome, scored_outcome
from assay.metrics.metric import Metric
from assay.metrics.parsed_answer import (
    NO_CLAIMS,
    NO_TEXT,
    REFUSED,
    Citation,
    ParsedAnswer,
    format_list,
)
from assay.text.claims.claim_segments import Claim

CLEARLY_BETTER = 0.5
"""By how much the z of another chunk's support must exceed that of the cited source, for it to be the right one."""
LEAST_SUPPORT = 0.3
"""The z of a claim's support, by its best chunk or by all, from which its sources can be compared."""
LEAST_CONTRIBUTION = 0.25
"""How much z a claim's sources must lose without one of them for it to contribute to what they support jointly."""
_MOST_JOINT = 20  # citations of one claim that are examined for what they support jointly


def find_better_source(
    citation: Citation, reading: ParsedAnswer, least_advantage: float = CLEARLY_BETTER
) -> str | None:
    """Return the chunk of the context that supports what a citation is cited for clearly better, None if none does.

    `least_advantage` is how much more z its support must have. Every claim that the citation may serve must have a
    better source; claims that no chunk supports do not count, unless there are no others.
    """
    better = None
    for claim in list_served_claims(citation, reading):
        support = reading.support_by_context(claim)
        best_id = support.source
        if best_id is None or not _is_comparable(citation, best_id, reading):
            continue
        best_ids = frozenset((best_id,))
        if support.z < LEAST_SUPPORT and reading.support_by_context(claim, best_ids).z < LEAST_SUPPORT:
            continue
        if best_id in citation.texts:  # most citations are right: how well the chunk supports alone is not needed
            return None
        advantage = reading.support_by_context(claim, best_ids).z - reading.support_by_chunks(claim, citation.texts).z
        if advantage < least_advantage or _contributes(citation, claim, reading):
            return None
        better = better or best_id
    return better


def _is_comparable(citation: Citation, best_id: str, reading: ParsedAnswer) -> bool:
    """Return whether the cited source and another chunk are in one language as far as their letters tell."""
    if citation.texts.keys() == {best_id}:
        return True
    cited, best = reading.select_context(frozenset(citation.texts)), reading.select_context(frozenset((best_id,)))
    return cited.has_diacritics == best.has_diacritics


def list_served_claims(citation: Citation, reading: ParsedAnswer) -> tuple[Claim, ...]:
    """Return the claims that a citation may be meant for.

    One of the whole answer serves every claim; one that is attached to a claim serves it and the claims before it that
    have no citation, back to the last that has one: many answers cite at the end of a paragraph.
    """
    if citation.claim is None:
        return reading.claims
    position = next(number for number, claim in enumerate(reading.claims) if claim.id == citation.claim.id)
    first = position
    while first > 0 and reading.claims[first - 1].id not in reading.citations_by_claim:
        first -= 1
    return reading.claims[first : position + 1]


def _contributes(citation: Citation, claim: Claim, reading: ParsedAnswer) -> bool:
    """Return whether the sources cited for a claim, or for the answer, support it clearly less without this one."""
    citations = reading.citations if citation.claim is None else reading.citations_by_claim[citation.claim.id]
    if not 1 < len(citations) <= _MOST_JOINT:
        return False
    all_ids = {chunk_id for other in citations for chunk_id in other.texts}
    other_ids = {chunk_id for other in citations if other is not citation for chunk_id in other.texts}
    joint_z = reading.support_by_chunks(claim, all_ids).z
    return joint_z - reading.support_by_chunks(claim, other_ids).z >= LEAST_CONTRIBUTION


def score_citation_precision(reading: ParsedAnswer) -> Outcome:
    """The share of citations that are right: they were shown, the user may see them, and no other chunk is clearly
    better."""
    context_texts = reading.context_texts
    if isinstance(context_texts, str):
        return not_applicable_outcome(context_texts)
    if reading.is_refusal:
        return not_applicable_outcome(REFUSED)
    if not reading.claims:
        return not_applicable_outcome(NO_CLAIMS)
    if isinstance(reading.cited_texts, str) and reading.cited_texts != NO_TEXT:
        return not_applicable_outcome(reading.cited_texts)
    wrong = [fault for fault in (_find_fault(citation, reading) for citation in reading.citations) if fault]
    right = len(reading.citations) - len(wrong)
    return scored_outcome(math.fsum([right]) / len(reading.citations), format_list("wrong", wrong))


def _find_fault(citation: Citation, reading: ParsedAnswer) -> str:
    """Return what is wrong with a citation, "" if nothing is."""
    assert isinstance(reading.context_texts, dict)
    if not citation.texts:
        return f"{citation.name} does not exist"
    if citation.name in reading.access.forbidden:
        return f"{citation.name} is out of the user's reach"
    if reading.context_texts.keys().isdisjoint(citation.texts):
        return f"{citation.name} was not in the context"
    better = find_better_source(citation, reading) if all(citation.texts.values()) else None
    return f"{citation.name}, but {better}" if better is not None else ""


CITATION_PRECISION_METRICS: tuple[Metric, ...] = (
    define_answer_metric(
        "citation_precision",
        "Share of citations that name the source of a claim: shown, within reach, and not clearly worse than another.",
        "ADR 0040: cited sources compared with the other chunks of the context",
        "refused, nothing claimed, no citations, no context reported, or a chunk of it without text",
        Scorers(score_citation_precision),
        yields_to_leaks=True,
    ),
)
