"""Support of claims by judge and rules together: the judge's label, with the score of the rules as prior and tie-break.

What the judge left open (no label, a tie, a label that the sources contradict) the rules decide. The weights of both
come from human labels (`assay calibrate`); without them they are constants, for ranking only (ADR 0059).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping

from assay.metrics.grounding.lexical_ground import has_lexical_ground
from assay.metrics.judged.judge_requests import (
    NO_VERDICT,
    UNSCORED_PREFIX,
    ItemLabel,
    JudgeDialogue,
    Outcome,
    Rulings,
    scored_outcome,
    unscored_outcome,
)
from assay.metrics.parsed_answer import ParsedAnswer, format_list
from assay.records.verdicts import Calibration, JudgeRequest, VerdictCuts
from assay.text.claims.source_support import SourceSupport

UNCALIBRATED_CURVE: Mapping[str, float] = {"slope": 4.0, "judge": 3.0, "intercept": -2.8}
"""The rules' own map of their score (0.5 at 0.7), and a judge that outweighs all but their clearest verdicts."""
UNCALIBRATED_ANSWER_CURVE: Mapping[str, float] = {"slope": 2.0, "judge": 3.0, "intercept": 0.0}
"""For whole answers, whose signal is from −1 (wrong by rules) over 0 (open) to 1 (right)."""
_MAX_LOGIT = 50.0


def compute_combined_probability(signal: float, judged: float | None, curve: Mapping[str, float]) -> float:
    """Return the probability of a claim from the rules' raw score and the judge's value in [0, 1], None without one.

    >>> [round(compute_combined_probability(0.7, judged, UNCALIBRATED_CURVE), 2) for judged in (1.0, None, 0.0)]
    [0.95, 0.5, 0.05]
    """
    vote = 0.0 if judged is None else 2 * judged - 1
    logit = curve["slope"] * signal + curve["judge"] * vote + curve["intercept"]
    return 1 / (1 + math.exp(-min(max(logit, -_MAX_LOGIT), _MAX_LOGIT)))


def select_curve(
    calibration: Calibration | None, uncalibrated: Mapping[str, float] = UNCALIBRATED_CURVE
) -> Mapping[str, float]:
    """Return the weights of a calibration, or the constants that stand for them."""
    return uncalibrated if calibration is None or calibration.platt is None else calibration.platt


def score_combined_claims(
    reading: ParsedAnswer, requests: list[JudgeRequest], against: str, calibration: Calibration | None
) -> JudgeDialogue:
    """Ask about every claim; return the mean probability that a claim is supported, by judge and rules together."""
    labels = yield from collect_judge_labels(requests)
    if isinstance(labels, Outcome):
        return labels
    curve = select_curve(calibration)
    cuts = calibration.cuts if calibration is not None else None
    texts = reading.source_texts(against)
    assert isinstance(texts, dict)
    probabilities, unsupported = [], []
    for claim, support in zip(reading.claims, reading.claim_supports(against), strict=True):
        label = labels.get(claim.id)
        judged = label.value if label is not None else None
        is_by_person = label is not None and label.by_person
        if judged and not is_by_person and not has_lexical_ground(claim.text, support, texts.values()):
            judged = None  # the sources hold none of its words, whatever the judge says
        probability = compute_combined_probability(support.z, judged, curve)
        probabilities.append(probability)
        if _is_unsupported(probability, judged, support, cuts):
            opinion = "none" if judged is None else f"{judged:g}"
            unsupported.append(f"{claim.text} (judge {opinion}, rules {support.score:.2f}, together {probability:.2f})")
    return scored_outcome(math.fsum(probabilities) / len(probabilities), format_list("unsupported", unsupported))


def _is_unsupported(probability: float, judged: float | None, support: SourceSupport, cuts: VerdictCuts | None) -> bool:
    """Whether a claim counts as unsupported; uncalibrated, only if the judge or a contradiction says so."""
    if cuts is not None:
        return cuts.decide(probability) is False
    return judged == 0 or support.verdict == "contradicted"


def collect_judge_labels(
    requests: list[JudgeRequest],
) -> Generator[list[JudgeRequest], Rulings, dict[str, ItemLabel] | Outcome]:
    """Return the label of each item that has one with a number; the outcome if the judge was not asked or failed."""
    rulings = (yield requests) if requests else []
    labels: dict[str, ItemLabel] = {}
    for ruling in rulings:
        if ruling is None:
            return unscored_outcome(NO_VERDICT)
        if ruling.unscored is not None:
            return unscored_outcome(f"{UNSCORED_PREFIX}{ruling.unscored}")
        for item in ruling.items:
            if item.label is not None and item.value is not None:
                labels[item.id] = ItemLabel(item.label, item.value, bool(item.reviewers))
    return labels
