"""What an attribution claims, in a sentence: what happened, what may have happened, or which of several things did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal

from assay.attribution.cause_notes import (
    CAUSE_NOTES,
    CONTEXT_NOTE,
    SUBCAUSE_NOTES,
    UNMEASURED,
    UNSEEN_RANKING_NOTE,
    UNSEEN_SEARCH,
    UNSEEN_SEARCH_NOTES,
    CauseNote,
    get_cause_note,
)
from assay.attribution.evidence_trace import StepKind, name_stage_kind
from assay.records.findings import Attribution, EvidenceTrace, RootCause

RANKING = "ranking"
"""What the cause `reranker` is called where no stage of that kind is reported."""


def describe_cause(attribution: Attribution) -> str:
    """Return what happened in one sentence, without a full stop; empty if nothing went wrong.

    It names one thing only where the facts exclude the others, and calls the first of several the likeliest only where
    most of such findings were measured to be right (medium confidence).

    >>> describe_cause(Attribution("c1", "generation_fault", "generator", confidence="low", sign="it is wrong"))
    'perhaps it is wrong'
    >>> unsure = Attribution("c1", "generation_fault", "generator", sign="it is wrong", also=("judge_noise",))
    >>> describe_cause(unsure)
    'most likely it is wrong; else the judge contradicts the answer, or itself'
    """
    if attribution.cause is None:
        return ""
    signs = list_signs(attribution)
    claim, others = get_claim(attribution), signs[1:]
    if claim == "several":
        return f"one of: {'; '.join(signs)}"
    first = describe_first_cause(attribution)
    if claim == "untold" and others:
        return f"{first}; {'perhaps' if len(others) == 1 else 'one of:'} {'; '.join(others)}"
    return f"{first}; else {' or '.join(others)}" if claim == "likely" else first


def describe_first_cause(attribution: Attribution) -> str:
    """Return what happened by the first cause of a case, where the other candidates are not named.

    >>> unsure = Attribution("c1", "generation_fault", "generator", sign="it is wrong", also=("judge_noise",))
    >>> describe_first_cause(unsure)
    'most likely it is wrong'
    """
    return f"{_BY_CLAIM.get(get_claim(attribution), '')}{list_signs(attribution)[0]}"


Claim = Literal["one", "likely", "perhaps", "several", "untold"]
_BY_CLAIM: Mapping[Claim, str] = MappingProxyType(
    {"likely": "most likely ", "perhaps": "perhaps ", "several": "perhaps "}
)


def get_claim(attribution: Attribution) -> Claim:
    """Return what a finding claims: one thing, the likeliest of several, a possibility, one of several without saying
    which, or nothing, where the trace shows no cause."""
    if attribution.cause == "insufficient_trace":
        is_of_metric = attribution.sign == get_cause_note("insufficient_trace", UNMEASURED).sign
        return "one" if is_of_metric else "untold"  # what else is doubted did not fail the case
    if is_decided(attribution):
        return "one"
    if not attribution.also:
        return "perhaps"
    return "likely" if attribution.confidence == "medium" else "several"


def is_decided(attribution: Attribution) -> bool:
    """Return whether what is said first of a case holds: because the facts exclude every other cause that is known, or
    because it is the fact itself and says of no cause that it is the one."""
    if attribution.cause in (None, "insufficient_trace"):
        return False
    if (attribution.cause, attribution.subcause) == _TOLD_BY_RANKS:
        return True
    return attribution.confidence == "high" or (attribution.confidence == "medium" and not attribution.also)


_TOLD_BY_RANKS = ("reranker", "ranked_too_low")
"""That the only list has the evidence too low is what its ranks say, whatever ranked it."""


def list_signs(attribution: Attribution) -> list[str]:
    """Return what happened by the cause and by each other candidate, most likely first; a search of which nobody knows
    whether it goes by vectors or by words is one.

    >>> list_signs(Attribution("c1", "pass", also=("stale_index", "acl")))
    ['the index has an old version, or lacks the passage', 'the user was denied what they may see']
    """
    signs = [get_candidate_note(cause, attribution.traces).sign for cause in attribution.named_causes]
    signs = [attribution.sign, *signs[1:]] if attribution.sign else signs
    either = [note.sign for note in UNSEEN_SEARCH_NOTES.values()]
    if len(signs) <= len(either) or not all(sign in signs for sign in either):
        return signs
    merged = [UNSEEN_SEARCH if sign in either else sign for sign in signs]
    return list(dict.fromkeys(merged))


def get_candidate_note(cause: RootCause, traces: Iterable[EvidenceTrace]) -> CauseNote:
    """Return sign and remedy of a cause that may be behind a case, as its stages allow: no reranker is named where none
    is reported, and access that may have hidden evidence has shown nothing.

    >>> get_candidate_note("reranker", ()).sign
    'the right passage was found, then ranked too low or dropped'
    """
    kinds = _list_kinds(traces)
    if cause == "reranker" and "rerank" not in kinds:
        return UNSEEN_RANKING_NOTE
    if cause in UNSEEN_SEARCH_NOTES and _KINDS[cause] not in kinds:
        return UNSEEN_SEARCH_NOTES[cause]
    if cause == "context_builder":
        return CONTEXT_NOTE
    return SUBCAUSE_NOTES["acl", "access_denied"] if cause == "acl" else CAUSE_NOTES[cause]


_KINDS: Mapping[RootCause, StepKind] = MappingProxyType({"embedding": "dense", "bm25_analyzer": "lexical"})


def name_causes(attribution: Attribution) -> list[str]:
    """Return the ids of the cause and of the other candidates, by which they are searched, most likely first.

    A ranking without a reranker is called what it is.

    >>> name_causes(Attribution("c1", "retrieval_fault", "reranker", also=("context_builder",)))
    ['ranking', 'context_builder']
    """
    return [name_cause(cause, attribution.traces) for cause in attribution.named_causes]


def name_cause(cause: RootCause, traces: Iterable[EvidenceTrace]) -> str:
    """Return the id of a cause of a case with these traces, or what it is called where that is something else."""
    return RANKING if cause == "reranker" and "rerank" not in _list_kinds(traces) else cause


def _list_kinds(traces: Iterable[EvidenceTrace]) -> set[StepKind]:
    """Return the kinds of the stages of a case, by their names."""
    return {name_stage_kind(name.lower()) for trace in traces for name in trace.ranks}
