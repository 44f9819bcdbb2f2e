"""Claims compared with sentences of the sources by a local entailment model.

Each sentence of the sources is a premise of its own, because models of natural language inference are trained on single
sentences and are less accurate on passages (Laban et al. 2022, SummaC). A claim is as well entailed as by its best
sentence. It is as much contradicted as by those sentences that rules find nearest to it: of sentences about something
else, such models say "contradiction" too often.

Both numbers are uncalibrated, each until labels make it a probability of its own (ADR 0087).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Literal

from assay.metrics.judged.entailment_model import NO_SUPPORT, EntailmentError, EntailmentModel, EntailmentScores
from assay.metrics.judged.judge_requests import (
    Outcome,
    name_combined_scorer,
    scored_outcome,
    unscored_outcome,
)
from assay.metrics.parsed_answer import ParsedAnswer, find_calibration, format_list
from assay.text.claims.short_answers import is_fragment
from assay.text.normalisation import normalise_nfc
from assay.text.segmentation import segment_sentences

MAX_PAIRS = 2000
"""Pairs of claim and sentence up to which an answer is compared."""
NO_MODEL = "no entailment model was named"
CONTRADICTED_BY_ENTAILMENT = "contradicted_claims(by=entailment)"
EntailmentSide = Literal["entailment", "contradiction"]
_LEAST, _MOST = 1e-4, 1 - 1e-4
_MAX_LOGIT = 50.0
_NOTABLE = 0.5


def compare_claims(reading: ParsedAnswer, model: EntailmentModel, against: str) -> list[EntailmentScores]:
    """Return for each claim how well the sources entail it and how much they contradict it.

    Raises EntailmentError for an answer with too many pairs, and where the model gives no numbers.
    """
    texts = reading.source_texts(against)
    assert isinstance(texts, dict)
    sentences = dict.fromkeys(_list_sentences(texts))
    pairs = len(sentences) * len(reading.claims)
    if pairs > MAX_PAIRS:
        raise EntailmentError(f"more than {MAX_PAIRS} pairs of claim and sentence")
    compared = []
    for claim, support in zip(reading.claims, reading.claim_supports(against), strict=True):
        text = f"{reading.case.case.question} {claim.text}" if is_fragment(claim.text) else claim.text
        entailments = [model.compare(sentence, text).entailment for sentence in sentences]
        nearest = dict.fromkeys(
            normalise_nfc(texts.get(sentence.source, ""))[sentence.start : sentence.end].strip()
            for sentence in support.evidence
        )
        contradictions = [model.compare(sentence, text).contradiction for sentence in nearest if sentence]
        compared.append(
            EntailmentScores(
                max(entailments, default=NO_SUPPORT.entailment), max(contradictions, default=NO_SUPPORT.contradiction)
            )
        )
    return compared


def _list_sentences(texts: Mapping[str, str]) -> Iterator[str]:
    for source_text in texts.values():
        text = normalise_nfc(source_text)
        for start, end in segment_sentences(text):
            sentence = text[start:end].strip()
            if sentence:
                yield sentence


def convert_to_signal(probability: float) -> float:
    """Return the logit of a probability, to which calibration fits a curve.

    >>> convert_to_signal(0.5), round(convert_to_signal(1.0), 2)
    (0.0, 9.21)
    """
    clipped = min(max(probability, _LEAST), _MOST)
    return math.log(clipped / (1 - clipped))


def score_claims_by_entailment(reading: ParsedAnswer, against: str, metric: str, side: EntailmentSide) -> Outcome:
    """Return the mean over claims of one of their probabilities, calibrated under the metric's name if it is."""
    judging = reading.case.golden_index.judging
    model = judging.entailment_model if judging is not None else None
    if model is None:
        return unscored_outcome(NO_MODEL)
    try:
        compared = compare_claims(reading, model, against)
    except EntailmentError as error:
        return unscored_outcome(f"entailment model: {error}")
    curve = select_entailment_curve(reading, metric, model)
    values = [apply_entailment_curve(getattr(scores, side), curve) for scores in compared]
    is_doubtful = side == "entailment"
    notable = []
    for claim, value in zip(reading.claims, values, strict=True):
        if (value < _NOTABLE) is is_doubtful:
            notable.append(f"{claim.text} ({side} {value:.2f})")
    title = "hardly entailed" if is_doubtful else "probably contradicted"
    return scored_outcome(math.fsum(values) / len(values), format_list(title, notable))


def select_entailment_curve(reading: ParsedAnswer, metric: str, model: EntailmentModel) -> Mapping[str, float] | None:
    """Return the curve that labels gave a metric by this model; None before calibration."""
    calibration = find_calibration(reading, metric)
    if calibration is None or not calibration.applies_to(name_combined_scorer(model.digest), ""):
        return None
    return calibration.platt


def apply_entailment_curve(probability: float, curve: Mapping[str, float] | None) -> float:
    """Return the calibrated probability, or the model's own without a curve."""
    if curve is None:
        return probability
    logit = curve["slope"] * convert_to_signal(probability) + curve["intercept"]
    return 1 / (1 + math.exp(-min(max(logit, -_MAX_LOGIT), _MAX_LOGIT)))
