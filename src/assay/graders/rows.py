"""Observations joined with their cases, some dozens at a time, so that one short loop visits all their chunks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from assay.graders.stages import find_stage
from assay.model import Observation, Stage

if TYPE_CHECKING:
    from assay.graders.base import CaseIndex


class Ranked(Struct, gc=False):
    """One ranking: its stage, the chunk ids in rank order, and the same ids as a set."""

    stage: Stage
    ids: list[str]
    distinct: set[str]


class Rankings:
    """The rankings of one stage. `rows` have one, in rising order (twice, where an observation gives the stage twice);
    `chunks` and `ids` hold them end to end, `ends` says where each of them ends, and `ranked` has each by its row.

    `ascii`: all ids are ASCII; `bare`: no chunk carries metadata.
    """

    __slots__ = ("ascii", "bare", "chunks", "ends", "ids", "name", "ranked", "rows", "sizes")

    def __init__(self, name: str, rows: list[int], stages: list[Stage]) -> None:
        self.name, self.rows = name, rows
        self.sizes = [len(stage.chunks) for stage in stages]
        self.ends = list(accumulate(self.sizes))
        self.chunks = list(chain.from_iterable([stage.chunks for stage in stages]))
        self.ids = ids = [chunk.chunk_id for chunk in self.chunks]
        self.ascii = "".join(ids).isascii()
        self.bare = [chunk.metadata for chunk in self.chunks].count(None) == len(ids)
        id_lists = [ids[end - size : end] for size, end in zip(self.sizes, self.ends, strict=True)]
        self.ranked = dict(zip(rows, map(Ranked, stages, id_lists, map(set, id_lists)), strict=True))


def rankings_of(observations: Sequence[Observation]) -> dict[str, Rankings]:
    """Return the rankings of some observations, numbered from 0, by the name of their stage."""
    stages_by_name: dict[str, tuple[list[int], list[Stage]]] = {}
    for row, observation in enumerate(observations):
        for stage in observation.stages or ():
            rows, stages = stages_by_name.get(stage.name) or stages_by_name.setdefault(stage.name, ([], []))
            rows.append(row)
            stages.append(stage)
    return {name: Rankings(name, rows, stages) for name, (rows, stages) in stages_by_name.items()}


class Rows:
    """What metrics see of some observations: each with its case, and their rankings by the name of the stage.

    `bare`: no chunk carries metadata.
    """

    def __init__(
        self, cases: list[CaseIndex], observations: list[Observation], stages: dict[str, Rankings] | None = None
    ) -> None:
        self.cases, self.observations = cases, observations
        self.stages = rankings_of(observations) if stages is None else stages
        self.bare = all(rankings.bare for rankings in self.stages.values())
        self.readings: list[Any] | None = None  # the parsed answers of these rows
        self._ranked: dict[str, list[Ranked | None]] = {}

    def ranked(self, name: str) -> list[Ranked | None]:
        """Return for each row the stage that a metric means by `stage=name`, None where it was not reported."""
        if name not in self._ranked:
            self._ranked[name] = self._find_ranked(name)
        return self._ranked[name]

    def _find_ranked(self, name: str) -> list[Ranked | None]:
        ranked_by_row = self.stages[name].ranked if name in self.stages else {}
        if len(ranked_by_row) == len(self.cases):
            return list(ranked_by_row.values())
        ranked_stages = [ranked_by_row.get(row) for row in range(len(self.cases))]
        for row, observation in enumerate(self.observations):
            if ranked_stages[row] is None:
                stage = find_stage(observation, name)
                ranked_stages[row] = self.stages[stage.name].ranked[row] if stage is not None else None
        return ranked_stages
