"""The way of evidence through the stages of one observation: its rank at each, and the first step that lost it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from assay.finding import EvidenceWalk
from assay.graders.base import CaseIndex
from assay.graders.stages import CONTEXT
from assay.model import Evidence, Observation, Selector, Stage

Kind = Literal["lexical", "dense", "retriever", "merge", "rerank", "context"]
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("rerank", re.compile(r"re.?rank|cross.?encod|rescor")),
    ("merge", re.compile(r"merge|fus(?:e|ion)|rrf|hybrid|ensemble|combine")),
    ("lexical", re.compile(r"bm25|lexical|keyword|sparse|full.?text|fts|tf.?idf|splade")),
    ("dense", re.compile(r"dense|vector|embed|semantic|knn|\bann\b")),
)
_RESULT = ("retrieved", "retrieval", "candidates", "results")
_OWN_SEARCH = "search"


class Step(NamedTuple):
    """One stage with its kind; `units` has the units of evidence that each slot covers."""

    name: str
    kind: Kind
    stage: Stage
    units: Sequence[int]

    def rank(self, unit: int) -> int | None:
        """Return the first rank (from 1) that covers a unit, None where none does."""
        bit = 1 << unit
        return next((rank for rank, mask in enumerate(self.units, 1) if mask & bit), None)

    @property
    def ids(self) -> list[str]:
        """The chunk ids in rank order."""
        return [chunk.chunk_id for chunk in self.stage.chunks]


def steps_of(case: CaseIndex, observation: Observation) -> tuple[Step, ...]:
    """Return the stages that led to the answer, in order, with their kinds, told from their names.

    What the target's own search returned beside the answer is left out where the answer has stages of its own.
    """
    stages = observation.stages or ()
    own = [stage for stage in stages if stage.name != _OWN_SEARCH]
    found: list[Step] = []
    for stage in own or stages:
        units = [mask or 0 for mask in case.evidence.masks(stage.chunks)]
        found.append(Step(stage.name, _kind(stage, found), stage, units))
    return tuple(found)


def _kind(stage: Stage, before: Sequence[Step]) -> Kind:
    if stage.name == CONTEXT:
        return "context"
    name = stage.name.lower()
    kind = _named(name)
    said = {chunk.stage for chunk in stage.chunks}
    if kind == "retriever" and len(said) == 1:
        kind = _named((said.pop() or "").lower())  # all of it came from one search, which the chunks name
    earlier = {each for step in before for each in step.ids}
    if kind == "merge" and not before:
        return "retriever"  # a search that reports only what it merged
    selects = len(before) > 1 and all(chunk.chunk_id in earlier for chunk in stage.chunks)
    return "merge" if name in _RESULT and selects else kind


def _named(name: str) -> Kind:
    return next((kind for kind, pattern in _KINDS if pattern.search(name)), "retriever")


def units_of(case: CaseIndex) -> tuple[Evidence, ...]:
    """Return the units of evidence that are searched, in the order of their bits."""
    return tuple(unit for unit in (() if case.denied else case.case.evidence) if unit.grade > 0)


def name_of(selector: Selector) -> str:
    """Return a selector as text: a lone chunk id as it is, other fields as `key=value`."""
    if selector.keys() == {"chunk_id"}:
        return str(selector["chunk_id"])
    return " & ".join(f"{key}={value}" for key, value in sorted(selector.items()))


def walks(case: CaseIndex, steps: Sequence[Step]) -> tuple[EvidenceWalk, ...]:
    """Return the way of every unit of evidence."""
    found = []
    for number, unit in enumerate(units_of(case)):
        ranks: dict[str, int | None] = {}
        for step in steps:
            ranks.setdefault(step.name, step.rank(number))
        name = " or ".join(name_of(selector) for selector in unit.any_of)
        found.append(EvidenceWalk(number, name, unit.grade, unit.required, ranks, _lost_at(steps, number)))
    return tuple(found)


def _lost_at(steps: Sequence[Step], unit: int) -> str | None:
    """The first stage without the unit after the last that had it; retrievers beside each other lose nothing."""
    having = [place for place, step in enumerate(steps) if step.rank(unit) is not None]
    if not steps or (having and having[-1] == len(steps) - 1):
        return None
    if not having:
        return steps[0].name
    after = steps[having[-1] + 1 :]
    return next((step.name for step in after if step.kind in ("merge", "rerank", "context")), None)
