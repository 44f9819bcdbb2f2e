"""The page that starts from documents and an address works as written: live system, and a person at the review page."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.browser.chromium import Browser
from tests.browser.test_label_page import key
from tests.browser.test_review_page import close, fill, open_page, read_saved
from tests.docs.pages import ROOT, iter_blocks, iter_commands
from tests.golden.paragraph_server import serving_paragraphs

from assay.cli import main
from assay.formats.golden_files import load_golden

PAGE = ROOT / "docs/how-to/first-golden-set.md"


def review_all(running: Browser, folder: Path) -> int:
    """Reject the first candidate, edit the second, accept the others, and save; return how many there are."""
    page = open_page(running, folder / "review.html")
    count: int = page.evaluate("cases.length")
    key(page, "4")
    key(page, "e")
    fill(page, "question", "What do I have to know about this, in plain words?")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", modifiers=2)
    for _ in range(count - 2):
        key(page, "a")
    fill(page, "person", "ann")
    key(page, "Escape")
    key(page, "s")
    assert count == len(read_saved(page, folder / "saved" / "review-ann.json")["decisions"])
    close(page)
    (folder / "saved" / "review-ann.json").rename(folder / "review-ann.json")
    return count


@pytest.mark.slow
def test_from_documents_and_an_address_to_a_scored_run(
    running: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = list(iter_blocks(PAGE))
    settings = next(block.text for block in blocks if block.kind == "yaml")
    commands = [words for block in blocks if block.kind == "sh" for words in iter_commands(block.text)]
    names = [words[1] if words[0] == "golden" else words[0] for words in commands]
    assert ["corpus", "draft", "review", "freeze", "lint", "run"] == names
    candidates = 0
    with serving_paragraphs() as url:
        (tmp_path / "assay.yaml").write_text(settings.replace("http://127.0.0.1:8350", url), encoding="utf-8")
        (tmp_path / "examples").symlink_to(ROOT / "examples")
        monkeypatch.chdir(tmp_path)
        for words in commands:
            assert 0 == main(words), words
            if words[1] == "review":
                candidates = review_all(running, tmp_path)
    golden = load_golden(tmp_path / "golden.jsonl").golden
    assert candidates - 1 == len(golden.cases) >= 60
    assert ["edited" in case.metadata["provenance"] for case in golden.cases[:2]] == [True, False]
    assert {"answer", "abstain", "permission_denied"} == {case.behaviour for case in golden.cases}
    assert (tmp_path / "runs/first/observations.jsonl").is_file()
