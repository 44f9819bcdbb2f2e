"""Series as OTLP metrics and as Prometheus text: read back by readers that know the public formats and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct, structs
from tests.report.page_samples import RISK, make_series

from assay.records.series import Series, SeriesPoint
from assay.report.exports.metric_export import render_otlp_metrics, render_prometheus

# ── OTLP: the fields of opentelemetry/proto/metrics/v1/metrics.proto in their JSON form, and no others ───────────────


class AnyValue(Struct, rename="camel", forbid_unknown_fields=True):
    string_value: str


class KeyValue(Struct, forbid_unknown_fields=True):
    key: str
    value: AnyValue


class NumberDataPoint(Struct, rename="camel", forbid_unknown_fields=True):
    attributes: list[KeyValue]
    time_unix_nano: str  # 64-bit integers are texts in the JSON form of protobuf
    as_double: float | None = None
    as_int: str | None = None


class Gauge(Struct, rename="camel", forbid_unknown_fields=True):
    data_points: list[NumberDataPoint]


class OtlpMetric(Struct, forbid_unknown_fields=True):
    name: str
    description: str
    unit: str
    gauge: Gauge


class InstrumentationScope(Struct, forbid_unknown_fields=True):
    name: str
    version: str


class ScopeMetrics(Struct, forbid_unknown_fields=True):
    scope: InstrumentationScope
    metrics: list[OtlpMetric]


class OtlpResource(Struct, forbid_unknown_fields=True):
    attributes: list[KeyValue]


class ResourceMetrics(Struct, rename="camel", forbid_unknown_fields=True):
    resource: OtlpResource
    scope_metrics: list[ScopeMetrics]


class MetricsData(Struct, rename="camel", forbid_unknown_fields=True):
    resource_metrics: list[ResourceMetrics]


def read_otlp(text: str) -> dict[str, OtlpMetric]:
    """Return the metrics of a message by name."""
    (resource,) = msgspec.json.decode(text, type=MetricsData).resource_metrics
    (scope,) = resource.scope_metrics
    assert "service.name" == resource.resource.attributes[0].key
    for metric in scope.metrics:
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_.\-/]{0,254}", metric.name)
    return {metric.name: metric for metric in scope.metrics}


# ── Prometheus: a reader of the text format 0.0.4 ────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class PrometheusSample:
    name: str
    labels: tuple[tuple[str, str], ...]
    value: float


_SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[^\"}]|\"(?:[^\"\\]|\\.)*\")*)\})? (\S+)")
_LABEL = re.compile(r"([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\]|\\.)*)\"(?:,|$)")
_UNESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


def read_prometheus(text: str) -> list[PrometheusSample]:
    """Return all samples; fails for a line that the format does not allow, and for a family without HELP and TYPE."""
    assert text.endswith("\n")
    samples: list[PrometheusSample] = []
    family = ""
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            family = line.split(" ")[2]
        elif line.startswith("# TYPE "):
            assert [family, "gauge"] == line.split(" ")[2:]
        else:
            match = _SAMPLE.fullmatch(line)
            assert match is not None, line
            assert family == match[1]
            labels = [
                (name, re.sub(r"\\.", lambda escape: _UNESCAPED[escape[0]], value))
                for name, value in _LABEL.findall(match[2] or "")
            ]
            samples.append(PrometheusSample(match[1], tuple(labels), float(match[3])))
    assert len({(sample.name, sample.labels) for sample in samples}) == len(samples)
    return samples


# ── tests ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_points_become_gauges_with_times_and_unknown_values_are_counted() -> None:
    metrics = read_otlp(render_otlp_metrics([make_series(RISK, slice_="team=hr")], service="handbook"))
    points = metrics["assay.hallucination_risk"].gauge.data_points
    assert [value for value in RISK if value is not None] == [point.as_double for point in points]
    assert "1772409600000000000" == points[0].time_unix_nano  # 2026-03-02T00:00:00Z, by `date -d … +%s`
    attributes = {pair.key: pair.value.string_value for pair in points[0].attributes}
    expected = {"metric": "hallucination_risk", "slice": "team=hr", "configuration": "hybrid", "run": "run-0"}
    assert {f"assay.{name}": value for name, value in expected.items()} == attributes
    assert ["400", "401"] == [point.as_int for point in metrics["assay.hallucination_risk.n"].gauge.data_points[:2]]
    assert "2" == metrics["assay.unknown_values"].gauge.data_points[0].as_int
    assert "1" == metrics["assay.hallucination_risk"].unit


def test_prometheus_has_the_newest_point_with_its_interval_and_time() -> None:
    samples = {sample.name: sample for sample in read_prometheus(render_prometheus([make_series(RISK)]))}
    assert 0.034 == samples["assay_hallucination_risk"].value
    assert 0.034 * 0.8 == samples["assay_hallucination_risk_low"].value
    assert 407 == samples["assay_hallucination_risk_n"].value
    assert 1773014400 == samples["assay_point_timestamp_seconds"].value  # 2026-03-09T00:00:00Z
    assert 0 == samples["assay_unknown_values"].value


def test_an_unknown_newest_value_is_left_out_and_no_older_one_stands_for_it() -> None:
    samples = read_prometheus(render_prometheus([make_series([0.1, None])]))
    assert ["assay_point_timestamp_seconds", "assay_unknown_values"] == [sample.name for sample in samples]
    assert 1 == samples[1].value


def test_nothing_to_export_is_a_valid_message() -> None:
    assert {} == read_otlp(render_otlp_metrics([]))
    assert "\n" == render_prometheus([])
    assert "\n" == render_prometheus([make_series([])])


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=3, max_size=3), st.floats(0, 1))
def test_any_text_in_names_and_labels_comes_back(texts: list[str], value: float) -> None:
    key, slice_, name = texts
    point = SeriesPoint("2026-03-02T08:00:00+01:00", "", value, None, None, 3)
    series = [Series(name, key, "share", None, slice_, None, (point,))]
    sample = read_prometheus(render_prometheus(series))[0]
    assert (("metric", key), ("slice", slice_)) == sample.labels
    assert value == sample.value
    (metric, *_) = read_otlp(render_otlp_metrics(series)).values()
    assert [key, slice_] == [pair.value.string_value for pair in metric.gauge.data_points[0].attributes]
    assert value == metric.gauge.data_points[0].as_double


@pytest.mark.parametrize(
    ("series", "message"),
    [
        ([make_series([0.1]), make_series([0.2])], "two series of one identity"),
        ([structs.replace(make_series([0.1]), points=(SeriesPoint("soon", "", 0.1, None, None, 1),))], "not a time"),
        ([make_series([float("nan")])], "not a finite number"),
    ],
)
def test_what_the_formats_cannot_say_is_refused(series: list[Series], message: str) -> None:
    for render in (render_otlp_metrics, render_prometheus):
        with pytest.raises(ValueError, match=message):
            render(series)
