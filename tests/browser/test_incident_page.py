"""The page of an incident in a browser: no text of it acts, it fits a small screen, and it can be read by everybody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.audit.test_show import EMPLOYEE, show_answer, write_corpus
from tests.audit.traffic import make_line
from tests.browser.chromium import Browser, Page
from tests.browser.payloads import PAYLOADS

from assay.audit.incident_file import render_incident_html

pytestmark = pytest.mark.slow

AXE = Path(__file__).parents[2] / "ui/node_modules/axe-core/axe.min.js"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_AUDIT_KEY", "k" * 32)


def open_incident(running: Browser, folder: Path, line: dict[str, Any], **look: Any) -> Page:
    corpus = write_corpus(folder / "corpus.jsonl", leave_1="Mười hai ngày nghỉ phép mỗi năm.")
    incident = show_answer(folder, line, corpus=corpus, finding=("stale index", line["model"], line["answer"]))
    path = folder / "incident.html"
    path.write_text(render_incident_html(incident), encoding="utf-8")
    return running.open(path, **look)


def make_hostile_line(texts: list[str]) -> dict[str, Any]:
    """Return a record that has a payload in every field, each in some field."""
    joined = " ".join(texts)
    chunks = [{"chunk_id": text or "empty", "text": text} for text in texts]
    return make_line(
        1,
        question=joined,
        answer=joined,
        model=joined,
        prompt_hash=joined,
        config_id=joined,
        feedback=joined,
        citations=texts,
        versions={text: text for text in texts},
        stages=[{"name": text or "empty", "chunks": chunks} for text in texts[:3]],
        user={"tenant": joined, "roles": texts},
        error={"code": joined, "message": joined},
    )


def test_no_text_of_an_incident_acts(running: Browser, tmp_path: Path) -> None:
    page = open_incident(running, tmp_path, make_hostile_line(list(PAYLOADS)))
    page.until("document.querySelectorAll('table').length > 3")
    assert page.evaluate("document.querySelector('main :is(script, img, iframe, style, link, a, form)') === null")
    assert [] == page.wrong
    page.close()


@pytest.mark.parametrize("width", [360, 1280])
def test_an_incident_fits_the_screen(width: int, running: Browser, tmp_path: Path) -> None:
    line = make_line(1, question="Nghỉ phép năm?", answer="Mười hai ngày [leave-1]. " + "x" * 300, user=EMPLOYEE)
    page = open_incident(running, tmp_path, line | {"retrieved_uids": ["leave-1"]}, width=width)
    page.until("document.querySelectorAll('table').length > 2")
    assert "Mười hai ngày" in page.text()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()


def test_an_incident_shows_what_the_model_saw_and_folds_the_stages_before(running: Browser, tmp_path: Path) -> None:
    stages = [{"name": name, "chunks": [{"chunk_id": "leave-1"}]} for name in ("dense", "rerank", "context")]
    line = make_line(1, answer="Mười hai ngày [leave-1].", user=EMPLOYEE, stages=stages)
    page = open_incident(running, tmp_path, line)
    page.until("document.querySelector('.earlier') !== null")
    shown = page.text()
    assert "Stage context (1)" in shown and "Earlier stages (2)" in shown and "Stage dense" not in shown
    page.evaluate("document.querySelector('.earlier').open = true")
    assert "Stage dense (1)" in page.text() and "Stage rerank (1)" in page.text()
    assert " · " in page.text(".basis")
    page.close()


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed (in ui/: npm ci)")
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_violation_in_an_incident(dark: bool, running: Browser, tmp_path: Path) -> None:
    line = make_line(1, answer="Mười hai ngày [leave-9].", user=EMPLOYEE, retrieved_uids=["leave-1"])
    page = open_incident(running, tmp_path, line, dark=dark)
    page.until("document.querySelectorAll('table').length > 2")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    violations = page.evaluate("axe.run().then(result => result.violations.map(item => [item.id, item.nodes[0].html]))")
    assert [] == violations
    page.close()
