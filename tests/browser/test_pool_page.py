"""The page on which pooled chunks are judged, in a real browser: by keys, on a small screen, with hostile texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.browser.chromium import Browser
from tests.browser.payloads import PAYLOADS
from tests.browser.test_label_page import key
from tests.browser.test_page import AXE
from tests.browser.test_review_page import close, fill, open_page, read_saved, reload
from tests.golden.test_pool import make_run

from assay import golden
from assay.formats.golden_files import load_golden
from assay.formats.labels.offline_page import build_offline_page

pytestmark = pytest.mark.slow


def test_chunks_are_judged_by_keys_and_the_file_is_merged(running: Browser, tmp_path: Path) -> None:
    run, path = make_run(tmp_path), tmp_path / "pool.html"
    golden.pool(run, page=str(path))
    page = open_page(running, path)
    assert "How much leave?" in page.text() and "12 days" in page.text(".quotes") and "text of u" in page.text(".chunk")
    for name in ("3", "0", "ArrowLeft", "n"):
        key(page, name)
    page.type("vì sao")
    key(page, "Escape")
    reload(page, path, "2 judged")
    key(page, "u")
    key(page, "1")
    fill(page, "person", "Lan")
    key(page, "Escape")
    key(page, "s")
    saved = read_saved(page, tmp_path / "saved" / "grades-Lan.json")
    close(page)
    assert [("one", "u", 3, ""), ("two", "u", 0, "vì sao"), ("one", "w", 1, "")] == [
        tuple(row.values()) for row in saved["grades"]
    ]
    merged = str(tmp_path / "merged.jsonl")
    golden.pool(run, grades=[str(tmp_path / "saved" / "grades-Lan.json")], merged=merged, version="2")
    assert {"chunk_id": "u"} in load_golden(merged).golden.cases[0].evidence[0].any_of


@pytest.mark.parametrize("dark", [False, True])
def test_hostile_texts_are_shown_on_a_small_screen_and_axe_finds_no_violation(
    dark: bool, running: Browser, tmp_path: Path
) -> None:
    rows: list[dict[str, Any]] = [
        {"id": text, "case": text, "chunk": text, "question": text, "reference": text, "quotes": [text], "text": text}
        for text in PAYLOADS
    ]
    path = tmp_path / "pool.html"
    path.write_bytes(build_offline_page("pool", {"golden": "d", "rows": rows}, "sha256:d", "vi"))
    page = open_page(running, path, width=360, dark=dark)
    if AXE.exists():
        page.evaluate(AXE.read_text(encoding="utf-8"))
        script = "axe.run().then(result => result.violations.map(item => [item.id, item.nodes[0].html]))"
        assert [] == page.evaluate(script)
    for text in PAYLOADS:
        shown = page.evaluate("JSON.stringify([...document.querySelectorAll('p.text')].map((p) => p.textContent))")
        assert [text, text, text, text] == json.loads(shown)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), text
        key(page, "2")
    assert f"đã chấm {len(PAYLOADS)}" in page.text("#status")
    close(page)
