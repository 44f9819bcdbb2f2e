"""One observation joined with its case: the chunk ids of every stage, taken out once for all graders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from assay.graders.stages import find_stage
from assay.model import Observation, Stage

if TYPE_CHECKING:
    from assay.graders.base import CaseIndex


class Ranked(Struct, gc=False):
    """A stage with its chunk ids in rank order, and the same ids as a set."""

    stage: Stage
    ids: list[str]
    distinct: set[str]


class Row(Struct, gc=False):
    """What graders see of one observation; `bare`: its chunks carry no metadata."""

    case: CaseIndex
    observation: Observation
    stages: dict[str, Ranked]
    bare: bool = False

    def ranked(self, name: str) -> Ranked | None:
        """Return the stage that a metric means by `stage=name`, None where the target did not report it."""
        found = self.stages.get(name)
        if found is None:
            stage = find_stage(self.observation, name)
            found = self.stages[stage.name] if stage is not None else None
        return found


def join(case: CaseIndex, observation: Observation, *, bare: bool = False) -> Row:
    """Return an observation joined with its case."""
    stages: dict[str, Ranked] = {}
    for stage in observation.stages or ():
        ids = [chunk.chunk_id for chunk in stage.chunks]
        stages[stage.name] = Ranked(stage, ids, set(ids))
    return Row(case, observation, stages, bare)
