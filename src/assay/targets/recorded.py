"""A target that replays recorded outputs, with the same run folder, retries and reports as a live system."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import UNSET, structs

from assay.calls.interfaces import CallError, TargetCall, TargetOperation
from assay.calls.target_kinds import TargetRequest
from assay.formats.outputs import open_output_files, prepare_decodable, read_observations
from assay.formats.run_files.run_folder import compute_file_sha256
from assay.formats.strict_json import join_field
from assay.records.errors import Problem, SettingsError
from assay.records.observations import Observation
from assay.records.settings import RecordedTargetSettings


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


def make_target(request: TargetRequest) -> RecordedTarget:
    """Make the target of a file of outputs. Raises SettingsError if the file has several configurations, none named."""
    name, settings = request.name, request.settings
    assert isinstance(settings, RecordedTargetSettings)
    path = request.resolve_path(join_field(join_field("targets", name), "path"), settings.path)
    with open_output_files([path], settings.format) as files, prepare_decodable(files) as decodable:
        observations: list[Observation] = []
        for file in decodable:
            observations += read_observations(file.path, file.name, file.decoded_as)
        digest = compute_file_sha256(Path(files[0].path))
    configs = sorted({observation.config_id for observation in observations})
    config_name = settings.config
    if config_name is None and len(configs) > 1:
        config_name = name if name in configs else None
    if (config_name is None and len(configs) > 1) or (config_name is not None and config_name not in configs):
        message = f"several configurations (expected config: one of {', '.join(configs)})"
        raise SettingsError([Problem(path, None, f"targets.{name}.config", message, "E_TARGET")])
    chosen = [observation for observation in observations if config_name in (None, observation.config_id)]
    return RecordedTarget(name, chosen, digest)
