"""Leaks and unknown access are counted the same with and without a gate, on every screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from assay.records.errors import ExitCode

CHUNKS = {"open:1": [], "secret:1": ["staff"]}


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def arguments(folder: Path, shown: list[str]) -> list[str]:
    """Return the options of a run with one case for each shown chunk, whose users are no staff."""
    cases = [
        {"id": f"q{number}", "question": f"What about {name}?", "must_have": ["12"], "user": {"roles": ["member"]},
         "evidence": [{"any_of": [{"quote": "12 days"}]}]}
        for number, name in enumerate(shown)
    ]  # fmt: skip
    rows = [
        {
            "case_id": f"q{number}",
            "config_id": "c",
            "answer": "12 days.",
            "retrieved": [{"id": name, "text": "12 days."}],
        }
        for number, name in enumerate(shown)
    ]
    chunks = [{"chunk_id": name, "text": f"12 days of {name}.", "roles": roles} for name, roles in CHUNKS.items()]
    golden, outputs = write(folder / "golden.jsonl", cases), write(folder / "out.jsonl", rows)
    return ["--golden", golden, "--outputs", outputs, "--corpus", write(folder / "corpus.jsonl", chunks)]


def test_leaks_are_counted_with_and_without_a_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    inputs = arguments(tmp_path, ["open:1", "secret:1", "foreign:1", "foreign:2"])
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules:\n  - {metric: visibility_leaks, at_most: 0}\n")
    leaked = "1 of 2 checked cases leaked what the user must not see (visibility_leaks): q1; access unknown on 2"
    main(["score", *inputs])
    assert leaked in capsys.readouterr().out
    report = tmp_path / "report.md"
    assert ExitCode.FAILED == main(["score", *inputs, "--gate", str(gate), "--report", str(report)])
    assert leaked in capsys.readouterr().out
    assert "visibility_leaks is above 0 on 1 of 2 checked cases, access unknown on 2 (q1)" in report.read_text()


def test_unknown_access_is_told_without_a_gate_and_without_a_leak(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ExitCode.PASS == main(["score", *arguments(tmp_path, ["open:1", "foreign:1"])])
    assert "access unknown on 1 of 2 cases: their chunks are not in the corpus" in capsys.readouterr().out


def test_cases_without_a_user_are_no_part_of_the_checked_ones_without_a_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    inputs = arguments(tmp_path, ["secret:1", "open:1", "foreign:1", "open:1"])
    golden = tmp_path / "golden.jsonl"
    cases = [json.loads(line) for line in golden.read_text().splitlines()]
    del cases[3]["user"]
    write(golden, cases)
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules:\n  - {metric: visibility_leaks, at_most: 0}\n")
    rest = "access unknown on 1, 1 not checked"
    for options in ([], ["--gate", str(gate)]):
        main(["score", *inputs, *options])
        assert f"1 of 2 checked cases leaked what the user must not see (visibility_leaks): q0; {rest}" in (
            capsys.readouterr().out
        )
