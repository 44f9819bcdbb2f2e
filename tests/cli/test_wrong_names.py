"""Commands that are given the wrong file, folder or name say what is wrong, what was given, and what to do instead."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli import main

CASE = {"id": "c0", "question": "How long does it take?", "must_have": ["10 days"]}
ROW = {"case_id": "c0", "config_id": "t", "answer": "It takes 10 days."}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A golden set, outputs, their run, one of another version, and one whose outputs were edited."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    Path("golden.jsonl").write_text(json.dumps(CASE) + "\n" + json.dumps({**CASE, "id": "c1"}) + "\n", encoding="utf-8")
    Path("out.jsonl").write_text(json.dumps(ROW) + "\n" + json.dumps({**ROW, "case_id": "c1"}) + "\n", encoding="utf-8")
    for run in ("run", "old", "edited"):
        assert 0 == main(["score", "--golden", "golden.jsonl", "--outputs", "out.jsonl", "--run-dir", run])
    manifest = json.loads(Path("old/manifest.json").read_bytes()) | {"format": 9, "assay_version": "7.1"}
    Path("old/manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with Path("edited/observations.jsonl").open("a", encoding="utf-8") as observations:
        observations.write("\n")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("score old", ("old/manifest.json", "(got 9, written by Assay 7.1; expected 1: use that version, or score")),
        ("score edited", ("edited/observations.jsonl", "name it with --golden and --outputs to score it as it is now")),
        ("score golden.jsonl", ("golden.jsonl", "no run folder", "files are named with --golden and --outputs")),
        ("score --golden golden.jsonl --outputs nope", ("nope: ", "expected a file, or a pattern such as")),
        ("score --golden golden.jsonl --outputs golden.jsonl", ("must_have, question, as a golden set has it",)),
        (
            "compare golden.jsonl run",
            ("golden.jsonl:2: ", "invalid JSON", "a run folder or a file of `assay baseline save`"),
        ),
        ("history nope", ("No such command 'nope'. Expected one of ",)),
        ("corpus check", ("No such command 'check'. Expected one of build.",)),
        ("golden chek", ("No such command 'chek'. Did you mean 'check'?",)),
        ("explain c0 --run run --config u", ("config: E_CONFIG no such configuration (got 'u'; expected one of t)",)),
    ],
)
def test_a_wrong_name_is_refused_with_its_place_and_what_to_do(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, parts: tuple[str, ...]
) -> None:
    capsys.readouterr()
    assert 2 == main(command.split())
    message = capsys.readouterr().err
    assert [part for part in parts if part not in message] == [], message
