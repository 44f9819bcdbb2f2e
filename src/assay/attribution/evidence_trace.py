"""Traces evidence through the stages of one observation: its rank in each, and the first stage that lost it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from assay.metrics.cases.case_index import CaseIndex
from assay.records.findings import EvidenceTrace
from assay.records.golden_set import Evidence, Selector
from assay.records.observations import CONTEXT_STAGE, Observation, Stage
from assay.text.pattern_cache import compile_pattern

StepKind = Literal["lexical", "dense", "retriever", "merge", "filter", "rerank", "context"]
SEARCH_KINDS: tuple[StepKind, ...] = ("lexical", "dense", "retriever")
"""The kinds of stages that search the index."""
_KINDS: tuple[tuple[StepKind, re.Pattern[str]], ...] = (
    ("rerank", compile_pattern(r"re.?rank|cross.?encod|rescor")),
    ("filter", compile_pattern(r"filter|permission|visib|\bacl\b|access")),
    ("merge", compile_pattern(r"merge|fus(?:e|ion)|rrf|hybrid|ensemble|combine")),
    ("lexical", compile_pattern(r"bm25|lexical|keyword|sparse|full.?text|fts|tf.?idf|splade")),
    ("dense", compile_pattern(r"dense|vector|embed|semantic|knn|\bann\b")),
)
_SELECTS = compile_pattern(r"polic|permi|role|tenant|right|entitle|authori[sz]|allow|dedup|thresh|prun|redact|guard")
"""Names of filters, of which some are names of searches too: only what selects from earlier stages is a filter."""
DEFAULT_PRODUCTION_K = 5
"""The assumed number of chunks shown to the model if neither settings nor trace state it (ADR 0030)."""
_RESULT_NAMES = ("retrieved", "retrieval", "candidates", "results")
_SEARCH_CALL = "search"


class TraceStep(Struct, frozen=True):
    """One stage with its kind; `unit_masks` holds, for each rank, the bit mask of the units that its chunk covers."""

    name: str
    kind: StepKind
    stage: Stage
    unit_masks: Sequence[int]

    def find_rank(self, unit: int) -> int | None:
        """Return the first rank (from 1) whose chunk covers a unit, or None."""
        bit = 1 << unit
        return next((rank for rank, mask in enumerate(self.unit_masks, 1) if mask & bit), None)

    @property
    def chunk_ids(self) -> list[str]:
        """The chunk ids in rank order."""
        return [chunk.chunk_id for chunk in self.stage.chunks]


def build_steps(case: CaseIndex, observation: Observation) -> tuple[TraceStep, ...]:
    """Return the stages that led to the answer, in order, with the kinds that their names indicate.

    The result of a separate search call is left out if the answer has stages of its own that are not its first chunks.
    Where they are, the first list of the answer is what the search returned, cut: it counts as what was shown.
    """
    stages = observation.stages or ()
    answer_stages = [stage for stage in stages if stage.name != _SEARCH_CALL]
    steps: list[TraceStep] = []
    searches = [stage for stage in stages if stage.name == _SEARCH_CALL]
    is_cut = bool(searches and answer_stages) and _is_head(answer_stages[0], searches[-1])
    for stage in [searches[-1], *answer_stages] if is_cut else answer_stages or stages:
        units = [mask or 0 for mask in _mask_units(case, stage, observation)]
        kind = "context" if is_cut and stage is answer_stages[0] else _find_kind(stage, steps)
        steps.append(TraceStep(stage.name, kind, stage, units))
    return tuple(steps)


def _mask_units(case: CaseIndex, stage: Stage, observation: Observation) -> list[int | None]:
    return case.evidence.unit_masks(case.evidence.complete_texts(stage.chunks, observation))


def find_rank_apart(case: CaseIndex, observation: Observation, steps: Sequence[TraceStep], unit: int) -> int | None:
    """Return the rank of a unit in a separate search call that is no step of the answer, None if there is none."""
    used = [step.stage for step in steps]
    apart = [stage for stage in observation.stages or () if not any(stage is other for other in used)]
    for stage in apart:
        for rank, mask in enumerate(_mask_units(case, stage, observation), 1):
            if (mask or 0) >> unit & 1:
                return rank
    return None


def _is_head(stage: Stage, search: Stage) -> bool:
    """Whether a stage has the first chunks of a search, in its order, and fewer than all of them."""
    ids = [chunk.chunk_id for chunk in stage.chunks]
    return 0 < len(ids) < len(search.chunks) and ids == [chunk.chunk_id for chunk in search.chunks[: len(ids)]]


def _find_kind(stage: Stage, earlier_steps: Sequence[TraceStep]) -> StepKind:
    if stage.name == CONTEXT_STAGE:
        return "context"
    name = stage.name.lower()
    kind = name_stage_kind(name)
    chunk_stages = {chunk.stage for chunk in stage.chunks}
    if kind == "retriever" and len(chunk_stages) == 1:
        kind = name_stage_kind((chunk_stages.pop() or "").lower())  # all came from one search, which the chunks name
    if kind == "merge" and not earlier_steps:
        return "retriever"  # a search that reports only what it merged
    if kind != "retriever" or not earlier_steps:
        return kind
    earlier_ids = {chunk_id for step in earlier_steps for chunk_id in step.chunk_ids}
    is_selection = len(earlier_steps) > 1 and all(chunk.chunk_id in earlier_ids for chunk in stage.chunks)
    if is_selection and _SELECTS.search(name):
        return "filter"
    if _is_thinned(stage, earlier_steps[-1]):
        return "context" if _is_head(stage, earlier_steps[-1].stage) else "filter"  # what is cut off is not filtered
    return "merge" if is_selection and (name in _RESULT_NAMES or _joins_searches(stage, earlier_steps)) else kind


def _joins_searches(stage: Stage, earlier_steps: Sequence[TraceStep]) -> bool:
    """Whether a stage has chunks that only one of several searches returned, and chunks of another."""
    searches = list_received(earlier_steps, len(earlier_steps))
    ids = {chunk.chunk_id for chunk in stage.chunks}
    own_ids = [set(step.chunk_ids).difference(*(s.chunk_ids for s in searches if s is not step)) for step in searches]
    return sum(not ids.isdisjoint(own) for own in own_ids) > 1


def list_received(steps: Sequence[TraceStep], position: int) -> list[TraceStep]:
    """Return the steps whose lists the step at a position received: the one before it, or several searches."""
    received: list[TraceStep] = []
    for step in reversed(steps[:position]):
        if received and step.kind not in SEARCH_KINDS:
            break
        received.insert(0, step)
        if step.kind not in SEARCH_KINDS:
            break
    return received


def _is_thinned(stage: Stage, before: TraceStep) -> bool:
    """Whether a stage has fewer chunks than the one before, all of them from it and in its order."""
    stage_ids = {chunk.chunk_id for chunk in stage.chunks}
    in_order = [chunk_id for chunk_id in before.chunk_ids if chunk_id in stage_ids]
    return len(stage.chunks) < len(before.chunk_ids) and in_order == [chunk.chunk_id for chunk in stage.chunks]


def name_stage_kind(name: str) -> StepKind:
    """Return the kind of stage that a name in lower case indicates: a search of an unknown kind if none."""
    return next((kind for kind, pattern in _KINDS if pattern.search(name)), "retriever")


def list_unclear_stages(steps: Sequence[TraceStep]) -> list[str]:
    """Return the stages whose names do not say what they do: they count as searches of an unknown kind."""
    return [step.name for step in steps if step.kind == "retriever" and step.name.lower() not in _RESULT_NAMES]


def get_searched_units(case: CaseIndex) -> tuple[Evidence, ...]:
    """Return the units of evidence that should be found, in the order of their bits; none if access is denied."""
    if case.denied:
        return ()
    return tuple(unit for unit in case.case.evidence if unit.grade > 0)


def format_selector(selector: Selector) -> str:
    """Return a selector as text: a single chunk id as it is, other fields as `key=value`."""
    if selector.keys() == {"chunk_id"}:
        return str(selector["chunk_id"])
    return " & ".join(f"{key}={value}" for key, value in sorted(selector.items()))


def trace_evidence(
    case: CaseIndex, steps: Sequence[TraceStep], lost_at: Mapping[int, str] = MappingProxyType({})
) -> tuple[EvidenceTrace, ...]:
    """Return the trace of every unit of evidence through the steps.

    `lost_at` holds the steps of which a cause says that they lost a unit, such as a reranker that ranks it too low.
    """
    traces = []
    for number, unit in enumerate(get_searched_units(case)):
        ranks: dict[str, int | None] = {}
        for step in steps:
            ranks.setdefault(step.name, step.find_rank(number))
        name = " or ".join(format_selector(selector) for selector in unit.any_of)
        losing = lost_at.get(number)
        losing = losing if losing in ranks else _find_losing_stage(steps, number)
        traces.append(EvidenceTrace(number, name, unit.grade, unit.required, ranks, losing))
    return tuple(traces)


def _find_losing_stage(steps: Sequence[TraceStep], unit: int) -> str | None:
    """Return the first stage without the unit after the last that had it; parallel retrievers do not lose anything."""
    indices_with_unit = [index for index, step in enumerate(steps) if step.find_rank(unit) is not None]
    if not steps or (indices_with_unit and indices_with_unit[-1] == len(steps) - 1):
        return None
    if not indices_with_unit:
        return steps[0].name
    later_steps = steps[indices_with_unit[-1] + 1 :]
    return next((step.name for step in later_steps if step.kind in ("merge", "filter", "rerank", "context")), None)
