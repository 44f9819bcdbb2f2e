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
from assay.model import ERROR, NOT_APPLICABLE, SCORED
from assay.verdict import JudgeRequest

BY_BOTH = ("faithfulness", "citation_support", "correctness")
"""The metrics on which judge and rules are compared."""
APART = 0.4
"""How far judge and rules may differ before the case is flagged for review."""


def _combine_risk(faithful: Outcome, cited: Outcome) -> Outcome:
    parts = (faithful, cited)
    for status in (NOT_APPLICABLE, ERROR):  # an undefined part makes the risk undefined, even if the other is an error
        for part in parts:
            if part.status == status:
                return part
    return scored(1 - faithful.value * cited.value, "; ".join(part.detail for part in parts if part.detail))


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
    requests: list[JudgeRequest] = []
    for asking in _judged_dimensions(reading, rubrics).values():
        requests += first_requests(asking)
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
        return not_applicable(NO_VERDICT)
    return scored(len(reasons) / counted, listed("unscored", reasons))


def _unscored_reason(ruling: Ruling | None) -> str | None:
    """Return why some item of a request has no label; None where each has one."""
    if ruling is None:
        return NO_VERDICT
    return ruling.unscored or next((item.unscored for item in ruling.items if item.unscored), None)


def disagreement(reading: Reading, rubrics: Rubrics) -> Asking:
    """1 where judge and rules differ by more than .4 on faithfulness, citation support or correctness."""
    scorers_by_rules = dict(zip(BY_BOTH, (faithful_by_rules, support_by_rules, correct_by_rules), strict=True))
    dimensions = _judged_dimensions(reading, rubrics)
    askings = {name: asking for name, asking in dimensions.items() if name in scorers_by_rules}
    outcomes_by_judge = dict(zip(askings, (yield from together(*askings.values())), strict=True))
    compared, differences = 0, list[str]()
    for name, by_judge in outcomes_by_judge.items():
        by_rules = scorers_by_rules[name](reading)
        if by_judge.status != SCORED or by_rules.status != SCORED:
            continue
        compared += 1
        if abs(by_judge.value - by_rules.value) > APART:
            differences.append(f"{name} {by_judge.value:.2f} by judge, {by_rules.value:.2f} by rules")
    if not compared:
        return not_applicable("nothing was measured by both judge and rules")
    return scored(float(bool(differences)), listed("apart", differences))
