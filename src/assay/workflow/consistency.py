"""Whether answers use the chunks that a search returns: the first k chunks of both, compared case by case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from assay.graders.stages import FINAL, find_stage
from assay.model import Observation, Stage
from assay.ports import SEARCHED

SHOWN = 5


@dataclass(slots=True)
class Agreement:
    """The number of compared observations of a configuration, and the cases that differ."""

    compared: int = 0
    differing: list[str] = field(default_factory=list)


def agreements(observations: Iterable[Observation], k: int) -> dict[str, Agreement]:
    """Return the agreement of each configuration at `k`: whether both have the same set of chunks, in any order.

    Only observations with a stage `search` and at least one other ranking are compared.
    """
    by_config: dict[str, Agreement] = {}
    for observation in observations:
        stages = observation.stages or ()
        answer_stages = tuple(stage for stage in stages if stage.name != SEARCHED)
        search_stage = next((stage for stage in stages if stage.name == SEARCHED), None)
        answer_stage = (
            find_stage(Observation(observation.case_id, stages=answer_stages), FINAL) if answer_stages else None
        )
        if search_stage is None or answer_stage is None:
            continue
        agreement = by_config.setdefault(observation.config_id, Agreement())
        agreement.compared += 1
        if _first_chunks(search_stage, k) != _first_chunks(answer_stage, k):
            agreement.differing.append(observation.case_id)
    return by_config


def agreement_notices(observations: Iterable[Observation], k: int) -> list[str]:
    """Return one sentence for each configuration that was compared."""
    notices = []
    for config, agreement in sorted(agreements(observations, k).items()):
        differing = list(dict.fromkeys(agreement.differing))
        if not differing:
            notices.append(
                f"{config}: search and ask agree on the first {k} chunks of all {agreement.compared} observations"
            )
            continue
        names = ", ".join(differing[:SHOWN]) + (" …" if len(differing) > SHOWN else "")
        notices.append(
            f"{config}: search and ask differ in the first {k} chunks of {len(agreement.differing)} of "
            f"{agreement.compared} observations ({names}): retrieval metrics describe only one of them"
        )
    return notices


def _first_chunks(stage: Stage, k: int) -> set[str]:
    return {chunk.chunk_id for chunk in stage.chunks[:k]}
