"""What a newcomer reads first: placeholders, a gate by its path, an installation without settings, a dead target.

Commands that are suggested are run as they are printed.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from assay.cli import main
from assay.runs.check_setup import EXTRAS

ROOT = Path(__file__).resolve().parents[2]
RAG = """\
import os

TEXTS = {"a": "The oven is heated to 250 degrees.", "b": "Rye bread keeps for six days.", "c": "Complaints go to Mia."}


def ask(question):
    if os.environ.get("RAG_IS_DOWN"):
        raise ConnectionError("no route to the index")
    if "oven" in question:
        return {"answer": "I do not know.", "contexts": [{"id": "b", "text": TEXTS["b"]}]}
    key = "b" if "bread" in question else "c"
    return {"answer": TEXTS[key], "contexts": [{"id": key, "text": TEXTS[key]}], "citations": [key]}
"""
GOLDEN = [
    {"id": "oven", "question": "How hot is the oven?", "must_have": ["250 degrees"], "expected_chunk_ids": ["a"]},
    {
        "id": "rye bread",
        "question": "How long does bread keep?",
        "must_have": ["six days"],
        "expected_chunk_ids": ["b"],
    },
    {"id": "mia", "question": "Who takes complaints?", "must_have": ["Mia"], "expected_chunk_ids": ["c"]},
]
SETTINGS = "golden: golden.jsonl\ntargets:\n  mine: {type: python, call: 'bakery:ask', context: retrieved}\n"
GATE = "rules:\n  - {metric: failed, at_most: 0}\n  - {metric: recall@10, at_least: 0.9}\n"


@pytest.fixture
def bakery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a system of one's own, three questions and settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "bakery", raising=False)
    (tmp_path / "bakery.py").write_text(RAG, encoding="utf-8")
    (tmp_path / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in GOLDEN), encoding="utf-8")
    (tmp_path / "assay.yaml").write_text(SETTINGS, encoding="utf-8")
    return tmp_path


# ── settings ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_gate_of_the_settings_may_be_a_file_next_to_them(
    bakery: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (bakery / "rules").mkdir()
    (bakery / "rules/gate.yaml").write_text(GATE, encoding="utf-8")
    (bakery / "assay.yaml").write_text(f"{SETTINGS}gate: rules/gate.yaml\n", encoding="utf-8")
    assert 0 == main(["doctor"])
    assert "ok    gate: 2 rules" in capsys.readouterr().out
    elsewhere = bakery / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert 1 == main(["run", "--settings", "../assay.yaml", "--run-dir", "out"])
    assert "failed is above 0 on" in capsys.readouterr().out
    assert 1 == main(["gate", "check", "out", "--gate", "../assay.yaml"])


def test_a_gate_file_that_is_not_there_is_named(bakery: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (bakery / "assay.yaml").write_text(f"{SETTINGS}gate: rules.yaml\n", encoding="utf-8")
    assert 2 == main(["run"])
    assert "rules.yaml: E_FILE cannot be read" in capsys.readouterr().err


def test_doctor_without_settings_says_what_works_what_is_missing_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("assay.runs.check_setup._is_missing", lambda module: module == "markitdown")
    assert 0 == main(["doctor"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ok    assay: ")
    assert lines[1].startswith("ok    extras: http, mcp, judge, ")
    assert "none  extra documents: PDF and DOCX in a folder of documents (pip install 'rag-assay[documents]')" in lines
    assert "next  settings: no assay.yaml here" == lines[-2] and "assay init" in lines[-1]
    assert not any(line.startswith(("fail", "warn")) for line in lines)


def test_doctor_asks_a_target_of_the_command_line_without_settings(
    bakery: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (bakery / "assay.yaml").unlink()
    assert 0 == main(["doctor", "--target", "bakery:ask", "--golden", "golden.jsonl"])
    printed = capsys.readouterr().out
    assert "ok    target ask: ask: " in printed
    assert 2 == main(["doctor", "--target", "bakery:absent", "--golden", "golden.jsonl"])
    assert "fail  target absent: " in capsys.readouterr().out
    assert 2 == main(["doctor", "--target", "no target", "--golden", "golden.jsonl"])
    assert "fail  targets: target: E_TARGET no such target (got 'no target'; " in capsys.readouterr().out


def test_the_extras_that_doctor_knows_are_those_of_the_package() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(declared) - {"all"} == {extra for extra, _, _ in EXTRAS}


# ── placeholders ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_cases_of_init_are_never_scored(bakery: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (bakery / "golden.jsonl").unlink()
    (bakery / "assay.yaml").unlink()
    assert 0 == main(["init", "--target", "bakery:ask"])
    assert "next: replace the three cases in golden.jsonl" in capsys.readouterr().err
    remedy = "3 placeholder cases of `assay init` (q-001, q-002, q-003): replace them with questions"
    assert 2 == main(["run", "--run-dir", "out"])
    assert f"golden.jsonl:2: question: E_PLACEHOLDER {remedy}" in capsys.readouterr().err
    assert not (bakery / "out").exists()
    rows = [{"case_id": case, "config_id": "a", "answer": "x"} for case in ("q-001", "q-002", "q-003")]
    (bakery / "outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert 2 == main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl"])
    assert remedy in capsys.readouterr().err
    assert 2 == main(["doctor"])
    assert "fail  golden set: 3 placeholder cases of `assay init`" in capsys.readouterr().out


def test_one_case_that_was_left_is_named_with_its_line(bakery: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open("golden.jsonl", "a", encoding="utf-8") as file:
        file.write(
            json.dumps({"id": "left", "question": "Replace this: a question", "expected_chunk_ids": ["a"]}) + "\n"
        )
    assert 2 == main(["run"])
    assert "golden.jsonl:4: question: E_PLACEHOLDER 1 placeholder case of" in capsys.readouterr().err


# ── a target that does not answer ────────────────────────────────────────────────────────────────────────────────


def test_a_dead_target_is_not_measured_in_any_output(
    bakery: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (bakery / "gate.yaml").write_text(GATE, encoding="utf-8")
    monkeypatch.setenv("RAG_IS_DOWN", "1")
    files = ["--report", "r.md", "--json-report", "r.json"]
    assert 3 == main(["run", "--attempts", "1", "--run-dir", "out", "--gate", "gate.yaml", *files])
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    sentence = "the target answered none of 3 cases (3 in error): nothing was measured"
    assert ["mine: INCOMPLETE", f" - {sentence}"] == lines[:2]
    assert lines[2].startswith(" - target error ×3: ")
    assert "Cases: mine 3 of 3 without an answer" in lines
    assert not any("above 0" in line or "tighten" in line or "assay judge" in line for line in lines)
    assert "next: assay doctor" in printed.err
    report = json.loads((bakery / "r.json").read_bytes())
    assert ("INCOMPLETE", [sentence]) == (report["decision"]["outcome"], report["decision"]["reasons"])
    markdown = (bakery / "r.md").read_text()
    assert markdown.startswith("# Evaluation report\n\n**Decision: INCOMPLETE**")
    assert f"\n\n- {sentence}\n" in markdown
    assert 0 == main(["report", "out", "--gate", "gate.yaml", "--junit", "r.xml"])
    suite = ElementTree.parse(bakery / "r.xml").getroot()
    assert "INCOMPLETE" == next(element.attrib["value"] for element in suite.iter("property"))
    capsys.readouterr()
    assert 3 == main(["score", "out"])
    assert ["mine: NOT_GATED", f" - {sentence}"] == capsys.readouterr().out.splitlines()[:2]


def test_a_target_that_answers_some_cases_is_measured_on_them(bakery: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"case_id": "oven", "config_id": "a", "error": {"code": "timeout", "message": "late"}},
        {"case_id": "rye bread", "config_id": "a", "answer": "Six days."},
        {"case_id": "mia", "config_id": "a", "answer": "Tom."},
    ]
    (bakery / "outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (bakery / "gate.yaml").write_text("rules: [{metric: failed, at_most: 0}]\n", encoding="utf-8")
    named = ["--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--gate", "gate.yaml"]
    assert 1 == main(["score", *named])
    assert "Cases: a 2 of 3 failed (1 without an answer)" in capsys.readouterr().out


def test_a_dead_target_of_the_command_line_is_looked_at_with_the_same_options(
    bakery: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (bakery / "assay.yaml").unlink()
    monkeypatch.setenv("RAG_IS_DOWN", "1")
    given = ["--golden", "golden.jsonl", "--target", "bakery:ask"]
    assert 3 == main(["run", "--attempts", "1", "--run-dir", "out", *given])
    assert ["doctor", *given] == find_suggestion(capsys.readouterr().err)


def test_a_report_names_the_same_changes_of_a_target_as_a_comparison(
    bakery: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = (bakery / "bakery.py").read_text(encoding="utf-8")
    (bakery / "bakery.py").write_text(f"{system}\n\nask_again = ask\n", encoding="utf-8")
    main(["run", "--run-dir", "one"])
    (bakery / "assay.yaml").write_text(SETTINGS.replace("bakery:ask", "bakery:ask_again"), encoding="utf-8")
    change = "target.call: was bakery:ask, is now bakery:ask_again"
    main(["run", "--run-dir", "two", "--baseline", "one", "--report", "run.md"])
    main(["report", "two", "--baseline", "one", "--markdown", "later.md"])
    capsys.readouterr()
    main(["compare", "one", "two"])
    assert change in capsys.readouterr().out
    for name in ("run.md", "later.md"):
        assert change in (bakery / name).read_text(encoding="utf-8")


# ── what is suggested ────────────────────────────────────────────────────────────────────────────────────────────


def find_suggestion(text: str) -> list[str]:
    (command,) = re.findall(r"^next: assay (.+)$", text, re.MULTILINE)
    return shlex.split(command)


OUTPUTS = [
    {"case_id": "oven", "config_id": "my config", "answer": "It is hot."},
    {"case_id": "rye bread", "config_id": "my config", "answer": "Six days."},
    {"case_id": "mia", "config_id": "my config", "answer": "Mia."},
]
SUGGESTING = {
    "plain": [],
    "unknown cases": ["--ignore-unknown"],
    "a cut tail": ["--allow-torn-tail", "--ignore-unknown"],
    "a criterion": ["--good", "completeness(by=rules)>=0.5", "--ignore-unknown"],
    "cut-offs": ["--production-k", "3", "--internal-stages", "raw", "--ignore-unknown"],
    "formats": ["--golden-format", "rag-golden", "--outputs-format", "assay", "--ignore-unknown"],
    "a run folder": ["--run-dir", "the run", "--ignore-unknown"],
}


@pytest.mark.parametrize("options", SUGGESTING.values(), ids=SUGGESTING)
def test_what_score_suggests_runs_as_printed(
    bakery: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [json.dumps(row) + "\n" for row in OUTPUTS]
    if "--ignore-unknown" in options:
        rows.append(json.dumps({"case_id": "another", "config_id": "my config", "answer": "x"}) + "\n")
    if "--allow-torn-tail" in options:
        rows.append('{"case_id": "cut')
    (bakery / "some outputs.jsonl").write_text("".join(rows), encoding="utf-8")
    main(["score", "--golden", "golden.jsonl", "--outputs", "some outputs.jsonl", *options])
    suggestion = find_suggestion(capsys.readouterr().err)
    assert ["explain", "oven", "--config", "my config"] == suggestion[:4]
    assert 0 == main(suggestion)
    assert "oven under my config: failed" in capsys.readouterr().out


def test_what_run_suggests_runs_as_printed(bakery: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "--run-dir", "a run"])
    suggestion = find_suggestion(capsys.readouterr().err)
    assert 0 == main(suggestion)
    assert "oven under mine: failed" in capsys.readouterr().out


def test_a_second_reading_of_standard_input_is_not_suggested(
    bakery: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(json.dumps(row) + "\n" for row in OUTPUTS).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(rows)))
    main(["score", "--golden", "golden.jsonl", "--outputs", "-"])
    assert "next:" not in capsys.readouterr().err
