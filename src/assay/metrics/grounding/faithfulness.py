"""Faithfulness: every claim is compared with the context, or with what is cited, by rules or by a judge.

Rules give a claim a score (for ranking and trend until they are calibrated); a judge gives it a label.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from msgspec import structs

from assay.metrics.answer_metric import (
    BY_COMBINED,
    BY_ENTAILMENT,
    BY_JUDGE,
    BY_RULES,
    UNDEFINED_GROUNDING,
    AnswerMetric,
    Scorers,
    define_answer_metric,
)
from assay.metrics.grounding.combined_support import score_combined_claims
from assay.metrics.grounding.entailment_support import CONTRADICTED_BY_ENTAILMENT, score_claims_by_entailment
from assay.metrics.grounding.lexical_ground import GROUNDLESS_LABELS, has_lexical_ground
from assay.metrics.judged.judge_requests import (
    ItemLabel,
    JudgeDialogue,
    LabelRequests,
    Outcome,
    Rubrics,
    collect_labels,
    find_rubric,
    make_item_requests,
    not_applicable_outcome,
    scored_outcome,
)
from assay.metrics.judged.judge_requests import unscored_outcome as make_unscored_outcome
from assay.metrics.metric import Metric, MetricKey
from assay.metrics.parsed_answer import (
    AGAINST_CITED,
    FAITHFULNESS_BY_RULES,
    NO_CLAIMS,
    NO_TEXT,
    REFUSED,
    ParsedAnswer,
    calibrate_support,
    find_calibration,
    format_list,
)
from assay.records.golden_set import BEHAVIOURS
from assay.records.observations import CONTEXT_STAGE
from assay.records.verdicts import MARKED_SEPARATOR, JudgeRequest
from assay.text.claims.claim_segments import Claim
from assay.text.claims.source_support import SourceSupport
from assay.text.normalisation import normalise_nfc

CLAIM_SUPPORT_RUBRIC = "support"
CONTRADICTED = "contradicted"
NOT_FOUND = ItemLabel("not_found", 0.0)
"""The label of a claim if there are no sources at all; no judge needs to be asked."""
_NO_CONTRADICTIONS_BY_RULES = (
    "rules find 3 of 100 claims that contradict their source, so that a count near 0 means nothing; use "
    "critical_hallucinations(by=judge), or contradiction_suspects to find cases for review"
)
CRITICAL_TAG = "critical"
"""The tag of cases on which every unsupported claim is critical."""
_ANSWER_BIT = 1 << BEHAVIOURS.index("answer")


def find_grounding_exclusion(reading: ParsedAnswer, against: str) -> Outcome | None:
    """Return why claims cannot be compared with the sources, or None if they can. Cheap conditions come first."""
    if against == CONTEXT_STAGE and isinstance(reading.context_texts, str):
        return not_applicable_outcome(reading.context_texts)
    if against == AGAINST_CITED and not reading.has_texts:
        return not_applicable_outcome(NO_TEXT)
    if reading.is_refusal:
        return not_applicable_outcome(REFUSED)
    if not reading.claims:
        return not_applicable_outcome(NO_CLAIMS)
    texts = reading.source_texts(against)
    return not_applicable_outcome(texts) if isinstance(texts, str) else None


def is_critical_case(reading: ParsedAnswer) -> bool:
    """Return whether any unsupported claim is critical: the case is tagged so, or should not have been answered."""
    return CRITICAL_TAG in reading.case.case.tags or not reading.case.accepted_bits & _ANSWER_BIT


def score_no_claims(reading: ParsedAnswer) -> Outcome:
    """1 if an answer makes no claims although it does not refuse and there are sources for claims, else 0."""
    unscored_outcome = find_grounding_exclusion(reading, CONTEXT_STAGE)
    if unscored_outcome is None:
        return scored_outcome(0.0)
    return scored_outcome(1.0) if unscored_outcome.reason == NO_CLAIMS else unscored_outcome


# ── by rules ─────────────────────────────────────────────────────────────────────────────────────────────────────


def score_faithfulness(reading: ParsedAnswer, against: str = CONTEXT_STAGE) -> Outcome:
    """The mean score of the claims."""
    unscored_outcome = find_grounding_exclusion(reading, against)
    if unscored_outcome is not None:
        return unscored_outcome
    calibrated_rules = calibrate_support(reading, FAITHFULNESS_BY_RULES[against])
    scores = [calibrated_rules.score_support(support) for support in reading.claim_supports(against)]
    unsupported = _list_unsupported(reading, against)
    return scored_outcome(math.fsum(scores) / len(scores), format_list("probably unsupported", unsupported))


def count_unsupported_claims(reading: ParsedAnswer) -> Outcome:
    """The number of claims that rules call contradicted or, once calibrated, unsupported."""
    unscored_outcome = find_grounding_exclusion(reading, CONTEXT_STAGE)
    if unscored_outcome is not None:
        return unscored_outcome
    unsupported = _list_unsupported(reading, CONTEXT_STAGE)
    return scored_outcome(len(unsupported), format_list("unsupported", unsupported))


def score_any_unsupported(reading: ParsedAnswer) -> Outcome:
    """1 if any claim is unsupported by rules, else 0."""
    outcome = count_unsupported_claims(reading)
    return outcome._replace(value=float(outcome.value > 0))


def count_contradiction_suspects(reading: ParsedAnswer) -> Outcome:
    """The number of claims that nearly match a source but change a fact or negate it."""
    unscored_outcome = find_grounding_exclusion(reading, CONTEXT_STAGE)
    if unscored_outcome is not None:
        return unscored_outcome
    contradicted = _list_contradicted(reading)
    return scored_outcome(len(contradicted), format_list("probably contradicted", contradicted))


def _list_unsupported(reading: ParsedAnswer, against: str) -> list[str]:
    """Return the claims that count as unsupported, each with what contradicts it."""
    calibrated_rules = calibrate_support(reading, FAITHFULNESS_BY_RULES[against])
    pairs = zip(reading.claims, reading.claim_supports(against), strict=True)
    return [_describe(claim, support) for claim, support in pairs if calibrated_rules.is_unsupported(support)]


def _list_contradicted(reading: ParsedAnswer) -> list[str]:
    pairs = zip(reading.claims, reading.claim_supports(CONTEXT_STAGE), strict=True)
    return [_describe(claim, support) for claim, support in pairs if support.verdict == CONTRADICTED]


def _describe(claim: Claim, support: SourceSupport) -> str:
    return claim.text + (f" ({'; '.join(support.contradictions)})" if support.contradictions else "")


# ── by an entailment model ───────────────────────────────────────────────────────────────────────────────────────


def score_entailment(reading: ParsedAnswer, against: str = CONTEXT_STAGE) -> Outcome:
    """The mean over claims of the probability that their best sentence entails them."""
    unscored_outcome = find_grounding_exclusion(reading, against)
    if unscored_outcome is not None:
        return unscored_outcome
    return score_claims_by_entailment(reading, against, name_entailed_faithfulness(against), "entailment")


def score_contradiction(reading: ParsedAnswer) -> Outcome:
    """The mean over claims of the probability that one of the nearest sentences contradicts them."""
    unscored_outcome = find_grounding_exclusion(reading, CONTEXT_STAGE)
    if unscored_outcome is not None:
        return unscored_outcome
    return score_claims_by_entailment(reading, CONTEXT_STAGE, CONTRADICTED_BY_ENTAILMENT, "contradiction")


def name_entailed_faithfulness(against: str) -> str:
    """Return the name under which the scorer by an entailment model is calibrated."""
    return FAITHFULNESS_BY_RULES[against].replace("by=rules", "by=entailment")


# ── by a judge ───────────────────────────────────────────────────────────────────────────────────────────────────


def judge_claims(reading: ParsedAnswer, rubrics: Rubrics, against: str = CONTEXT_STAGE) -> LabelRequests:
    """Ask about every claim; return the label of each by its id."""
    unscored_outcome = find_grounding_exclusion(reading, against)
    if unscored_outcome is not None:
        return unscored_outcome
    if not reading.source_texts(against):
        return {claim.id: NOT_FOUND for claim in reading.claims}
    requests = reading.cached_requests(
        CLAIM_SUPPORT_RUBRIC, against, lambda: _claim_requests(reading, rubrics, against)
    )
    labels = collect_labels((yield requests), requests)
    if isinstance(labels, Outcome) or not _has_groundless_label(reading, labels, against):
        return labels
    return make_unscored_outcome(GROUNDLESS_LABELS)


def _has_groundless_label(reading: ParsedAnswer, labels: dict[str, ItemLabel], against: str) -> bool:
    """Whether the judge, and no person, supports a claim although the sources hold none of its words."""
    texts = reading.source_texts(against)
    assert isinstance(texts, dict)
    supports = zip(reading.claims, reading.claim_supports(against), strict=True)
    return any(
        bool(labels[claim.id].value)
        and not labels[claim.id].by_person
        and not has_lexical_ground(claim.text, support, texts.values())
        for claim, support in supports
    )


def _claim_requests(reading: ParsedAnswer, rubrics: Rubrics, against: str) -> list[JudgeRequest]:
    texts = reading.source_texts(against)
    assert isinstance(texts, dict)
    other_inputs = {
        "question": reading.question,
        "context": _mark_evidence(reading, texts, against),
    }
    claims = [{"id": claim.id, "text": claim.text} for claim in reading.claims]
    return make_item_requests(
        find_rubric(rubrics, CLAIM_SUPPORT_RUBRIC, reading.language), "claims", claims, other_inputs
    )


def _mark_evidence(reading: ParsedAnswer, texts: Mapping[str, str], against: str) -> list[dict[str, str]]:
    """Return the sources as entries, with the sentences that rules found for the claims."""
    marked: dict[str, dict[str, None]] = {}
    for support in reading.claim_supports(against):
        for sentence in support.evidence:
            text = normalise_nfc(texts.get(sentence.source, ""))[sentence.start : sentence.end]
            marked.setdefault(sentence.source, {})[text] = None
    return [
        {"id": chunk_id, "text": text}
        | ({"marked": MARKED_SEPARATOR.join(marked[chunk_id])} if chunk_id in marked else {})
        for chunk_id, text in texts.items()
    ]


def _unsupported_claims(reading: ParsedAnswer, labels: dict[str, ItemLabel]) -> list[str]:
    """Return the claims that are not supported, each with its label."""
    return [f"{claim.text} ({labels[claim.id].label})" for claim in reading.claims if labels[claim.id].value != 1]


def judge_faithfulness(reading: ParsedAnswer, rubrics: Rubrics, against: str = CONTEXT_STAGE) -> JudgeDialogue:
    """The mean of the claims' labels: the share of them that is supported."""
    labels = yield from judge_claims(reading, rubrics, against)
    if isinstance(labels, Outcome):
        return labels
    values = [claim_label.value or 0.0 for claim_label in labels.values()]
    return scored_outcome(
        math.fsum(values) / len(values), format_list("unsupported", _unsupported_claims(reading, labels))
    )


def combine_faithfulness(reading: ParsedAnswer, rubrics: Rubrics, against: str = CONTEXT_STAGE) -> JudgeDialogue:
    """The mean probability of the claims by judge and rules together."""
    unscored_outcome = find_grounding_exclusion(reading, against)
    if unscored_outcome is not None:
        return unscored_outcome
    if not reading.source_texts(against):
        return scored_outcome(0.0)
    requests = reading.cached_requests(
        CLAIM_SUPPORT_RUBRIC, against, lambda: _claim_requests(reading, rubrics, against)
    )
    calibration = find_calibration(reading, name_combined_faithfulness(against))
    return (yield from score_combined_claims(reading, requests, against, calibration))


def name_combined_faithfulness(against: str) -> str:
    """Return the name under which the combined scorer is calibrated."""
    return FAITHFULNESS_BY_RULES[against].replace("by=rules", "by=combined")


def judge_unsupported_claims(reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
    """How many claims are not supported by the context."""
    labels = yield from judge_claims(reading, rubrics)
    if isinstance(labels, Outcome):
        return labels
    unsupported = _unsupported_claims(reading, labels)
    return scored_outcome(len(unsupported), format_list("unsupported", unsupported))


def judge_any_unsupported(reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
    """1 if any claim is not supported by the context, else 0."""
    outcome = yield from judge_unsupported_claims(reading, rubrics)
    return outcome._replace(value=float(outcome.value > 0))


def judge_critical_claims(reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
    """How many claims contradict a source; on a critical case, how many are not supported."""
    labels = yield from judge_claims(reading, rubrics)
    if isinstance(labels, Outcome):
        return labels
    if is_critical_case(reading):
        critical = _unsupported_claims(reading, labels)
    else:
        critical = [claim.text for claim in reading.claims if labels[claim.id].label == CONTRADICTED]
    return scored_outcome(len(critical), format_list("critical", critical))


_FAITHFULNESS_KEYS = {
    "by": MetricKey(
        "",
        (BY_RULES, BY_JUDGE, BY_COMBINED, BY_ENTAILMENT),
        "rules: the deterministic scorer; judge: recorded verdicts; combined: both, with weights from human labels; "
        "entailment: a local model",
    ),
    "against": MetricKey(CONTEXT_STAGE, (CONTEXT_STAGE, AGAINST_CITED), "the sources that claims are compared with"),
}


def _score_faithfulness_to_citations(reading: ParsedAnswer) -> Outcome:
    return score_faithfulness(reading, AGAINST_CITED)


def _score_entailment_by_citations(reading: ParsedAnswer) -> Outcome:
    return score_entailment(reading, AGAINST_CITED)


def _judge_faithfulness_to_citations(reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
    return judge_faithfulness(reading, rubrics, AGAINST_CITED)


def _combine_faithfulness_to_citations(reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
    return combine_faithfulness(reading, rubrics, AGAINST_CITED)


_FAITHFULNESS_SCORERS = {
    CONTEXT_STAGE: Scorers(
        score_faithfulness, judge_faithfulness, combined=combine_faithfulness, entailment=score_entailment
    ),
    AGAINST_CITED: Scorers(
        _score_faithfulness_to_citations,
        _judge_faithfulness_to_citations,
        combined=_combine_faithfulness_to_citations,
        entailment=_score_entailment_by_citations,
    ),
}


def _count_row(row: AnswerMetric) -> AnswerMetric:
    return structs.replace(row, unit="count", high=math.inf)


FAITHFULNESS_METRICS: tuple[Metric, ...] = (
    define_answer_metric(
        "faithfulness",
        "Share of the answer's claims that its sources support.",
        "`rag-trace` contract (context), answer audit record (cited chunks)",
        UNDEFINED_GROUNDING,
        lambda name: _FAITHFULNESS_SCORERS[name.key_value("against", CONTEXT_STAGE)],
        rubrics=(CLAIM_SUPPORT_RUBRIC,),
        keys=_FAITHFULNESS_KEYS,
    ),
    structs.replace(
        define_answer_metric(
            "hallucination_rate",
            "Whether the answer makes a claim that the context does not support.",
            "the share of answers with a hallucination, of all cases or of a slice",
            UNDEFINED_GROUNDING,
            Scorers(score_any_unsupported, judge_any_unsupported),
            rubrics=(CLAIM_SUPPORT_RUBRIC,),
            lower=True,
            rests_on=("faithfulness",),
        ),
        statistic="rate",
    ),
    _count_row(
        define_answer_metric(
            "unsupported_claims",
            "Claims that the context does not support.",
            "`rag-trace` contract: unsupported_claim",
            UNDEFINED_GROUNDING,
            Scorers(count_unsupported_claims, judge_unsupported_claims),
            rubrics=(CLAIM_SUPPORT_RUBRIC,),
            lower=True,
            rests_on=("faithfulness",),
        )
    ),
    structs.replace(
        _count_row(
            define_answer_metric(
                "critical_hallucinations",
                "Claims that contradict the context; on critical cases all that it does not support.",
                "`rag-trace` contract; critical: tagged so, or to be refused",
                UNDEFINED_GROUNDING,
                Scorers(judge=judge_critical_claims),
                rubrics=(CLAIM_SUPPORT_RUBRIC,),
                lower=True,
                rests_on=("faithfulness",),
            )
        ),
        keys={
            "by": MetricKey("", ("judge",), "recorded verdicts", withdrawn=(("rules", _NO_CONTRADICTIONS_BY_RULES),))
        },
    ),
    _count_row(
        define_answer_metric(
            "contradiction_suspects",
            "Claims that nearly match a sentence of the context but change a fact or negate it.",
            "another number, date, unit or identifier, a negation or an opposite in a sentence that otherwise matches",
            UNDEFINED_GROUNDING,
            Scorers(count_contradiction_suspects),
            lower=True,
        )
    ),
    define_answer_metric(
        "contradicted_claims",
        "Share of the answer's claims that a sentence of the context contradicts.",
        "the probability of contradiction by a local entailment model",
        UNDEFINED_GROUNDING,
        Scorers(entailment=score_contradiction),
        lower=True,
        keys={"by": MetricKey("", (BY_ENTAILMENT,), "a local model")},
    ),
    structs.replace(
        define_answer_metric(
            "no_claims",
            "Whether an answer makes no claims although it does not refuse.",
            "such answers have no other score of this family",
            "refused, no context reported, or a chunk of it without text",
            Scorers(score_no_claims),
        ),
        direction="neutral",
        statistic="rate",
        uncalibrated=(),
    ),
)
