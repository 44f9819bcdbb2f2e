"""Detects a wrong reference and a wrong judge: where they contradict the corpus, the system may be right."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

from assay.attribution.cause_finding import RECORD_CORPUS, CauseFinding
from assay.attribution.cause_terms import INDEX_STAGE, MIN_SUPPORT
from assay.attribution.one_case.answer_quality import assess_text, get_scored_value
from assay.attribution.one_case.case_facts import CaseFacts
from assay.attribution.one_case.contained_facts import compute_word_overlap, contains_fact, quote_facts
from assay.attribution.one_case.misread_numbers import find_misread_number
from assay.attribution.one_case.unsupported_numbers import find_unsupported_numbers
from assay.metrics.answers.expected_text import REFERENCE_VALUE
from assay.metrics.judged.judge_requests import TIED_VOTES
from assay.records.findings import CauseConfidence, RootCause
from assay.records.scores import ERROR
from assay.scoring.attribution_settings import JUDGE_METRIC
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import read_text
from assay.text.facts.reading.statement_marks import NEGATION
from assay.text.facts.stated_facts import judge_facts
from assay.text.numbers import find_quantities
from assay.text.quantities.measures import find_measures
from assay.text.segmentation import segment_sentences


def find_wrong_reference(case: CaseFacts) -> CauseFinding | None:
    """The answer is taken from the evidence, and the case requires what that evidence does not say.

    The evidence must contain none of the missing facts, or lack a required number: the words of a label may differ from
    its evidence, its numbers may not. The answer is taken from the evidence if it has most of its words from there, or
    every number that it adds to the question. A number that two of one sentence of the evidence add up to is no error
    of the label: the answer has not put them together.
    """
    if case.good is not False or not case.reached or case.behaviour != "answer":
        return None
    evidence_texts = [text for unit in case.required_units for text in case.get_expected_texts(unit)]
    evidence_texts = evidence_texts or [text for unit in case.required_units for text in case.get_shown_texts(unit)]
    unsupported = [fact for fact in case.content_quality.missing if not _is_supported(case, fact, evidence_texts)]
    if (
        not evidence_texts
        or not unsupported
        or any(_is_sum_or_difference(fact, evidence_texts) for fact in unsupported)
    ):
        return None
    is_all_unsupported = len(unsupported) == len(case.content_quality.missing)
    if not is_all_unsupported and not any(map(find_quantities, unsupported)):
        return None
    if find_unsupported_numbers(case.answer, [*evidence_texts, *case.context_texts, case.case.case.question]):
        return None
    share = compute_word_overlap(case.answer, evidence_texts)
    is_anchored = is_all_unsupported and _adds_numbers_of(case, evidence_texts)
    if share < MIN_SUPPORT and not is_anchored:
        return None
    names = ", ".join(case.get_unit_name(unit) for unit in case.required_units)
    evidence = (
        f"{names} does not contain {quote_facts(unsupported)}, which the case requires",
        f"{share:.0%} of the answer's words are in that evidence, and all of its numbers are in the context",
    )
    if case.is_index_unknown:  # the index may lack what the document says
        misread = find_misread_number(case.answer, unsupported)
        if misread is not None:
            others: tuple[RootCause, ...] = ("generator", "golden_label_issue")
            return CauseFinding("parser", INDEX_STAGE, (*evidence, misread), "medium", others, record=(RECORD_CORPUS,))
        # Nothing tells an index that says something else than the document from a label that does.
        also: tuple[RootCause, ...] = ("golden_label_issue", "stale_index")
        return CauseFinding("insufficient_trace", None, evidence, "low", also, record=(RECORD_CORPUS,))
    if share < MIN_SUPPORT:
        return CauseFinding("golden_label_issue", None, evidence, "medium", ("generator",), "wrong_reference")
    confidence: CauseConfidence = "high" if is_all_unsupported else "medium"
    return CauseFinding("golden_label_issue", None, evidence, confidence, subcause="wrong_reference")


def _is_supported(case: CaseFacts, fact: str, texts: list[str]) -> bool:
    """Whether texts contain a fact; of a numeric reference only the numbers count, and not the words around them."""
    if contains_fact(texts, fact) or any(_may_state(case, fact, text) for text in texts):
        return True
    is_number = case.content_quality.signal in ("number_match", REFERENCE_VALUE) and bool(find_quantities(fact))
    return is_number and not find_unsupported_numbers(fact, texts)


def _is_sum_or_difference(fact: str, texts: list[str]) -> bool:
    """Whether the only number of a fact is the sum or the difference of two of one kind in one sentence of some texts.

    >>> text = "A stay ends after 8 terms; members of the council may stay 2 terms longer."
    >>> _is_sum_or_difference("10 terms", [text]), _is_sum_or_difference("12 terms", [text])
    (True, False)
    >>> _is_sum_or_difference("16 terms", [text]), _is_sum_or_difference("4 terms", ["2 terms, and 2 terms more"])
    (False, True)
    >>> _is_sum_or_difference("3 May", ["It ends on 3 May 2026, after 2 days."])
    False
    """
    required = [quantity.readings for quantity in find_measures(fact)]
    if len(required) != 1 or not required[0]:  # a date has none
        return False
    wanted = required[0][0]
    for text in texts:
        for start, end in segment_sentences(text):
            readings = [reading for quantity in find_measures(text[start:end]) for reading in quantity.readings[:1]]
            points = Counter(own.low for own in readings if own.dimension == wanted.dimension and own.low == own.high)
            value = wanted.low
            if value == wanted.high and any(_has_another(points, own, (value - own, own + value)) for own in points):
                return True
    return False


def _has_another(points: Counter[Decimal], point: Decimal, wanted: tuple[Decimal, ...]) -> bool:
    """Whether some points have one of the wanted ones, and another than `point` itself."""
    return any(points[other] > (1 if other == point else 0) for other in wanted)


def _may_state(case: CaseFacts, fact: str, text: str) -> bool:
    """Whether a text would not be held to miss or deny the fact if it were the answer: then the label is not wrong.

    A text that denies something may state a denial in words of its own: "no pool in Hoi An", "The others have none".
    """
    (judgment,) = judge_facts(text, [fact], case.case.case.question) or [FactJudgment(fact, "missing")]
    if judgment.state == "denied" and find_negations(read_text(fact)):
        return NEGATION.search(read_text(text).plain) is not None
    return judgment.state in ("stated", "unknown")


def _adds_numbers_of(case: CaseFacts, evidence_texts: list[str]) -> bool:
    """Whether the answer has numbers that its question has not, all of them from the evidence: it only rephrases it."""
    added_numbers = find_unsupported_numbers(case.answer, [case.case.case.question])
    return bool(added_numbers) and not find_unsupported_numbers(" ; ".join(added_numbers), evidence_texts)


def find_judge_noise(case: CaseFacts) -> CauseFinding | None:
    """The judge decided and the answer's text shows the opposite, or its votes were tied and nothing else decides."""
    status, _, reason = case.scores.get(JUDGE_METRIC, (None, 0.0, ""))
    if status == ERROR and reason == TIED_VOTES and case.good is None:
        return CauseFinding("judge_noise", None, (f"{JUDGE_METRIC}: the votes were tied",), "medium")
    if not case.content_quality.signal.startswith(JUDGE_METRIC) or case.good is None or case.behaviour != "answer":
        return None
    text = assess_text(case.case, case.observation)
    value = get_scored_value(case.scores, JUDGE_METRIC)
    if case.good is False and case.content_quality.good is False and text.good:
        fact = f"{text.signal}: everything that the case looks for is in the answer"
        also: tuple[RootCause, ...] = ("generator",)  # it may say more than that, and the judge read it
    elif case.good and text.good is False and text.wrong:
        fact = f"{text.signal}: {quote_facts(text.wrong)} is wrong and is in the answer"
        also = ("golden_label_issue",)  # an answer may mention what it does not state
    else:
        return None
    return CauseFinding("judge_noise", None, (f"{JUDGE_METRIC} is {value:.2f}", fact), "medium", also)
