"""Writes the pages on trends, monitors and incidents: one HTML file each, which loads nothing and holds its data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from assay.formats.file_io import write_atomically
from assay.records.series import list_series_faults
from assay.report.page.html_page import render_data_page
from assay.report.page.trend_records import MonitorPage, TrendPage
from assay.report.wording.metric_titles import format_metric_title

Page = TypeVar("Page", TrendPage, MonitorPage)


def write_trend_page(page: TrendPage | Mapping[str, Any], path: str | Path) -> Path:
    """Write the history of runs as a page.

    `page` is the record, or its JSON as `assay history --format json` prints it; members that the page does not know
    are left out. Raises ValueError for data of another shape, for a value that is no finite number, and for an unknown
    value without a reason; IncompleteError if the file cannot be written.
    """
    checked = _check_page(page, TrendPage)
    changes = tuple(replace(row, name=row.name or format_metric_title(row.metric)) for row in checked.changes)
    return _write_page(replace(checked, changes=changes), path)


def write_monitor_page(page: MonitorPage | Mapping[str, Any], path: str | Path) -> Path:
    """Write a monitor of production answers as a page.

    `page` is the record, or its JSON as `assay monitor --format json` prints it. Raises as `write_trend_page`.
    """
    checked = _check_page(page, MonitorPage)
    alerts = tuple(replace(card, name=card.name or format_metric_title(card.metric)) for card in checked.alerts)
    return _write_page(replace(checked, alerts=alerts), path)


def render_incident_page(incident: Struct, title: str) -> bytes:
    """Return an incident (`assay.audit.incident.Incident`) as a page."""
    record = {"page": "incident", "title": title, "made_at": None, "incident": incident}
    return render_data_page(record, read_page_asset())


def read_page_asset() -> str:
    """Return the page on trends, monitors and incidents, with no data in it."""
    return Path(__file__).with_name("page").joinpath("assets", "pages.html").read_text(encoding="utf-8")


def _check_page(page: Page | Mapping[str, Any], kind: type[Page]) -> Page:
    try:
        checked = msgspec.convert(msgspec.to_builtins(page), kind)
    except msgspec.ValidationError as error:
        raise ValueError(f"not the data of a page: {error}") from None
    faults = list_series_faults(checked.series)
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise ValueError(f"not the data of a page: {faults[0]}{more}")
    return checked


def _write_page(page: TrendPage | MonitorPage, path: str | Path) -> Path:
    return write_atomically(str(path), [render_data_page(page, read_page_asset())], is_shared=True)
