"""Faithfulness: every claim is compared with the context, or with what is cited, by rules or by a judge.

Rules give a claim a score (for ranking and trend until they are calibrated); a judge gives it a label.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from assay.graders.held import FAITHFULNESS, held
from assay.graders.judging import (
    Asking,
    Labelled,
    Labels,
    Outcome,
    Rubrics,
    item_requests,
    labels_of,
    not_applicable,
    rubric_of,
    scored,
)
from assay.graders.reading import CITED, NO_CLAIMS, NO_TEXT, REFUSED, Reading, listed
from assay.graders.stages import CONTEXT
from assay.model import BEHAVIOURS
from assay.verdict import JudgeRequest

RUBRIC = "support"
CONTRADICTED = "contradicted"
NOT_FOUND = Labelled("not_found", 0.0)
"""The label of a claim if there are no sources at all; no judge needs to be asked."""
UNSUPPORTED = (CONTRADICTED, NOT_FOUND.label)
"""The verdicts on claims that the sources do not support."""
CRITICAL = "critical"
"""The tag of cases on which every unsupported claim is critical."""
_ANSWER_BIT = 1 << BEHAVIOURS.index("answer")


def why_not(reading: Reading, against: str) -> Outcome | None:
    """Return why claims cannot be compared with the sources, or None if they can. Cheap conditions come first."""
    if against == CONTEXT and isinstance(reading.context, str):
        return not_applicable(reading.context)
    if against == CITED and not reading.has_texts:
        return not_applicable(NO_TEXT)
    if reading.refused:
        return not_applicable(REFUSED)
    if not reading.claims:
        return not_applicable(NO_CLAIMS)
    texts = reading.sources(against)
    return not_applicable(texts) if isinstance(texts, str) else None


def is_critical(reading: Reading) -> bool:
    """Return whether any unsupported claim is critical: the case is tagged so, or should not have been answered."""
    return CRITICAL in reading.case.case.tags or not reading.case.accepted_bits & _ANSWER_BIT


def without_claims(reading: Reading) -> Outcome:
    """1 if an answer makes no claims although it does not refuse and there are sources for claims, else 0."""
    unscored_outcome = why_not(reading, CONTEXT)
    if unscored_outcome is None:
        return scored(0.0)
    return scored(1.0) if unscored_outcome.reason == NO_CLAIMS else unscored_outcome


# ── by rules ─────────────────────────────────────────────────────────────────────────────────────────────────────


def faithful_by_rules(reading: Reading, against: str = CONTEXT) -> Outcome:
    """The mean score of the claims."""
    unscored_outcome = why_not(reading, against)
    if unscored_outcome is not None:
        return unscored_outcome
    calibrated_rules = held(reading, FAITHFULNESS[against])
    scores = [calibrated_rules.score(support) for support in reading.supports(against)]
    unsupported = _claims_with_verdict(reading, against, UNSUPPORTED)
    return scored(math.fsum(scores) / len(scores), listed("probably unsupported", unsupported))


def unsupported_by_rules(reading: Reading) -> Outcome:
    """The number of claims that are unsupported by rules."""
    unscored_outcome = why_not(reading, CONTEXT)
    if unscored_outcome is not None:
        return unscored_outcome
    unsupported = _claims_with_verdict(reading, CONTEXT, UNSUPPORTED)
    return scored(len(unsupported), listed("unsupported", unsupported))


def suspects_by_rules(reading: Reading) -> Outcome:
    """The number of claims that nearly match a source but change a fact or negate it."""
    unscored_outcome = why_not(reading, CONTEXT)
    if unscored_outcome is not None:
        return unscored_outcome
    contradicted = _claims_with_verdict(reading, CONTEXT, (CONTRADICTED,))
    return scored(len(contradicted), listed("probably contradicted", contradicted))


def critical_by_rules(reading: Reading) -> Outcome:
    """The number of claims that a source contradicts; on a critical case also those that no source mentions."""
    unscored_outcome = why_not(reading, CONTEXT)
    if unscored_outcome is not None:
        return unscored_outcome
    critical = _claims_with_verdict(reading, CONTEXT, UNSUPPORTED if is_critical(reading) else (CONTRADICTED,))
    return scored(len(critical), listed("critical", critical))


def _claims_with_verdict(reading: Reading, against: str, verdicts: Collection[str]) -> list[str]:
    """Return the claims with one of these verdicts, each with what contradicts it."""
    calibrated_rules = held(reading, FAITHFULNESS[against])
    texts = []
    for claim, support in zip(reading.claims, reading.supports(against), strict=True):
        if calibrated_rules.verdict(support) in verdicts:
            reasons = f" ({'; '.join(support.contradictions)})" if support.contradictions else ""
            texts.append(claim.text + reasons)
    return texts


# ── by a judge ───────────────────────────────────────────────────────────────────────────────────────────────────


def claims_by_judge(reading: Reading, rubrics: Rubrics, against: str = CONTEXT) -> Labels:
    """Ask about every claim; return the label of each by its id."""
    unscored_outcome = why_not(reading, against)
    if unscored_outcome is not None:
        return unscored_outcome
    if not reading.sources(against):
        return {claim.id: NOT_FOUND for claim in reading.claims}
    requests = reading.requests(RUBRIC, against, lambda: _claim_requests(reading, rubrics, against))
    return labels_of((yield requests), requests)


def _claim_requests(reading: Reading, rubrics: Rubrics, against: str) -> list[JudgeRequest]:
    texts = reading.sources(against)
    assert isinstance(texts, dict)
    other_inputs = {
        "question": reading.question,
        "context": [{"id": chunk_id, "text": text} for chunk_id, text in texts.items()],
    }
    claims = [{"id": claim.id, "text": claim.text} for claim in reading.claims]
    return item_requests(rubric_of(rubrics, RUBRIC, reading.language), "claims", claims, other_inputs)


def _unsupported_claims(reading: Reading, labels: dict[str, Labelled]) -> list[str]:
    """Return the claims that are not supported, each with its label."""
    return [f"{claim.text} ({labels[claim.id].label})" for claim in reading.claims if labels[claim.id].value != 1]


def faithful_by_judge(reading: Reading, rubrics: Rubrics, against: str = CONTEXT) -> Asking:
    """The mean of the claims' labels: the share of them that is supported."""
    labels = yield from claims_by_judge(reading, rubrics, against)
    if isinstance(labels, Outcome):
        return labels
    values = [claim_label.value or 0.0 for claim_label in labels.values()]
    return scored(math.fsum(values) / len(values), listed("unsupported", _unsupported_claims(reading, labels)))


def unsupported_by_judge(reading: Reading, rubrics: Rubrics) -> Asking:
    """How many claims are not supported by the context."""
    labels = yield from claims_by_judge(reading, rubrics)
    if isinstance(labels, Outcome):
        return labels
    unsupported = _unsupported_claims(reading, labels)
    return scored(len(unsupported), listed("unsupported", unsupported))


def critical_by_judge(reading: Reading, rubrics: Rubrics) -> Asking:
    """How many claims contradict a source; on a critical case, how many are not supported."""
    labels = yield from claims_by_judge(reading, rubrics)
    if isinstance(labels, Outcome):
        return labels
    if is_critical(reading):
        critical = _unsupported_claims(reading, labels)
    else:
        critical = [claim.text for claim in reading.claims if labels[claim.id].label == CONTRADICTED]
    return scored(len(critical), listed("critical", critical))
