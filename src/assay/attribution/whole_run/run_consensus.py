"""Ranks the candidates of findings that are not sure by what the sure findings of the same run name.

A part that is broken spoils many cases, and some of them show it plainly. Where several causes fit a case, the one that
the run shows elsewhere is the likelier (ADR 0126). Where a merge loses what one search misses, the search comes first
if it misses far more than the other in the whole run (ADR 0147). No cause is added: a candidate of the case comes
first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from assay.attribution.cause_sentences import get_candidate_note, name_cause
from assay.attribution.cause_terms import GENERATE_STAGE, INDEX_STAGE
from assay.attribution.evidence_trace import StepKind, name_stage_kind
from assay.attribution.losses.lost_unit import NEAR
from assay.attribution.losses.merge_losses import SEARCH_CAUSES
from assay.attribution.rules.citation_causes import CITE_STAGE
from assay.attribution.whole_run.failed_cases import PARTY_BY_CAUSE
from assay.records.counts import format_count
from assay.records.findings import Attribution, EvidenceTrace, FaultParty, RootCause
from assay.records.observations import CONTEXT_STAGE
from assay.stats.sign_flip_test import compute_mcnemar_p

MIN_SUPPORT = 3
"""How many sure findings a run must have of a cause for it to come first elsewhere."""
_MAJORITY = 2
"""How many times as many findings must name the other cause, where a finding of medium confidence names one already."""
_UNKNOWN: RootCause = "insufficient_trace"
_MOVED: frozenset[RootCause] = frozenset(("golden_label_issue", "chunking"))
"""The candidates of a right answer whose evidence is not in the context."""
_LEVEL = 0.05
"""The level of the test by which one search misses more of what the other finds than the other way round."""


def count_sure_causes(attributions: Mapping[str, Attribution]) -> Counter[RootCause]:
    """Return how many failed cases of a run have each cause with high or medium confidence."""
    return Counter(
        attribution.cause
        for attribution in attributions.values()
        if attribution.cause not in (None, _UNKNOWN) and attribution.confidence != "low"
    )


def is_open(attribution: Attribution) -> bool:
    """Return whether other findings of the run may change which candidate of a case comes first; what the system does
    elsewhere says nothing of a judge."""
    is_sure = attribution.confidence == "high" or not attribution.also
    return attribution.cause not in (None, "judge_noise") and not is_sure


def find_failing_searches(attributions: Iterable[Attribution]) -> dict[RootCause, str]:
    """Return the causes of searches that miss more of what another search of the same traces has near the top than the
    other way round, by an exact McNemar test over the required units of all cases, good ones too.

    The values say so in words. Two searches that complement each other miss about as much, and are for a merge to join.
    """
    misses: Counter[tuple[str, str]] = Counter()
    for trace in [trace for attribution in attributions for trace in attribution.traces if trace.required]:
        misses.update(_list_misses(trace))
    return {
        SEARCH_CAUSES[name_stage_kind(name.lower())]: f"{name} misses {count} that {other} has near the top, and "
        f"{other} {misses[other, name]} the other way round"
        for (name, other), count in misses.items()
        if count > misses[other, name] and compute_mcnemar_p(count, misses[other, name]) <= _LEVEL
    }


def _list_misses(trace: EvidenceTrace) -> Iterator[tuple[str, str]]:
    """Yield each search that misses the unit, with each search of another kind that has it near the top."""
    kinds = {name: name_stage_kind(name.lower()) for name in trace.ranks}
    searches = [name for name, kind in kinds.items() if kind in SEARCH_CAUSES]
    for name in searches:
        for other in searches:
            if kinds[name] != kinds[other] and trace.ranks[name] is None and (trace.ranks[other] or NEAR + 1) <= NEAR:
                yield name, other


def find_moved_ids(attributions: Iterable[Attribution]) -> str | None:
    """Return what shows that the ids of the index are not those of the labels: the evidence of two thirds of the right
    answers of a run, and of three at least, is not in the context; else None. Half of them may well be wrong labels."""
    right = [
        attribution.reached for attribution in attributions if attribution.good and attribution.reached is not None
    ]
    elsewhere = right.count(False)
    if elsewhere < MIN_SUPPORT or 3 * elsewhere < 2 * len(right):
        return None
    answers = format_count(len(right), "right answer")
    return f"of {answers} of this run, {elsewhere} have no labelled evidence in the context"


def rank_by_run(
    attribution: Attribution,
    sure_causes: Mapping[RootCause, int],
    failing_searches: Mapping[RootCause, str] = MappingProxyType({}),
    moved_ids: str | None = None,
) -> Attribution:
    """Return an attribution with the candidate first that the run shows elsewhere, if there is one.

    Of `insufficient_trace` and of low confidence any candidate with `MIN_SUPPORT` findings more than the first cause's
    own; of medium confidence one with twice as many. Before these, a failing search where a merge loses what it misses,
    and moved ids where a right answer lacks its evidence and nothing tells whether the label or the index is wrong.
    """
    first = attribution.cause
    if first is None or not is_open(attribution):
        return attribution
    failing = next((cause for cause in attribution.also if cause in failing_searches), None)
    if first == "hybrid_merge" and failing is not None:
        return _put_first(attribution, failing, failing_searches[failing])
    is_moved = bool(attribution.good) and attribution.reached is False and set(attribution.also) == _MOVED
    if moved_ids is not None and first == _UNKNOWN and is_moved:
        return _put_first(attribution, "chunking", moved_ids)
    candidates = [cause for cause in attribution.also if not _contradicts_trace(attribution, cause)]
    best = max(candidates, key=lambda cause: sure_causes.get(cause, 0), default=_UNKNOWN)
    own = sure_causes.get(first, 0) if first != _UNKNOWN else 0
    least = own + MIN_SUPPORT if attribution.confidence == "low" else max(_MAJORITY * own, MIN_SUPPORT)
    if sure_causes.get(best, 0) < least:
        return attribution
    name = name_cause(best, attribution.traces)
    fact = f"{format_count(sure_causes[best], 'other case')} of this run have the cause {name}"
    return _put_first(attribution, best, fact)


def _contradicts_trace(attribution: Attribution, cause: RootCause) -> bool:
    """Return whether a cause would blame the model for evidence that it was not shown, instead of the retrieval that
    lost it: how often the model is wrong elsewhere says nothing of that."""
    first = attribution.cause
    is_of_retrieval = first is not None and PARTY_BY_CAUSE.get(first) == "retrieval_fault"
    return attribution.reached is False and is_of_retrieval and PARTY_BY_CAUSE.get(cause) == "generation_fault"


def _put_first(attribution: Attribution, best: RootCause, fact: str) -> Attribution:
    """Return an attribution with one of its candidates as the cause, and the fact that decides."""
    assert attribution.cause is not None
    others = [cause for cause in (attribution.cause, *attribution.also) if cause not in (best, _UNKNOWN)]
    note = get_candidate_note(best, attribution.traces)
    stage = _locate_cause(attribution, best)
    return replace(
        attribution,
        verdict=_name_party(attribution, best),
        cause=best,
        stage=stage,
        traces=tuple(_move_loss(trace, attribution.stage, stage) for trace in attribution.traces),
        also=tuple(others),
        evidence=(*attribution.evidence, fact),
        confidence="low",
        subcause="",
        sign=note.sign,
        fix=note.fix,
    )


def _move_loss(trace: EvidenceTrace, before: str | None, now: str | None) -> EvidenceTrace:
    """Return a trace with a unit that the stage before lost as lost at the one that comes first now, if it has both."""
    is_moved = trace.lost_at is not None and trace.lost_at == before and now in trace.ranks
    return replace(trace, lost_at=now) if is_moved else trace


def _locate_cause(attribution: Attribution, cause: RootCause) -> str | None:
    """Return the stage of a cause that comes first by the run: one that the trace has, or a step outside it."""
    if cause in _STAGES:
        return _STAGES[cause]
    for name in dict.fromkeys(name for trace in attribution.traces for name in trace.ranks):
        kind = "context" if name == CONTEXT_STAGE else name_stage_kind(name.lower())
        if cause in _CAUSES_BY_KIND.get(kind, ()):
            return name
    return attribution.stage


_STAGES: Mapping[RootCause, str | None] = MappingProxyType(
    {
        "parser": INDEX_STAGE,
        "chunking": INDEX_STAGE,
        "stale_index": INDEX_STAGE,
        "generator": GENERATE_STAGE,
        "citation": CITE_STAGE,
        "golden_label_issue": None,
        "judge_noise": None,
    }
)
_CAUSES_BY_KIND: Mapping[StepKind, tuple[RootCause, ...]] = MappingProxyType(
    {
        "lexical": ("bm25_analyzer",),
        "dense": ("embedding",),
        "merge": ("hybrid_merge",),
        "filter": ("hybrid_merge",),
        "rerank": ("reranker",),
        "context": ("context_builder",),
    }
)


def _name_party(attribution: Attribution, cause: RootCause) -> FaultParty:
    """Return the fault of a case whose cause becomes another: the same unless another part of the system has it."""
    party = PARTY_BY_CAUSE[cause]
    first = attribution.cause
    is_same_part = first is not None and PARTY_BY_CAUSE.get(first) == party
    return attribution.verdict if is_same_part or attribution.verdict == "refusal_fault" else party
