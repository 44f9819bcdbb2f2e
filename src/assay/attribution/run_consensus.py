"""Ranks the candidates of findings that are not sure by what the sure findings of the same run name.

A part that is broken spoils many cases, and some of them show it plainly. Where several causes fit a case, the one that
the run shows elsewhere is the likelier (ADR 0126). No cause is added: a candidate of the case comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from msgspec.structs import replace

from assay.attribution.cause_rules import CAUSE_NOTES
from assay.attribution.failed_cases import PARTY_BY_CAUSE
from assay.records.counts import format_count
from assay.records.findings import Attribution, FaultParty, RootCause

MIN_SUPPORT = 3
"""How many sure findings a run must have of a cause for it to come first elsewhere."""
_MAJORITY = 2
"""How many times as many findings must name the other cause, where a finding of medium confidence names one already."""
_UNKNOWN: RootCause = "insufficient_trace"


def count_sure_causes(attributions: Mapping[str, Attribution]) -> Counter[RootCause]:
    """Return how many failed cases of a run have each cause with high or medium confidence."""
    return Counter(
        attribution.cause
        for attribution in attributions.values()
        if attribution.cause not in (None, _UNKNOWN) and attribution.confidence != "low"
    )


def is_open(attribution: Attribution) -> bool:
    """Return whether other findings of the run may change which candidate of a case comes first."""
    return attribution.cause is not None and attribution.confidence != "high" and bool(attribution.also)


def rank_by_run(attribution: Attribution, sure_causes: Mapping[RootCause, int]) -> Attribution:
    """Return an attribution with the candidate first that the run shows elsewhere, if there is one.

    Of `insufficient_trace` and of low confidence any candidate with `MIN_SUPPORT` findings more than the first cause's
    own; of medium confidence one with twice as many.
    """
    first = attribution.cause
    if first is None or not is_open(attribution):
        return attribution
    best = max(attribution.also, key=lambda cause: sure_causes.get(cause, 0))
    own = sure_causes.get(first, 0) if first != _UNKNOWN else 0
    least = own + MIN_SUPPORT if attribution.confidence == "low" else max(_MAJORITY * own, MIN_SUPPORT)
    if sure_causes.get(best, 0) < least:
        return attribution
    others = [cause for cause in (first, *attribution.also) if cause not in (best, _UNKNOWN)]
    fact = f"{format_count(sure_causes[best], 'other case')} of this run have the cause {best}"
    note = CAUSE_NOTES[best]
    return replace(
        attribution,
        verdict=_name_party(attribution, best),
        cause=best,
        also=tuple(others),
        evidence=(*attribution.evidence, fact),
        confidence="low",
        subcause="",
        sign=note.sign,
        fix=note.fix,
    )


def _name_party(attribution: Attribution, cause: RootCause) -> FaultParty:
    """Return the fault of a case whose cause becomes another: the same unless another part of the system has it."""
    party = PARTY_BY_CAUSE[cause]
    first = attribution.cause
    is_same_part = first is not None and PARTY_BY_CAUSE.get(first) == party
    return attribution.verdict if is_same_part or attribution.verdict == "refusal_fault" else party
