"""Outputs recorded before, as a target: the same run folder, retries and reports as for a living system."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET, structs

from assay.model import Observation
from assay.ports import Call, CallError, Operation


class RecordedTarget:
    """Answers each case with what was recorded for it, the first where there are several."""

    def __init__(self, name: str, observations: Iterable[Observation], digest: str = "") -> None:
        self.name = name
        self._digest = digest
        self._seen: dict[str, Observation] = {}
        for observation in observations:
            self._seen.setdefault(observation.case_id, observation)
        asked = any(seen.answer is not UNSET for seen in self._seen.values())
        self.operations: tuple[Operation, ...] = ("ask",) if asked or not self._seen else ("search",)

    async def identity(self) -> dict[str, Any]:
        """Return the digest of the file."""
        return {"type": "recorded", "sha256": self._digest}

    async def observe(self, call: Call) -> Observation:
        """Return what was recorded, errors included. Raises CallError, code `not_recorded` where nothing was."""
        seen = self._seen.get(call.case.id)
        if seen is None:
            raise CallError("not_recorded", "nothing was recorded for this case")
        return structs.replace(seen, question=call.case.question)

    async def aclose(self) -> None:
        """Nothing to give back."""
