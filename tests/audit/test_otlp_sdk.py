"""Spans that the SDK of OpenTelemetry recorded and exported, with OpenInference and by the GenAI conventions.

`sdk-*.binpb` are the bodies that its HTTP exporter sent (opentelemetry-sdk 1.45, openinference-instrumentation 0.1.72,
semantic conventions 0.66); `sdk-*.jsonl` are the same messages as JSON, ids in hexadecimal, as a collector writes them.
Only stack traces were taken out.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.audit.traffic import at_noon

import assay
from assay.audit.audit_store import open_audit_store
from assay.audit.privacy import AuditKeys
from assay.records.audit_records import AuditRecord
from assay.records.series import Series, SeriesPoint
from assay.report.exports.metric_export import render_otlp_metrics

SAMPLES = Path(__file__).parent / "samples"
ANSWER = "Twelve days [hr:v3:1]."


def read_records(folder: Path, name: str) -> list[AuditRecord]:
    store = str(folder / f"{name}.sqlite")
    result = assay.audit.ingest(store, SAMPLES / name, now=at_noon, dead_letters=folder / "dead.jsonl")
    assert (result.rejected, result.without_time) == (0, 0)
    records = []
    with open_audit_store(store) as opened:
        for sequence in range(1, result.stored + 1):
            record = opened.load_answer(sequence)
            assert record is not None
            records.append(record)
    return sorted(records, key=lambda record: record.at)


@pytest.mark.parametrize("suffix", ["binpb", "jsonl"])
def test_openinference_spans_of_the_sdk_are_a_record(suffix: str, tmp_path: Path, keys: AuditKeys) -> None:
    record, broken = read_records(tmp_path, f"sdk-openinference.{suffix}")
    assert (record.question, record.answer) == ("How many days of leave?", ANSWER)
    assert record.user_uid == keys.make_pseudonym("minh")
    assert record.versions == {"service": "7.1", "prompt": "p4"}
    assert [(stage.name, [chunk.chunk_id for chunk in stage.chunks]) for stage in record.stages or ()] == [
        ("retrieved", ["hr:v3:1", "hr:v3:2"]),
        ("reranked", ["hr:v3:1"]),
        ("context", ["hr:v3:1"]),
    ]
    assert isinstance(record.tool_calls, tuple)
    (tool,) = record.tool_calls
    assert (tool.name, tool.arguments, tool.result) == ("calendar", {"year": 2026}, "251 working days")
    assert (record.model, record.prompt_tokens, record.completion_tokens) == ("gpt-x", 40, 9)
    assert broken.error is not None and (broken.answer, broken.error.message) == (
        None,
        "TimeoutError: upstream took 30 s",
    )


@pytest.mark.parametrize("suffix", ["binpb", "jsonl"])
def test_genai_spans_of_the_sdk_are_a_record(suffix: str, tmp_path: Path, keys: AuditKeys) -> None:
    (record,) = read_records(tmp_path, f"sdk-genai.{suffix}")
    assert (record.question, record.answer) == ("How many days of leave?", ANSWER)
    assert record.user_uid == keys.make_pseudonym("minh")
    assert [stage.name for stage in record.stages or ()] == ["retrieved", "context"]
    assert isinstance(record.tool_calls, tuple)
    assert [tool.arguments for tool in record.tool_calls] == [{"year": 2026}]
    assert (record.model, record.prompt_tokens, record.completion_tokens) == ("gpt-x-2026", 40, 9)
    assert record.prompt_hash is not None


def test_metrics_are_messages_of_the_official_protocol() -> None:
    """The package opentelemetry-proto is no dependency: where it is not installed, nothing is tested here."""
    service = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
    json_format = pytest.importorskip("google.protobuf.json_format")
    points = (
        SeriesPoint("2026-03-02", "2026-W10", 0.05, 0.03, 0.08, 400),
        SeriesPoint("2026-03-09", "2026-W11", None, None, None, 0, "no answers"),
    )
    series = Series("risk", "hallucination_risk(by=rules)", "share", False, "tenant=Công ty", None, points)
    message = json_format.Parse(render_otlp_metrics([series]), service.ExportMetricsServiceRequest())
    (scope,) = message.resource_metrics[0].scope_metrics
    metrics = {metric.name: metric.gauge.data_points for metric in scope.metrics}
    (value,) = metrics["assay.hallucination_risk_by_rules"]
    assert (value.as_double, value.time_unix_nano) == (0.05, 1_772_409_600_000_000_000)
    assert [point.as_int for point in metrics["assay.hallucination_risk_by_rules.n"]] == [400]
    assert [point.as_int for point in metrics["assay.unknown_values"]] == [1]
    assert {pair.key: pair.value.string_value for pair in value.attributes}["assay.slice"] == "tenant=Công ty"
