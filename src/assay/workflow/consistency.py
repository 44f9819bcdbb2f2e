"""Does the answer stand on what the search returns? The first k chunks of both, compared case by case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from assay.graders.stages import FINAL, find_stage
from assay.model import Observation, Stage
from assay.ports import SEARCHED

SHOWN = 5


@dataclass(slots=True)
class Agreement:
    """How many cases of a configuration were compared, and which differ."""

    compared: int = 0
    differing: list[str] = field(default_factory=list)


def agreements(observations: Iterable[Observation], k: int) -> dict[str, Agreement]:
    """Return the agreement of each configuration at `k`: the same set of chunks, whatever their order.

    Only observations with a stage `search` and rankings of the answer itself are compared.
    """
    found: dict[str, Agreement] = {}
    for seen in observations:
        stages = seen.stages or ()
        own = tuple(stage for stage in stages if stage.name != SEARCHED)
        searched = next((stage for stage in stages if stage.name == SEARCHED), None)
        asked = find_stage(Observation(seen.case_id, stages=own), FINAL) if own else None
        if searched is None or asked is None:
            continue
        agreement = found.setdefault(seen.config_id, Agreement())
        agreement.compared += 1
        if _first(searched, k) != _first(asked, k):
            agreement.differing.append(seen.case_id)
    return found


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


def _first(stage: Stage, k: int) -> set[str]:
    return {chunk.chunk_id for chunk in stage.chunks[:k]}
