"""Metrics of citation support: every citation is compared with the claim that it is attached to.

Citations given for the answer as a whole are compared with all of its claims and need to support one of them.
"""

from __future__ import annotations

import math

from assay.graders.grounding import NOT_FOUND, UNSUPPORTED, claims_by_judge
from assay.graders.held import CITATION_SUPPORT, FAITHFULNESS, Held, held
from assay.graders.judging import (
    MOST_ITEMS,
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
    together,
)
from assay.graders.reading import NO_CLAIMS, NO_TEXT, REFUSED, Citation, Reading, listed
from assay.graders.stages import CONTEXT
from assay.metrics.claims import Claim
from assay.metrics.support import Support
from assay.verdict import JudgeRequest

RUBRIC = "citation_support"
NECESSARY = 0.1
"""How much less support a claim must have without a citation for the citation to share in what they support jointly."""
MOST_JOINT = 20
"""Citations of one claim that can support it jointly; of more, each has to support it alone."""
MISSING = Labelled("missing", 0.0)
"""The label of a citation that names nothing known."""


def why_not(reading: Reading) -> Outcome | None:
    """Return why citations cannot be compared with claims, or None if they can."""
    if not reading.has_texts:
        return not_applicable(NO_TEXT)
    if reading.refused:
        return not_applicable(REFUSED)
    if not reading.claims:
        return not_applicable(NO_CLAIMS)
    texts = reading.cited
    if isinstance(texts, str):
        return not_applicable(texts)
    return None


# ── by rules ─────────────────────────────────────────────────────────────────────────────────────────────────────


def support_by_rules(reading: Reading) -> Outcome:
    """The mean, over citations, of the score of the claim by the cited source alone; 0 for one that names nothing.

    A citation without which the claim has less support shares in what all citations of the claim support together.
    """
    unscored_outcome = why_not(reading)
    if unscored_outcome is not None:
        return unscored_outcome
    calibrated_rules = held(reading, CITATION_SUPPORT)
    scores = [_score_citation(citation, reading, calibrated_rules) for citation in reading.citations]
    weak = [citation.name for citation, score in zip(reading.citations, scores, strict=True) if score < WEAK]
    return scored(math.fsum(scores) / len(scores), listed("weak", weak))


WEAK = 0.3
"""Citations with a lower score by rules are listed in the explanation of a case."""


def _score_citation(citation: Citation, reading: Reading, calibrated_rules: Held) -> float:
    if not citation.texts:
        return 0.0
    score = calibrated_rules.score(support_of(citation, reading))
    citations_of_claim = reading.beside[citation.claim.id] if citation.claim is not None else []
    if citation.claim is not None and 1 < len(citations_of_claim) <= MOST_JOINT:
        joint_score = calibrated_rules.score(joint_support(citation.claim, reading))
        other_ids = {name for neighbour in citations_of_claim if neighbour is not citation for name in neighbour.texts}
        if joint_score - calibrated_rules.score(reading.support_by(citation.claim, other_ids)) >= NECESSARY:
            return max(score, joint_score)
    return score


def support_of(citation: Citation, reading: Reading) -> Support:
    """Return the support of the cited source alone; a citation of the whole answer is scored on its best claim."""
    claims = reading.claims if citation.claim is None else (citation.claim,)
    return max((reading.support_by(claim, citation.texts) for claim in claims), key=lambda support: support.z)


def joint_support(claim: Claim, reading: Reading) -> Support:
    """Return the support that all sources cited for a claim give it together."""
    return reading.support_by(claim, {name for citation in reading.beside[claim.id] for name in citation.texts})


def misattributed_by_rules(reading: Reading) -> Outcome:
    """The share of attached citations whose source does not support the claim although another context chunk does."""
    citations = _attached_citations(reading)
    if isinstance(citations, Outcome):
        return citations
    best_supports = dict(zip((claim.id for claim in reading.claims), reading.supports(CONTEXT), strict=True))
    calibrated_claims, calibrated_citations = held(reading, FAITHFULNESS[CONTEXT]), held(reading, CITATION_SUPPORT)
    misattributed = []
    for citation in citations:
        assert citation.claim is not None
        context_support = best_supports[citation.claim.id]
        is_supported_elsewhere = (
            calibrated_claims.verdict(context_support) == "supported" and context_support.source not in citation.texts
        )
        own_verdict = calibrated_citations.verdict(support_of(citation, reading)) if citation.texts else NOT_FOUND.label
        if is_supported_elsewhere and own_verdict in UNSUPPORTED:
            misattributed.append(f"{citation.name}, but {context_support.source}")
    return scored(len(misattributed) / len(citations), listed("misattributed", misattributed))


def _attached_citations(reading: Reading) -> list[Citation] | Outcome:
    """Return the citations attached to a claim, or why there is nothing to compare."""
    if isinstance(reading.context, str):
        return not_applicable(reading.context)
    unscored_outcome = why_not(reading)
    if unscored_outcome is not None:
        return unscored_outcome
    citations = [citation for citation in reading.citations if citation.claim is not None]
    return citations or not_applicable("no citation is attached to a claim")


# ── by a judge ───────────────────────────────────────────────────────────────────────────────────────────────────


def _citation_requests(reading: Reading, rubrics: Rubrics) -> list[JudgeRequest]:
    """Return the requests about all resolved citations, and about claims that several citations are attached to."""
    rubric = rubric_of(rubrics, RUBRIC, reading.language)
    entries, sources = [], dict[str, str]()
    for citation in reading.citations:
        if citation.texts:
            sources[citation.name] = "\n\n".join(citation.texts.values())
            text = reading.answer if citation.claim is None else citation.claim.text
            entries.append({"id": citation.id, "text": text, "source": citation.name})
    for claim in reading.claims:
        joint_names = joint(reading, claim.id)
        if joint_names:
            sources[" + ".join(joint_names)] = "\n\n".join(sources[name] for name in joint_names)
            entries.append({"id": f"{claim.id}.all", "text": claim.text, "source": " + ".join(joint_names)})
    requests = []
    for start in range(0, len(entries), MOST_ITEMS):  # each with its own sources: of too much text a judge reads a part
        group = entries[start : start + MOST_ITEMS]
        group_sources = {entry["source"] for entry in group}
        context = [{"id": name, "text": text} for name, text in sources.items() if name in group_sources]
        requests += item_requests(rubric, "citations", group, {"question": reading.question, "context": context})
    return requests


def joint(reading: Reading, claim_id: str) -> list[str]:
    """Return the resolved sources cited for a claim if there are several, else nothing."""
    chunk_names = [citation.name for citation in reading.beside.get(claim_id, ()) if citation.texts]
    return chunk_names if len(chunk_names) > 1 else []


def _label_citations(reading: Reading, rubrics: Rubrics) -> Labels:
    """Ask about the citations; return the label of each, and of each claim with several, by id."""
    unscored_outcome = why_not(reading)
    if unscored_outcome is not None:
        return unscored_outcome
    requests = reading.requests(RUBRIC, "", lambda: _citation_requests(reading, rubrics))
    labels = labels_of((yield requests), requests) if requests else {}
    if isinstance(labels, Outcome):
        return labels
    return labels | {citation.id: MISSING for citation in reading.citations if not citation.texts}


def _citation_value(citation: Citation, labels: dict[str, Labelled]) -> float:
    """Return the value of a citation.

    A citation of the whole answer needs to support only a part of it. Support for a part of a claim counts fully if all
    citations of the claim support it jointly."""
    own_value = labels[citation.id].value or 0.0
    if citation.claim is None:
        return float(own_value > 0)
    joint_label = labels.get(f"{citation.claim.id}.all")
    return max(own_value, joint_label.value or 0.0) if own_value > 0 and joint_label is not None else own_value


def support_by_judge(reading: Reading, rubrics: Rubrics) -> Asking:
    """The mean value of the citations; 0 for one that names nothing known."""
    labels = yield from _label_citations(reading, rubrics)
    if isinstance(labels, Outcome):
        return labels
    values = [_citation_value(citation, labels) for citation in reading.citations]
    unsupported = []
    for citation, value in zip(reading.citations, values, strict=True):
        if value < 1:
            unsupported.append(f"{citation.name} ({labels[citation.id].label})")
    return scored(math.fsum(values) / len(values), listed("not supported", unsupported))


def misattributed_by_judge(reading: Reading, rubrics: Rubrics) -> Asking:
    """The share of attached citations whose source does not support the claim although the context does."""
    attached_citations = _attached_citations(reading)
    if isinstance(attached_citations, Outcome):
        return attached_citations
    claims, citations = yield from together(
        claims_by_judge(reading, rubrics, CONTEXT), _label_citations(reading, rubrics)
    )
    if isinstance(claims, Outcome):
        return claims
    if isinstance(citations, Outcome):
        return citations
    misattributed = []
    for citation in attached_citations:
        assert citation.claim is not None
        if not citations[citation.id].value and claims[citation.claim.id].value == 1:
            misattributed.append(citation.name)
    return scored(len(misattributed) / len(attached_citations), listed("misattributed", misattributed))
