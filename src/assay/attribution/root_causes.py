"""Attributes the outcome of one case: its verdict (reached × good), the trace of its evidence and the root cause.

The rules are in order of precedence: access, labels and judge, behaviour, version, stage, generation, citation. The
first that applies decides the cause. If none does, the cause is "insufficient trace" rather than a guess. The
causes are those of the `rag-trace` contract (ADR 0038).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import structs
from msgspec.structs import replace

from assay.attribution.cause_finding import RECORD_CORPUS, RECORD_ID_SEARCH, RECORD_QUERY, RECORD_TEXTS, CauseFinding
from assay.attribution.cause_notes import BESIDES, NO_OUTPUT, TARGET_ERROR, get_cause_note
from assay.attribution.evidence_trace import list_unclear_stages, trace_evidence
from assay.attribution.index.index_view import IndexView
from assay.attribution.losses.lost_unit import may_search_by_vectors
from assay.attribution.one_case.answer_quality import CaseScores
from assay.attribution.one_case.case_facts import CaseFacts
from assay.attribution.one_case.contained_facts import contains_fact
from assay.attribution.one_case.unsupported_numbers import find_unsupported_numbers
from assay.attribution.rules import citation_causes, context_causes, generation_causes, moved_evidence, value_causes
from assay.attribution.rules.access_causes import find_access_denied, find_leak, is_leak_finding
from assay.attribution.rules.index_causes import (
    find_corrupted_index_text,
    find_cut_text,
    find_defect_of_unknown_answer,
    find_lost_evidence,
    has_untold_chunks,
)
from assay.attribution.rules.judgment_causes import find_judge_noise, find_wrong_reference
from assay.attribution.rules.label_causes import (
    find_misspelt_label,
    find_moved_label,
    find_renamed_label,
    find_stale_label,
)
from assay.attribution.rules.refusal_causes import find_missing_refusal, find_other_refusal
from assay.attribution.rules.version_causes import find_outdated_version
from assay.metrics.answers.expected_text import find_text_signal
from assay.metrics.cases.case_index import CaseIndex
from assay.records.findings import Attribution, EvidenceTrace, FaultParty, RootCause
from assay.records.observations import TEXT_ID_PREFIX, Observation
from assay.scoring.attribution_settings import AttributionSettings
from assay.text.pattern_cache import compile_pattern

MAX_CAUSES = 3
"""How many causes a finding names at most: the most likely one and the others that fit."""

CauseRule = Callable[[CaseFacts], CauseFinding | None]

_TRUST_RULES: tuple[CauseRule, ...] = (
    find_leak,
    generation_causes.find_failed_answer,
    find_stale_label,
    find_misspelt_label,
    find_renamed_label,
    find_judge_noise,
)
"""Rules applied first, because they decide whether the values of `good` and `reached` can be trusted."""
_RULES: tuple[CauseRule, ...] = (
    find_access_denied,
    find_missing_refusal,
    find_other_refusal,
    context_causes.find_exchanged_text,
    find_moved_label,
    moved_evidence.find_quoted_evidence,
    find_outdated_version,
    moved_evidence.find_answered_elsewhere,
    moved_evidence.find_enclosed_evidence,
    find_lost_evidence,
    find_cut_text,
    find_wrong_reference,
    context_causes.find_truncated_text,
    find_corrupted_index_text,
    generation_causes.find_generation_error,
    generation_causes.find_ignored_context,
    citation_causes.find_wrong_citation,
    value_causes.find_wrong_value,
)
_GOOD_RULES: tuple[CauseRule, ...] = (
    value_causes.find_wrong_format,
    context_causes.find_exchanged_text,
    find_moved_label,
    find_defect_of_unknown_answer,
    citation_causes.find_wrong_citation,
    value_causes.find_contradicted_claim,
    value_causes.find_other_value,
    citation_causes.find_uncited_answer,
)
"""Rules for cases in which the evidence reached the generator and the answer is good, or not known to be bad."""


def attribute_case(
    case: CaseIndex,
    observation: Observation | None,
    scores: CaseScores,
    settings: AttributionSettings,
    index_view: IndexView | None = None,
    *,
    is_explained: bool = True,
) -> Attribution:
    """Return the attribution of the outcome of one case.

    `scores` maps the metrics of this observation to status, value and reason. `index_view` is what the traces of the
    run show of the index; without it, defects of indexed texts are not detected. The result does not depend on the
    name of the configuration (ADR 0034). No cause and no further value is looked for unless the case `is_explained`.
    """
    case_id = case.case.id
    if observation is None:
        return _unknown(case_id, "nothing was recorded for it", NO_OUTPUT)
    if observation.error is not None:
        return _unknown(case_id, f"the target failed: {observation.error.code}", TARGET_ERROR)
    inquiry = CaseFacts.from_observation(case, observation, scores, settings, index_view)
    if not is_explained:
        return _build_attribution(inquiry, None)
    fine = inquiry.good is not False and inquiry.reached is not False
    rules = _GOOD_RULES if fine else _RULES
    finding = _apply_rules(_TRUST_RULES, inquiry) or _apply_rules(rules, inquiry)
    if finding is not None and is_leak_finding(finding):
        finding = _add_second_cause(finding, _apply_rules((*_TRUST_RULES[1:], *rules), inquiry), inquiry)
    if finding is None and not fine:
        finding = _find_no_cause(inquiry)
    if finding is not None:
        finding = moved_evidence.suspect_label(inquiry, finding)
    attribution = _build_attribution(inquiry, finding)
    return attribution if finding is not None else _doubt_further_values(attribution, inquiry)


def _apply_rules(rules: tuple[CauseRule, ...], inquiry: CaseFacts) -> CauseFinding | None:
    """Return the finding of the first rule that applies."""
    for rule in rules:
        finding = rule(inquiry)
        if finding is not None:
            return finding
    return None


def _add_second_cause(leak: CauseFinding, second: CauseFinding | None, inquiry: CaseFacts) -> CauseFinding:
    """Return a leak with what else went wrong as its last reason: a leak explains no wrong answer and no citation."""
    if second is None:
        return leak
    sign = get_cause_note(second.cause, second.subcause, _decide_verdict(inquiry, second)[1]).sign
    reason = f"{BESIDES}{sign} ({second.cause}, {second.confidence} confidence)"
    return structs.replace(leak, evidence=(*leak.evidence, reason))


def _build_attribution(inquiry: CaseFacts, finding: CauseFinding | None) -> Attribution:
    verdict, subtype = _decide_verdict(inquiry, finding)
    attribution = Attribution(
        case_id=inquiry.case.case.id,
        verdict=verdict,
        subtype=subtype,
        confidence="high" if inquiry.reached is not None else "medium",
        good=inquiry.good,
        reached=inquiry.reached,
        signal=inquiry.content_quality.signal,
        traces=_trace_evidence(inquiry, finding),
        untold=inquiry.untold_reason,
    )
    if finding is None:
        return attribution
    note = get_cause_note(finding.cause, finding.subcause, subtype)
    record = (*_list_unrecorded(inquiry, finding), *_list_unclear_stages(inquiry, finding))
    fix = _name_first_step(finding, record) if finding.cause == "insufficient_trace" else note.fix
    return replace(
        attribution,
        cause=finding.cause,
        stage=finding.stage,
        evidence=_name_nameless(inquiry, finding.evidence),
        confidence=finding.confidence,
        sign=note.sign,
        fix=fix,
        also=_list_possible(inquiry, finding)[: MAX_CAUSES - 1],
        subcause=finding.subcause,
        record=record,
    )


def _trace_evidence(inquiry: CaseFacts, finding: CauseFinding | None) -> tuple[EvidenceTrace, ...]:
    """Return the trace of each unit; nothing is lost of which nothing tells whether it is there."""
    traces = trace_evidence(inquiry.case, inquiry.steps, finding.lost_at if finding is not None else {})
    return tuple(
        replace(trace, lost_at=None)
        if not any(trace.ranks.values()) and (inquiry.unreported_field is not None or has_untold_chunks(inquiry, unit))
        else trace
        for unit, trace in enumerate(traces)
    )


def _name_nameless(inquiry: CaseFacts, facts: Sequence[str]) -> tuple[str, ...]:
    """Return facts in which a chunk without an id is named by its text and not by a digest of it."""
    return tuple(_TEXT_ID.sub(lambda match: inquiry.name_chunk(match[0]), fact) for fact in facts)


_TEXT_ID = compile_pattern(rf"{re.escape(TEXT_ID_PREFIX)}[0-9a-f]+")


def _name_first_step(finding: CauseFinding, record: tuple[str, ...]) -> str:
    """Return what to do first where the trace does not show the cause: look at the label that may be wrong or name the
    evidence that the case does not, else record what is missing."""
    if finding.also[:1] == ("golden_label_issue",):
        return "check the label against the documents: does the evidence that it names say what the case expects?"
    if finding.evidence[:1] == (_NO_LABELLED_EVIDENCE,):
        return "name in the golden case the evidence that its answer needs (evidence, or expected_chunk_ids)"
    return f"record {record[0]}" if record else get_cause_note("insufficient_trace").fix


def _doubt_further_values(attribution: Attribution, inquiry: CaseFacts) -> Attribution:
    """Return a pass by rules with less confidence if the answer has values that nothing expected explains."""
    if attribution.verdict != "pass" or attribution.signal != find_text_signal(inquiry.case.case):
        return attribution
    values = inquiry.unexpected_values
    if not values:
        return attribution
    spelled = ", ".join(f'"{value}"' for value in values[:_MOST_VALUES])
    reason = f"the answer also says {spelled}, which neither the expected answer nor the evidence does"
    return replace(attribution, confidence="medium", evidence=(*attribution.evidence, reason))


_MOST_VALUES = 3


def _list_possible(inquiry: CaseFacts, finding: CauseFinding) -> tuple[RootCause, ...]:
    """Return the other candidates of a finding without those of steps that the system is seen not to have."""
    has_vectors = may_search_by_vectors(inquiry.steps)
    return tuple(cause for cause in finding.also if cause != "embedding" or has_vectors)


def _list_unrecorded(inquiry: CaseFacts, finding: CauseFinding) -> tuple[str, ...]:
    """Return what a finding asks to record, without what the trace has already."""
    shown_texts = [chunk.text for chunk in inquiry.arrived_chunks]
    has_record = {
        RECORD_QUERY: inquiry.observation.query_rewrite is not None,
        RECORD_TEXTS: bool(shown_texts) and all(shown_texts),
        RECORD_CORPUS: inquiry.case.corpus is not None,
        RECORD_ID_SEARCH: all(map(inquiry.is_shown_in_run, inquiry.lost_units)),
    }
    return tuple(field for field in finding.record if not has_record.get(field))


def _list_unclear_stages(inquiry: CaseFacts, finding: CauseFinding) -> list[str]:
    """Return what to say about stages of unknown kind, where the finding is not sure."""
    if finding.confidence != "low":
        return []
    names = list_unclear_stages(inquiry.steps)
    return [f"what the stage “{name}” does: its name tells no kind of search or ranking" for name in names]


def _decide_verdict(inquiry: CaseFacts, finding: CauseFinding | None) -> tuple[FaultParty, str]:
    """Return the cell of reached × good, or the fault that takes precedence over it, with its subtype."""
    cause = finding.cause if finding is not None else None
    if cause == "acl" and finding is not None and finding.subcause:  # a suspicion has no subcause, and leaks nothing
        return "access_fault", "leak" if inquiry.leaks.count_leaks("anywhere") else "access_denied"
    if finding is not None and finding.subcause == "injection_followed":
        return "generation_fault", "injection_followed"
    if finding is not None and finding.subcause == value_causes.WRONG_FORMAT:
        return "generation_fault", value_causes.WRONG_FORMAT
    if finding is not None and finding.subcause in (generation_causes.EMPTY_ANSWER, generation_causes.ERROR_TEXT):
        return "unknown" if inquiry.good is None else "generation_fault", finding.subcause
    if cause == "judge_noise":
        return "unknown", "judge_noise"
    if inquiry.good and inquiry.reached is False:
        return "masked_gap", _find_masked_subtype(inquiry, cause)
    if cause == "golden_label_issue":
        return "unknown", "gold_misspecified"
    if cause == "citation":
        return "generation_fault", "citation"
    if cause == "generator" and inquiry.good is not False:
        return "unknown", "unsupported_claim"
    if inquiry.good:
        return "pass", ""
    if inquiry.good is None:
        return "unknown", ""
    return _decide_bad_answer(inquiry, cause, finding.subcause if finding is not None else "")


def _decide_bad_answer(inquiry: CaseFacts, cause: str | None, subcause: str) -> tuple[FaultParty, str]:
    """Return the fault behind an answer that is not good, with its subtype."""
    if not inquiry.case.accepts("answer"):
        return "refusal_fault", "under_refusal" if inquiry.behaviour == "answer" else "wrong_refusal"
    if inquiry.reached is None and cause != "generator":
        return "unknown", ""
    if inquiry.reached is None and inquiry.behaviour == "answer":
        return "generation_fault", _find_generation_subtype(inquiry, subcause)
    is_shown = inquiry.reached is not False or cause == "generator"  # under another id
    if not is_shown or cause in ("parser", "chunking", "stale_index", "context_builder"):
        return "retrieval_fault", ""
    if inquiry.behaviour != "answer":
        return "refusal_fault", "over_refusal"
    return "generation_fault", _find_generation_subtype(inquiry, subcause)


def _find_masked_subtype(inquiry: CaseFacts, cause: str | None) -> str:
    """Explain a good answer without its evidence: another text in the context supports it, or the model knew it."""
    if not inquiry.context_texts:
        return "parametric_knowledge"
    has_facts = inquiry.facts and all(contains_fact(inquiry.context_texts, fact) for fact in inquiry.facts)
    if (
        cause == "golden_label_issue"
        or has_facts
        or not find_unsupported_numbers(inquiry.answer, inquiry.context_texts)
    ):
        return "gold_misspecified"
    return "parametric_knowledge"


def _find_generation_subtype(inquiry: CaseFacts, subcause: str) -> str:
    """Say how an answer that had its evidence is wrong: by another value, invented, incomplete or wrongly concluded."""
    if subcause == generation_causes.WRONG_VALUE:
        return "wrong_value"
    if subcause == generation_causes.OTHER_PART:
        return "wrong_part"
    texts = [*inquiry.context_texts, inquiry.case.case.question]
    if inquiry.context_texts and find_unsupported_numbers(inquiry.answer, texts):
        return "hallucination"
    if inquiry.content_quality.wrong and not any(
        contains_fact(inquiry.context_texts, fact) for fact in inquiry.content_quality.wrong
    ):
        return "hallucination"
    if subcause == generation_causes.PARTIAL and not inquiry.content_quality.wrong:
        return "incompleteness"
    is_copied = bool(inquiry.copied_from) and not inquiry.content_quality.wrong and not inquiry.other_values
    return "wrong_passage" if is_copied else "reasoning_error"


def _unknown(case_id: str, reason: str, kind: str) -> Attribution:
    note = get_cause_note("insufficient_trace", kind)
    return Attribution(
        case_id, "unknown", "insufficient_trace", evidence=(reason,), confidence="low", sign=note.sign, fix=note.fix
    )


def _find_no_cause(inquiry: CaseFacts) -> CauseFinding:
    """Return that nothing shows the cause, and what is missing to determine it."""
    name = inquiry.unreported_field
    if name is None:
        facts = (_explain_missing_cause(inquiry), *_list_missing_facts(inquiry))
        return CauseFinding("insufficient_trace", None, facts, "low")
    fact = f"the label names its evidence by `{name}`, which the chunks of the context do not report"
    return CauseFinding("insufficient_trace", None, (fact,), "low", record=(f"the `{name}` of each chunk",))


def _list_missing_facts(inquiry: CaseFacts) -> list[str]:
    """Return what an answer that is not good lacks: that is known, although nothing tells which step lost it."""
    absent = inquiry.content_quality.absent if inquiry.good is False else ()
    return [f"missing: {', '.join(absent)}"] if absent else []


def _explain_missing_cause(inquiry: CaseFacts) -> str:
    """Say which information is missing to determine a cause."""
    if not inquiry.steps:
        return "no stage was reported, so nothing says what reached the generator"
    if inquiry.good is None:
        return inquiry.content_quality.signal
    return _NO_LABELLED_EVIDENCE


_NO_LABELLED_EVIDENCE = "the case lists no required evidence, so retrieval and generation cannot be told apart"
