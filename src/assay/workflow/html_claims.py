"""What both instruments say of the claims of one answer, and the judge's recorded votes, for the HTML report."""

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


def claims_of(case: CaseIndex, seen: Observation) -> tuple[Claim, ...]:
    """Return the claims of an answer held against the context: by the judge where it said something, else by rules.

    Empty where claims have no meaning: a refusal, no answer, or a context without texts.
    """
    reading = Reading(case, seen)
    if seen.error is not None or not isinstance(seen.answer, str) or why_not(reading, CONTEXT) is not None:
        return ()
    ruled, as_held = _ruled(reading), held(reading, FAITHFULNESS[CONTEXT])
    texts = reading.sources(CONTEXT)
    assert isinstance(texts, dict)
    return tuple(
        _judged(seen.answer[claim.start : claim.end], ruled[claim.id])
        if claim.id in ruled
        else _by_rules(seen.answer[claim.start : claim.end], found, as_held.verdict(found), texts)
        for claim, found in zip(reading.claims, reading.supports(CONTEXT), strict=True)
    )


def verdicts_of(case: CaseIndex, seen: Observation, names: Sequence[MetricName]) -> tuple[Verdict, ...]:
    """Return every recorded vote on what the judged ones of these metrics ask about an observation."""
    judging = case.joins.judging
    if judging is None or not judging.book:
        return ()
    asked = requests_of(case, seen, names, judging.rubrics)
    return tuple(chain.from_iterable(judging.book.get(each.digest, ()) for each in asked))


def _ruled(reading: Reading) -> dict[str, Ruled]:
    """Return what the judge's votes come to, by claim; empty without recorded verdicts."""
    judging = reading.case.joins.judging
    if judging is None or not judging.book:
        return {}
    asking = claims_by_judge(reading, judging.rubrics)
    rulings = map(reading.ruling, next(asking, ()))
    asking.close()
    return {item.id: item for ruling in rulings if ruling is not None for item in ruling.items}


def _judged(text: str, ruled: Ruled) -> Claim:
    said = ruled.said
    state = _STATES.get(ruled.label, "unknown")
    if said is None:
        return Claim(text, state, JUDGE, ruled.unscored or "")
    return Claim(text, state, JUDGE, said.reasoning, said.quote, said.source)


def _by_rules(text: str, found: Support, verdict: str, texts: dict[str, str]) -> Claim:
    reasons = [*found.contradictions, *([f"in no source: {', '.join(found.missing)}"] if found.missing else ())]
    quote = nfc(texts[found.source])[found.start : found.end] if found.source is not None else None
    return Claim(text, _STATES.get(verdict, "unknown"), RULES, "; ".join(reasons), quote, found.source)
