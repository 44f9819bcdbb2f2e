"""The page that starts from documents and an address works as written: its commands run against a live system."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.pages import ROOT, iter_blocks, iter_commands
from tests.golden.paragraph_server import serving_paragraphs

from assay.cli import main
from assay.formats.golden_files import load_golden

PAGE = ROOT / "docs/how-to/first-golden-set.md"


@pytest.mark.slow
def test_from_documents_and_an_address_to_a_scored_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = list(iter_blocks(PAGE))
    settings = next(block.text for block in blocks if block.kind == "yaml")
    commands = [words for block in blocks if block.kind == "sh" for words in iter_commands(block.text)]
    assert ["corpus", "golden", "golden", "golden", "run"] == [words[0] for words in commands]
    with serving_paragraphs() as url:
        (tmp_path / "assay.yaml").write_text(settings.replace("http://127.0.0.1:8350", url), encoding="utf-8")
        (tmp_path / "examples").symlink_to(ROOT / "examples")
        monkeypatch.chdir(tmp_path)
        for words in commands:
            assert 0 == main(words), words
    golden = load_golden(tmp_path / "golden.jsonl").golden
    assert len(golden.cases) >= 60
    assert {"answer", "abstain", "permission_denied"} == {case.behaviour for case in golden.cases}
    assert (tmp_path / "runs/first/observations.jsonl").is_file()
