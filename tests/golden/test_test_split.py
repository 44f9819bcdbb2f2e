"""The ledger of a frozen test split: what is a look, where reports say it, and what opting out leaves behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import assay
from assay import golden
from assay.cli import main
from assay.formats.run_files.test_split_file import LookEntry, find_ledger, record_look
from assay.records.errors import ExitCode

AT = "2026-03-01T08:00:00Z"
CASE = {"id": "a", "question": "How many days?", "reference": "12 days", "must_have": ["12 days"]}


@pytest.fixture
def frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A frozen test split in the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("candidates.jsonl").write_text(json.dumps(CASE) + "\n", encoding="utf-8")
    golden.freeze("candidates.jsonl", "golden.jsonl", version="1", owner="ann", change="first", at=AT, accept_all=True)
    for number in (1, 2, 3):
        row = {"case_id": "a", "config_id": "bot", "answer": f"It is {number * 4} days."}
        Path(f"outputs-{number}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    return tmp_path


def score(number: int, capsys: pytest.CaptureFixture[str], *options: str, set_file: str = "golden.jsonl") -> Any:
    outputs = f"outputs-{number}.jsonl"
    arguments = ["score", "--golden", set_file, "--outputs", outputs, "--now", AT, "--format", "json", *options]
    capsys.readouterr()
    assert ExitCode.PASS == main(arguments)
    return json.loads(capsys.readouterr().out)["golden"].get("looks")


def test_each_new_set_of_outputs_is_a_look_and_the_same_outputs_are_the_same_one(
    frozen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = [score(number, capsys)["look"] for number in (1, 2, 1, 3, 2)]
    assert [1, 2, 1, 3, 2] == numbers
    assert 3 == len(find_ledger("golden.jsonl").read_text(encoding="utf-8").splitlines())


def test_a_look_that_was_not_to_be_counted_is_recorded_as_such(
    frozen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    uncounted = score(1, capsys, "--no-ledger")
    assert (None, 1, "left out of the ledger on request") == (
        uncounted["look"],
        uncounted["uncounted"],
        uncounted["reason"],
    )
    assert {"look": 1, "uncounted": 1, "reason": ""} == score(1, capsys)


def test_every_report_says_which_look_it_is(frozen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    score(1, capsys)
    files = ["--report", "r.md", "--html", "r.html", "--json-report", "r.json", "--run-dir", "runs/2"]
    sentence = "frozen test split: look 2 since it was frozen"
    arguments = ["score", "--golden", "golden.jsonl", "--outputs", "outputs-2.jsonl", "--now", AT, *files]
    assert ExitCode.PASS == main(arguments)
    assert sentence in capsys.readouterr().out
    assert sentence in Path("r.md").read_text(encoding="utf-8")
    assert sentence in Path("r.html").read_text(encoding="utf-8")
    assert json.loads(Path("r.json").read_bytes())["golden"]["looks"]["look"] == 2
    score(3, capsys)
    assert ExitCode.PASS == main(["score", "runs/2"])  # the scores of a run folder again: no further look
    assert sentence in capsys.readouterr().out
    assert 3 == len(find_ledger("golden.jsonl").read_text(encoding="utf-8").splitlines())


def test_live_runs_are_looks_and_continuing_one_is_not(frozen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = {"type": "recorded", "path": "outputs-3.jsonl"}
    Path("assay.yaml").write_text(json.dumps({"golden": "golden.jsonl", "targets": {"bot": target}}), encoding="utf-8")
    for folder, now in (("runs/1", AT), ("runs/1", "2026-03-02T08:00:00Z"), ("runs/2", AT)):
        assert ExitCode.PASS == main(["run", "--run-dir", folder, "--now", now])
    assert 2 == len(find_ledger("golden.jsonl").read_text(encoding="utf-8").splitlines())
    assert "look 2 since it was frozen" in capsys.readouterr().out


def test_sets_that_are_no_frozen_test_split_have_no_ledger(frozen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(1, capsys, set_file="candidates.jsonl") is None
    golden.freeze(
        "candidates.jsonl", "v.jsonl", version="1", owner="a", change="b", at=AT, split="validation", accept_all=True
    )
    assert score(1, capsys, set_file="v.jsonl") is None
    assert not list(frozen.glob("*.looks"))


def test_an_edited_set_and_a_ledger_that_cannot_be_written_are_said(
    frozen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited = Path("golden.jsonl").read_text(encoding="utf-8").replace("How many days?", "How many?")
    Path("edited.jsonl").write_text(edited, encoding="utf-8")
    assert "edited after it was frozen" in score(1, capsys, set_file="edited.jsonl")["reason"]
    find_ledger("golden.jsonl").mkdir()
    looks = score(1, capsys)
    assert looks["look"] is None
    assert "golden.jsonl.looks" in looks["reason"]


def test_a_torn_or_foreign_ledger_costs_no_look(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    first = record_look(path, LookEntry(AT, "sha256:1", "sha256:a"))
    with open(find_ledger(path), "ab") as file:
        file.write(b'\xff\n{"at": 3}\n' + b"[" * 5000 + b'\n{"at":"2026')
    record_look(path, LookEntry(AT, "sha256:2", "sha256:z"))
    second = record_look(path, LookEntry(AT, "sha256:1", "sha256:b"))
    assert (1, 2) == (first.look, second.look)
    assert "4 unreadable lines" in second.reason


def read_look(text: str) -> str:
    """Return what a report says of the look, up to the end of its sentence."""
    _, _, rest = text.partition("frozen test split: ")
    return rest.splitlines()[0] if rest else ""


def write_second_config() -> None:
    """Write the outputs of another configuration, one file for each number."""
    for number in (1, 2):
        row = {"case_id": "a", "config_id": "other", "answer": f"It is {number} days."}
        Path(f"other-{number}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")


def compare_files(capsys: pytest.CaptureFixture[str], *outputs: str, options: tuple[str, ...] = ()) -> str:
    words = ["compare", "--golden", "golden.jsonl", "--baseline-config", "bot", "--candidate-config", "other"]
    for path in outputs:
        words += ["--outputs", path]
    capsys.readouterr()
    main([*words, "--now", AT, "--format", "json", *options])
    return read_look("\n".join(json.loads(capsys.readouterr().out)["notes"]))


def test_comparing_recorded_outputs_is_a_look_and_what_was_scored_before_is_none(
    frozen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_second_config()
    assert compare_files(capsys, "outputs-1.jsonl", "other-1.jsonl") == "look 1 since it was frozen"
    assert score(1, capsys)["look"] == 1  # a part of what was looked at
    assert score(2, capsys)["look"] == 2
    assert compare_files(capsys, "outputs-2.jsonl", "other-1.jsonl") == "look 2 since it was frozen"  # both seen
    assert compare_files(capsys, "outputs-2.jsonl", "other-2.jsonl") == "look 3 since it was frozen"
    uncounted = compare_files(capsys, "outputs-3.jsonl", "other-2.jsonl", options=("--no-ledger",))
    assert uncounted.startswith("this look is not counted, and 1")


def test_explaining_a_case_of_recorded_outputs_is_a_look(frozen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["explain", "a", "--golden", "golden.jsonl", "--outputs"]
    capsys.readouterr()
    for number, look in ((1, 1), (2, 2), (1, 1)):
        assert main([*words, f"outputs-{number}.jsonl", "--now", AT]) == 0
        assert read_look(capsys.readouterr().out) == f"look {look} since it was frozen"


def test_gates_comparisons_and_reports_of_a_run_say_its_look_and_are_none(
    frozen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    score(1, capsys, "--run-dir", "one", "--no-history")
    score(2, capsys, "--run-dir", "two", "--no-history")
    capsys.readouterr()
    main(["gate", "check", "two", "--profile", "general"])
    assert read_look(capsys.readouterr().out) == "look 2 since it was frozen"
    main(["compare", "one", "two"])
    screen = " ".join(capsys.readouterr().out.split())
    assert "one: frozen test split: look 1 since it was frozen; two: frozen test split: look 2" in screen
    main(["report", "one", "--junit", "one.xml"])
    assert "frozen test split: look 1" in Path("one.xml").read_text(encoding="utf-8")
    main(["explain", "a", "--run", "two"])
    assert read_look(capsys.readouterr().out) == "look 2 since it was frozen"
    assert len(find_ledger("golden.jsonl").read_text(encoding="utf-8").splitlines()) == 2


def test_python_counts_looks_as_the_command_line_does(frozen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(1, capsys)["look"] == 1
    golden_set = assay.load_golden("golden.jsonl")

    def look(*arguments: Any, **options: Any) -> tuple[int | None, int]:
        looks = assay.score(*arguments, now=AT, **options).scoring.looks
        assert looks is not None
        return looks.look, looks.uncounted

    assert look("golden.jsonl", "outputs-1.jsonl") == (1, 0)  # the same file
    assert look(golden_set, ["outputs-2.jsonl"]) == (2, 0)
    observations = assay.load_observations("outputs-3.jsonl")
    assert look(golden_set, observations) == (3, 0) and look(golden_set, list(observations)) == (3, 0)
    assert look(golden_set, assay.load_observations("outputs-1.jsonl"), ledger=False) == (None, 1)
    assert "frozen test split: look 2" in repr(
        assay.compare(
            *(assay.score(golden_set, [path], now=AT) for path in ("outputs-1.jsonl", "outputs-2.jsonl"))
        ).notes
    )


def test_a_set_that_was_made_in_python_says_that_no_look_is_counted(frozen: Path) -> None:
    golden_set = msgspec.structs.replace(assay.load_golden("golden.jsonl"), frozen_digest="sha256:other")
    looks = assay.score(golden_set, "outputs-1.jsonl", now=AT).scoring.looks
    assert looks is not None and looks.look is None and "no ledger" in looks.reason
    assert not find_ledger("golden.jsonl").exists()
