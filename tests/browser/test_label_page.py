"""The labelling page in a real browser: by keyboard alone, in two languages, and with hostile texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browser.chromium import Browser, Page
from tests.browser.payloads import PAYLOADS

from assay.formats.labels.label_files import LabelScales
from assay.formats.labels.label_sheets import (
    SHEET_KEY_FORMAT,
    LabelledItem,
    SheetKey,
    SheetRow,
    build_label_page,
    load_sheet,
)

pytestmark = pytest.mark.slow

OPTIONS = ("correct", "partly_correct", "incorrect")
ROWS = [
    SheetRow(f"r{n}", "correctness", f"Câu hỏi {n}?", f"Answer {n}", "", "Ref", ("s1", "s2"), OPTIONS, OPTIONS)
    for n in (1, 2, 3)
]


@pytest.fixture
def page(running: Browser, tmp_path: Path) -> Iterator[Page]:
    """Open a labelling page with three rows; its downloads go to the test's folder."""
    path = tmp_path / "sheet.html"
    path.write_bytes(build_label_page(ROWS))
    running.call(
        "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path / "saved"), eventsEnabled=False
    )
    opened_page = running.open(path)
    opened_page.evaluate("localStorage.clear()")
    opened_page.go(path.resolve().as_uri())
    yield opened_page
    # The request for a blob is the file of labels that the page saves.
    wrong = [event for event in opened_page.wrong if not event.startswith("request blob:")]
    opened_page.close()
    assert [] == wrong


def key(page: Page, name: str) -> None:
    text = {"text": name} if len(name) == 1 else {}
    page.call("Input.dispatchKeyEvent", type="keyDown", key=name, **text)
    page.call("Input.dispatchKeyEvent", type="keyUp", key=name)


def test_rows_are_labelled_and_saved_by_keys_alone(page: Page, tmp_path: Path) -> None:
    for name in ("1", "3", "ArrowLeft", "n"):
        key(page, name)
    page.type("vì sao: =1+1")
    key(page, "Escape")
    key(page, "ArrowRight")
    assert "Câu hỏi 3?" in page.text() and "2 labelled" in page.text("#status")
    assert "Answer 3" in page.text(".answer") and "[2] s2" in page.text(".sources")
    page.evaluate("document.getElementById('rater').focus()")
    page.type("Nguyễn Lan")
    page.evaluate("document.getElementById('save').focus()")
    page.press("Enter")
    page.until("document.getElementById('status').textContent.startsWith('Saved')")
    saved = tmp_path / "saved" / "labels-Nguyễn-Lan.jsonl"
    for _ in range(200):
        if saved.exists() and saved.read_text(encoding="utf-8").count("\n") == 2:
            break
        page.evaluate("new Promise((done) => setTimeout(done, 20))")
    targets = {row.row_id: LabelledItem(f"case-{row.row_id}", "correctness", "a") for row in ROWS}
    scales: LabelScales = {"correctness": {"correct": 1.0, "partly_correct": 0.5, "incorrect": 0.0}}
    labels, _ = load_sheet(str(saved), SheetKey(SHEET_KEY_FORMAT, "", 0, targets), scales)
    shown = [(label.case_id, label.label, label.rater, label.note) for label in labels]
    assert [("case-r1", "correct", "Nguyễn Lan", ""), ("case-r2", "incorrect", "Nguyễn Lan", "vì sao: =1+1")] == shown


def test_a_review_saves_no_decision_without_a_reason(running: Browser, tmp_path: Path) -> None:
    path = tmp_path / "review.html"
    path.write_bytes(build_label_page(ROWS[:2], must_explain=True))
    page = running.open(path)
    page.evaluate("localStorage.clear()")
    page.go(path.resolve().as_uri())
    key(page, "1")
    assert "note" == page.evaluate("document.activeElement.id"), "the reason is asked for before the next row is shown"
    assert "Why, in a sentence" in page.text()
    page.evaluate("document.getElementById('rater').value = 'ann'")
    page.evaluate("document.getElementById('save').click()")
    assert "Row 1 is not explained yet." == page.text("#status")
    page.evaluate("document.getElementById('note').focus()")
    page.type("The second source says so.")
    page.evaluate("document.getElementById('save').click()")
    assert page.text("#status").startswith("Saved")
    page.close()


def test_without_a_name_nothing_is_saved(page: Page) -> None:
    key(page, "1")
    page.evaluate("document.getElementById('save').click()")
    assert "Give your name first." == page.text("#status")
    assert "rater" == page.evaluate("document.activeElement.id")


def test_switching_to_vietnamese_keeps_the_chosen_label(page: Page) -> None:
    key(page, "2")
    page.evaluate(
        "(() => { const select = document.getElementById('language');"
        " select.value = 'vi'; select.dispatchEvent(new Event('change')); })()"
    )
    key(page, "ArrowLeft")
    assert "Câu trả lời có khớp đáp án tham chiếu không?" == page.text("#ask")
    assert "vi" == page.evaluate("document.documentElement.lang")
    assert "2 partly_correct\npartly_correct" == page.text("#options button[aria-pressed=true]")


def test_every_control_can_be_reached_by_tab_and_has_a_name(page: Page) -> None:
    names = []
    for _ in range(12):
        page.press("Tab")
        names.append(
            page.evaluate("(document.activeElement.labels?.[0] || document.activeElement).innerText.split('\\n')[0]")
        )
    for expected in ("Your name", "Language", "1 correct", "3 incorrect", "Why (optional)", "Save to a file"):
        assert any(name.startswith(expected) for name in names), (expected, names)


def test_hostile_texts_are_shown_and_do_not_act(running: Browser, tmp_path: Path) -> None:
    rows = [
        SheetRow(f"r{n}", text, text, text, text, text, (text,), (text, "correct"), (text, text))
        for n, text in enumerate(PAYLOADS)
    ]
    path = tmp_path / "hostile.html"
    path.write_bytes(build_label_page(rows))
    page = running.open(path)
    for text in PAYLOADS:
        shown = json.loads(
            page.evaluate("JSON.stringify([...document.querySelectorAll('p.text')].map((p) => p.textContent))")
        )
        assert [text, text, text, text, f"[1] {text}"] == shown
        key(page, "ArrowRight")
    wrong = page.wrong
    page.close()
    assert [] == wrong


@pytest.mark.parametrize("width", [360, 1000])
def test_the_labels_are_on_the_screen_however_long_the_sources_are(
    running: Browser, tmp_path: Path, width: int
) -> None:
    """On a telephone they would cover what is to be read; there they follow what must be stated and the sources."""
    row = SheetRow(
        "r1", "correct_answer", "How long?", "Two weeks.", "two weeks", "Ref", ("s " * 9000,), OPTIONS, OPTIONS
    )
    path = tmp_path / "long.html"
    path.write_bytes(build_label_page([row]))
    page = running.open(path, width=width, height=800)
    page.until("document.querySelector('#options button') !== null")
    top, bottom = page.evaluate(
        "((box) => [box.top, box.bottom])(document.querySelector('#options button').getBoundingClientRect())"
    )
    assert (width == 1000) is (0 <= top and bottom <= 800)
    order = "[...document.querySelectorAll('#row > *')].map((part) => part.className).filter(Boolean)"
    names = page.evaluate(order)
    assert names.index("item") < names.index("sources")
    page.close()
