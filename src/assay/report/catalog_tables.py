"""The catalogue of metrics as a table, Markdown and JSON, from which the documentation is generated."""

from __future__ import annotations

import json
import math

from assay.metrics.catalog import CATALOG
from assay.metrics.metric import Metric
from assay.report.exports.markdown import render_table_lines
from assay.report.findings.table import Table


def _format_range(metric: Metric) -> str:
    high = "∞" if math.isinf(metric.high) else f"{metric.high:g}"
    return f"{metric.low:g} – {high}"


def _format_name(metric: Metric) -> str:
    cut = {"no": "", "optional": "[@k]", "required": "@k"}[metric.cut]
    keys = ",".join(f"{name}={'|'.join(key.values) or '…'}" for name, key in metric.keys.items())
    return metric.name + (f"({keys})" if keys else "") + cut


def build_catalog_table() -> Table:
    """Return one row per metric: name with keys, unit, direction, range, statistic, class and meaning."""
    rows = tuple(
        (
            _format_name(metric),
            metric.family,
            metric.unit,
            metric.direction,
            _format_range(metric),
            metric.statistic,
            metric.scoring_class,
            metric.summary,
        )
        for metric in CATALOG.values()
    )
    columns = ("Metric", "Family", "Unit", "Better", "Range", "Statistic", "Class", "Meaning")
    return Table("Metrics", columns, rows)


def render_catalog_markdown() -> str:
    """Return the table as Markdown."""
    return "\n".join(render_table_lines(build_catalog_table())) + "\n"


def render_catalog_json() -> str:
    """Return the catalogue as JSON, which adds keys with defaults and allowed values, undefined cases and sources."""
    rows = {
        metric.name: {
            "cut": metric.cut,
            "direction": metric.direction,
            "family": metric.family,
            "high": None if math.isinf(metric.high) else metric.high,
            "scoring_class": metric.scoring_class,
            "keys": {
                name: {"default": key.default, "doc": key.doc, "values": list(key.values)}
                for name, key in metric.keys.items()
            },
            "low": metric.low,
            "source": metric.source,
            "statistic": metric.statistic,
            "summary": metric.summary,
            "undefined": metric.undefined,
            "unit": metric.unit,
        }
        for metric in CATALOG.values()
    }
    return json.dumps(rows, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
