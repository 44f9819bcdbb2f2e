"""`assay audit` on the command line: exit codes, formats, and what is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.audit.traffic import make_line, write_lines

from assay.cli import main


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_AUDIT_KEY", "k" * 32)


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, object]]:
    code = main(["audit", *words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def test_the_commands_in_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(tmp_path / "day.jsonl", [*map(make_line, range(10)), "{broken"])
    code, ingested = run_json(capsys, "ingest", "day.jsonl")
    assert (2, 10, 1, 1.0) == (code, ingested["stored"], ingested["rejected"], ingested["completeness"])
    assert (tmp_path / "audit-dead-letters.jsonl").exists()
    code, verified = run_json(capsys, "verify", "--roots", "roots.jsonl", "--sign-off", "Lan Pham")
    assert (0, True, 1) == (code, verified["intact"], verified["signed_roots"])
    code, erased = run_json(capsys, "erase", "--user", "user-2")
    assert (0, 2) == (code, erased["records"])
    with (tmp_path / "roots.jsonl").open() as roots:
        changed = roots.read().replace('"root": "', '"root": "00')
    (tmp_path / "roots.jsonl").write_text(changed)
    code, verified = run_json(capsys, "verify", "--roots", "roots.jsonl")
    assert (1, False) == (code, verified["intact"])


@pytest.mark.parametrize("format", ["table", "markdown"])
def test_tables_say_what_happened(format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(tmp_path / "day.jsonl", [make_line(1, model=None)])
    assert main(["audit", "ingest", "day.jsonl", "--format", format]) == 0
    text = capsys.readouterr().out
    assert "schema completeness" in text
    assert "90.9%" in text
    assert main(["audit", "verify", "--format", format]) == 0
    assert "1 record (1 answer, 0 erased) on 1 day: intact" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ingest", "absent.jsonl"], "cannot be read"),
        (["ingest", "day.jsonl", "--dead-letters", "day.jsonl"], "would overwrite"),
        (["ingest", "day.jsonl", "day.jsonl", "--follow"], "--follow takes one file"),
        (["verify", "--store", "absent.sqlite"], "no such audit store"),
        (["verify", "--sign-off", "Lan"], "no file for the roots"),
        (["erase"], "what to erase is unclear"),
        (["erase", "--user", "nobody"], "no such user"),
    ],
)
def test_bad_input_ends_in_exit_code_2(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(tmp_path / "day.jsonl", [make_line(1)])
    if words[0] == "erase":
        main(["audit", "ingest", "day.jsonl"])
    assert main(["audit", *words]) == 2
    assert message in capsys.readouterr().err


def test_show_prints_and_writes_an_incident(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(tmp_path / "day.jsonl", map(make_line, range(1, 8)))
    main(["audit", "ingest", "day.jsonl"])
    capsys.readouterr()
    words = ["audit", "show", "req-3", "--out", "incident.html", "--cause", "stale index", "--owner", "Lan"]
    assert main(words) == 2
    assert "a finding has three parts" in capsys.readouterr().err
    assert main([*words, "--decision", "Re-index."]) == 0
    printed = capsys.readouterr().out
    assert "Asked: How many days of annual leave does contract 3 grant?" in printed
    assert "stale index: Re-index. (Lan)" in printed
    assert "Re-index." in (tmp_path / "incident.html").read_text()
    code, shown = run_json(capsys, "show", "--question", "annual leave")
    assert (0, 7, None) == (code, len(shown["matches"]), shown["incident"])  # type: ignore[arg-type]
    code, shown = run_json(capsys, "show", "req-3")
    assert shown["incident"]["record"]["id"] == "req-3"  # type: ignore[index]
    assert main(["audit", "show", "req-3", "--format", "markdown"]) == 0
    assert capsys.readouterr().out.startswith("# Incident req")
    assert main(["audit", "show", "req-3", "--out", "incident.pdf"]) == 2


def test_an_answer_of_many_claims_is_shown_in_few_lines_and_whole_in_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    repeated = "The fee is 30 EUR.\n" * 200
    claims = "\n".join(f"Shelf {number} holds {number + 3} boxes." for number in range(150))
    line = make_line(1) | {"id": "long", "answer": f"{repeated}{claims}\n{'x' * 5000}"}
    write_lines(tmp_path / "day.jsonl", [line])
    main(["audit", "ingest", "day.jsonl"])
    capsys.readouterr()
    assert main(["audit", "show", "long", "--out", "whole.md"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) < 300
    assert any("(×200)" in line for line in printed)
    (note,) = (line for line in printed if "more rows" in line)
    assert note.endswith("--out FILE.html or --format json for all")
    assert any(line.strip().startswith("… (") and "characters: --out" in line for line in printed)
    assert "\\u000a" not in "".join(printed)
    assert "Shelf 149 holds 152 boxes." in (tmp_path / "whole.md").read_text()
