"""The commands of the page on settling answers run in their order, and what they print is what the page shows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.docs.pages import ROOT, iter_blocks, iter_commands

from assay.cli import main

PAGE = ROOT / "docs/how-to/settle-answers.md"
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def write(path: str, rows: list[dict[str, Any]]) -> str:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def fill(sheet: Path) -> None:
    """Write the sheet that the page saves for Ann: one answer of it is wrong."""
    rows = [json.loads(line) for line in (sheet.parent / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
    labels = ["wrong", *["right"] * (len(rows) - 1)]
    write(str(sheet), [{**row, "label": label, "rater": "Ann"} for row, label in zip(rows, labels, strict=True)])


@pytest.mark.slow
def test_the_page_on_settling_answers_can_be_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    golden = [
        {"id": f"desk-{number}", "question": f"When does desk {number} open?", "must_have": [f"{number + 3} minutes"]}
        for number in range(80)
    ]
    open_case = {"id": "loan", "question": "What may I borrow?", "reference": "Readers borrow six books at a time."}
    outputs = [
        {"case_id": case["id"], "config_id": "v1", "answer": f"In {number + 3} minutes."}
        for number, case in enumerate(golden)
    ]
    outputs.append({"case_id": "loan", "config_id": "v1", "answer": "Half a dozen volumes, if you like."})
    inputs = ["--golden", write("golden.jsonl", [*golden, open_case]), "--outputs", write("outputs.jsonl", outputs)]
    assert main(["score", *inputs, "--run-dir", "runs/0001"]) == 0
    blocks = list(iter_blocks(PAGE))
    commands = [words for block in blocks if block.kind == "sh" for words in iter_commands(block.text)]
    assert len(commands) == 6
    for words in commands:
        if words[:2] == ["labels", "import"] and not Path(words[2]).exists():
            fill(Path(words[2]))
        capsys.readouterr()
        assert main(words) == 0, words
    shown = capsys.readouterr().out
    (sentence,) = [block.text.strip() for block in blocks if block.text.startswith("people read")]
    assert NUMBER.sub("N", sentence) in NUMBER.sub("N", shown)
