"""A golden set that was edited or cut after it was frozen is a risk: on the screen and in each report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import golden
from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.records.errors import ExitCode

AT = "2026-03-01T08:00:00Z"
CASES: list[dict[str, Any]] = [
    {"id": f"room-{number}", "question": f"Which floor is room {number} on?", "must_have": [f"floor {number}"]}
    for number in range(1, 31)
]
SENTENCE = "the golden set was edited after it was frozen"
GATE = "rules: [{metric: correct_answer, at_least: 0.8}]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A frozen set, a gate, and answers of which those to room 30 is wrong, in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    write("candidates.jsonl", CASES)
    golden.freeze("candidates.jsonl", "set.jsonl", version="1", owner="ann", change="x", at=AT, accept_all=True)
    Path("gate.yaml").write_text(GATE, encoding="utf-8")
    answers = [f"It is on floor {number}." for number in range(1, 30)] + ["It is on floor 2."]
    ids = [case["id"] for case in CASES]
    rows = [{"case_id": name, "config_id": "c", "answer": text} for name, text in zip(ids, answers, strict=True)]
    write("outputs.jsonl", rows)
    write("outputs-29.jsonl", rows[:-1])
    return tmp_path


def write(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def relax_a_label() -> str:
    Path("set.jsonl").write_text(Path("set.jsonl").read_text().replace('"floor 30"', '"floor 2"'), encoding="utf-8")
    return "outputs.jsonl"


def cut_a_case() -> str:
    lines = Path("set.jsonl").read_text().splitlines()
    Path("set.jsonl").write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    return "outputs-29.jsonl"


def score(outputs: str, *options: str) -> int:
    return main(["score", "--golden", "set.jsonl", "--outputs", outputs, "--gate", "gate.yaml", *options])


@pytest.mark.parametrize("edit", [relax_a_label, cut_a_case])
def test_an_edited_or_cut_set_is_a_risk_with_a_remedy_everywhere(
    folder: Path, edit: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ExitCode.PASS == score("outputs.jsonl", "--strict")
    assert SENTENCE not in capsys.readouterr().out
    outputs = edit()
    files = ["--report", "r.md", "--html", "r.html", "--json-report", "r.json", "--run-dir", "run"]
    assert ExitCode.FAILED == score(outputs, "--strict", *files)
    printed = capsys.readouterr().out
    assert (
        "PASS_WITH_RISK" in printed and SENTENCE in printed and "undo the edit, or make it the next version" in printed
    )
    assert ExitCode.PASS == main(["report", "run", "--gate", "gate.yaml", "--junit", "r.xml"])
    for name in ("r.md", "r.html", "r.json", "r.xml"):
        assert SENTENCE in Path(name).read_text(encoding="utf-8"), name
    decision = json.loads(Path("r.json").read_bytes())["decision"]
    assert "PASS_WITH_RISK" == decision["outcome"] and any(SENTENCE in reason for reason in decision["reasons"])
    assert ExitCode.PASS == score(outputs)
    capsys.readouterr()
    assert ExitCode.FAILED == main(["gate", "check", "run", "--gate", "gate.yaml", "--strict"])
    assert SENTENCE in capsys.readouterr().out
    result = assay.score("set.jsonl", outputs, gate="gate.yaml")
    assert "PASS_WITH_RISK" == result.decision.outcome == assay.gate(result, "gate.yaml").outcome


def test_the_next_version_of_an_edited_set_is_no_risk(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frozen = Path("set.jsonl").read_bytes()
    outputs = relax_a_label()
    Path("edited.jsonl").write_bytes(Path("set.jsonl").read_bytes())
    Path("set.jsonl").write_bytes(frozen)
    options = ["--base", "set.jsonl", "--out", "set.jsonl", "--version", "2", "--owner", "ann", "--change", "room 30"]
    assert 0 == main(["golden", "freeze", "edited.jsonl", "--update", "--accept-all", *options])
    assert ("room-30",) == tuple(row.case for row in load_golden("set.jsonl").golden.lineage[0].updated)
    assert ExitCode.PASS == score(outputs, "--strict")
    # Without the one before, the edited file is frozen as a set of its own.
    alone = ["--out", "alone.jsonl", "--version", "2", "--owner", "ann", "--change", "room 30", "--accept-all"]
    assert 0 == main(["golden", "freeze", "edited.jsonl", *alone])
    capsys.readouterr()
    Path("set.jsonl").write_bytes(Path("alone.jsonl").read_bytes())
    assert ExitCode.PASS == score(outputs, "--strict")


def test_a_set_that_was_never_frozen_may_be_edited(folder: Path) -> None:
    write("set.jsonl", CASES)
    assert ExitCode.PASS == score("outputs.jsonl", "--strict")
    write("set.jsonl", CASES[:-1])
    assert ExitCode.PASS == score("outputs-29.jsonl", "--strict")


def test_a_failed_gate_says_it_too_and_stays_failed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("set.jsonl").read_text()
    for number in range(1, 16):
        text = text.replace(f'"floor {number}"', '"floor 99"')
    Path("set.jsonl").write_text(text, encoding="utf-8")
    assert ExitCode.FAILED == score("outputs.jsonl")
    printed = capsys.readouterr().out
    assert printed.startswith("c: FAIL") and SENTENCE in printed
