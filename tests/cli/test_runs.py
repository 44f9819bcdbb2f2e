"""`assay runs` and `assay open`, completion, help and colours: the habits of the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli import main
from assay.cli.display import uses_colors
from assay.records.errors import ExitCode

ROOT = Path(__file__).resolve().parents[2]
REPORT = b"<!doctype html><html><head><title>Assay report</title></head></html>"


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a golden set and outputs of two configurations, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    rows = [f'{{"query_id": "a", "config_id": "{config}", "answer": "12 days"}}' for config in ("one", "two")]
    golden = '{"id": "a", "question": "How many days?", "rubric": {"correct_keywords": ["12 days"]}}'
    Path("golden.jsonl").write_text(golden + "\n", encoding="utf-8")
    Path("outputs.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


def _score(*more: str) -> int:
    return main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", *more])


def test_runs_are_listed_with_their_decisions_the_newest_first(
    recorded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    _score("--run-dir", "runs/first")
    _score("--run-dir", "runs/second", "--profile", "general")
    for name, seconds in (("first", 1_000_000_000), ("second", 2_000_000_000)):
        os.utime(recorded / "runs" / name / "derived" / "report.json", (seconds, seconds))
    (recorded / "runs" / "broken").mkdir()
    (recorded / "runs" / "broken" / "manifest.json").write_text("{", encoding="utf-8")
    os.utime(recorded / "runs" / "broken" / "manifest.json", (1, 1))
    capsys.readouterr()
    assert main(["runs"]) == ExitCode.PASS
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip().startswith("runs/")]
    assert [row[0] for row in rows] == ["runs/second", "runs/first", "runs/broken"]
    assert rows[1][1:] == ["2001-09-09", "01:46", "one,", "two", "golden", "NOT_GATED"]
    assert rows[0][-1] in {"FAIL", "INCOMPLETE"}
    assert rows[2][-5:] == ["not", "a", "readable", "run", "folder"]


def test_a_folder_without_runs_says_what_writes_them(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs"]) == ExitCode.PASS
    assert "--run-dir" in capsys.readouterr().err
    assert main(["runs", "absent"]) == ExitCode.BAD_INPUT
    assert "absent: " in capsys.readouterr().err


def test_open_opens_the_newest_report_and_no_other_page(
    recorded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_address(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr("webbrowser.open", open_address)
    assert main(["open"]) == ExitCode.BAD_INPUT
    assert "--html FILE" in capsys.readouterr().err
    (recorded / "out").mkdir()
    for name, content, seconds in (("old", REPORT, 100), ("out/new", REPORT, 200), ("other", b"<title>x</title>", 300)):
        path = recorded / f"{name}.html"
        path.write_bytes(content)
        os.utime(path, (seconds, seconds))
    assert main(["open"]) == ExitCode.PASS
    assert opened == [(recorded / "out" / "new.html").as_uri()]
    assert main(["open", "old.html", "--print"]) == ExitCode.PASS
    assert capsys.readouterr().out.splitlines() == ["out/new.html", "old.html"]
    assert len(opened) == 1
    assert main(["open", "other.html"]) == ExitCode.BAD_INPUT


def test_without_a_browser_the_path_is_printed(
    recorded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    (recorded / "report.html").write_bytes(REPORT)
    assert main(["open"]) == ExitCode.INCOMPLETE
    assert capsys.readouterr().out == "report.html\n"


def test_a_gate_check_decides_on_the_configurations_that_are_named(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _score("--run-dir", "run")
    capsys.readouterr()
    main(["gate", "check", "run", "--profile", "general", "--gate-config", "two"])
    printed = capsys.readouterr().out
    assert "two: " in printed
    assert "one: " not in printed
    assert main(["gate", "check", "run", "--profile", "general", "--gate-config", "tow"]) == ExitCode.BAD_INPUT
    assert "did you mean 'two'?" in capsys.readouterr().err


def test_a_gate_check_prints_a_line_for_each_rule_those_that_did_not_pass_first(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _score("--run-dir", "run")
    capsys.readouterr()
    main(["gate", "check", "run:two", "--profile", "general"])
    lines = capsys.readouterr().out.splitlines()
    title = next(number for number, line in enumerate(lines) if line.startswith("rules: "))
    passed = [line.split()[0] == "pass" for line in lines[title + 1 :] if line.startswith("  ")]
    assert lines[title] == f"rules: {sum(passed)} of {len(passed)} passed"
    assert sorted(passed) == passed
    main(["gate", "check", "run:two", "--profile", "general", "--verbose"])
    assert "Release Gate Checklist" in capsys.readouterr().out


def test_metrics_that_are_named_are_all_that_is_printed(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _score("--metrics", "behaviour")
    lines = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines == ["2", "-", "one", "behaviour", "note:", "note:"]


@pytest.mark.slow
def test_help_lists_every_command_with_its_whole_first_paragraph(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--help"], ["judge", "--help"], ["labels", "--help"]):
        main(words)
        listed = capsys.readouterr().out.partition("Commands:")[2]
        assert listed
        assert "..." not in listed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "expected"),
    [("assay sc", ["score"]), ("assay score --gol", ["--golden", "--golden-format"]), ("assay gate ch", ["check"])],
)
def test_the_shell_completes_commands_and_options(words: str, expected: list[str]) -> None:
    environment = os.environ | {
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
        "_ASSAY_COMPLETE": "complete_bash",
    }
    run = subprocess.run(
        [sys.executable, "-m", "assay"], capture_output=True, text=True, env=environment, timeout=60, cwd=ROOT
    )
    assert run.stderr == ""
    assert run.stdout.split() == expected


@pytest.mark.parametrize(
    ("variables", "expected"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colours_can_be_switched_off(
    variables: dict[str, str], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert uses_colors() is expected


@pytest.mark.parametrize(
    ("gate", "decided_by", "remedy"),
    [
        (["--profile", "general"], "by the gate general (", "(--profile general applies it)"),
        (["--gate", "own.yaml"], "by the gate own (", "(--gate with its file"),
        (["--gate", "unnamed.yaml"], "by a gate without a name (", "(--gate with its file"),
    ],
)
def test_scores_without_a_gate_tell_what_the_last_one_decided(
    recorded: Path, capsys: pytest.CaptureFixture[str], gate: list[str], decided_by: str, remedy: str
) -> None:
    rules = "rules:\n  - {metric: behaviour, at_least: 0.1}\n"
    (recorded / "own.yaml").write_text(f"name: own\n{rules}", encoding="utf-8")
    (recorded / "unnamed.yaml").write_text(rules, encoding="utf-8")
    _score("--run-dir", "decided", *gate)
    capsys.readouterr()
    assert 0 == main(["score", "decided"])
    rescored = capsys.readouterr().err
    assert f"the run was last decided {decided_by}" in rescored
    assert "no gate was given for these scores, so they decide nothing" in rescored and remedy in rescored
    main(["score", "decided", *gate])
    assert "last decided" not in capsys.readouterr().err
    assert 0 == main(["report", "decided", "--junit", "r.xml", *gate])
    assert "last decided" not in capsys.readouterr().err
    _score("--run-dir", "open")
    capsys.readouterr()
    assert 0 == main(["report", "open", "--junit", "r.xml"])
    assert "last decided" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rule", "outcome"), [("recall@10, at_least: 0.5", "FAIL"), ("behaviour, at_least: 0.1", "PASS")]
)
def test_reports_without_a_gate_have_the_decision_of_the_run(
    recorded: Path, capsys: pytest.CaptureFixture[str], rule: str, outcome: str
) -> None:
    rules = f"name: own\nexempt_from_correctness: a test\nrules:\n  - {{metric: {rule}}}\n"
    (recorded / "own.yaml").write_text(rules, encoding="utf-8")
    _score("--run-dir", "decided", "--gate", "own.yaml")
    (recorded / "own.yaml").unlink()
    capsys.readouterr()
    assert 0 == main(["report", "decided", "--junit", "r.xml", "--json", "r.json"])
    assert "decided by the gate own of the run" in capsys.readouterr().err
    assert json.loads((recorded / "r.json").read_bytes())["decision"]["outcome"].startswith(outcome)
    assert "NOT_GATED" not in (recorded / "r.xml").read_text(encoding="utf-8")


def test_reports_are_compared_with_the_baseline_of_the_run_and_not_written_without_it(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = "rules:\n  - {metric: behaviour, max_regression: 0.5}\n"
    (recorded / "own.yaml").write_text(rules, encoding="utf-8")
    _score("--run-dir", "before")
    _score("--run-dir", "after", "--gate", "own.yaml", "--baseline", "before:one")
    capsys.readouterr()
    assert 0 == main(["report", "after", "--junit", "r.xml"])
    printed = " ".join(capsys.readouterr().err.split())
    assert (
        "before:one, as the run was (--baseline: with another)" in printed
        and "decided by the gate of the run" in printed
    )
    (recorded / "before").rename(recorded / "moved")
    assert 2 == main(["report", "after", "--json", "r.json"])
    printed = " ".join(capsys.readouterr().err.split())
    assert "that of then is not at" in printed
    assert "before:one (expected --baseline with the run or file that it was compared with" in printed
    assert not (recorded / "r.json").exists()
    assert 0 == main(["report", "after", "--json", "r.json", "--baseline", "moved:one"])
    assert "decided by the gate of the run" in capsys.readouterr().err
    _score("--run-dir", "after")
    assert not (recorded / "after" / "derived" / "baseline.json").exists()
