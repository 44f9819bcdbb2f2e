"""The verdicts of judge and rules on the claims of one answer, and the judge's recorded votes, for the HTML report."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from assay.graders.grounding import claims_by_judge, why_not
from assay.graders.held import FAITHFULNESS, held
from assay.graders.instruments import requests_of
from assay.graders.joins import CaseIndex
from assay.graders.names import MetricName
from assay.graders.reading import Reading
from assay.graders.stages import CONTEXT
from assay.graders.votes import Ruled
from assay.metrics.folding import nfc
from assay.metrics.support import Support
from assay.model import Observation
from assay.report.html_data import Claim, ClaimState
from assay.verdict import Verdict

RULES, JUDGE = "rules", "judge"
_STATES: dict[str | None, ClaimState] = {
    "supported": "supported",
    "contradicted": "contradicted",
    "not_found": "unsupported",
}


def claims_of(case: CaseIndex, observation: Observation) -> tuple[Claim, ...]:
    """Return the claims of an answer with their support by the context, as found by the judge, else by the rules.

    Empty if the answer has no claims to check: for a refusal, no answer, or a context without texts.
    """
    reading = Reading(case, observation)
    if (
        observation.error is not None
        or not isinstance(observation.answer, str)
        or why_not(reading, CONTEXT) is not None
    ):
        return ()
    ruled_items, calibrated = _rule_claims(reading), held(reading, FAITHFULNESS[CONTEXT])
    texts = reading.sources(CONTEXT)
    assert isinstance(texts, dict)
    return tuple(
        _claim_by_judge(observation.answer[claim.start : claim.end], ruled_items[claim.id])
        if claim.id in ruled_items
        else _claim_by_rules(observation.answer[claim.start : claim.end], support, calibrated.verdict(support), texts)
        for claim, support in zip(reading.claims, reading.supports(CONTEXT), strict=True)
    )


def verdicts_of(case: CaseIndex, observation: Observation, names: Sequence[MetricName]) -> tuple[Verdict, ...]:
    """Return every recorded vote on the questions that the judged metrics among these ask about an observation."""
    judging = case.joins.judging
    if judging is None or not judging.book:
        return ()
    requests = requests_of(case, observation, names, judging.rubrics)
    return tuple(chain.from_iterable(judging.book.get(request.digest, ()) for request in requests))


def _rule_claims(reading: Reading) -> dict[str, Ruled]:
    """Return the folded votes of the judge by claim; empty without recorded verdicts."""
    judging = reading.case.joins.judging
    if judging is None or not judging.book:
        return {}
    asking = claims_by_judge(reading, judging.rubrics)
    rulings = map(reading.ruling, next(asking, ()))
    asking.close()
    return {item.id: item for ruling in rulings if ruling is not None for item in ruling.items}


def _claim_by_judge(text: str, ruled: Ruled) -> Claim:
    item_verdict = ruled.said
    state = _STATES.get(ruled.label, "unknown")
    if item_verdict is None:
        return Claim(text, state, JUDGE, ruled.unscored or "")
    return Claim(text, state, JUDGE, item_verdict.reasoning, item_verdict.quote, item_verdict.source)


def _claim_by_rules(text: str, support: Support, verdict: str, texts: dict[str, str]) -> Claim:
    reasons = [*support.contradictions, *([f"in no source: {', '.join(support.missing)}"] if support.missing else ())]
    quote = nfc(texts[support.source])[support.start : support.end] if support.source is not None else None
    return Claim(text, _STATES.get(verdict, "unknown"), RULES, "; ".join(reasons), quote, support.source)
