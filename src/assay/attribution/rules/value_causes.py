"""Values, claims and forms of an answer that its sources or its case do not have."""

from __future__ import annotations

from assay.attribution.cause_finding import RECORD_TEXTS, CauseFinding
from assay.attribution.cause_terms import GENERATE_STAGE, INDEX_STAGE
from assay.attribution.one_case.case_facts import CaseFacts
from assay.attribution.one_case.misread_numbers import find_misread_number
from assay.attribution.one_case.other_values import find_other_units
from assay.attribution.one_case.unsupported_numbers import find_unsupported_numbers
from assay.attribution.rules.generation_causes import WRONG_VALUE, list_invented_numbers
from assay.metrics.answers.answer_behaviour import ANSWER_BEHAVIOUR
from assay.metrics.answers.answer_format import find_format_faults
from assay.records.findings import RootCause
from assay.text.claims.claim_segments import segment_claims
from assay.text.claims.claim_support import score_support
from assay.text.claims.passages import IndexedSources
from assay.text.refusals.detected_behaviour import UNKNOWN
from assay.text.tokens import DocumentFrequencies

_MAX_CLAIMS = 20
"""How many claims of an answer are compared with their sources."""
_EQUAL_WEIGHTS = DocumentFrequencies.from_texts([])
"""Every word counts alike, so that a cause does not depend on the rest of the golden set."""
WRONG_FORMAT = "wrong_format"


def find_contradicted_claim(case: CaseFacts) -> CauseFinding | None:
    """A claim of an answer that says what the case looks for contradicts its sources, or has numbers that none has.

    The sources are the evidence and what the answer cites, in the texts of the context.
    """
    if case.good is False or case.behaviour != "answer" or not case.context_texts:
        return None
    invented_numbers = list_invented_numbers(case)
    if invented_numbers:
        fact = f"the answer says {', '.join(invented_numbers)}, which no text of the context has"
        return CauseFinding("generator", GENERATE_STAGE, (fact,), "medium", ("golden_label_issue",), "invented")
    other_units = find_other_units(case.answer, [*case.context_texts, case.case.case.question])
    if other_units:
        fact = f"the context has {', '.join(other_units)} with another unit"
        return CauseFinding("generator", GENERATE_STAGE, (fact,), "medium", ("golden_label_issue",), WRONG_VALUE)
    chunks = case.get_answer_sources()
    if not chunks:
        return None
    sources = IndexedSources(chunks, _EQUAL_WEIGHTS)
    for claim in segment_claims(case.answer)[:_MAX_CLAIMS]:
        support = score_support(claim.text, sources)
        if support.verdict == "contradicted":
            fact = f"the sources contradict “{claim.text}”: {'; '.join(support.contradictions)}"
            return CauseFinding("generator", GENERATE_STAGE, (fact,), "medium", ("golden_label_issue",), WRONG_VALUE)
    return None


def find_wrong_value(case: CaseFacts) -> CauseFinding | None:
    """The answer states another value than its case requires, which asks for no evidence, and no stage is reported.

    Nothing tells then what reached the generator, so that a wrong passage may be behind the value. With stages, labels
    of the evidence would tell more.
    """
    if case.good is not False or case.required_units or case.steps:
        return None
    wrong = case.content_quality.wrong or case.values_in_place
    missing = case.content_quality.absent
    if not wrong or case.behaviour != "answer":
        return None
    facts = [f"states {', '.join(wrong)}", *([f"the case requires {', '.join(missing)}"] if missing else [])]
    evidence = ("; ".join(facts),)
    return CauseFinding(
        "generator", GENERATE_STAGE, evidence, "low", ("golden_label_issue",), WRONG_VALUE, (RECORD_TEXTS,)
    )


def find_other_value(case: CaseFacts) -> CauseFinding | None:
    """Nothing tells whether the answer is right, and its numbers are others than those of the reference."""
    stated = case.case.case
    if case.good is not None or case.behaviour != "answer" or stated.must_have or stated.rubric is not None:
        return None
    absent = find_unsupported_numbers(stated.reference or "", [case.answer])
    if not case.facts or len(absent) < len(case.facts):
        return None
    others = find_unsupported_numbers(case.answer, [case.case.case.question])
    if not others:
        return None
    evidence = (f"states {', '.join(others)}; the reference has {', '.join(case.facts)}",)
    misread = find_misread_number(case.answer, case.facts)
    if misread is not None:
        return CauseFinding("parser", INDEX_STAGE, (*evidence, misread), "medium", ("generator", "golden_label_issue"))
    return CauseFinding("generator", GENERATE_STAGE, evidence, "medium", ("golden_label_issue",), WRONG_VALUE)


def find_wrong_format(case: CaseFacts) -> CauseFinding | None:
    """An answer that is not known to be bad has another form than its case demands."""
    wanted = case.case.case.answer_format
    if wanted is None or case.good is False or case.behaviour not in (ANSWER_BEHAVIOUR, UNKNOWN):
        return None
    faults = find_format_faults(case.answer, wanted)
    if not faults:
        return None
    fact = f"the answer has not the form that the case demands: {'; '.join(faults)}"
    also: tuple[RootCause, ...] = ("citation",) if case.is_miscited else ()
    return CauseFinding("generator", GENERATE_STAGE, (fact,), "high", also, WRONG_FORMAT)
