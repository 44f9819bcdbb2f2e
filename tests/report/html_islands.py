"""Reading an HTML report back: its policy, and its islands as data."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

from assay.io.assets import html_asset
from assay.report.html import to_html
from assay.report.html_data import HtmlData

_ISLAND = re.compile(r'<script type="(application/json|text/plain)" id="([\w-]+)">(.*?)</script>', re.DOTALL)
ASSET = html_asset()


def document(data: HtmlData) -> str:
    """Return the whole report."""
    return b"".join(to_html(data, ASSET)).decode()


def islands(text: str) -> dict[str, Any]:
    """Return what each island of a document holds, by its id."""
    found = {}
    for kind, name, content in _ISLAND.findall(text):
        packed = kind == "text/plain"
        found[name] = json.loads(zlib.decompress(base64.b64decode(content, validate=True)) if packed else content)
    return found


def details(found: dict[str, Any]) -> dict[int, Any]:
    """Return the whole cases by their place in the golden set."""
    parts = [held for name, held in found.items() if name.startswith("detail-")]
    return {int(place): detail for part in parts for place, detail in part.items()}
