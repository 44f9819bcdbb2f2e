"""Format `run-log` (ADR 0038): the run log of a code benchmark, with answer and evidence files per question."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from assay.formats.strict_json import LateDecoder
from assay.records.golden_set import Count, NonNegative
from assay.records.observations import Chunk, Observation, Stage, ToolCall, Usage


class RunLogRow(Struct, frozen=True):
    """One line, graded (`*-graded.jsonl`) or not; grades are human labels and are ignored here."""

    question_id: str
    question: str | None = None
    category: str | None = None
    answer: str | UnsetType | None = UNSET
    evidence_files: tuple[str, ...] | None = None
    config_id: str | None = None
    repeat: Count = 0
    tool_calls: tuple[ToolCall, ...] | Count | None = None
    latency_ms: NonNegative | None = None
    cost_usd: NonNegative | None = None
    model: str | None = None
    grade: str | None = None
    failure_label: str | None = None
    grading_notes: str | None = None
    grading_error: str | None = None
    judge_confidence: float | None = None
    judge_model: str | None = None
    metadata: dict[str, Any] | None = None


def make_run_log_observation(line: RunLogRow) -> Observation:
    """Return the line as an `Observation` with one stage, `retrieved`: the evidence files in their order."""
    files = line.evidence_files
    stages = None
    if files is not None:
        stages = (Stage("retrieved", tuple(Chunk(path, metadata={"path": path}) for path in files)),)
    has_usage = line.latency_ms is not None or line.cost_usd is not None
    return Observation(
        case_id=line.question_id,
        config_id=next(name for name in (line.config_id, line.model, "unknown") if name is not None),
        repeat=line.repeat,
        question=line.question,
        stages=stages,
        answer=line.answer,
        tool_calls=line.tool_calls,
        usage=Usage(end_to_end_ms=line.latency_ms, cost_usd=line.cost_usd) if has_usage else None,
        versions={} if line.model is None else {"generator": line.model},
    )


_DECODER = LateDecoder(RunLogRow)


def decode_run_log(line: bytes) -> Observation:
    """Decode one line. Raises msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError or RecursionError."""
    return make_run_log_observation(_DECODER.decode(line))
