"""Decides whether an answer is good: the first available signal decides, and is named with its threshold (ADR 0030)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from msgspec import UNSET

from assay.metrics.answer_behaviour import ANSWER_BEHAVIOUR, BEHAVIOUR_CODES, UNKNOWN_BEHAVIOUR, AnswerFacts
from assay.metrics.case_index import CaseIndex
from assay.metrics.metric import JoinedRows
from assay.records.golden_set import BEHAVIOURS, Case
from assay.records.observations import Observation
from assay.records.scores import SCORED
from assay.scoring.attribution_settings import JUDGE_METRIC, SIMILARITY_METRIC, AttributionSettings
from assay.text.answer_matching import has_all_quantities, is_exact_match, partition_facts, score_keywords
from assay.text.normalisation import fold_text
from assay.text.refusals import UNKNOWN

_UNCALIBRATED = " (uncalibrated)"

CaseScores = Mapping[str, tuple[int, float, str]]
"""The scores of one case by metric: status, value (meaningful only if scored), reason."""


class AnswerQuality(NamedTuple):
    """Whether an answer is good (None: unknown), the signal that decided, missing expected facts and wrong facts."""

    good: bool | None
    signal: str
    missing: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


def detect_answer_behaviour(case: CaseIndex, observation: Observation) -> str | None:
    """Return the behaviour of the answer by the rules of the behaviour metrics: `unknown` if nothing tells, None if
    there is no answer."""
    facts = AnswerFacts()
    facts.add(JoinedRows([case], [observation]))
    code = int(facts.observed_behaviours[0][0])
    if code == UNKNOWN_BEHAVIOUR:
        return UNKNOWN
    return BEHAVIOURS[code] if code >= 0 else None


def assess_answer(
    case: CaseIndex, observation: Observation, scores: CaseScores, settings: AttributionSettings, behaviour: str | None
) -> AnswerQuality:
    """Return whether the content of the answer is good; the caller accounts for leaks.

    If the system did not answer, or should not have, the behaviour alone decides. `behaviour` is the observed
    behaviour.
    """
    if observation.answer is UNSET and observation.behaviour is None:
        return AnswerQuality(None, "no answer was asked for")
    if behaviour == UNKNOWN:
        return AnswerQuality(None, "nothing tells what the answer did")
    if behaviour != ANSWER_BEHAVIOUR or not case.accepted_bits >> BEHAVIOUR_CODES[ANSWER_BEHAVIOUR] & 1:
        accepted = behaviour is not None and bool(case.accepted_bits >> BEHAVIOUR_CODES[behaviour] & 1)
        return AnswerQuality(accepted, "behaviour")
    if settings.threshold is not None:
        metric, least = settings.threshold
        value = get_scored_value(scores, metric)
        text = assess_text(case.case, observation)
        return AnswerQuality(None if value is None else value >= least, f"{metric} ≥ {least:g}", *text[2:])
    if (
        case.case.behaviour != ANSWER_BEHAVIOUR
    ):  # an answer is accepted as well, but the reference may describe something else
        text = assess_text(case.case, observation)
        return text if text.good is not None else AnswerQuality(True, "behaviour")
    for signal in _SIGNALS:
        quality = signal(case.case, observation, scores, settings)
        if quality is not None:
            return quality
    return AnswerQuality(None, "nothing that was measured says whether the answer is right")


def get_scored_value(scores: CaseScores, metric: str) -> float | None:
    """Return the value of a metric, None if it is not scored."""
    status, value, _ = scores.get(metric, (None, 0.0, ""))
    return value if status == SCORED else None


def assess_text(case: Case, observation: Observation) -> AnswerQuality:
    """Assess the text of the answer by keywords and must-have facts, else by the exact or numeric reference."""
    answer = observation.answer if isinstance(observation.answer, str) else ""
    by_facts = _assess_facts(case, answer)
    if by_facts is not None:
        return by_facts
    by_reference = _assess_reference(case, answer)
    return by_reference if by_reference is not None else AnswerQuality(None, "the case states nothing to look for")


def find_text_signal(case: Case) -> str | None:
    """Return what decides whether the text of an answer is good, None if the case states nothing to look for."""
    rubric = case.rubric
    has_facts = any(fold_text(fact) for fact in case.must_have)
    has_keywords = rubric is not None and any(fold_text(keyword) for keyword in rubric.correct_keywords)
    if has_facts and has_keywords:
        return "must-have facts and keywords"
    if has_facts:
        return "must-have facts"
    if has_keywords:
        return "keywords"
    if rubric is None or not case.reference:
        return None
    return {"exact": "exact_match", "number": "number_match"}.get(rubric.kind)


def _assess_facts(case: Case, answer: str) -> AnswerQuality | None:
    """Require every must-have fact, the keywords (any or all of them) and no incorrect pattern.

    An incorrect pattern next to all correct keywords, without hedging, is taken as history and not as an error: the
    keyword rubric looks at correct keywords first (ADR 0038).
    """
    facts = [fact for fact in case.must_have if fold_text(fact)]
    rubric = case.rubric
    keywords = [keyword for keyword in rubric.correct_keywords if fold_text(keyword)] if rubric is not None else []
    if not facts and not keywords:
        return None
    missing = partition_facts(answer, facts)[1]
    wrong: tuple[str, ...] = ()
    if rubric is not None and keywords:
        grade = score_keywords(answer, keywords, rubric.incorrect_patterns, rubric.match)
        if grade.missing and (rubric.match == "all" or not grade.matched):
            missing += [keyword for keyword in grade.missing if keyword not in missing]
        wrong = grade.incorrect_matched if missing or grade.hedged else ()
    elif rubric is not None:
        wrong = tuple(partition_facts(answer, rubric.incorrect_patterns)[0])
    return AnswerQuality(not missing and not wrong, find_text_signal(case) or "", tuple(missing), wrong)


def _assess_reference(case: Case, answer: str) -> AnswerQuality | None:
    """Compare with the reference or its numbers, if the case asks for an exact match."""
    rubric, reference = case.rubric, case.reference
    if rubric is None or rubric.kind == "text" or not reference:
        return None
    if rubric.kind == "exact":
        is_equal = is_exact_match(answer, reference)
        return AnswerQuality(is_equal, "exact_match", () if is_equal else (reference,))
    is_match = has_all_quantities(answer, reference, rubric.tolerance)
    return None if is_match is None else AnswerQuality(is_match, "number_match", () if is_match else (reference,))


Signal = Callable[[Case, Observation, CaseScores, AttributionSettings], AnswerQuality | None]


def _metric_signal(metric: str, least: Callable[[AttributionSettings], float], mark: str = "") -> Signal:
    """Return a signal that compares a metric with a minimum; without `mark` the metric must be calibrated."""

    def assess_score(
        case: Case, observation: Observation, scores: CaseScores, settings: AttributionSettings
    ) -> AnswerQuality | None:
        value = get_scored_value(scores, metric)
        if value is None or (not mark and metric not in settings.calibrated):
            return None
        text = assess_text(case, observation)
        return AnswerQuality(
            value >= least(settings), f"{metric} ≥ {least(settings):g}{mark}", text.missing, text.wrong
        )

    return assess_score


def _text_signal(
    case: Case, observation: Observation, scores: CaseScores, settings: AttributionSettings
) -> AnswerQuality | None:
    quality = assess_text(case, observation)
    return quality if quality.good is not None else None


_SIGNALS: tuple[Signal, ...] = (
    _metric_signal(JUDGE_METRIC, lambda settings: settings.judge_threshold),
    _text_signal,
    _metric_signal(SIMILARITY_METRIC, lambda settings: settings.similarity_threshold, _UNCALIBRATED),
    _metric_signal(JUDGE_METRIC, lambda settings: settings.judge_threshold, _UNCALIBRATED),
)
