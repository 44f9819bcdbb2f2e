"""Names in an observation brought into Unicode NFC, the form in which golden sets and corpora hold them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from assay.model import Chunk, Observation


def in_nfc(observation: Observation) -> tuple[Observation, bool]:
    """Return the observation with everything that is compared in NFC, and whether that changed anything.

    Compared are the ids of case, configuration, chunks and citations, and the chunks' metadata; texts stay as they are.
    """
    text = "\n".join(_names(observation))
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return observation, False
    stages = observation.stages and tuple(
        [replace(stage, chunks=tuple([_chunk(chunk) for chunk in stage.chunks])) for stage in observation.stages]
    )
    sentences = observation.sentences and tuple(
        [replace(each, citations=tuple(map(_nfc, each.citations))) for each in observation.sentences]
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
    names += [text for chunk in chunks if chunk.metadata for text in _texts(chunk.metadata)]
    names += [citation for sentence in observation.sentences or () for citation in sentence.citations]
    names += observation.citations or ()
    names += (observation.case_id, observation.config_id)
    return names


def _texts(metadata: dict[str, Any]) -> Iterator[str]:
    for name, value in metadata.items():
        yield name
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str):
                yield item


def _chunk(chunk: Chunk) -> Chunk:
    metadata = chunk.metadata and {_nfc(name): _value(value) for name, value in chunk.metadata.items()}
    return replace(chunk, chunk_id=_nfc(chunk.chunk_id), metadata=metadata)


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return [_value(item) for item in value]
    return _nfc(value) if isinstance(value, str) else value


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)
