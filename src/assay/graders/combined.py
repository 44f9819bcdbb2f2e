"""Metrics that combine others: hallucination risk, and how far a judge can be trusted."""

from __future__ import annotations

from assay.graders.against_reference import (
    complete_by_judge,
    correct_by_judge,
    correct_by_rules,
    relevant_by_judge,
    unexpected,
)
from assay.graders.attached import support_by_judge, support_by_rules
from assay.graders.grounding import faithful_by_judge, faithful_by_rules
from assay.graders.judging import (
    NO_VERDICT,
    Asking,
    Outcome,
    Rubrics,
    first_requests,
    not_applicable,
    scored,
    together,
)
from assay.graders.reading import Reading, listed
from assay.graders.votes import Ruling
from assay.model import NOT_APPLICABLE, SCORED

BY_BOTH = ("faithfulness", "citation_support", "correctness")
"""The metrics on which judge and rules are compared."""
APART = 0.4
"""How far judge and rules may differ before the case is flagged for review."""


def _combine_risk(faithful: Outcome, cited: Outcome) -> Outcome:
    parts = (faithful, cited)
    for part in sorted(
        parts, key=lambda outcome: outcome.status != NOT_APPLICABLE
    ):  # without meaning comes before unknown
        if part.status != SCORED:
            return part
    return scored(1 - faithful.value * cited.value, "; ".join(outcome.detail for outcome in parts if outcome.detail))


def risk_by_rules(reading: Reading) -> Outcome:
    """1 − faithfulness × citation support."""
    return _combine_risk(faithful_by_rules(reading), support_by_rules(reading))


def risk_by_judge(reading: Reading, rubrics: Rubrics) -> Asking:
    """1 − faithfulness × citation support."""
    faithful, cited = yield from together(faithful_by_judge(reading, rubrics), support_by_judge(reading, rubrics))
    return _combine_risk(faithful, cited)


def _judged_dimensions(reading: Reading, rubrics: Rubrics) -> dict[str, Asking]:
    """Return the judged metrics of an answer; those that need an expected answer only where one is expected."""
    grounded = {
        "faithfulness": faithful_by_judge(reading, rubrics),
        "citation_support": support_by_judge(reading, rubrics),
    }
    if unexpected(reading.case):
        return grounded
    return grounded | {
        "correctness": correct_by_judge(reading, rubrics),
        "completeness": complete_by_judge(reading, rubrics),
        "answer_relevance": relevant_by_judge(reading, rubrics),
    }


def unscored_by_judge(reading: Reading, rubrics: Rubrics) -> Asking:
    """The share of the requests about this answer that have no usable verdict for some item.

    A request without a recorded verdict counts only if any answer was judged under its rubric.
    """
    judging = reading.case.joins.judging
    rubrics_with_verdicts = judging.held if judging is not None else ()
    requests = [
        request for asking in _judged_dimensions(reading, rubrics).values() for request in first_requests(asking)
    ]
    rulings = (yield requests) if requests else []
    relevant_rulings = [
        ruling
        for request, ruling in zip(requests, rulings, strict=True)
        if ruling is not None or request.rubric in rubrics_with_verdicts
    ]
    if not relevant_rulings:
        return not_applicable(NO_VERDICT)
    reasons = [reason for ruling in relevant_rulings if (reason := _unscored_reason(ruling)) is not None]
    return scored(len(reasons) / len(relevant_rulings), listed("unscored", reasons))


def _unscored_reason(ruling: Ruling | None) -> str | None:
    """Return why some item of a request has no label; None where each has one."""
    if ruling is None:
        return NO_VERDICT
    return ruling.unscored or next((item.unscored for item in ruling.items if item.unscored), None)


def disagreement(reading: Reading, rubrics: Rubrics) -> Asking:
    """1 where judge and rules differ by more than .4 on faithfulness, citation support or correctness."""
    scorers_by_rules = dict(zip(BY_BOTH, (faithful_by_rules, support_by_rules, correct_by_rules), strict=True))
    askings = {
        name: asking for name, asking in _judged_dimensions(reading, rubrics).items() if name in scorers_by_rules
    }
    outcomes_by_judge = dict(zip(askings, (yield from together(*askings.values())), strict=True))
    outcomes_by_rules = {name: scorers_by_rules[name](reading) for name in outcomes_by_judge}
    comparable = [
        name for name in outcomes_by_judge if outcomes_by_judge[name].status == outcomes_by_rules[name].status == SCORED
    ]
    if not comparable:
        return not_applicable("nothing was measured by both judge and rules")
    differences = [
        f"{name} {outcomes_by_judge[name].value:.2f} by judge, {outcomes_by_rules[name].value:.2f} by rules"
        for name in comparable
        if abs(outcomes_by_judge[name].value - outcomes_by_rules[name].value) > APART
    ]
    return scored(float(bool(differences)), listed("apart", differences))
