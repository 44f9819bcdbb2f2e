"""Format `stage-lists`: native lines with a list for each stage in place of `stages`, as people write them by hand.

The members `retrieved`, `reranked` and `context` hold chunks, as objects in any shape that replies have, or as texts.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from assay.formats.foreign.chunk_shapes import ShapeError, read_chunks
from assay.formats.strict_json import LateDecoder
from assay.records.golden_set import Behaviour, Count
from assay.records.observations import Observation, Sentence, Stage, TargetError, ToolCall, Usage

STAGE_MEMBERS = {"retrieved": "retrieved", "reranked": "reranked", "context": "context"}
"""The member that holds each stage, in the order of the pipeline."""


class StageListsRow(Struct, frozen=True):
    """One line. A member that is absent or null was not reported; but a null `answer` means that answering failed."""

    case_id: str
    config_id: str = "unknown"
    repeat: Count = 0
    question: str | None = None
    query_rewrite: str | None = None
    retrieved: list[Any] | None = None
    reranked: list[Any] | None = None
    context: list[Any] | None = None
    stages: Any = UNSET
    answer: str | UnsetType | None = UNSET
    behaviour: Behaviour | None = None
    citations: tuple[str, ...] | None = None
    sentences: tuple[Sentence, ...] | None = None
    tool_calls: tuple[ToolCall, ...] | Count | None = None
    usage: Usage | None = None
    versions: dict[str, str] = {}
    error: TargetError | None = None


_LINE = LateDecoder(StageListsRow)


def decode_stage_lists(line: bytes) -> Observation:
    """Decode one line.

    Raises msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError or RecursionError, and ValueError for a list
    with items that could be ids or texts, and for a line that has `stages` as well.
    """
    row = _LINE.decode(line)
    members = {name: getattr(row, member) for name, member in STAGE_MEMBERS.items()}
    named_lists = [name for name, items in members.items() if items is not None]
    if row.stages is not UNSET and named_lists:
        raise ValueError(
            f"two lists of stages (got stages and {', '.join(named_lists)}; expected the stages in one of these forms)"
        )
    stages = tuple([_read_stage(name, members[name] or []) for name in named_lists])
    if row.stages is not UNSET:
        stages = msgspec.convert(row.stages, tuple[Stage, ...] | None) or ()
    return Observation(
        row.case_id,
        row.config_id,
        row.repeat,
        row.question,
        row.query_rewrite,
        stages or None,
        row.answer,
        row.behaviour,
        row.citations,
        row.sentences,
        row.tool_calls,
        row.usage,
        row.versions,
        row.error,
    )


def _read_stage(name: str, items: list[Any]) -> Stage:
    try:
        return Stage(name, read_chunks(items, lambda _: None, strings="either"))
    except ShapeError as error:
        raise ValueError(f"{STAGE_MEMBERS[name]}: {error}") from None
