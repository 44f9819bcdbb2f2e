"""Builds the self-contained HTML page on which a person labels a sheet.

The page sends nothing anywhere; its only output is the file that the person saves. Its content security policy allows
only the script and the style whose hashes it names, and the rows are embedded as JSON data.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files

import msgspec

from assay.digest import digest
from assay.io.sheets import SheetRow

LANGUAGES = ("en", "vi")
_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
_BODY = """<header><div><h1 id="title"></h1><p id="status" role="status" aria-live="polite"></p></div>
<label><span id="rater-name"></span><input id="rater" autocomplete="name"></label>
<label><span id="language-name"></span><select id="language"><option value="en">English</option>\
<option value="vi">Tiếng Việt</option></select></label></header>
<main><div id="row"></div><h2 id="ask"></h2><div id="options" class="options" role="group" aria-labelledby="ask"></div>
<label><span id="note-name"></span><textarea id="note" rows="2"></textarea></label>
<nav><button type="button" id="back"></button><button type="button" id="next"></button>\
<button type="button" id="open"></button><button type="button" id="save"></button></nav></main>
"""


def label_page(rows: Sequence[SheetRow], language: str = "en") -> bytes:
    """Return the page for one or more rows. Its language, English or Vietnamese, can be changed on the page."""
    script, style = _read_asset("label.js"), _read_asset("label.css")
    policy = (
        f"default-src 'none'; script-src {_hash_source(script)}; style-src {_hash_source(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    data = msgspec.json.encode(list(rows)).decode().translate(_ESCAPED)
    sheet = digest([msgspec.structs.asdict(row) for row in rows]).removeprefix("sha256:")[:16]
    return (
        f'<!doctype html>\n<html lang="{language}" data-sheet="{sheet}"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>Labels</title>\n'
        f"<style>{style}</style></head>\n<body>\n{_BODY}"
        f'<script type="application/json" id="rows">{data}</script>\n<script>{script}</script>\n</body></html>\n'
    ).encode()


def _read_asset(name: str) -> str:
    return files("assay").joinpath("pages", name).read_text(encoding="utf-8")


def _hash_source(text: str) -> str:
    hashed = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{hashed}'"
