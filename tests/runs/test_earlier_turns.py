"""Earlier turns of a conversation: read in either spelling, sent as messages, and missed where nobody sends them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.calls.interfaces import TargetCall
from assay.calls.templates import fill_call_template
from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.records.golden_set import Case, Turn

TURNS = (Turn("user", "Is the sauna open today?"), Turn("assistant", "Yes, until 21:00."))


def write_set(path: Path, member: str) -> Path:
    turns = [{"role": turn.role, member: turn.text} for turn in TURNS]
    row = {"id": "sunday", "question": "And on Sunday?", "must_have": ["18:00"], "history": turns}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("member", ["text", "content"])
def test_turns_are_read_in_either_spelling(tmp_path: Path, member: str) -> None:
    assert TURNS == load_golden(write_set(tmp_path / "golden.jsonl", member)).golden.cases[0].history


def test_a_body_takes_the_conversation_as_messages() -> None:
    call = TargetCall(Case("sunday", "And on Sunday?", history=TURNS), "ask", 1.0)
    expected = [
        {"role": "user", "content": "Is the sauna open today?"},
        {"role": "assistant", "content": "Yes, until 21:00."},
        {"role": "user", "content": "And on Sunday?"},
    ]
    assert {"model": "m", "messages": expected} == fill_call_template({"model": "m", "messages": "{{messages}}"}, call)


WARNING = "is not told the earlier turns of conversations, although 1 case has some"


@pytest.mark.parametrize(
    ("body", "is_warned"),
    [
        (None, True),
        ({"q": "{{question}}"}, True),
        ({"chat": ["{{ history }}"]}, False),
        ({"messages": "{{messages}}"}, False),
    ],
)
def test_a_target_that_is_not_told_the_turns_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], body: Any, is_warned: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    write_set(tmp_path / "golden.jsonl", "text")
    target = {"type": "http", "url": "http://127.0.0.1:9/ask"} | ({} if body is None else {"body": body})
    settings = {"golden": "golden.jsonl", "targets": {"mine": target}, "run": {"attempts": 1}}
    (tmp_path / "assay.yaml").write_text(json.dumps(settings), encoding="utf-8")
    main(["run", "--run-dir", "r"])
    out = capsys.readouterr()
    assert is_warned == (WARNING in out.out + out.err)
