"""Which of an observation's stages a metric means by `stage=…`."""

from __future__ import annotations

from assay.model import Observation, Stage

CONTEXT = "context"
RETRIEVED = "retrieved"
FINAL = "final"
_AFTER_RETRIEVAL = ("rerank", CONTEXT)


def find_stage(observation: Observation, name: str) -> Stage | None:
    """Return the stage of that name, None where the target did not report it.

    `retrieved` is the stage so named, else the last before reranking and context; `final` is the last ranking before
    the context; `context` is what the model was shown (ADR 0008).
    """
    stages = observation.stages
    if stages is None:
        return None
    for stage in stages:
        if stage.name == name:
            return stage
    if name == RETRIEVED:
        before: Stage | None = None
        for stage in stages:
            if stage.name.startswith(_AFTER_RETRIEVAL):
                break
            before = stage
        return before
    if name == FINAL:
        rankings = [stage for stage in stages if stage.name != CONTEXT]
        return rankings[-1] if rankings else None
    return None
