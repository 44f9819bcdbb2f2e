"""The recall of each entity, in the Markdown and the JSON report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.report.html_islands import details, islands
from tests.report.schema_check import load_schema, violations

from assay.cli import main

QUESTIONS = {
    "a": ("Who closed INC-2024-001 for Delft Medical?", "Kim closed INC-2024-001 for Delft Medical."),
    "b": ("When was INC-2024-001 opened?", "INC-2024-002 was opened in May."),
    "c": ("Is CVE-2024-3094 fixed?", "CVE-2024-3094 is fixed in 5.6.2."),
    "d": ("How many days of leave are there?", "There are 12 days."),
    "e": ("Does Delft Medical use SKU-77 or ZX-CANARY-9?", "Delft Medical uses SKU-78."),
}


@pytest.mark.slow
def test_each_entity_has_its_recall_and_the_cases_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cases, rows = [], []
    for case_id, (question, text) in QUESTIONS.items():
        forbidden = {"forbidden_text": ["ZX-CANARY-9"]} if case_id == "e" else {}
        cases.append({"id": case_id, "question": question, "expected_chunk_ids": ["x"], **forbidden})
        context = {"name": "context", "chunks": [{"chunk_id": "x", "text": text}]}
        rows.append({"case_id": case_id, "config_id": "one", "stages": [context], "answer": "Kim."})
    Path("golden.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    Path("outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = ["--json-report", "report.json", "--report", "report.md", "--html", "report.html"]
    named = ["--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--metrics", "entity_recall"]
    assert 0 == main(["score", *named, *files])
    report = json.loads(Path("report.json").read_bytes())
    schema = load_schema("report")
    assert [] == violations(report, schema, schema)
    entities = report["configs"]["one"]["entities"]["entity_recall"]
    assert {"cases": 2, "recall": 0.5, "missing": ["b"]} == entities["INC-2024-001"]
    assert {"cases": 2, "recall": 1.0, "missing": []} == entities["Delft Medical"]
    assert {"cases": 1, "recall": 0.0, "missing": ["e"]} == entities["SKU-77"]
    assert {"cases": 1, "recall": 1.0, "missing": []} == entities["CVE-2024-3094"]
    markdown = Path("report.md").read_text("utf-8")
    section = markdown.split("Entities missing from the evidence")[2]
    assert "INC-2024-001" in section and "SKU-77" in section and "CVE" not in section.partition("</details>")[0]
    assert "CANARY" not in markdown + json.dumps(report)
    page = Path("report.html").read_text("utf-8")
    views = {index: detail["views"]["one"] for index, detail in details(islands(page)).items()}
    assert [["INC-2024-001", True], ["Delft Medical", True]] == views[0]["entities"]
    assert [["INC-2024-001", False]] == views[1]["entities"]
    assert "entities" not in views[3], "the question names none"
    assert "CANARY" not in json.dumps(views)
