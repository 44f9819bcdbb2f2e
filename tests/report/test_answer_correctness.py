"""Answer correctness has one name and one value in every output, also where some answers are unknown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.report.html_islands import islands

from assay.cli import main


@pytest.fixture
def scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[Path, str]:
    """A folder with all reports of seven right answers, one wrong and two of which rules cannot tell; the screen."""
    monkeypatch.chdir(tmp_path)
    cases, rows = [], []
    for number in range(10):
        fact = f"{number + 3} days"
        cases.append({"id": f"q{number}", "question": f"How many days after {number} years?", "must_have": [fact]})
        answer = f"You get {fact}." if number < 7 else "You get 99 days."
        rows.append({"case_id": f"q{number}", "config_id": "one", "answer": answer})
    for number in (8, 9):
        rows[number]["answer"] = f"It may be {number + 3} days or maybe 4 weeks, nobody knows."
    Path("golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in cases), encoding="utf-8")
    Path("outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    reports = ["--report", "r.md", "--json-report", "r.json", "--html", "r.html", "--run-dir", "run"]
    main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", *reports])
    return tmp_path, capsys.readouterr().out


def test_the_range_and_the_name_are_the_same_in_every_output(
    scored: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, screen = scored
    summary = json.loads((folder / "r.json").read_bytes())["configs"]["one"]["summary"]["correct_answer"]
    unknown = summary["unknown"]
    count = unknown["cases"]
    assert count and unknown["low"] < summary["value"] < unknown["high"]
    value = f"{unknown['low']:.3f}–{unknown['high']:.3f}"
    assert f"Answer correctness    {value} (n {summary['scored']}, {count} unknown)" in screen
    markdown = (folder / "r.md").read_text()
    assert f"| Answer correctness | D | {value} (n={summary['scored']}, {count} unknown) |" in markdown
    page = islands((folder / "r.html").read_text())["report"]
    (metric,) = [metric for metric in page["metrics"] if metric["name"] == "correct_answer"]
    assert "correct_answer" == page["headlines"][0]
    assert ("Answer correctness", value) == (metric["title"], metric["by"][0]["text"])
    assert "Answer correctness" == page["slices"]["columns"][0]
    main(["score", "run", "--verbose"])
    verbose = " ".join(capsys.readouterr().out.split())
    assert f"correct_answer D {value} n={summary['scored']}, {count} unknown" in verbose
    plain_mean = f"{summary['value']:.3f}"
    for text in (screen, markdown, verbose):
        assert not re.search(rf"(Answer correctness|correct_answer)[^|\n]*\b{re.escape(plain_mean)}\b", text)


def test_a_rule_on_it_names_the_same_range(scored: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    folder, _ = scored
    (folder / "gate.yaml").write_text("rules: [{metric: correct_answer, at_least: 0.8}]\n", encoding="utf-8")
    main(["report", "run", "--gate", "gate.yaml", "--junit", "r.xml"])
    messages = " ".join(
        str(element.get("message") or "") for element in ElementTree.parse(folder / "r.xml").getroot().iter()
    )
    summary = json.loads((folder / "r.json").read_bytes())["configs"]["one"]["summary"]["correct_answer"]
    low, high = (f"{summary['unknown'][end]:.3f}" for end in ("low", "high"))
    assert low in messages and high in messages
