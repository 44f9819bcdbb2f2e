"""Writes what a history or a monitor found for others: a page, OTLP metrics, and text for Prometheus."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from assay.formats.file_io import write_atomically
from assay.records.series import Series
from assay.report.exports.metric_export import CountFamily, render_otlp_metrics, render_prometheus
from assay.report.write_pages import write_monitor_page, write_trend_page


def write_trend_files(
    page: Mapping[str, Any], *, html: str | None = None, otlp: str | None = None, prometheus: str | None = None
) -> list[tuple[str, Path]]:
    """Write the files that are asked for, and return each with what it is.

    `page` is the JSON of `assay history` or `assay monitor`. Raises IncompleteError if a file cannot be written.
    """
    written: list[tuple[str, Path]] = []
    if html is not None:
        write_page = write_monitor_page if page["page"] == "monitor" else write_trend_page
        written.append(("page", write_page(page, html)))
    series = msgspec.convert(page["series"], list[Series])
    counts = list_monitor_counts(page) if page["page"] == "monitor" else []
    if otlp is not None:
        content = render_otlp_metrics(series, counts=counts).encode()
        written.append(("OTLP metrics", write_atomically(otlp, [content], is_shared=True)))
    if prometheus is not None:
        content = render_prometheus(series, counts).encode()
        written.append(("Prometheus metrics", write_atomically(prometheus, [content], is_shared=True)))
    return written


def list_monitor_counts(page: Mapping[str, Any]) -> list[CountFamily]:
    """Return the leaks and the open alerts of a monitor as counts, which an alarm of the monitoring system reads.

    Where no answer could be searched for leaks, there is no count of leaks; a metric that was not watched at all has
    none of alerts.
    """
    at = page["period"]["to"]
    families = []
    if page["leak_count"] or page["unsearched"] < page["answers"]:
        help_text = "Answers of the period that showed what their users may not see"
        families.append(CountFamily("leaks", help_text, at, (({}, page["leak_count"]),)))
    help_text = "Answers of the period in which no leak could be looked for"
    families.append(CountFamily("leaks_not_looked_for", help_text, at, (({}, page["unsearched"]),)))
    samples = []
    for row in page["series"]:
        is_open = [
            alert["state"] == "open"
            for alert in page["alerts"]
            if (alert["metric"], alert["slice"]) == (row["key"], row["slice"])
        ]
        if is_open or row["watched_since"] is not None or row["bounds"]:
            labels = {"metric": row["key"], "slice": row["slice"]}
            samples.append(({name: value for name, value in labels.items() if value is not None}, sum(is_open)))
    families.append(CountFamily("alerts", "Open alerts of the period, by what was watched", at, tuple(samples)))
    return families
