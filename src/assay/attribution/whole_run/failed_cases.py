"""Makes attribution and checks tell of the same cases: a case has a cause if and only if it failed a check (ADR 0054).

What the rules find in a case that failed no check is a doubt and not a cause: it is kept as a candidate, and counts
neither as a fault nor as a failed case.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from assay.attribution.cause_notes import ALL_ARRIVED, BESIDES, UNMEASURED, get_cause_note
from assay.metrics.case_checks import (
    DENIED_FACT,
    INCOMPLETE_ANSWER,
    LEAK,
    METRIC_ERROR,
    UNKNOWN_ANSWER,
    WRONG_ANSWER,
    WRONG_FORMAT,
)
from assay.records.findings import Attribution, CauseConfidence, FaultParty, RootCause
from assay.records.scores import CaseChecks

MAX_CANDIDATES = 3
"""How many causes are named at most."""
_CAUSE_BY_CHECK: Mapping[str, RootCause] = MappingProxyType(
    {
        LEAK: "acl",
        "injection_followed": "generator",
        "golden_label_issue": "golden_label_issue",
        "bad_citation": "citation",
        "empty_answer": "generator",
        "wrong_behavior": "generator",
        WRONG_FORMAT: "generator",
        "over_answer": "generator",
        "unsupported_claim": "generator",
    }
)
"""What caused a failed check that no rule of attribution explains; other checks do not tell."""
_BAD_ANSWER_CHECKS = frozenset((WRONG_ANSWER, DENIED_FACT, INCOMPLETE_ANSWER))
"""Checks by which the answer itself is known to be bad."""
_RETRIEVAL_CHECKS = frozenset(("retrieval_miss", "context_miss"))
PARTY_BY_CAUSE: Mapping[RootCause, FaultParty] = MappingProxyType(
    {
        "parser": "retrieval_fault",
        "chunking": "retrieval_fault",
        "embedding": "retrieval_fault",
        "bm25_analyzer": "retrieval_fault",
        "hybrid_merge": "retrieval_fault",
        "reranker": "retrieval_fault",
        "context_builder": "retrieval_fault",
        "stale_index": "retrieval_fault",
        "generator": "generation_fault",
        "citation": "generation_fault",
        "acl": "access_fault",
        "golden_label_issue": "label_fault",
        "judge_noise": "label_fault",
    }
)
"""The part of the system, or of the measurement, that each cause blames."""


_CONFIDENCES: tuple[CauseConfidence, ...] = ("low", "medium", "high")


_KIND_BY_CHECK: Mapping[str, str] = MappingProxyType(
    {
        "unsupported_claim": "invented",
        "wrong_behavior": "other_behaviour",
        "over_answer": "answered_unanswerable",
        "injection_followed": "injection_followed",
        WRONG_FORMAT: WRONG_FORMAT,
    }
)
"""The refinement of the generator's fault whose remedy fits a failed check; the check does not prove the refinement."""


def reconcile_with_checks(
    attribution: Attribution, checks: CaseChecks | None, unmeasured: tuple[str, ...] = ()
) -> Attribution:
    """Return the attribution of a case as its checks allow it; `checks` is None if the case failed and warned of none.

    `unmeasured` says why metrics of one's own have no score of the case.

    A failed case has a cause, `insufficient_trace` at least, and a fault. Any other case passed or is unknown.
    """
    if checks is not None and checks.failed == (METRIC_ERROR,):
        return _attribute_unmeasured(attribution, unmeasured, is_unknown=UNKNOWN_ANSWER in checks.warnings)
    if checks is not None and checks.failed:
        if set(checks.failed) <= {LEAK}:
            attribution = _drop_second_cause(attribution)
        attribution = _attribute_failure(attribution, checks.failed)
        return replace(attribution, evidence=(*attribution.evidence, *unmeasured))
    return _acquit(attribution, is_unknown=checks is not None and UNKNOWN_ANSWER in checks.warnings)


def _drop_second_cause(attribution: Attribution) -> Attribution:
    """Return the attribution without what else may be wrong: nothing but the leak failed a check."""
    return replace(attribution, evidence=tuple(fact for fact in attribution.evidence if not fact.startswith(BESIDES)))


def _attribute_unmeasured(attribution: Attribution, unmeasured: tuple[str, ...], *, is_unknown: bool) -> Attribution:
    """Return the attribution of a case that a metric could not measure, and that failed nothing else.

    What the rules find in it is a doubt, as in any other case that failed no check on its answer.
    """
    acquitted = replace(_acquit(attribution, is_unknown=is_unknown), evidence=unmeasured)
    note = get_cause_note("insufficient_trace", UNMEASURED)
    return replace(_attribute_failure(acquitted, (METRIC_ERROR,)), sign=note.sign, fix=note.fix)


def _attribute_failure(attribution: Attribution, failed: tuple[str, ...]) -> Attribution:
    bad_answer = [name for name in failed if name in _BAD_ANSWER_CHECKS]
    if bad_answer and attribution.good is None:
        attribution = replace(attribution, good=False, signal=f"failed {', '.join(bad_answer)}")
    if attribution.cause is None:
        attribution = _name_cause(attribution, failed)
    if attribution.verdict in ("pass", "unknown") and attribution.cause is not None:
        party = PARTY_BY_CAUSE.get(attribution.cause, "unlocated_fault")
        is_in_place = attribution.reached is True and attribution.good is not False
        if party == "retrieval_fault" and is_in_place and _RETRIEVAL_CHECKS.isdisjoint(failed):
            # The evidence arrived and the answer is not known to be bad: labels and index only name other chunks.
            party = "label_fault"
            attribution = replace(attribution, confidence=min(attribution.confidence, "medium", key=_CONFIDENCES.index))
        if party == "unlocated_fault" and not _RETRIEVAL_CHECKS.isdisjoint(failed):
            party = "retrieval_fault"
        attribution = replace(attribution, verdict=party)
    return attribution


def _name_cause(attribution: Attribution, failed: tuple[str, ...]) -> Attribution:
    """Return the attribution with the cause that its checks tell: an answer that is bad although the evidence reached
    the generator is the generator's."""
    causes = [_CAUSE_BY_CHECK[name] for name in failed if name in _CAUSE_BY_CHECK]
    cause: RootCause = causes[0] if causes else "insufficient_trace"
    confidence: CauseConfidence = "low"
    facts = attribution.evidence or (f"failed {', '.join(failed)}, and nothing in the trace explains it",)
    if not causes and attribution.reached is True and not _BAD_ANSWER_CHECKS.isdisjoint(failed):
        cause, confidence = "generator", "medium"
        facts = (ALL_ARRIVED, f"failed {', '.join(failed)}", *attribution.evidence)
    kind = next((_KIND_BY_CHECK[name] for name in failed if name in _KIND_BY_CHECK), "") if causes else ""
    note = get_cause_note(cause, kind, attribution.subtype)
    return replace(attribution, cause=cause, evidence=facts, confidence=confidence, sign=note.sign, fix=note.fix)


def _acquit(attribution: Attribution, *, is_unknown: bool) -> Attribution:
    """Return the attribution of a case that failed nothing: its cause, if it has one, is a doubt."""
    verdict: FaultParty = "unknown" if is_unknown else "pass"
    if attribution.cause is None:
        confidence = "low" if is_unknown else attribution.confidence
        return replace(attribution, verdict=verdict, confidence=confidence)
    candidates = tuple(cause for cause in attribution.named_causes if cause != "insufficient_trace")[:MAX_CANDIDATES]
    return replace(
        attribution, verdict=verdict, cause=None, also=candidates, confidence="low", sign="", fix="", stage=None
    )
