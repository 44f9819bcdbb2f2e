"""Decides whether an answer is good: the first available signal decides, and is named (ADR 0030, ADR 0054)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET
from msgspec.structs import replace

from assay.metrics.answers.answer_behaviour import ANSWER_BEHAVIOUR, BEHAVIOUR_CODES, UNKNOWN_BEHAVIOUR, AnswerFacts
from assay.metrics.answers.expected_text import REFERENCE_TEXT, AnswerQuality, assess_answer_text
from assay.metrics.cases.case_index import CaseIndex
from assay.metrics.cases.settled_answers import find_decision
from assay.metrics.grounding.pasted_passages import find_pasted_passage
from assay.metrics.metric import JoinedRows
from assay.records.golden_set import BEHAVIOURS, Case
from assay.records.observations import NO_ANSWER_REASON, Observation
from assay.records.scores import SCORED
from assay.scoring.attribution_settings import JUDGE_METRIC, SIMILARITY_METRIC, AttributionSettings
from assay.text.refusals.detected_behaviour import UNKNOWN

BEHAVIOUR_SIGNAL = "behaviour"
"""The signal of an answer of which nothing was compared: it answered, or it did not, as the case expects."""
BEHAVIOUR_OPEN = "nothing tells what the answer did"
CaseScores = Mapping[str, tuple[int, float, str]]
"""The scores of one case by metric: status, value (meaningful only if scored), reason."""


def detect_answer_behaviour(case: CaseIndex, observation: Observation) -> str | None:
    """Return the behaviour of the answer by the rules of the behaviour metrics: `unknown` if nothing tells, None if
    there is no answer."""
    facts = AnswerFacts()
    facts.add(JoinedRows([case], [observation]))
    code = int(facts.observed_behaviours[0][0])
    if code == UNKNOWN_BEHAVIOUR:
        return UNKNOWN
    return BEHAVIOURS[code] if code >= 0 else None


def is_answer_failure(case: CaseIndex, observation: Observation) -> bool:
    """Return whether the answer is an error message, by the rules of the behaviour metrics."""
    facts = AnswerFacts()
    facts.add(JoinedRows([case], [observation]))
    return bool(facts.is_error_text[0])


def describe_answer_reading(case: CaseIndex, observation: Observation) -> str:
    """Return what the answer was read as by the rules of the behaviour metrics, and by what."""
    facts = AnswerFacts()
    facts.add(JoinedRows([case], [observation]))
    return facts.describe_reading(0)


def assess_answer(
    case: CaseIndex, observation: Observation, scores: CaseScores, settings: AttributionSettings, behaviour: str | None
) -> AnswerQuality:
    """Return whether the content of the answer is good; the caller accounts for leaks.

    If the system did not answer, or should not have, the behaviour alone decides. `behaviour` is the observed
    behaviour.
    """
    if observation.answer is UNSET and observation.behaviour is None:
        return AnswerQuality(None, NO_ANSWER_REASON)
    is_settled = _is_settled(case.case, observation)
    if behaviour == UNKNOWN:
        if not is_settled:
            return AnswerQuality(None, _explain_unknown(case, observation))
        behaviour = ANSWER_BEHAVIOUR
    if behaviour != ANSWER_BEHAVIOUR or not case.accepted_bits >> BEHAVIOUR_CODES[ANSWER_BEHAVIOUR] & 1:
        accepted = behaviour is not None and bool(case.accepted_bits >> BEHAVIOUR_CODES[behaviour] & 1)
        return AnswerQuality(accepted, BEHAVIOUR_SIGNAL)
    if is_settled:
        return assess_text(case, observation)
    if settings.threshold is not None:
        metric, least = settings.threshold
        value = get_scored_value(scores, metric)
        if value is not None:
            return replace(assess_text(case, observation), good=value >= least, signal=f"{metric} ≥ {least:g}")
    if (
        case.case.behaviour != ANSWER_BEHAVIOUR
    ):  # an answer is accepted as well, but the reference may describe something else
        text = assess_text(case, observation)
        return text if text.good is not None or text.unknown else AnswerQuality(True, BEHAVIOUR_SIGNAL)
    judged = _assess_judged(case, observation, scores, settings)
    return judged if judged is not None else _assess_stated(case, observation, scores)


def _explain_unknown(case: CaseIndex, observation: Observation) -> str:
    if is_answer_failure(case, observation):
        return "the answer looks like an error message of the system"
    return BEHAVIOUR_OPEN


def _is_settled(case: Case, observation: Observation) -> bool:
    """Return whether people decided if the answer is right, and agree."""
    if not isinstance(observation.answer, str):
        return False
    decision = find_decision(case, "correct_answer", observation.answer)
    return decision is not None and not decision.is_disputed


def get_scored_value(scores: CaseScores, metric: str) -> float | None:
    """Return the value of a metric, None if it is not scored."""
    status, value, _ = scores.get(metric, (None, 0.0, ""))
    return value if status == SCORED else None


def assess_text(case: CaseIndex, observation: Observation) -> AnswerQuality:
    """Assess the text of the answer by what the case states: facts, keywords, an exact value or a number."""
    answer = observation.answer if isinstance(observation.answer, str) else ""
    is_passage = find_pasted_passage(case, observation) is not None
    quality = assess_answer_text(case.case, answer, case.source_sentences, is_passage=is_passage)
    return quality if quality is not None else AnswerQuality(None, "the case states nothing to look for")


def _assess_judged(
    case: CaseIndex, observation: Observation, scores: CaseScores, settings: AttributionSettings
) -> AnswerQuality | None:
    """Assess by the judge's grade; None if the judge did not grade the answer or was not calibrated."""
    value = get_scored_value(scores, JUDGE_METRIC)
    if value is None or JUDGE_METRIC not in settings.calibrated:
        return None
    least = settings.judge_threshold
    return replace(assess_text(case, observation), good=value >= least, signal=f"{JUDGE_METRIC} ≥ {least:g}")


def _assess_stated(case: CaseIndex, observation: Observation, scores: CaseScores) -> AnswerQuality:
    """Assess by what the case states. Similarity and an uncalibrated judge are named, and tell nothing alone."""
    text = assess_text(case, observation)
    if text.good is not None or (text.unknown and text.signal != REFERENCE_TEXT):
        return text
    judged = get_scored_value(scores, JUDGE_METRIC)
    if judged is not None:
        return replace(text, signal=f"{JUDGE_METRIC} {judged:.2f}, uncalibrated, so it does not count")
    if text.unknown:
        return text
    similarity = get_scored_value(scores, SIMILARITY_METRIC)
    if similarity is not None:
        return AnswerQuality(None, f"{SIMILARITY_METRIC} {similarity:.2f}, which alone does not tell")
    return AnswerQuality(None, "nothing that was measured says whether the answer is right")
