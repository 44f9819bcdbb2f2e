"""Whose fault was it? One case to one verdict: reached × good, the walk of its evidence, and the cause that fits.

The rules stand in order of precedence: access, labels and judge, behaviour, version, stage, generation, citation. The
first that applies is the cause; "insufficient trace" is an answer, a guess is not.
"""

from __future__ import annotations

from collections.abc import Callable

from assay.finding import Attribution, Fault
from assay.graders.base import CaseIndex
from assay.model import Observation
from assay.scoring import causes, labels
from assay.scoring.blame import Blame
from assay.scoring.goodness import AttributionSettings, Scores
from assay.scoring.indexed import IndexView
from assay.scoring.inquiry import Inquiry, holds, strange_numbers
from assay.scoring.walk import walks

__all__ = ["AttributionSettings", "attribute"]

Rule = Callable[[Inquiry], Blame | None]

_TRUSTED: tuple[Rule, ...] = (causes.leaked, labels.stale_label, labels.judge_noise)
"""What comes before the cell, because it decides whether the cell can be believed."""
_RULES: tuple[Rule, ...] = (
    causes.locked_out,
    causes.answered_anyway,
    labels.moved_label,
    causes.outdated_version,
    causes.lost_on_the_way,
    labels.wrong_reference,
    causes.worn_text,
    causes.misused,
    causes.cited_elsewhere,
)
_FINE: tuple[Rule, ...] = (labels.moved_label, causes.cited_elsewhere)
"""What may still be wrong where the evidence arrived and the answer is good, or not known to be bad."""


def attribute(
    case: CaseIndex,
    observation: Observation | None,
    scores: Scores,
    settings: AttributionSettings,
    view: IndexView | None = None,
) -> Attribution:
    """Return whose fault the outcome of one case was.

    `scores` are those of this observation by metric: status, value, reason. `view` is what the run's traces show of the
    index; without it nothing is said about how a text was indexed. The same inputs give the same finding, whatever the
    configuration is called.
    """
    case_id = case.case.id
    if observation is None:
        return _unknown(case_id, "the case has no output")
    if observation.error is not None:
        return _unknown(case_id, f"the target failed: {observation.error.code}")
    inquiry = Inquiry.of(case, observation, scores, settings, view)
    fine = inquiry.good is not False and inquiry.reached is not False
    found = _first(_TRUSTED, inquiry) or _first(_FINE if fine else _RULES, inquiry)
    if found is None and not fine:
        found = Blame("insufficient_trace", None, (_why_not(inquiry),), "low")
    return _finding(inquiry, found)


def _first(rules: tuple[Rule, ...], inquiry: Inquiry) -> Blame | None:
    return next((found for rule in rules if (found := rule(inquiry)) is not None), None)


def _finding(inquiry: Inquiry, found: Blame | None) -> Attribution:
    """Put the verdict together from the cell and the cause."""
    verdict, subtype = _verdict(inquiry, found)
    note = causes.NOTES[found.cause] if found is not None else None
    return Attribution(
        case_id=inquiry.case.case.id,
        verdict=verdict,
        cause=found.cause if found is not None else None,
        subtype=subtype,
        stage=found.stage if found is not None else None,
        evidence=found.evidence if found is not None else (),
        confidence=found.confidence if found is not None else "high" if inquiry.reached is not None else "medium",
        sign=note.sign if note is not None else "",
        fix=note.fix if note is not None else "",
        good=inquiry.good,
        reached=inquiry.reached,
        signal=inquiry.content.signal,
        walk=walks(inquiry.case, inquiry.steps),
        also=found.also if found is not None else (),
    )


def _verdict(inquiry: Inquiry, found: Blame | None) -> tuple[Fault, str]:
    """Return the cell of reached × good, or the fault that takes precedence over it, with its subtype."""
    cause = found.cause if found is not None else None
    if cause == "acl":
        return "access_fault", "leak" if inquiry.leaks.count("anywhere") else "locked_out"
    if cause == "judge_noise":
        return "unknown", "judge_noise"
    if inquiry.good and inquiry.reached is False:
        return "masked_gap", _masked(inquiry, cause)
    if cause == "golden_label_issue":
        return "unknown", "gold_misspecified"
    if cause == "citation":
        return "generation_fault", "citation"
    if inquiry.good:
        return "pass", ""
    if inquiry.good is None:
        return "unknown", ""
    if inquiry.leaks.text:
        return "generation_fault", "injection_followed"
    if not inquiry.case.accepted_bits & 1:
        return "refusal_fault", "under_refusal" if inquiry.did == "answer" else "wrong_refusal"
    if inquiry.reached is None:
        return "unknown", ""
    if not inquiry.reached or cause in ("parser", "chunking", "stale_index"):
        return "retrieval_fault", ""
    if inquiry.did != "answer":
        return "refusal_fault", "over_refusal"
    return "generation_fault", _wrong(inquiry)


def _masked(inquiry: Inquiry, cause: str | None) -> str:
    """Good without its evidence: what arrived says it as well, or the model knew it by itself."""
    known = inquiry.facts and all(holds(inquiry.context, fact) for fact in inquiry.facts)
    elsewhere = cause == "golden_label_issue" or known or not strange_numbers(inquiry.answer, inquiry.context)
    return "gold_misspecified" if inquiry.context and elsewhere else "parametric_knowledge"


def _wrong(inquiry: Inquiry) -> str:
    """How an answer is wrong that had its evidence: it invents, it leaves out, or it draws the wrong conclusion."""
    texts = [*inquiry.context, inquiry.case.case.question]
    if inquiry.context and strange_numbers(inquiry.answer, texts):
        return "hallucination"
    if inquiry.content.wrong and not any(holds(inquiry.context, fact) for fact in inquiry.content.wrong):
        return "hallucination"
    left_out = 0 < len(inquiry.content.missing) < len(inquiry.facts) and not inquiry.content.wrong
    return "incompleteness" if left_out else "reasoning_error"


def _unknown(case_id: str, why: str) -> Attribution:
    note = causes.NOTES["insufficient_trace"]
    return Attribution(
        case_id, "unknown", "insufficient_trace", evidence=(why,), confidence="low", sign=note.sign, fix=note.fix
    )


def _why_not(inquiry: Inquiry) -> str:
    """Say what is missing for a cause to be named."""
    if not inquiry.steps:
        return "no stage was reported, so nothing says what reached the generator"
    if inquiry.good is None:
        return inquiry.content.signal
    return "the case lists no required evidence, so retrieval and generation cannot be told apart"
