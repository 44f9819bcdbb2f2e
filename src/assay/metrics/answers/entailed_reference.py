"""Correctness by a local entailment model: whether the answer entails each sentence of the reference.

It is what a right answer in other words does, and what a wrong or a partial one does not: the least entailed sentence
counts. An answer that says what the reference says and something wrong beside it is entailed all the same, so the
number ranks until labels calibrate it, and no case is decided by it (ADR 0087).
"""

from __future__ import annotations

from assay.metrics.answers.rubric_metrics import EMPTY_ANSWER, NO_REFERENCE
from assay.metrics.grounding.entailment_support import (
    MAX_PAIRS,
    NO_MODEL,
    apply_entailment_curve,
    select_entailment_curve,
)
from assay.metrics.judged.entailment_model import EntailmentError, EntailmentModel
from assay.metrics.judged.judge_requests import (
    Outcome,
    not_applicable_outcome,
    scored_outcome,
    unscored_outcome,
)
from assay.metrics.parsed_answer import ParsedAnswer, format_list
from assay.text.claims.short_answers import is_fragment
from assay.text.normalisation import normalise_nfc
from assay.text.segmentation import segment_sentences

CORRECTNESS_BY_ENTAILMENT = "correctness(by=entailment)"
_NOTABLE = 0.5


def score_correctness_by_entailment(reading: ParsedAnswer) -> Outcome:
    """Return the least probability, over the sentences of the reference, that the answer entails it.

    Without a reference the must-have facts take its place. What is a few words long is read with its question.
    """
    parts = list_expected_parts(reading)
    if not parts:
        return not_applicable_outcome(NO_REFERENCE)
    judging = reading.case.golden_index.judging
    model = judging.entailment_model if judging is not None else None
    if model is None:
        return unscored_outcome(NO_MODEL)
    if not reading.answer.strip():
        return scored_outcome(0.0, EMPTY_ANSWER)
    try:
        entailed = compare_with_reference(reading, model)
    except EntailmentError as error:
        return unscored_outcome(f"entailment model: {error}")
    curve = select_entailment_curve(reading, CORRECTNESS_BY_ENTAILMENT, model)
    values = [apply_entailment_curve(probability, curve) for probability in entailed]
    missing = [
        f"{part} (entailment {value:.2f})" for part, value in zip(parts, values, strict=True) if value < _NOTABLE
    ]
    return scored_outcome(min(values), format_list("hardly entailed by the answer", missing))


def list_expected_parts(reading: ParsedAnswer) -> list[str]:
    """Return the sentences of the reference, else the must-have facts, those of a few words after their question."""
    case = reading.case.case
    expected = _list_sentences(case.reference) if case.reference else list(case.must_have)
    return [_say_with_question(part, case.question) for part in expected]


def compare_with_reference(reading: ParsedAnswer, model: EntailmentModel) -> list[float]:
    """Return for each part that is expected how well the answer, or a sentence of it, entails it.

    Raises EntailmentError for an answer with too many pairs, and where the model gives no numbers.
    """
    question = reading.case.case.question
    premises = dict.fromkeys(_say_with_question(part, question) for part in _list_sentences(reading.answer))
    whole = _say_with_question(normalise_nfc(reading.answer).strip(), question)
    premises = dict.fromkeys([*premises, whole])
    parts = list_expected_parts(reading)
    if len(premises) * len(parts) > MAX_PAIRS:
        raise EntailmentError(f"more than {MAX_PAIRS} pairs of sentences")
    return [max(model.compare(premise, part).entailment for premise in premises) for part in parts]


def _say_with_question(text: str, question: str) -> str:
    return f"{question} {text}" if is_fragment(text) else text


def _list_sentences(text: str) -> list[str]:
    plain = normalise_nfc(text)
    sentences = [plain[start:end].strip() for start, end in segment_sentences(plain)]
    return [sentence for sentence in sentences if sentence]
