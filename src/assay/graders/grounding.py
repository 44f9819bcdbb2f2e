"""Does the answer rest on its sources? Every claim against the context, or against what is cited, by both instruments.

The rules instrument gives a claim a score (for ranking and trend until it is calibrated); a judge gives it a label.
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
"""The label of a claim where there is no source at all: nobody needs to be asked."""
UNSUPPORTED = (CONTRADICTED, NOT_FOUND.label)
"""The verdicts on claims that the sources do not support."""
CRITICAL = "critical"
"""The tag of cases on which every unsupported claim is critical."""
_ANSWER_BIT = 1 << BEHAVIOURS.index("answer")


def why_not(reading: Reading, against: str) -> Outcome | None:
    """Return why claims cannot be held against the sources; None where they can. What is cheap to tell comes first."""
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
    """1 where an answer claims nothing although it does not refuse, and there are sources for claims."""
    reason = why_not(reading, CONTEXT)
    return scored(float(reason is not None)) if reason is None or reason.reason == NO_CLAIMS else reason


# ── by rules ─────────────────────────────────────────────────────────────────────────────────────────────────────


def faithful_by_rules(reading: Reading, against: str = CONTEXT) -> Outcome:
    """The mean score of the claims."""
    reason = why_not(reading, against)
    if reason is not None:
        return reason
    as_held = held(reading, FAITHFULNESS[against])
    scores = [as_held.score(each) for each in reading.supports(against)]
    return scored(math.fsum(scores) / len(scores), listed("probably unsupported", _with(reading, against, UNSUPPORTED)))


def unsupported_by_rules(reading: Reading) -> Outcome:
    """How many claims the rules instrument holds to be unsupported."""
    reason = why_not(reading, CONTEXT)
    weak = [] if reason is not None else _with(reading, CONTEXT, UNSUPPORTED)
    return reason or scored(len(weak), listed("unsupported", weak))


def suspects_by_rules(reading: Reading) -> Outcome:
    """How many claims say nearly what a source says, with another fact in its place or turned round."""
    reason = why_not(reading, CONTEXT)
    found = [] if reason is not None else _with(reading, CONTEXT, (CONTRADICTED,))
    return reason or scored(len(found), listed("contradicted, it seems", found))


def critical_by_rules(reading: Reading) -> Outcome:
    """How many claims a source contradicts; on a critical case also those of which no source says anything."""
    reason = why_not(reading, CONTEXT)
    if reason is not None:
        return reason
    found = _with(reading, CONTEXT, UNSUPPORTED if is_critical(reading) else (CONTRADICTED,))
    return scored(len(found), listed("critical", found))


def _with(reading: Reading, against: str, verdicts: Collection[str]) -> list[str]:
    """Return the claims with one of these verdicts, each with what contradicts it."""
    as_held = held(reading, FAITHFULNESS[against])
    pairs = zip(reading.claims, reading.supports(against), strict=True)
    return [
        f"{claim.text} ({'; '.join(each.contradictions)})" if each.contradictions else claim.text
        for claim, each in pairs
        if as_held.verdict(each) in verdicts
    ]


# ── by a judge ───────────────────────────────────────────────────────────────────────────────────────────────────


def claims_by_judge(reading: Reading, rubrics: Rubrics, against: str = CONTEXT) -> Labels:
    """Ask about every claim; end with the label of each by its id."""
    reason = why_not(reading, against)
    if reason is not None:
        return reason
    if not reading.sources(against):
        return {claim.id: NOT_FOUND for claim in reading.claims}
    requests = reading.requests(RUBRIC, against, lambda: _requests(reading, rubrics, against))
    return labels_of((yield requests), requests)


def _requests(reading: Reading, rubrics: Rubrics, against: str) -> list[JudgeRequest]:
    texts = reading.sources(against)
    assert isinstance(texts, dict)
    beside = {
        "question": reading.question,
        "context": [{"id": chunk_id, "text": text} for chunk_id, text in texts.items()],
    }
    claims = [{"id": claim.id, "text": claim.text} for claim in reading.claims]
    return item_requests(rubric_of(rubrics, RUBRIC, reading.language), "claims", claims, beside)


def _lacking(reading: Reading, labels: dict[str, Labelled]) -> list[str]:
    """Return the claims that are not supported, each with its label."""
    return [f"{each.text} ({labels[each.id].label})" for each in reading.claims if labels[each.id].value != 1]


def faithful_by_judge(reading: Reading, rubrics: Rubrics, against: str = CONTEXT) -> Asking:
    """The mean of the claims' labels: the share of them that is supported."""
    labels = yield from claims_by_judge(reading, rubrics, against)
    if isinstance(labels, Outcome):
        return labels
    values = [each.value or 0.0 for each in labels.values()]
    return scored(math.fsum(values) / len(values), listed("unsupported", _lacking(reading, labels)))


def unsupported_by_judge(reading: Reading, rubrics: Rubrics) -> Asking:
    """How many claims are not supported by the context."""
    labels = yield from claims_by_judge(reading, rubrics)
    if isinstance(labels, Outcome):
        return labels
    lacking = _lacking(reading, labels)
    return scored(len(lacking), listed("unsupported", lacking))


def critical_by_judge(reading: Reading, rubrics: Rubrics) -> Asking:
    """How many claims contradict a source; on a critical case, how many are not supported."""
    labels = yield from claims_by_judge(reading, rubrics)
    if isinstance(labels, Outcome):
        return labels
    if is_critical(reading):
        found = _lacking(reading, labels)
    else:
        found = [claim.text for claim in reading.claims if labels[claim.id].label == CONTRADICTED]
    return scored(len(found), listed("critical", found))
