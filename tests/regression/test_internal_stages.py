"""What a filter drops from a stage that is declared internal is over-fetched; anything else that shows it is a leak."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main

SECRET = "The acquisition of Borealis closes on 3 March for 41,250,000 euros, and nobody outside the board knows."
OPEN = {"chunk_id": "open", "text": "Staff get 12 days of leave."}
HIDDEN = {"chunk_id": "secret", "text": SECRET}


def write_files(folder: Path, stages: dict[str, list[dict[str, str]]], answer: str, citations: list[str]) -> list[str]:
    """Write a golden set, a corpus and an output with these stages; return the arguments that name them."""
    case = {
        "id": "a",
        "question": "How many days of leave?",
        "must_have": ["12 days"],
        "evidence": [{"any_of": [{"chunk_id": "open"}]}],
        "user": {"roles": ["staff"]},
    }
    observation = {
        "case_id": "a",
        "config_id": "one",
        "stages": [{"name": name, "chunks": chunks} for name, chunks in stages.items()],
        "answer": answer,
        "citations": citations,
    }
    corpus = [OPEN, {**HIDDEN, "roles": ["board"]}]
    for name, lines in (("golden", [case]), ("outputs", [observation]), ("corpus", corpus)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return [part for name in ("golden", "outputs", "corpus") for part in (f"--{name}", str(folder / f"{name}.jsonl"))]


def score(folder: Path, files: list[str], *options: str) -> dict[str, Any]:
    path = folder / "report.json"
    assert 0 == main(
        ["score", *files, *options, "--json-report", str(path), "--metrics", "visibility_leaks,over_fetched"]
    )
    config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["configs"]["one"]
    return config


def read_value(config: dict[str, Any], metric: str) -> float | None:
    value: float | None = config["summary"][metric]["value"]
    return value


FILTERED = {"bm25": [OPEN, HIDDEN], "filter": [OPEN], "context": [OPEN]}


def test_what_a_filter_drops_from_an_internal_stage_is_over_fetched(tmp_path: Path) -> None:
    files = write_files(tmp_path, FILTERED, "12 days.", ["open"])
    declared = score(tmp_path, files, "--internal-stages", "bm25")
    assert (0.0, 1.0) == (read_value(declared, "visibility_leaks"), read_value(declared, "over_fetched"))
    assert [] == declared["failed_cases"]
    assert "pass" == declared["attributions"]["a"]["verdict"]


def test_a_stage_that_is_not_declared_is_visible(tmp_path: Path) -> None:
    files = write_files(tmp_path, FILTERED, "12 days.", ["open"])
    for options in ([], ["--internal-stages", "filter"]):
        result = score(tmp_path, files, *options)
        assert 1.0 == read_value(result, "visibility_leaks")
        (failed,) = result["failed_cases"]
        assert "leak" == failed["failed_checks"][0]


@pytest.mark.parametrize(
    ("stages", "answer", "citations"),
    [
        ({"bm25": [OPEN, HIDDEN], "context": [OPEN, HIDDEN]}, "12 days.", ["open"]),
        ({"bm25": [OPEN, HIDDEN]}, "12 days.", ["open"]),
        (FILTERED, "12 days.", ["open", "secret"]),
        (FILTERED, f"12 days. {SECRET}", ["open"]),
    ],
)
def test_context_last_stage_citations_and_answer_are_never_internal(
    tmp_path: Path, stages: dict[str, list[dict[str, str]]], answer: str, citations: list[str]
) -> None:
    files = write_files(tmp_path, stages, answer, citations)
    leaks = read_value(score(tmp_path, files, "--internal-stages", "bm25"), "visibility_leaks")
    assert leaks is not None and leaks > 0


@pytest.mark.parametrize("name", ["context", "citations", "answer"])
def test_declaring_what_users_see_as_internal_is_refused(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write_files(tmp_path, FILTERED, "12 days.", ["open"])
    assert 2 == main(["score", *files, "--internal-stages", name])
    assert f"got {name}" in capsys.readouterr().err


def test_reports_withhold_what_was_over_fetched_and_the_run_remembers_the_stage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write_files(tmp_path, FILTERED, "12 days.", ["open"])
    run = str(tmp_path / "run")
    assert 0 == main(["score", *files, "--internal-stages", "bm25", "--run-dir", run])
    path = tmp_path / "again.json"
    assert 0 == main(["score", run, "--json-report", str(path)])
    assert 0 == len(json.loads(path.read_text(encoding="utf-8"))["configs"]["one"]["failed_cases"])
    assert 0 == main(["explain", "a", "--run", run])
    assert "Borealis" not in capsys.readouterr().out
