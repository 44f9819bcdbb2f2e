"""Metrics that combine others: hallucination risk, and how far a judge can be trusted."""

from __future__ import annotations

from msgspec import structs

from assay.metrics.answer_metric import UNDEFINED_GROUNDING, Scorers, define_answer_metric
from assay.metrics.answers.correctness import (
    judge_completeness,
    judge_correctness,
    judge_relevance,
    no_answer_reason,
    score_correctness_by_rules,
)
from assay.metrics.answers.rubric_metrics import judge_rubric, name_rubric_metric
from assay.metrics.grounding.citation_support import (
    CITATION_SUPPORT_RUBRIC,
    judge_citation_support,
    score_citation_support,
)
from assay.metrics.grounding.faithfulness import CLAIM_SUPPORT_RUBRIC, judge_faithfulness, score_faithfulness
from assay.metrics.judged.judge_requests import (
    NO_VERDICT,
    JudgeDialogue,
    Outcome,
    Rubrics,
    collect_first_requests,
    not_applicable_outcome,
    run_together,
    scored_outcome,
)
from assay.metrics.judged.vote_folding import Ruling
from assay.metrics.leaks.find_leaks import ACCESS_UNKNOWN
from assay.metrics.metric import Metric
from assay.metrics.parsed_answer import ParsedAnswer, format_list
from assay.records.scores import ERROR, NOT_APPLICABLE, SCORED
from assay.records.verdicts import JudgeRequest

METRICS_BY_BOTH_SCORERS = ("faithfulness", "citation_support", "correctness")
"""The metrics on which judge and rules are compared."""
DISAGREEMENT_THRESHOLD = 0.4
"""How far judge and rules may differ before the case is flagged for review."""


_NOTHING_CITED = "claims, and cites nothing"


def _find_certain_risk(reading: ParsedAnswer) -> Outcome | None:
    """Return the risk of an answer whose claims rest on no source that its user may see, None if that is not certain.

    Such an answer cites nothing although citations are reported or required, or cites only what the user may not see.
    There is no score where nobody can say whether the user may see a cited source.
    """
    if isinstance(reading.context_texts, str) or reading.is_refusal or not reading.claims:
        return None
    if not reading.citations:
        is_expected = reading.observation.citations is not None or reading.observation.sentences is not None
        return scored_outcome(1.0, _NOTHING_CITED) if is_expected or reading.case.case.must_cite else None
    names, access = {citation.name for citation in reading.citations}, reading.access
    if names <= access.forbidden:
        return scored_outcome(1.0, format_list("the user may not see", sorted(names)))
    return not_applicable_outcome(ACCESS_UNKNOWN) if access.unknown else None


def _combine_risk(faithful: Outcome, cited: Outcome) -> Outcome:
    parts = (faithful, cited)
    for status in (NOT_APPLICABLE, ERROR):  # an undefined part makes the risk undefined, even if the other is an error
        for part in parts:
            if part.status == status:
                return part
    return scored_outcome(1 - faithful.value * cited.value, "; ".join(part.detail for part in parts if part.detail))


def score_hallucination_risk(reading: ParsedAnswer) -> Outcome:
    """1 − faithfulness × citation support; 1 for claims that rest on no source that the user may see."""
    return _find_certain_risk(reading) or _combine_risk(score_faithfulness(reading), score_citation_support(reading))


def judge_hallucination_risk(reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
    """1 − faithfulness × citation support; 1 for claims that rest on no source that the user may see."""
    certain_risk = _find_certain_risk(reading)
    if certain_risk is not None:
        return certain_risk
    faithful, cited = yield from run_together(
        judge_faithfulness(reading, rubrics), judge_citation_support(reading, rubrics)
    )
    return _combine_risk(faithful, cited)


_DIMENSIONS = ("faithfulness", "citation_support", "correctness", "completeness", "answer_relevance")


def _judged_dimensions(reading: ParsedAnswer, rubrics: Rubrics) -> dict[str, JudgeDialogue]:
    """Return the judged metrics of an answer; those that need an expected answer only where one is expected."""
    grounded = {
        "faithfulness": judge_faithfulness(reading, rubrics),
        "citation_support": judge_citation_support(reading, rubrics),
    }
    if no_answer_reason(reading.case):
        return grounded
    return grounded | {
        "correctness": judge_correctness(reading, rubrics),
        "completeness": judge_completeness(reading, rubrics),
        "answer_relevance": judge_relevance(reading, rubrics),
    }


def measure_judge_unscored(reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
    """The share of the requests about this answer that have no usable verdict for some item.

    A request without a recorded verdict counts only if any answer was judged under its rubric.
    """
    judging = reading.case.golden_index.judging
    rubrics_with_verdicts = judging.rubrics_with_verdicts if judging is not None else ()
    requests: list[JudgeRequest] = []
    dimensions = _judged_dimensions(reading, rubrics)
    # Any other rubric is a metric too; only those that were asked at all are counted.
    names = sorted({name for name, _ in rubrics} & set(rubrics_with_verdicts))
    other_rubrics = [name for name in names if name_rubric_metric(name) not in _DIMENSIONS]
    for asking in (*dimensions.values(), *(judge_rubric(reading, rubrics, name) for name in other_rubrics)):
        requests += collect_first_requests(asking)
    rulings = (yield requests) if requests else []
    counted, reasons = 0, list[str]()
    for request, ruling in zip(requests, rulings, strict=True):
        if ruling is None and request.rubric not in rubrics_with_verdicts:
            continue
        counted += 1
        reason = _unscored_reason(ruling)
        if reason is not None:
            reasons.append(reason)
    if not counted:
        return not_applicable_outcome(NO_VERDICT)
    return scored_outcome(len(reasons) / counted, format_list("unscored", reasons))


def _unscored_reason(ruling: Ruling | None) -> str | None:
    """Return why some item of a request has no label; None where each has one."""
    if ruling is None:
        return NO_VERDICT
    return ruling.unscored or next((item.unscored for item in ruling.items if item.unscored), None)


def measure_judge_disagreement(reading: ParsedAnswer, rubrics: Rubrics) -> JudgeDialogue:
    """1 where judge and rules differ by more than .4 on faithfulness, citation support or correctness."""
    scorers_by_rules = dict(
        zip(
            METRICS_BY_BOTH_SCORERS,
            (score_faithfulness, score_citation_support, score_correctness_by_rules),
            strict=True,
        )
    )
    dimensions = _judged_dimensions(reading, rubrics)
    askings = {name: asking for name, asking in dimensions.items() if name in scorers_by_rules}
    outcomes_by_judge = dict(zip(askings, (yield from run_together(*askings.values())), strict=True))
    compared, differences = 0, list[str]()
    for name, by_judge in outcomes_by_judge.items():
        by_rules = scorers_by_rules[name](reading)
        if by_judge.status != SCORED or by_rules.status != SCORED:
            continue
        compared += 1
        if abs(by_judge.value - by_rules.value) > DISAGREEMENT_THRESHOLD:
            differences.append(f"{name} {by_judge.value:.2f} by judge, {by_rules.value:.2f} by rules")
    if not compared:
        return not_applicable_outcome("nothing was measured by both judge and rules")
    return scored_outcome(float(bool(differences)), format_list("apart", differences))


HALLUCINATION_METRICS: tuple[Metric, ...] = (
    define_answer_metric(
        "hallucination_risk",
        "1 − faithfulness × citation support; 1 for claims that rest on no source that the user may see.",
        "answer audit record",
        f"{UNDEFINED_GROUNDING}; citations neither reported nor required; access to a cited chunk unknown",
        Scorers(score_hallucination_risk, judge_hallucination_risk),
        rubrics=(CLAIM_SUPPORT_RUBRIC, CITATION_SUPPORT_RUBRIC),
        lower=True,
        rests_on=("faithfulness", "citation_support"),
    ),
)

JUDGE_METRICS: tuple[Metric, ...] = (
    structs.replace(
        define_answer_metric(
            "judge_unscored",
            "Share of the requests about an answer for which the judge gave no usable verdict.",
            "an unscored verdict is never imputed",
            "nothing recorded",
            Scorers(judge=measure_judge_unscored),
            lower=True,
        ),
        scoring_class="judged",
        uncalibrated=(),
    ),
    structs.replace(
        define_answer_metric(
            "judge_disagreement",
            "Whether judge and rules differ by more than 0.4 on faithfulness, citation support or correctness.",
            "tool-side evaluator: flags a case for review",
            "nothing measured by both",
            Scorers(judge=measure_judge_disagreement),
            lower=True,
        ),
        scoring_class="judged",
        statistic="rate",
        uncalibrated=(),
    ),
)
