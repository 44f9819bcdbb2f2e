"""What outputs withhold: every text about an observation that gives away what the case's user must not see.

All outputs that show something of an observation pass it through here, so a field that a target fills with restricted
text (an id, a citation, a rewritten query, a tool's error, a version) is shown nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from assay.metrics.cases.case_index import CaseIndex
from assay.metrics.leaks.find_leaks import Leaks, find_leaks, find_revealing_texts
from assay.records.observations import Observation
from assay.text.escaping import WITHHELD


class WithheldTexts:
    """Withholds texts about one observation; everything is decided by the whole text, never by a part of it."""

    def __init__(self, case: CaseIndex, observation: Observation, leaks: Leaks | None = None) -> None:
        """`leaks`: those of the observation, where they were found already."""
        self._case, self._observation = case, observation
        self._leaks = find_leaks(case, observation) if leaks is None else leaks

    def withhold(self, value: Any) -> Any:
        """Return JSON data, or one text, with every text in it that gives something away replaced, keys included."""
        texts = dict.fromkeys(text for text in _iterate_texts(value) if text)
        revealing = find_revealing_texts(self._case, self._observation, self._leaks, texts)
        return _replace_texts(value, dict.fromkeys(revealing, WITHHELD)) if revealing else value

    def withhold_names(self) -> Observation:
        """Return the observation with chunk ids and citations replaced where they give something away."""
        observation = self._observation
        ids = [[chunk.chunk_id for chunk in stage.chunks] for stage in observation.stages or ()]
        citations = None if observation.citations is None else list(observation.citations)
        shown_ids, shown_citations = self.withhold([ids, citations])
        if shown_ids == ids and shown_citations == citations:
            return observation
        stages = []
        for stage, stage_ids in zip(observation.stages or (), shown_ids, strict=True):
            chunks = [replace(chunk, chunk_id=name) for chunk, name in zip(stage.chunks, stage_ids, strict=True)]
            stages.append(replace(stage, chunks=tuple(chunks)))
        return replace(
            observation,
            stages=None if observation.stages is None else tuple(stages),
            citations=None if shown_citations is None else tuple(shown_citations),
        )


def _iterate_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from _iterate_texts(key)
            yield from _iterate_texts(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _iterate_texts(member)


def _replace_texts(value: Any, replacements: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return replacements.get(value, value)
    if isinstance(value, Mapping):
        return {
            _replace_texts(key, replacements): _replace_texts(member, replacements) for key, member in value.items()
        }
    if isinstance(value, (list, tuple)):
        return type(value)([_replace_texts(member, replacements) for member in value])
    return value
