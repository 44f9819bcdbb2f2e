"""Normalises names in an observation to Unicode NFC, the form that golden sets and corpora use."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from assay.model import Chunk, Observation, Stage


def in_nfc(observation: Observation) -> tuple[Observation, bool]:
    """Return the observation with its names in NFC, and whether that changed anything.

    Names are the ids of case, configuration, chunks and citations, and the chunks' metadata; other texts do not change.
    """
    text = "\n".join(_names(observation))  # one check for all names is faster than one each
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return observation, False
    stages = observation.stages and tuple([_normalise_stage(stage) for stage in observation.stages])
    sentences = observation.sentences and tuple(
        [replace(sentence, citations=tuple(map(_nfc, sentence.citations))) for sentence in observation.sentences]
    )
    changed = replace(
        observation,
        case_id=_nfc(observation.case_id),
        config_id=_nfc(observation.config_id),
        stages=stages,
        citations=observation.citations and tuple(map(_nfc, observation.citations)),
        sentences=sentences,
    )
    return changed, True


def _names(observation: Observation) -> list[str]:
    chunks = [chunk for stage in observation.stages or () for chunk in stage.chunks]
    names = [chunk.chunk_id for chunk in chunks]
    names += [text for chunk in chunks if chunk.metadata for text in _metadata_texts(chunk.metadata)]
    names += [citation for sentence in observation.sentences or () for citation in sentence.citations]
    names += observation.citations or ()
    names += (observation.case_id, observation.config_id)
    return names


def _metadata_texts(metadata: dict[str, Any]) -> Iterator[str]:
    for name, value in metadata.items():
        yield name
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str):
                yield item


def _normalise_stage(stage: Stage) -> Stage:
    return replace(stage, chunks=tuple([_normalise_chunk(chunk) for chunk in stage.chunks]))


def _normalise_chunk(chunk: Chunk) -> Chunk:
    metadata = chunk.metadata and {_nfc(name): _normalise_value(value) for name, value in chunk.metadata.items()}
    return replace(chunk, chunk_id=_nfc(chunk.chunk_id), metadata=metadata)


def _normalise_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_normalise_value(item) for item in value]
    return _nfc(value) if isinstance(value, str) else value


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)
