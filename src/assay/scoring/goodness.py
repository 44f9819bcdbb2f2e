"""Decides whether an answer is good: the first available signal decides, and is named with its threshold (ADR 0030)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from msgspec import UNSET

from assay.errors import SettingsError, shown
from assay.graders.answer import ANSWER, CODE, AnswerFacts
from assay.graders.base import CaseIndex
from assay.graders.catalog import parse
from assay.graders.rows import Rows
from assay.metrics.answers import exact_match, facts_present, grade_keywords, number_match
from assay.metrics.text import fold
from assay.model import BEHAVIOURS, SCORED, Case, Observation

JUDGE = "correctness(by=judge)"
SIMILARITY = "answer_similarity"
AUTO = "auto"
_UNCALIBRATED = " (uncalibrated)"

Scores = Mapping[str, tuple[int, float, str]]
"""The scores of one case by metric: status, value (meaningful only if scored), reason."""


class Limit(NamedTuple):
    """A metric and the minimum value that counts as good."""

    metric: str
    least: float


_SPEC = re.compile(r"(?P<metric>[^<>=\s](?:[^<>]*[^<>=\s])?)\s*>=\s*(?P<least>[0-9.]+(?:e-?[0-9]+)?)")


def limit_of(good: str) -> Limit | None:
    """Parse the setting `scoring.good`: a metric with its minimum, or `auto`, for which None is returned.

    Raises SettingsError for anything else, MetricNameError for a metric that is not in the catalogue.

    >>> limit_of("number_match >= 1")
    Limit(metric='number_match', least=1.0)
    """
    if good == AUTO:
        return None
    match = _SPEC.fullmatch(good.strip())
    try:
        least = float(match["least"]) if match else None
    except ValueError:
        least = None
    if match is None or least is None:
        expected = "auto, or a metric with its minimum, such as correctness(by=judge)>=0.75"
        raise SettingsError(f"scoring.good: cannot be read (got {shown(good)}; expected {expected})")
    return Limit(str(parse(match["metric"])), least)


@dataclass(frozen=True, slots=True)
class AttributionSettings:
    """The settings of attribution.

    `good` is the signal that decides whether an answer is good: `auto`, or a metric with its minimum. `production_k` is
    the number of chunks that the system shows its model. `reached` says whether all of the required evidence must have
    reached the model or any of it. `calibrated` are the judge metrics that were calibrated against human labels;
    `judged` and `similar` are the thresholds of `auto` for the judge and for answer similarity.
    """

    good: str = AUTO
    production_k: int | None = None
    reached: Literal["all", "any"] = "all"
    calibrated: frozenset[str] = frozenset()
    judged: float = 0.75
    similar: float = 0.5
    limit: Limit | None = field(init=False)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that may decide."""
        return (self.limit.metric,) if self.limit is not None else (JUDGE, SIMILARITY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", limit_of(self.good))


class Goodness(NamedTuple):
    """Whether an answer is good (None: unknown), the signal that decided, missing expected facts and wrong facts."""

    good: bool | None
    signal: str
    missing: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


def behaviour_of(case: CaseIndex, observation: Observation) -> str | None:
    """Return the behaviour of the answer by the rules of the behaviour metrics, None if there is no answer."""
    facts = AnswerFacts()
    facts.add(Rows([case], [observation]))
    code = int(facts.observed[0][0])
    return BEHAVIOURS[code] if code >= 0 else None


def goodness(
    case: CaseIndex, observation: Observation, scores: Scores, settings: AttributionSettings, did: str | None
) -> Goodness:
    """Return whether the content of the answer is good; the caller accounts for leaks.

    If the system did not answer, or should not have, the behaviour alone decides. `did` is the observed behaviour.
    """
    if observation.answer is UNSET and observation.behaviour is None:
        return Goodness(None, "no answer was asked for")
    if did != ANSWER or not case.accepted_bits >> CODE[ANSWER] & 1:
        accepted = did is not None and bool(case.accepted_bits >> CODE[did] & 1)
        return Goodness(accepted, "behaviour")
    if settings.limit is not None:
        metric, least = settings.limit
        value = value_of(scores, metric)
        text = by_its_text(case.case, observation)
        return Goodness(None if value is None else value >= least, f"{metric} ≥ {least:g}", *text[2:])
    if case.case.behaviour != ANSWER:  # an answer is accepted as well, but the reference may describe something else
        text = by_its_text(case.case, observation)
        return text if text.good is not None else Goodness(True, "behaviour")
    for signal in _SIGNALS:
        quality = signal(case.case, observation, scores, settings)
        if quality is not None:
            return quality
    return Goodness(None, "nothing that was measured says whether the answer is right")


def value_of(scores: Scores, metric: str) -> float | None:
    """Return the value of a metric, None if it is not scored."""
    status, value, _ = scores.get(metric, (None, 0.0, ""))
    return value if status == SCORED else None


def by_its_text(case: Case, observation: Observation) -> Goodness:
    """Assess the text of the answer by keywords and must-have facts, else by the exact or numeric reference."""
    answer = observation.answer if isinstance(observation.answer, str) else ""
    by_facts = _assess_facts(case, answer)
    if by_facts is not None:
        return by_facts
    by_reference = _assess_reference(case, answer)
    return by_reference if by_reference is not None else Goodness(None, "the case states nothing to look for")


def signal_of(case: Case) -> str | None:
    """Return what decides whether the text of an answer is good, None if the case states nothing to look for."""
    rubric = case.rubric
    has_facts = any(fold(fact) for fact in case.must_have)
    has_keywords = rubric is not None and any(fold(keyword) for keyword in rubric.correct_keywords)
    if has_facts and has_keywords:
        return "must-have facts and keywords"
    if has_facts:
        return "must-have facts"
    if has_keywords:
        return "keywords"
    if rubric is None or not case.reference:
        return None
    return {"exact": "exact_match", "number": "number_match"}.get(rubric.kind)


def _assess_facts(case: Case, answer: str) -> Goodness | None:
    """Require every must-have fact, the keywords (any or all of them) and no incorrect pattern.

    An incorrect pattern next to all correct keywords, without hedging, is taken as history and not as an error: the
    keyword rubric looks at correct keywords first (ADR 0038).
    """
    facts = [fact for fact in case.must_have if fold(fact)]
    rubric = case.rubric
    keywords = [keyword for keyword in rubric.correct_keywords if fold(keyword)] if rubric is not None else []
    if not facts and not keywords:
        return None
    missing = facts_present(answer, facts)[1]
    wrong: tuple[str, ...] = ()
    if rubric is not None and keywords:
        grade = grade_keywords(answer, keywords, rubric.incorrect_patterns, rubric.match)
        if grade.missing and (rubric.match == "all" or not grade.matched):
            missing += [keyword for keyword in grade.missing if keyword not in missing]
        wrong = grade.incorrect_found if missing or grade.hedged else ()
    elif rubric is not None:
        wrong = tuple(facts_present(answer, rubric.incorrect_patterns)[0])
    return Goodness(not missing and not wrong, signal_of(case) or "", tuple(missing), wrong)


def _assess_reference(case: Case, answer: str) -> Goodness | None:
    """Compare with the reference or its numbers, if the case asks for an exact match."""
    rubric, reference = case.rubric, case.reference
    if rubric is None or rubric.kind == "text" or not reference:
        return None
    if rubric.kind == "exact":
        is_equal = exact_match(answer, reference)
        return Goodness(is_equal, "exact_match", () if is_equal else (reference,))
    is_match = number_match(answer, reference, rubric.tolerance)
    return None if is_match is None else Goodness(is_match, "number_match", () if is_match else (reference,))


Signal = Callable[[Case, Observation, Scores, AttributionSettings], Goodness | None]


def _metric_signal(metric: str, least: Callable[[AttributionSettings], float], mark: str = "") -> Signal:
    """Return a signal that compares a metric with a minimum; without `mark` the metric must be calibrated."""

    def assess_score(
        case: Case, observation: Observation, scores: Scores, settings: AttributionSettings
    ) -> Goodness | None:
        value = value_of(scores, metric)
        if value is None or (not mark and metric not in settings.calibrated):
            return None
        text = by_its_text(case, observation)
        return Goodness(value >= least(settings), f"{metric} ≥ {least(settings):g}{mark}", text.missing, text.wrong)

    return assess_score


def _text_signal(
    case: Case, observation: Observation, scores: Scores, settings: AttributionSettings
) -> Goodness | None:
    quality = by_its_text(case, observation)
    return quality if quality.good is not None else None


_SIGNALS: tuple[Signal, ...] = (
    _metric_signal(JUDGE, lambda settings: settings.judged),
    _text_signal,
    _metric_signal(SIMILARITY, lambda settings: settings.similar, _UNCALIBRATED),
    _metric_signal(JUDGE, lambda settings: settings.judged, _UNCALIBRATED),
)
