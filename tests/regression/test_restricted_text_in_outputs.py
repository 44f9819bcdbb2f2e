"""Restricted text that a target reports in any field of an observation is shown in no output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.runs.scoring import make_case, score, write

from assay.cli import main

SECRET = "Nadia Brunel earns 73900 euros and leaves in autumn under file HR-4471."
CANARY = "HERON-4471-BLUE"
CORPUS = [
    {"chunk_id": "pay:1", "text": f"{SECRET} The code word is {CANARY}.", "tenant": "a"},
    {"chunk_id": "lunch:1", "text": "Lunch is served from noon until two in the canteen."},
]
FORBIDDEN = (CANARY, "Brunel", "73900", "HR-4471")


def _fill(text: str) -> dict[str, dict[str, Any]]:
    """Return observations, each with the text in one field."""
    chunk: dict[str, Any] = {"chunk_id": "lunch:1", "text": CORPUS[1]["text"]}
    base: dict[str, Any] = {
        "config_id": "c",
        "stages": [{"name": "retrieved", "chunks": [chunk]}, {"name": "context", "chunks": [chunk]}],
        "answer": "Lunch is served from noon until two.",
        "citations": ["lunch:1"],
    }

    def show(**fields: Any) -> list[dict[str, Any]]:
        return [{"name": name, "chunks": [chunk | fields]} for name in ("retrieved", "context")]

    return {
        "chunk id": base | {"stages": show(chunk_id=text)},
        "chunk text": base | {"stages": show(chunk_id="other", text=text)},
        "metadata": base | {"stages": show(metadata={"note": text})},
        "metadata key": base | {"stages": show(metadata={text: 1})},
        "answer": base | {"answer": text},
        "citation": base | {"citations": [text]},
        "sentence": base | {"sentences": [{"text": text, "citations": ["lunch:1"]}]},
        "tool": base | {"tool_calls": [{"name": text}]},
        "tool arguments": base | {"tool_calls": [{"name": "f", "arguments": {"query": text}}]},
        "tool error": base | {"tool_calls": [{"name": "f", "error": text}]},
        "rewrite": base | {"query_rewrite": text},
        "version": base | {"versions": {"index": text}},
        "error message": base | {"error": {"code": "E1", "message": text}},
        "error code": base | {"error": {"code": text, "message": "no reply"}},
    }


def _write_all_outputs(folder: Path, text: str, names: list[str]) -> dict[str, str]:
    """Return every output of a run, in which each case has the text in another field."""
    cases = [
        make_case(name, user_context={"tenant_id": "b"}, expected_chunk_ids=["lunch:1"], must_cite=["lunch:1"])
        for name in names
    ]
    rows = [{"case_id": name} | observation for name, observation in _fill(text).items()]
    files = ["report.md", "page.html", "report.json", "cases.jsonl", "junit.xml", "scores.csv", "legacy.json"]
    files += ["comparison.md", "comparison.json", "baseline.json"]
    outputs = {name: folder / name for name in files}
    run = str(folder / "run")
    corpus = ("--corpus", write(folder / "corpus.jsonl", CORPUS))
    score(
        folder,
        cases,
        rows,
        *corpus,
        *("--run-dir", run, "--legacy-json-report", str(outputs["legacy.json"])),
        *("--report", str(outputs["report.md"]), "--html", str(outputs["page.html"])),
        *("--per-case", str(outputs["cases.jsonl"]), "--json-report", str(outputs["report.json"])),
    )
    main(["report", run, "--junit", str(outputs["junit.xml"]), "--csv", str(outputs["scores.csv"])])
    main(["baseline", "save", run, "--out", str(outputs["baseline.json"])])
    plain = [{"case_id": name} | observation for name, observation in _fill("Lunch is at noon.").items()]
    other = folder / "other"
    other.mkdir()
    score(other, cases, plain, *corpus, "--run-dir", str(other / "run"))
    sides = (str(other / "run"), run)
    main(
        ["compare", *sides, "--report", str(outputs["comparison.md"]), "--json-report", str(outputs["comparison.json"])]
    )
    return {name: path.read_text(encoding="utf-8") for name, path in outputs.items()}


PRINTING = (
    ("report", "{run}", "--github"),
    ("report", "{run}", "--github", "--strict"),
    *(("score", "{run}", "--format", name) for name in ("table", "markdown", "json")),
    ("score", "{run}", "--verbose"),
    *(("compare", "{other}", "{run}", "--format", name) for name in ("table", "markdown", "json")),
    ("baseline", "show", "{baseline}"),
)
"""Commands that print what they know about a run."""


@pytest.mark.slow
@pytest.mark.parametrize("text", [SECRET, CANARY], ids=["passage", "code"])
def test_restricted_text_in_any_field_is_printed_by_no_command(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    _write_all_outputs(tmp_path, text, list(_fill(text)))
    capsys.readouterr()
    paths = {"run": tmp_path / "run", "other": tmp_path / "other" / "run", "baseline": tmp_path / "baseline.json"}
    for command in PRINTING:
        main([word.format(**paths) for word in command])
        printed = capsys.readouterr()
        assert len(printed.out) > 50, command
        assert [] == [word for word in FORBIDDEN if word in printed.out + printed.err], command


@pytest.mark.slow
@pytest.mark.parametrize("text", [SECRET, CANARY], ids=["passage", "code"])
def test_restricted_text_in_any_field_is_in_no_report(tmp_path: Path, text: str) -> None:
    names = list(_fill(text))
    shown = {}
    for kind, output in _write_all_outputs(tmp_path, text, names).items():
        assert len(output) > 100
        shown[kind] = [word for word in FORBIDDEN if word in output]
    assert {} == {kind: words for kind, words in shown.items() if words}


@pytest.mark.slow
@pytest.mark.parametrize("text", [SECRET, CANARY], ids=["passage", "code"])
def test_restricted_text_in_any_field_is_in_no_explanation(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = list(_fill(text))
    _write_all_outputs(tmp_path, text, names)
    capsys.readouterr()
    for name in names:
        main(["explain", name, "--run", str(tmp_path / "run")])
        shown = capsys.readouterr().out
        assert "noon" in shown or "withheld" in shown
        assert [] == [word for word in FORBIDDEN if word in shown], name
