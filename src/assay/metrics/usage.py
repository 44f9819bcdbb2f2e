"""What an answer cost: latency by step, tokens, money, tool calls, failures. Unreported is not applicable, never 0."""

from __future__ import annotations

import math

import numpy as np

from assay.metrics.metric import (
    Batch,
    FactKey,
    JoinedRows,
    Metric,
    MetricKey,
    MetricName,
    make_score_column,
    rows_not_applicable,
)
from assay.records.observations import Observation, ToolCall, Usage
from assay.records.scores import ScoreColumn

END_TO_END = "end_to_end"
_NO_USAGE = Usage()


def _read_latency(observation: Observation, stage: str) -> float | None:
    usage = observation.usage or _NO_USAGE
    if stage == END_TO_END:
        return usage.end_to_end_ms
    if stage in usage.stage_ms:
        return usage.stage_ms[stage]
    return next((step.latency_ms for step in observation.stages or () if step.name == stage), None)


def _read_tokens(observation: Observation, kind: str) -> float | None:
    usage = observation.usage or _NO_USAGE
    if kind == "context":
        return usage.context_tokens
    if kind == "total":
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        return usage.prompt_tokens + usage.completion_tokens
    return usage.prompt_tokens if kind == "prompt" else usage.completion_tokens


def _read_cost(observation: Observation, _: str) -> float | None:
    return (observation.usage or _NO_USAGE).cost_usd


def _read_tool_calls(observation: Observation, _: str) -> float | None:
    calls = observation.tool_calls
    return calls if calls is None or isinstance(calls, int) else len(calls)


def _read_tool_errors(observation: Observation, _: str) -> float | None:
    calls = observation.tool_calls
    if calls is None or isinstance(calls, int):
        return None
    return sum(isinstance(call, ToolCall) and call.error is not None for call in calls)


def _read_retries(observation: Observation, _: str) -> float | None:
    return None if observation.failed_attempts is None else len(observation.failed_attempts)


_READERS = {
    "latency_ms": _read_latency,
    "tokens": _read_tokens,
    "cost_usd": _read_cost,
    "tool_calls": _read_tool_calls,
    "tool_errors": _read_tool_errors,
    "retries": _read_retries,
}


class UsageFacts:
    """One reported number a row; `None` where the target did not report it."""

    def __init__(self, quantity: str, detail: str) -> None:
        self._read, self._detail = _READERS[quantity], detail
        self.values: list[float | None] = []

    def add(self, rows: JoinedRows) -> None:
        """Take some rows, in order."""
        read, detail = self._read, self._detail
        self.values += [read(observation, detail) for observation in rows.observations]


_DETAIL_KEYS = {"latency_ms": ("stage", END_TO_END), "tokens": ("kind", "total")}


def _usage_arguments(name: MetricName) -> tuple[str, str]:
    detail_key = _DETAIL_KEYS.get(name.base)
    return name.base, name.key_value(*detail_key) if detail_key else ""


def _usage_column(batch: Batch, name: MetricName) -> ScoreColumn:
    values = batch.get_facts(UsageFacts, *_usage_arguments(name)).values
    missing = [value is None for value in values]
    numbers = np.array([math.nan if value is None else value for value in values], dtype=np.float64)
    return make_score_column(name, numbers, *batch.target_errors, rows_not_applicable(missing, "not reported"))


def _error_column(batch: Batch, name: MetricName) -> ScoreColumn:
    return make_score_column(name, batch.target_failed.astype(np.float64))


def _need_usage(name: MetricName) -> tuple[FactKey, ...]:
    return ((UsageFacts, _usage_arguments(name)),)


_STATISTICS = ("mean", "p50", "p95", "total")


_LEAST_SHARE = 0.05
"""Time, tokens and money that differ by less than this share of the baseline's do not matter."""


def _usage_row(
    name: str, summary: str, unit: str, keys: dict[str, MetricKey] | None = None, least_difference: float = 0.0
) -> Metric:
    return Metric(
        name=name,
        family="operations",
        summary=summary,
        source="nearest-rank percentiles; usage fields of the `rag-trace` contract",
        unit=unit,
        direction="lower",
        high=math.inf,
        keys={"stat": MetricKey("mean", _STATISTICS, "the statistic that summarises it")} | (keys or {}),
        undefined="the target did not report it",
        needs=_need_usage,
        compute=_usage_column,
        least_difference=least_difference,
        least_share=_LEAST_SHARE,
    )


OPERATIONS_METRICS: tuple[Metric, ...] = (
    _usage_row(
        "latency_ms",
        "Time the target took, end to end or in one step; the judge's own time is never in it.",
        "ms",
        {
            "stage": MetricKey(
                END_TO_END, doc="end_to_end, or a step: embed, retrieve, rerank, context_build, generate …"
            )
        },
        least_difference=10.0,
    ),
    _usage_row(
        "tokens",
        "Tokens used.",
        "tokens",
        {"kind": MetricKey("total", ("total", "prompt", "completion", "context"), "which tokens")},
        least_difference=10.0,
    ),
    _usage_row("cost_usd", "Money spent on the case.", "USD", least_difference=0.0001),
    _usage_row("tool_calls", "Tool calls made while answering.", "count"),
    _usage_row("tool_errors", "Tool calls that failed.", "count"),
    _usage_row("retries", "Calls of the target that failed and were made again.", "count"),
    Metric(
        name="error_rate",
        family="operations",
        summary="Whether the target failed on the case.",
        source="operations layer of the `rag-trace` contract",
        direction="lower",
        statistic="rate",
        compute=_error_column,
    ),
)
