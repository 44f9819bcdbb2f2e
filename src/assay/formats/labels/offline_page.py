"""Self-contained pages on which people label, review and judge without a network.

A page sends nothing anywhere: its only output is the file that the person saves. Its content security policy allows
only the script and the style whose hashes it names, and what it shows is embedded as JSON data and written as text.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any, Literal

import msgspec

PageName = Literal["label", "review", "pool"]
PAGE_LANGUAGES = ("en", "vi")
_TITLES: dict[PageName, str] = {"label": "Labels", "review": "Review", "pool": "Pool"}
_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
_DIGEST_CHARACTERS = 16


def build_offline_page(page: PageName, content: Any, digest: str, language: str = "en") -> bytes:
    """Return a page that shows `content`, which its script reads; its language can be changed on the page.

    Answers are kept in the browser under `digest`: a page of other content starts empty.
    """
    script = _read_asset("page.js") + _read_asset(f"{page}.js")
    style = _read_asset("page.css")
    policy = (
        f"default-src 'none'; script-src {_hash_source(script)}; style-src {_hash_source(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    rows = msgspec.json.encode(content).decode().translate(_ESCAPED)
    sheet = digest.removeprefix("sha256:")[:_DIGEST_CHARACTERS]
    return (
        f'<!doctype html>\n<html lang="{language}" data-page="{page}" data-sheet="{sheet}"><head>'
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_TITLES[page]}</title>\n<style>{style}</style></head>\n<body>\n{_read_asset(f'{page}.html')}"
        f'<script type="application/json" id="rows">{rows}</script>\n<script>{script}</script>\n</body></html>\n'
    ).encode()


def _read_asset(name: str) -> str:
    return Path(__file__).with_name("offline_pages").joinpath(name).read_text(encoding="utf-8")


def _hash_source(text: str) -> str:
    hashed = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{hashed}'"
