"""Where many answers are unknown, every report says in one line what settles them, the cheapest way first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main

Printed = pytest.CaptureFixture[str]
LINE = "are unknown. To settle them, cheapest first: "


def write(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def run(capsys: Printed, unknown: int, *options: str, facts: int = 0) -> str:
    """Score nine answers of which some are in words of their own; so many of these cases state facts."""
    cases = list[dict[str, Any]]()
    outputs = list[dict[str, Any]]()
    for number in range(9):
        case: dict[str, Any] = {
            "id": f"k{number}",
            "question": f"Which colour has kayak {number}?",
            "reference": "It is painted ochre.",
        }
        answer = "It is painted ochre."
        if number < unknown:
            answer = "Somewhere between sand and mustard, as far as one can see."
            if number < facts:
                case["must_have"] = ["painted ochre"]
        cases.append(case)
        outputs.append({"case_id": case["id"], "config_id": "c", "answer": answer})
    write("golden.jsonl", cases)
    write("outputs.jsonl", outputs)
    capsys.readouterr()
    assert 0 == main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", *options])
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def test_the_line_is_on_the_screen_in_markdown_and_on_the_page(capsys: Printed) -> None:
    printed = run(capsys, 5, "--report", "r.md", "--html", "r.html", "--json-report", "r.json", facts=2)
    screen = " ".join(printed.split())
    sentence = (
        f"5 of 9 cases {LINE}must_have facts (3 cases state none); read the 5 answers (`assay labels export --only "
    )
    assert sentence in screen and "a judge (`assay judge`)" in screen
    assert all(len(line) <= 80 for line in printed.splitlines())
    assert 1 == screen.count("labels export --only ambiguous")  # no other line says it again
    for name in ("r.md", "r.html", "r.json"):
        assert f"5 of 9 cases {LINE}" in Path(name).read_text(encoding="utf-8"), name


def test_from_a_third_of_the_cases_on(capsys: Printed) -> None:
    assert LINE in " ".join(run(capsys, 3).split())
    assert LINE not in " ".join(run(capsys, 2).split())


def test_facts_that_are_stated_are_no_way(capsys: Printed) -> None:
    screen = " ".join(run(capsys, 4, facts=4).split())
    assert f"4 of 9 cases {LINE}read the 4 answers" in screen
