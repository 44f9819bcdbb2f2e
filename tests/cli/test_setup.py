"""`assay init`, `assay doctor` and `--show-settings`: from nothing to a settings file that is known to work."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli import main


def test_settings_are_shown_with_their_origins(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["run", "--show-settings", "--repeat", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert {
        'golden = "golden.jsonl"  (assay.yaml:1)',
        "run.repeat = 2  (--repeat)",
        "run.attempts = 4  (default)",
    } <= set(lines)
    assert not (here / "runs").exists()


KINDS = ("python", "http", "mcp", "command", "recorded", "langchain", "llamaindex")


@pytest.mark.parametrize("kind", KINDS)
def test_first_settings_are_valid_and_never_written_over_others(
    here: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(["init", "--kind", kind, "--file", f"{kind}.yaml"])
    assert 0 == main(["run", "--settings", f"{kind}.yaml", "--show-settings"])
    capsys.readouterr()
    assert 2 == main(["init", "--kind", kind, "--file", f"{kind}.yaml"])
    assert "already exists" in capsys.readouterr().err


def test_doctor_names_what_is_missing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["doctor"])
    said = capsys.readouterr().out
    assert "ok    golden set: 3 cases" in said
    assert "warn  golden set: no owner" in said
    assert (
        "ok    target first: answered the first case with stages retrieved; an answer; 1 citations; versions model"
        in said
    )
    (here / "assay.yaml").write_text("golden: none.jsonl\ntargets: {a: {type: python, call: 'none:x'}}\n")
    assert 2 == main(["doctor"])
    said = capsys.readouterr().out
    assert "fail  golden set" in said
    assert "fail  target a" in said
