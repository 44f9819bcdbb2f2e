"""A target that replays recorded outputs, with the same run folder, retries and reports as a live system."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET, structs

from assay.calls.interfaces import CallError, TargetCall, TargetOperation
from assay.records.observations import Observation


class RecordedTarget:
    """Answers each case with the first observation that was recorded for it."""

    def __init__(self, name: str, observations: Iterable[Observation], digest: str = "") -> None:
        self.name = name
        self._digest = digest
        self._recorded: dict[str, Observation] = {}
        for observation in observations:
            self._recorded.setdefault(observation.case_id, observation)
        has_answers = any(observation.answer is not UNSET for observation in self._recorded.values())
        self.operations: tuple[TargetOperation, ...] = ("ask",) if has_answers or not self._recorded else ("search",)

    async def identity(self) -> dict[str, Any]:
        """Return the digest of the file."""
        return {"type": "recorded", "sha256": self._digest}

    async def observe(self, call: TargetCall) -> Observation:
        """Return the recorded observation, errors included. Raises CallError, code `not_recorded` if there is none."""
        observation = self._recorded.get(call.case.id)
        if observation is None:
            raise CallError("not_recorded", "nothing was recorded for this case")
        return structs.replace(observation, question=call.case.question)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""
