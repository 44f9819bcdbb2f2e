"""Metrics of citation support: every citation is compared with the claim that it is attached to.

Citations given for the answer as a whole are compared with all of its claims and need to support one of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from assay.metrics.answer_metric import COMBINED_SCORER_KEY, Scorers, define_answer_metric
from assay.metrics.grounding.citation_precision import find_better_source
from assay.metrics.grounding.combined_support import collect_judge_labels, compute_combined_probability, select_curve
from assay.metrics.grounding.faithfulness import CLAIM_SUPPORT_RUBRIC, judge_claims
from assay.metrics.grounding.lexical_ground import GROUNDLESS_LABELS, has_lexical_ground
from assay.metrics.judged.judge_requests import (
    MAX_ITEMS,
    ItemLabel,
    JudgeDialogue,
    LabelRequests,
    Outcome,
    Rubrics,
    collect_labels,
    find_rubric,
    make_item_requests,
    not_applicable_outcome,
    run_together,
    scored_outcome,
)
from assay.metrics.judged.judge_requests import unscored_outcome as make_unscored_outcome
from assay.metrics.metric import Metric
from assay.metrics.parsed_answer import (
    CITATION_SUPPORT_BY_RULES,
    FAITHFULNESS_BY_RULES,
    NO_CLAIMS,
    NO_TEXT,
    REFUSED,
    CalibratedSupport,
    Citation,
    ParsedAnswer,
    calibrate_support,
    find_calibration,
    format_list,
)
from assay.records.observations import CONTEXT_STAGE
from assay.records.verdicts import JudgeRequest
from assay.text.claims.claim_segments import Claim
from assay.text.claims.source_support import SourceSupport

CITATION_SUPPORT_RUBRIC = "citation_support"
CITATION_SUPPORT_COMBINED = "citation_support(by=combined)"
MIN_NECESSARY_DIFFERENCE = 0.1
"""How much less support a claim must have without a citation for the citation to share in what they support jointly."""
MAX_JOINT_CITATIONS = 20
"""Citations of one claim that can support it jointly; of more, each has to support it alone."""
MISSING_SOURCE = ItemLabel("missing", 0.0)
"""The label of a citation that names nothing known."""


def find_support_exclusion(reading: ParsedAnswer) -> Outcome | None:
    """Return why citations cannot be compared with claims, or None if they can."""
    if not reading.has_texts:
        return not_applicable_outcome(NO_TEXT)
    if reading.is_refusal:
        return not_applicable_outcome(REFUSED)
    if not reading.claims:
        return not_applicable_outcome(NO_CLAIMS)
    texts = reading.cited_texts
    if isinstance(texts, str):
        return not_applicable_outcome(texts)
    return None


# ── by rules ─────────────────────────────────────────────────────────────────────────────────────────────────────


def score_citation_support(reading: ParsedAnswer) -> Outcome:
    """The mean, over citations, of the score of the claim by the cited source alone; 0 for one that names nothing, or
    something that the user may not see.

    A citation without which the claim has less support shares in what all citations of the claim support together.
    """
    unscored_outcome = find_support_exclusion(reading)
    if unscored_outcome is not None:
        return unscored_outcome
    calibrated_rules = calibrate_support(reading, CITATION_SUPPORT_BY_RULES)
    scores = [_score_citation(citation, reading, calibrated_rules) for citation in reading.citations]
    weak = [citation.name for citation, score in zip(reading.citations, scores, strict=True) if score < WEAK_SUPPORT]
    return scored_outcome(math.fsum(scores) / len(scores), format_list("weak", weak))


WEAK_SUPPORT = 0.3
"""Citations with a lower score by rules are listed in the explanation of a case."""


def _score_citation(citation: Citation, reading: ParsedAnswer, calibrated_rules: CalibratedSupport) -> float:
    if not citation.texts or citation.name in reading.access.forbidden:
        return 0.0
    score = calibrated_rules.score_support(best_citation_support(citation, reading))
    citations_of_claim = reading.citations_by_claim[citation.claim.id] if citation.claim is not None else []
    if citation.claim is not None and 1 < len(citations_of_claim) <= MAX_JOINT_CITATIONS:
        joint_score = calibrated_rules.score_support(joint_citation_support(citation.claim, reading))
        other_ids = {name for neighbour in citations_of_claim if neighbour is not citation for name in neighbour.texts}
        if (
            joint_score - calibrated_rules.score_support(reading.support_by_chunks(citation.claim, other_ids))
            >= MIN_NECESSARY_DIFFERENCE
        ):
            return max(score, joint_score)
    return score


def best_citation_support(citation: Citation, reading: ParsedAnswer) -> SourceSupport:
    """Return the support of the cited source alone; a citation of the whole answer is scored on its best claim."""
    claims = reading.claims if citation.claim is None else (citation.claim,)
    return max((reading.support_by_chunks(claim, citation.texts) for claim in claims), key=lambda support: support.z)


def joint_citation_support(claim: Claim, reading: ParsedAnswer) -> SourceSupport:
    """Return the support that all sources cited for a claim give it together."""
    return reading.support_by_chunks(
        claim, {name for citation in reading.citations_by_claim[claim.id] for name in citation.texts}
    )


def score_misattribution(reading: ParsedAnswer) -> Outcome:
    """The share of attached citations that name another source than the one that supports the claim.

    Another chunk of the context supports the claim clearly better than what is cited (ADR 0040); a citation of nothing
    in the context is compared by the claim's own support.
    """
    citations = _attached_citations(reading)
    if isinstance(citations, Outcome):
        return citations
    better_by_name = [(citation.name, _find_true_source(citation, reading)) for citation in citations]
    misattributed = [f"{name}, but {better}" for name, better in better_by_name if better is not None]
    return scored_outcome(len(misattributed) / len(citations), format_list("misattributed", misattributed))


def _find_true_source(citation: Citation, reading: ParsedAnswer) -> str | None:
    """Return the chunk of the context that a claim is from instead of the cited source, None if there is none."""
    assert isinstance(reading.context_texts, dict)
    assert citation.claim is not None
    if not reading.context_texts.keys().isdisjoint(citation.texts):
        return find_better_source(citation, reading)
    claim_support = reading.support_by_context(citation.claim)
    calibrated_claims = calibrate_support(reading, FAITHFULNESS_BY_RULES[CONTEXT_STAGE])
    return claim_support.source if calibrated_claims.label_support(claim_support) == "supported" else None


def _attached_citations(reading: ParsedAnswer) -> list[Citation] | Outcome:
    """Return the citations attached to a claim, or why there is nothing to compare."""
    if isinstance(reading.context_texts, str):
        return not_applicable_outcome(reading.context_texts)
    unscored_outcome = find_support_exclusion(reading)
    if unscored_outcome is not None:
        return unscored_outcome
    citations = [citation for citation in reading.citations if citation.claim is not None]
    return citations or not_applicable_outcome("no citation is attached to a claim")


# ── by a judge ───────────────────────────────────────────────────────────────────────────────────────────────────


def _citation_requests(reading: ParsedAnswer, rubrics: Rubrics) -> list[JudgeRequest]:
    """Return the requests about all resolved citations, and about claims that several citations are attached to."""
    rubric = find_rubric(rubrics, CITATION_SUPPORT_RUBRIC, reading.language)
    entries, sources = collect_citation_entries(reading)
    requests = []
    for start in range(0, len(entries), MAX_ITEMS):  # each with its own sources: of too much text a judge reads a part
        group = entries[start : start + MAX_ITEMS]
        group_sources = {entry["source"] for entry in group}
        context = [{"id": name, "text": text} for name, text in sources.items() if name in group_sources]
        requests += make_item_requests(rubric, "citations", group, {"question": reading.question, "context": context})
    return requests


def collect_citation_entries(reading: ParsedAnswer) -> tuple[list[dict[str, str]], dict[str, str]]:
    """Return what a judge is asked about citations: entries of statement and source, and the texts of the sources.

    Citations of an unknown name are left out. A claim with several citations has an entry for all of them together.
    """
    entries, sources = list[dict[str, str]](), dict[str, str]()
    for citation in reading.citations:
        if citation.texts:
            sources[citation.name] = "\n\n".join(citation.texts.values())
            text = reading.answer if citation.claim is None else citation.claim.text
            entries.append({"id": citation.id, "text": text, "source": citation.name})
    for claim in reading.claims:
        joint_names = joint_citation_names(reading, claim.id)
        if joint_names:
            sources[" + ".join(joint_names)] = "\n\n".join(sources[name] for name in joint_names)
            entries.append({"id": f"{claim.id}.all", "text": claim.text, "source": " + ".join(joint_names)})
    return entries, sources


def joint_citation_names(reading: ParsedAnswer, claim_id: str) -> list[str]:
    """Return the resolved sources cited for a claim if there are several, else nothing."""
    chunk_names = [citation.name for citation in reading.citations_by_claim.get(claim_id, ()) if citation.texts]
    return chunk_names if len(chunk_names) > 1 else []


def label_citations(reading: ParsedAnswer, rubrics: Rubrics) -> LabelRequests:
    """Ask about the citations; return the label of each, and of each claim with several, by id."""
    unscored_outcome = find_support_exclusion(reading)
    if unscored_outcome is not None:
        return unscored_outcome
    requests = reading.cached_requests(CITATION_SUPPORT_RUBRIC, "", lambda: _citation_requests(reading, rubrics))
    labels = collect_labels((yield requests), requests) if requests else {}
    if isinstance(labels, Outcome):
        return labels
    if any(
        bool(labels[citation.id].value) and not labels[citation.id].by_person and not _has_ground(citation, reading)
        for citation in reading.citations
        if citation.texts
    ):
        return make_unscored_outcome(GROUNDLESS_LABELS)
    return labels | {citation.id: MISSING_SOURCE for citation in reading.citations if not citation.texts}


def _has_ground(citation: Citation, reading: ParsedAnswer) -> bool:
    """Whether the cited source holds some words of the claim, or of any claim for a citation of the whole answer."""
    claims = reading.claims if citation.claim is None else (citation.claim,)
    return any(
        has_lexical_ground(claim.text, reading.support_by_chunks(claim, citation.texts), citation.texts.values())
        for claim in claims
    )


def _citation_value(citation: Citation, labels: dict[str, ItemLabel]) -> float:
    """Return the value of a citation.

    A citation of the whole answer needs to support only a part of it. Support for a part of a claim counts fully if all
    citations of the claim support it jointly."""
    own_value = labels[citation.id].value or 0.0
    if citation.claim is None:
        return float(own_value > 0)
    joint_label = labels.get(f"{citation.claim.id}.all")
    return max(own_value, joint_label.value or 0.0) if own_value > 0 and joint_label is not None else own_value


def judge_citation_support(reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
    """The mean value of the citations; 0 for one that names nothing known, or something that the user may not see."""
    labels = yield from label_citations(reading, rubrics)
    if isinstance(labels, Outcome):
        return labels
    values = [
        0.0 if citation.name in reading.access.forbidden else _citation_value(citation, labels)
        for citation in reading.citations
    ]
    unsupported = []
    for citation, value in zip(reading.citations, values, strict=True):
        if value < 1:
            unsupported.append(f"{citation.name} ({labels[citation.id].label})")
    return scored_outcome(math.fsum(values) / len(values), format_list("not supported", unsupported))


def combine_citation_support(reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
    """The mean probability that a citation supports its claim, by judge and rules together; 0 for one that names
    nothing known, or something that the user may not see."""
    unscored_outcome = find_support_exclusion(reading)
    if unscored_outcome is not None:
        return unscored_outcome
    requests = reading.cached_requests(CITATION_SUPPORT_RUBRIC, "", lambda: _citation_requests(reading, rubrics))
    labels = yield from collect_judge_labels(requests)
    if isinstance(labels, Outcome):
        return labels
    calibration = find_calibration(reading, CITATION_SUPPORT_COMBINED)
    curve = select_curve(calibration)
    probabilities = [_combine_citation(citation, reading, labels, curve) for citation in reading.citations]
    weak = []
    for citation, probability in zip(reading.citations, probabilities, strict=True):
        if probability < WEAK_SUPPORT:
            weak.append(f"{citation.name} ({probability:.2f})")
    return scored_outcome(math.fsum(probabilities) / len(probabilities), format_list("weak", weak))


def _combine_citation(
    citation: Citation, reading: ParsedAnswer, labels: Mapping[str, ItemLabel], curve: Mapping[str, float]
) -> float:
    """Return the probability that a citation supports its claim, alone or, if it does in part, with the others."""
    if not citation.texts or citation.name in reading.access.forbidden:
        return 0.0
    label = labels.get(citation.id)
    judged = label.value if label is not None else None
    if label is not None and judged and not label.by_person and not _has_ground(citation, reading):
        judged = None  # the source holds none of its words, whatever the judge says
    if judged and citation.claim is None:
        judged = 1.0  # a citation of the whole answer needs to support only a part of it
    probability = compute_combined_probability(best_citation_support(citation, reading).z, judged, curve)
    if judged and citation.claim is not None and joint_citation_names(reading, citation.claim.id):
        joint_label = labels.get(f"{citation.claim.id}.all")
        joint_value = joint_label.value if joint_label is not None else None
        joint_z = joint_citation_support(citation.claim, reading).z
        probability = max(probability, compute_combined_probability(joint_z, joint_value, curve))
    return probability


def judge_misattribution(reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
    """The share of attached citations whose source does not support the claim although the context does."""
    attached_citations = _attached_citations(reading)
    if isinstance(attached_citations, Outcome):
        return attached_citations
    claims, citations = yield from run_together(
        judge_claims(reading, rubrics, CONTEXT_STAGE), label_citations(reading, rubrics)
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
    return scored_outcome(len(misattributed) / len(attached_citations), format_list("misattributed", misattributed))


_UNDEFINED = "refused, nothing claimed, no citations, or a cited chunk without text"

CITATION_SUPPORT_METRICS: tuple[Metric, ...] = (
    define_answer_metric(
        "citation_support",
        "Share of citations that support the claim next to them.",
        "answer audit record: exists ∧ reachable ∧ supports",
        _UNDEFINED,
        Scorers(score_citation_support, judge_citation_support, combined=combine_citation_support),
        rubrics=(CITATION_SUPPORT_RUBRIC,),
        keys=COMBINED_SCORER_KEY,
        yields_to_leaks=True,
    ),
    define_answer_metric(
        "misattributed",
        "Share of citations next to a claim that another source of the context supports instead.",
        "`rag-trace` contract: bad_citation",
        f"{_UNDEFINED}; no citation next to a claim",
        Scorers(score_misattribution, judge_misattribution),
        rubrics=(CITATION_SUPPORT_RUBRIC, CLAIM_SUPPORT_RUBRIC),
        lower=True,
        rests_on=("citation_support", "faithfulness"),
    ),
)
