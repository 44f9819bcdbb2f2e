"""Reading an HTML report back: its policy, and its islands as data."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

from assay.report.page.case_data import HtmlData
from assay.report.page.html_page import render_html_report
from assay.report.page.write_html import read_html_asset

_ISLAND = re.compile(r'<script type="(application/json|text/plain)" id="([\w-]+)">(.*?)</script>', re.DOTALL)
ASSET = read_html_asset()


def document(data: HtmlData) -> str:
    """Return the report as one text."""
    return b"".join(render_html_report(data, ASSET)).decode()


def islands(text: str) -> dict[str, Any]:
    """Return the content of each island of a document by its id."""
    contents = {}
    for kind, name, content in _ISLAND.findall(text):
        packed = kind == "text/plain"
        contents[name] = json.loads(zlib.decompress(base64.b64decode(content, validate=True)) if packed else content)
    return contents


def read_whole(path: Path) -> str:
    """Return the text of an output file; that of an HTML report with the content of its islands, some of which are
    compressed, so that a search of the file itself does not see them."""
    text = path.read_text(encoding="utf-8")
    return text if path.suffix != ".html" else text + json.dumps(islands(text), ensure_ascii=False)


def details(contents: dict[str, Any]) -> dict[int, Any]:
    """Return the cases in full by their index in the golden set."""
    parts = [cases for name, cases in contents.items() if name.startswith("detail-")]
    return {int(index): detail for part in parts for index, detail in part.items()}
