"""Writes what a history or a monitor found for others: a page, OTLP metrics, and text for Prometheus."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from assay.formats.file_io import write_atomically
from assay.records.series import Series
from assay.report.metric_export import render_otlp_metrics, render_prometheus
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
    if otlp is not None:
        written.append(("OTLP metrics", write_atomically(otlp, [render_otlp_metrics(series).encode()])))
    if prometheus is not None:
        written.append(("Prometheus metrics", write_atomically(prometheus, [render_prometheus(series).encode()])))
    return written
