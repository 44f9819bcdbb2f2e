"""Was the answer good? The first signal that is available decides, and is named with its threshold (DECISIONS 17)."""

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
"""The scores of one case by metric: status, value (meaningful where scored), reason."""


class Limit(NamedTuple):
    """A metric and the least value that counts as good."""

    metric: str
    least: float


_SPEC = re.compile(r"(?P<metric>[^<>=\s](?:[^<>]*[^<>=\s])?)\s*>=\s*(?P<least>[0-9.]+(?:e-?[0-9]+)?)")


def limit_of(good: str) -> Limit | None:
    """Return the metric and threshold that `scoring.good` names, None for `auto`.

    Raises SettingsError for anything else, MetricNameError for a metric that the catalogue does not know.

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
        expected = "auto, or a metric with its least value, as correctness(by=judge)>=0.75"
        raise SettingsError(f"scoring.good: cannot be read (got {shown(good)}; expected {expected})")
    return Limit(str(parse(match["metric"])), least)


@dataclass(frozen=True, slots=True)
class AttributionSettings:
    """What attribution may be told: which signal decides `good` (`auto`, or a metric with its least value), how many
    chunks the system shows its model, and whether all required evidence must have reached it or any of it.

    `calibrated` are the metrics by judges that were held against people; `judged` and `similar` the thresholds of
    `auto`.
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
    """Whether an answer is good (None: nothing can tell), what decided, and which expected facts it lacks or which
    wrong ones it holds."""

    good: bool | None
    signal: str
    missing: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


def behaviour_of(case: CaseIndex, observation: Observation) -> str | None:
    """Return what the answer did, by the rules of the behaviour metrics; None where it did nothing."""
    facts = AnswerFacts()
    facts.add(Rows([case], [observation]))
    did = int(facts.observed[0][0])
    return BEHAVIOURS[did] if did >= 0 else None


def goodness(
    case: CaseIndex, observation: Observation, scores: Scores, settings: AttributionSettings, did: str | None
) -> Goodness:
    """Return whether the answer is good in what it says; leaks and a wrong behaviour are the caller's to add.

    Where something else than an answer was expected or accepted and given, the behaviour alone decides.
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
    if case.case.behaviour != ANSWER:  # an answer is accepted beside what the reference describes
        text = by_its_text(case.case, observation)
        return text if text.good is not None else Goodness(True, "behaviour")
    for signal in _SIGNALS:
        found = signal(case.case, observation, scores, settings)
        if found is not None:
            return found
    return Goodness(None, "nothing that was measured says whether the answer is right")


def value_of(scores: Scores, metric: str) -> float | None:
    """Return a scored value, None where there is none."""
    status, value, _ = scores.get(metric, (None, 0.0, ""))
    return value if status == SCORED else None


def by_its_text(case: Case, observation: Observation) -> Goodness:
    """Return what the answer's own text says: keywords and must-have facts, else the exact or numeric reference."""
    answer = observation.answer if isinstance(observation.answer, str) else ""
    return _stated(case, answer) or _exactly(case, answer) or Goodness(None, "the case states nothing to look for")


def signal_of(case: Case) -> str | None:
    """Return what decides whether an answer's own text is good, None where the case states nothing to look for."""
    rubric = case.rubric
    facts = any(fold(fact) for fact in case.must_have)
    keywords = rubric is not None and any(fold(each) for each in rubric.correct_keywords)
    if facts or keywords:
        return "must-have facts and keywords" if facts and keywords else "must-have facts" if facts else "keywords"
    exactly = rubric is not None and case.reference and rubric.kind
    return {"exact": "exact_match", "number": "number_match"}.get(str(exactly))


def _stated(case: Case, answer: str) -> Goodness | None:
    """Every must-have fact and the keywords (any, or all of them), and no incorrect pattern; one that stands beside all
    the right ones, un-hedged, is history and not an error ([002]: correct first)."""
    facts = [fact for fact in case.must_have if fold(fact)]
    rubric = case.rubric
    keywords = [each for each in rubric.correct_keywords if fold(each)] if rubric is not None else []
    if not facts and not keywords:
        return None
    missing = facts_present(answer, facts)[1]
    wrong: tuple[str, ...] = ()
    if rubric is not None and keywords:
        grade = grade_keywords(answer, keywords, rubric.incorrect_patterns, rubric.match)
        if grade.missing and (rubric.match == "all" or not grade.matched):
            missing += [each for each in grade.missing if each not in missing]
        wrong = grade.incorrect_found if missing or grade.hedged else ()
    elif rubric is not None:
        wrong = tuple(facts_present(answer, rubric.incorrect_patterns)[0])
    return Goodness(not missing and not wrong, signal_of(case) or "", tuple(missing), wrong)


def _exactly(case: Case, answer: str) -> Goodness | None:
    """The reference, or its numbers, where the case asks for them to the letter."""
    rubric, reference = case.rubric, case.reference
    if rubric is None or rubric.kind == "text" or not reference:
        return None
    if rubric.kind == "exact":
        same = exact_match(answer, reference)
        return Goodness(same, "exact_match", () if same else (reference,))
    matched = number_match(answer, reference, rubric.tolerance)
    return None if matched is None else Goodness(matched, "number_match", () if matched else (reference,))


Signal = Callable[[Case, Observation, Scores, AttributionSettings], Goodness | None]


def _measured(metric: str, least: Callable[[AttributionSettings], float], mark: str = "") -> Signal:
    def signal(case: Case, observation: Observation, scores: Scores, settings: AttributionSettings) -> Goodness | None:
        value = value_of(scores, metric)
        if value is None or (not mark and metric not in settings.calibrated):
            return None
        text = by_its_text(case, observation)
        return Goodness(value >= least(settings), f"{metric} ≥ {least(settings):g}{mark}", text.missing, text.wrong)

    return signal


def _by_text(case: Case, observation: Observation, scores: Scores, settings: AttributionSettings) -> Goodness | None:
    found = by_its_text(case, observation)
    return found if found.good is not None else None


_SIGNALS: tuple[Signal, ...] = (
    _measured(JUDGE, lambda settings: settings.judged),
    _by_text,
    _measured(SIMILARITY, lambda settings: settings.similar, _UNCALIBRATED),
    _measured(JUDGE, lambda settings: settings.judged, _UNCALIBRATED),
)
