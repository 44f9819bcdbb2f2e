"""`rag-trace` lines: the quick way to read them finds what the whole record says, and refuses what it refuses."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from assay.formats.recorded_outputs import rag_trace
from assay.records.observations import Chunk, Observation, Stage

CHUNK = {"chunk_id": "a", "score": 0.5, "rank": 1, "stage": "hybrid"}


def decoded(**members: Any) -> Observation:
    return rag_trace.decode_rag_trace(json.dumps({"query_id": "q", **members}).encode())


def test_a_chunk_may_be_a_string_in_any_list() -> None:
    observation = decoded(retrieved_chunks=["a", CHUNK], context_chunks=["a"], versions={"prompt": "p1", "index": None})
    retrieved = Stage("retrieved", (Chunk("a"), Chunk("a", 0.5, 1, "hybrid")))
    assert (retrieved, Stage("context", (Chunk("a"),))) == (observation.stages or ())[-2:]
    assert {"prompt": "p1"} == observation.versions


def test_lines_with_objects_and_lines_with_strings_read_the_same() -> None:
    objects = decoded(retrieved_chunks=[{"chunk_id": "a"}], versions={"prompt": "p1"}, latency_ms={"embed_ms": 1})
    strings = decoded(retrieved_chunks=["a"], versions={"prompt": "p1"}, latency_ms={"embed": 1})
    assert objects == strings


def test_versions_of_one_line_say_nothing_about_the_next() -> None:
    """Texts are remembered, so equal ones are read once; others are not mixed up with them."""
    versions_by_line = [
        decoded(versions=versions).versions for versions in ({"a": "1"}, {"a": "2"}, None, {}, {"a": "1"})
    ]
    assert [{"a": "1"}, {"a": "2"}, {}, {}, {"a": "1"}] == versions_by_line
    assert {} == decoded().versions


@pytest.mark.parametrize("versions", ["p1", ["p1"], {"prompt": 1}, 7], ids=str)
def test_versions_of_another_type_are_refused_however_often_they_come(versions: object) -> None:
    for _ in range(2):
        with pytest.raises(msgspec.ValidationError, match=r"\$\.versions"):
            decoded(versions=versions)


@pytest.mark.parametrize("latency", [{"embed": 1, "embed_ms": 2}, {"embed": None, "embed_ms": 2}], ids=str)
def test_a_step_is_timed_once_with_or_without_its_unit(latency: dict[str, float | None]) -> None:
    if None in latency.values():
        observation = decoded(latency_ms=latency)
        assert observation.usage is not None
        assert {"embed": 2.0} == observation.usage.stage_ms
    else:
        with pytest.raises(ValueError, match="with and without _ms"):
            decoded(latency_ms=latency)
