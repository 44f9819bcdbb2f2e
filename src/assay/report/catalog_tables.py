"""The catalogue of metrics as a table, Markdown and JSON, from which the documentation is generated."""

from __future__ import annotations

import json
import math

from assay.metrics.catalog import CATALOG
from assay.metrics.metric import Metric
from assay.report.markdown import render_table_lines
from assay.report.tables import Table


def _format_range(grader: Metric) -> str:
    high = "∞" if math.isinf(grader.high) else f"{grader.high:g}"
    return f"{grader.low:g} – {high}"


def _format_name(grader: Metric) -> str:
    cut = {"no": "", "optional": "[@k]", "required": "@k"}[grader.cut]
    keys = ",".join(f"{name}={'|'.join(key.values) or '…'}" for name, key in grader.keys.items())
    return grader.name + (f"({keys})" if keys else "") + cut


def build_catalog_table() -> Table:
    """Return one row per metric: name with keys, unit, direction, range, statistic, class and meaning."""
    rows = tuple(
        (
            _format_name(grader),
            grader.family,
            grader.unit,
            grader.direction,
            _format_range(grader),
            grader.statistic,
            grader.scoring_class,
            grader.summary,
        )
        for grader in CATALOG.values()
    )
    columns = ("Metric", "Family", "Unit", "Better", "Range", "Statistic", "Class", "Meaning")
    return Table("Metrics", columns, rows)


def render_catalog_markdown() -> str:
    """Return the table as Markdown."""
    return "\n".join(render_table_lines(build_catalog_table())) + "\n"


def render_catalog_json() -> str:
    """Return the catalogue as JSON, which adds keys with defaults and allowed values, undefined cases and sources."""
    rows = {
        grader.name: {
            "cut": grader.cut,
            "direction": grader.direction,
            "family": grader.family,
            "high": None if math.isinf(grader.high) else grader.high,
            "instrument": grader.scoring_class,
            "keys": {
                name: {"default": key.default, "doc": key.doc, "values": list(key.values)}
                for name, key in grader.keys.items()
            },
            "low": grader.low,
            "source": grader.source,
            "statistic": grader.statistic,
            "summary": grader.summary,
            "undefined": grader.undefined,
            "unit": grader.unit,
        }
        for grader in CATALOG.values()
    }
    return json.dumps(rows, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
