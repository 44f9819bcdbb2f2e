"""The built page of the HTML report, as it lies in the package; `scripts/build_ui.sh` makes it."""

from __future__ import annotations

from importlib.resources import files


def html_asset() -> str:
    """Return the page without data."""
    return files("assay").joinpath("report", "assets", "report.html").read_text(encoding="utf-8")
