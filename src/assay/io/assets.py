"""The page of the HTML report, as packaged; `scripts/build_ui.sh` builds it."""

from __future__ import annotations

from importlib.resources import files


def html_asset() -> str:
    """Return the page, with no data in it."""
    return files("assay").joinpath("report", "assets", "report.html").read_text(encoding="utf-8")
