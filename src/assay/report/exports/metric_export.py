"""Metrics over time for monitoring systems: OTLP metrics as JSON, and the text that Prometheus reads.

An unknown value is left out and counted; it is never 0 or NaN.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from assay.records.errors import shorten_repr
from assay.records.series import Series, SeriesPoint, list_series_faults
from assay.version import __version__

PREFIX = "assay"
UNKNOWN_VALUES = "unknown_values"
_PARTS = (("", "value"), ("low", "low"), ("high", "high"), ("n", "n"))
_HELP = {
    "": "{} ({})",
    "low": "Lower end of the 95% interval of {} ({})",
    "high": "Upper end of the 95% interval of {} ({})",
    "n": "Number of scores behind {}",
}
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9]+")
_UCUM = {"share": "1", "": "1", "ms": "ms", "s": "s", "usd": "{USD}", "tokens": "{token}"}


class CountFamily(NamedTuple):
    """A gauge `assay_NAME` of whole numbers at one time (an ISO date or time), with the labels of each."""

    name: str
    help_text: str
    at: str
    samples: tuple[tuple[dict[str, str], int], ...]


def render_otlp_metrics(series: Sequence[Series], service: str = "assay", counts: Sequence[CountFamily] = ()) -> str:
    """Return the series as one OTLP JSON message (`resourceMetrics`), as a collector reads it, ending in a newline.

    Each metric is a gauge `assay.METRIC` with one data point a point in time, and its interval and count are gauges
    `assay.METRIC.low`, `.high` and `.n`. Attributes are `assay.metric` (the name in the catalogue), `assay.slice`,
    `assay.configuration` and `assay.run`. `assay.unknown_values` counts the points of each series that have no value.
    `counts` are gauges of whole numbers with attributes of their own.
    Raises ValueError for a time that is no ISO date or time, for two series of one identity, and for a number that is
    not finite.
    """
    _check_series(series)
    metrics: list[dict[str, Any]] = []
    for name, family in _group_by_name(series, "."):
        for part, field in _PARTS:
            points = [
                {"attributes": _list_attributes(one_series, point), "timeUnixNano": _count_nanoseconds(point), **number}
                for one_series in family
                for point in one_series.points
                if (number := _make_otlp_number(point, field)) is not None
            ]
            if points:
                metrics.append(
                    {
                        "name": f"{name}.{part}" if part else name,
                        "description": _HELP[part].format(family[0].name, family[0].unit),
                        "unit": "1" if part == "n" else _UCUM.get(family[0].unit.lower(), "1"),
                        "gauge": {"dataPoints": points},
                    }
                )
    unknown = [
        {
            "attributes": _list_attributes(one_series, None),
            "timeUnixNano": _count_nanoseconds(one_series.points[-1]),
            "asInt": str(sum(point.value is None for point in one_series.points)),
        }
        for one_series in series
        if one_series.points
    ]
    if unknown:
        description = "Points without a value, which are left out"
        metrics.append(
            {
                "name": f"{PREFIX}.{UNKNOWN_VALUES}",
                "description": description,
                "unit": "1",
                "gauge": {"dataPoints": unknown},
            }
        )
    metrics += [_make_otlp_counts(family) for family in counts if family.samples]
    scope = {"name": PREFIX, "version": __version__}
    resource = {"attributes": [_make_attribute("service.name", service)]}
    group = {"resource": resource, "scopeMetrics": [{"scope": scope, "metrics": metrics}]}
    return json.dumps({"resourceMetrics": [group]}, ensure_ascii=False, allow_nan=False) + "\n"


def render_prometheus(series: Sequence[Series], counts: Sequence[CountFamily] = ()) -> str:
    """Return the newest point of each series in the text format of Prometheus (version 0.0.4).

    Each metric is a gauge `assay_METRIC` with the labels `metric` (the name in the catalogue), `slice` and
    `configuration`; `_low`, `_high` and `_n` are its interval and count, and `assay_point_timestamp_seconds` says how
    old it is. A newest point without a value is left out, not replaced by an older one, and `assay_unknown_values` is
    then 1. `counts` are gauges of whole numbers. Raises as `render_otlp_metrics`.
    """
    _check_series(series)
    lines: list[str] = []
    for name, family in _group_by_name(series, "_"):
        for part, field in _PARTS:
            samples = [
                (_render_labels(one_series), number)
                for one_series in family
                if one_series.points and (number := _read_number(one_series.points[-1], field)) is not None
            ]
            help_text = _HELP[part].format(family[0].name, family[0].unit)
            lines += _render_family(f"{name}_{part}" if part else name, help_text, samples)
    shown = [one_series for one_series in series if one_series.points]
    ages = [(_render_labels(item), _count_nanoseconds(item.points[-1])[:-9] or "0") for item in shown]
    unknown = [(_render_labels(item), str(int(item.points[-1].value is None))) for item in shown]
    lines += _render_family(f"{PREFIX}_point_timestamp_seconds", "Time of the newest point", ages)
    lines += _render_family(
        f"{PREFIX}_{UNKNOWN_VALUES}", "1 where the newest point has no value, which is then left out", unknown
    )
    for counted in counts:
        numbers = [(_join_labels(labels), str(number)) for labels, number in counted.samples]
        lines += _render_family(f"{PREFIX}_{counted.name}", counted.help_text, numbers)
    return "\n".join(lines) + "\n"


# ── both ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def make_metric_name(key: str, separator: str) -> str:
    """Return the name of a metric in a monitoring system; names that differ only in signs share one.

    >>> make_metric_name("ndcg(gain=linear)@10", "_")
    'assay_ndcg_gain_linear_10'
    """
    plain = _NOT_IN_NAMES.sub("_", key).strip("_").lower()
    return f"{PREFIX}{separator}{plain or 'metric'}"


def _check_series(series: Sequence[Series]) -> None:
    faults = list_series_faults(series)
    identities = [(one_series.key, one_series.slice, one_series.configuration) for one_series in series]
    for identity in sorted({str(item) for item in identities if identities.count(item) > 1}):
        faults.append(f"two series of one identity: {identity}")
    if faults:
        raise ValueError("; ".join(faults[:5]))


def _group_by_name(series: Sequence[Series], separator: str) -> Iterator[tuple[str, list[Series]]]:
    """Yield each metric name with its series, in the order of the first one."""
    families: dict[str, list[Series]] = {}
    for one_series in series:
        families.setdefault(make_metric_name(one_series.key, separator), []).append(one_series)
    yield from families.items()


def _read_number(point: SeriesPoint, field: str) -> str | None:
    """Return a number of a point as text; None where it is unknown, and for everything about an unknown value."""
    number = getattr(point, field)
    if point.value is None or number is None:
        return None
    return repr(number if field == "n" else float(number))


def _count_nanoseconds(point: SeriesPoint) -> str:
    """Return the time of a point as nanoseconds since 1970; a time without zone is UTC."""
    return str(_parse_nanoseconds(point.at))


def _parse_nanoseconds(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"not a time (got {shorten_repr(text)}; expected an ISO date or time)") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (int(moment.timestamp()) * 1_000_000 + moment.microsecond) * 1000


# ── OTLP ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _make_otlp_number(point: SeriesPoint, field: str) -> dict[str, Any] | None:
    text = _read_number(point, field)
    if text is None:
        return None
    return {"asInt": text} if field == "n" else {"asDouble": float(text)}


def _make_otlp_counts(family: CountFamily) -> dict[str, Any]:
    time = str(_parse_nanoseconds(family.at))
    points = [
        {
            "attributes": [_make_attribute(f"{PREFIX}.{name}", value) for name, value in labels.items()],
            "timeUnixNano": time,
            "asInt": str(number),
        }
        for labels, number in family.samples
    ]
    name = f"{PREFIX}.{family.name}"
    return {"name": name, "description": family.help_text, "unit": "1", "gauge": {"dataPoints": points}}


def _make_attribute(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def _list_attributes(series: Series, point: SeriesPoint | None) -> list[dict[str, Any]]:
    members = {
        "metric": series.key,
        "slice": series.slice,
        "configuration": series.configuration,
        "run": None if point is None else point.run,
    }
    return [_make_attribute(f"{PREFIX}.{name}", value) for name, value in members.items() if value is not None]


# ── Prometheus ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _render_labels(series: Series) -> str:
    members = {"metric": series.key, "slice": series.slice, "configuration": series.configuration}
    return _join_labels({name: value for name, value in members.items() if value is not None})


def _join_labels(members: Mapping[str, str]) -> str:
    labels = [f'{name}="{_escape_label(value)}"' for name, value in members.items()]
    return "{" + ",".join(labels) + "}" if labels else ""


def _escape_label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _render_family(name: str, help_text: str, samples: Iterable[tuple[str, str]]) -> list[str]:
    rows = [f"{name}{labels} {number}" for labels, number in samples]
    if not rows:
        return []
    safe_help = help_text.replace("\\", "\\\\").replace("\n", "\\n")
    return [f"# HELP {name} {safe_help}", f"# TYPE {name} gauge", *rows]
