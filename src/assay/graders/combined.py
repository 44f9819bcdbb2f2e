"""What follows from several metrics of the answer layer: the risk of a hallucination, and how far to trust a judge."""

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
"""What both instruments find, and are held against each other by."""
APART = 0.4
"""How far two instruments may differ before the case is flagged for review."""


def _risk(faithful: Outcome, cited: Outcome) -> Outcome:
    parts = (faithful, cited)
    for part in sorted(parts, key=lambda each: each.status != NOT_APPLICABLE):  # without meaning comes before unknown
        if part.status != SCORED:
            return part
    return scored(1 - faithful.value * cited.value, "; ".join(each.detail for each in parts if each.detail))


def risk_by_rules(reading: Reading) -> Outcome:
    """1 − faithfulness × citation support."""
    return _risk(faithful_by_rules(reading), support_by_rules(reading))


def risk_by_judge(reading: Reading, rubrics: Rubrics) -> Asking:
    """1 − faithfulness × citation support."""
    faithful, cited = yield from together(faithful_by_judge(reading, rubrics), support_by_judge(reading, rubrics))
    return _risk(faithful, cited)


def _everything(reading: Reading, rubrics: Rubrics) -> dict[str, Asking]:
    """Return the askings of every dimension of an answer that is judged; what needs an expected answer is never asked
    of others."""
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

    One that is not recorded counts where answers were judged under its rubric at all: else nobody meant to ask.
    """
    judging = reading.case.joins.judging
    held = judging.held if judging is not None else ()
    requests = [each for asking in _everything(reading, rubrics).values() for each in first_requests(asking)]
    rulings = (yield requests) if requests else []
    asked = [
        ruling for each, ruling in zip(requests, rulings, strict=True) if ruling is not None or each.rubric in held
    ]
    if not asked:
        return not_applicable(NO_VERDICT)
    gone = [why for ruling in asked if (why := _without_verdict(ruling)) is not None]
    return scored(len(gone) / len(asked), listed("unscored", gone))


def _without_verdict(ruling: Ruling | None) -> str | None:
    """Return why some item of a request has no label; None where each has one."""
    if ruling is None:
        return NO_VERDICT
    return ruling.unscored or next((item.unscored for item in ruling.items if item.unscored), None)


def disagreement(reading: Reading, rubrics: Rubrics) -> Asking:
    """1 where judge and rules differ by more than .4 on faithfulness, citation support or correctness."""
    rules = dict(zip(BY_BOTH, (faithful_by_rules, support_by_rules, correct_by_rules), strict=True))
    askings = {name: each for name, each in _everything(reading, rubrics).items() if name in rules}
    judged = dict(zip(askings, (yield from together(*askings.values())), strict=True))
    ruled = {name: rules[name](reading) for name in judged}
    both = [name for name in judged if judged[name].status == ruled[name].status == SCORED]
    if not both:
        return not_applicable("nothing was measured by both instruments")
    apart = [
        f"{name} {judged[name].value:.2f} by judge, {ruled[name].value:.2f} by rules"
        for name in both
        if abs(judged[name].value - ruled[name].value) > APART
    ]
    return scored(float(bool(apart)), listed("apart", apart))
