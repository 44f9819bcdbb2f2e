"""Restricted text that a target reports in any field of an observation is shown in no output."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.report.html_islands import details, islands, read_whole
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
    return {name: read_whole(path) for name, path in outputs.items()}


PRINTING = (
    ("report", "{run}", "--github"),
    ("report", "{run}", "--github", "--strict"),
    *(("score", "{run}", "--format", name) for name in ("table", "markdown", "json")),
    ("score", "{run}", "--verbose"),
    *(("compare", "{other}", "{run}", "--format", name) for name in ("table", "markdown", "json")),
    ("baseline", "show", "{baseline}"),
)
"""Commands that print what they know about a run."""


class Leaky(NamedTuple):
    """A folder with all outputs of a run whose cases have the text in one field each, named as the cases are."""

    folder: Path
    names: list[str]
    outputs: dict[str, str]


@pytest.fixture(scope="module", params=[SECRET, CANARY], ids=["passage", "code"])
def leaky(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Leaky:
    folder, names = tmp_path_factory.mktemp("leaky"), list(_fill(request.param))
    return Leaky(folder, names, _write_all_outputs(folder, request.param, names))


@pytest.mark.slow
def test_restricted_text_in_any_field_is_printed_by_no_command(
    leaky: Leaky, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    folder = leaky.folder
    paths = {"run": folder / "run", "other": folder / "other" / "run", "baseline": folder / "baseline.json"}
    for command in PRINTING:
        main([word.format(**paths) for word in command])
        printed = capsys.readouterr()
        assert len(printed.out) > 50, command
        assert [] == [word for word in FORBIDDEN if word in printed.out + printed.err], command


@pytest.mark.slow
def test_restricted_text_in_any_field_is_in_no_report(leaky: Leaky) -> None:
    shown = {}
    for kind, output in leaky.outputs.items():
        assert len(output) > 100
        shown[kind] = [word for word in FORBIDDEN if word in output]
    assert {} == {kind: words for kind, words in shown.items() if words}


@pytest.mark.slow
def test_what_a_page_shows_of_restricted_text_on_demand_is_found_by_the_search(leaky: Leaky) -> None:
    """The search would see a leak: the details of cases, which are compressed, are searched too."""
    page = leaky.folder / "shown.html"
    main(["report", str(leaky.folder / "run"), "--html", str(page), "--show-forbidden"])
    unmasked = details(islands(read_whole(page)))
    masked = details(islands(leaky.outputs["page.html"]))
    assert len(leaky.names) == len(unmasked) == len(masked)
    number = leaky.names.index("chunk text")
    assert [word for word in FORBIDDEN if word in str(unmasked[number])]
    assert [] == [word for word in FORBIDDEN if word in str(masked[number])]


@pytest.mark.slow
def test_restricted_text_in_any_field_is_in_no_explanation(leaky: Leaky, capsys: pytest.CaptureFixture[str]) -> None:
    for name in leaky.names:
        main(["explain", name, "--run", str(leaky.folder / "run")])
        shown = capsys.readouterr().out
        assert "noon" in shown or "withheld" in shown
        assert [] == [word for word in FORBIDDEN if word in shown], name


def test_an_answer_that_cites_a_forbidden_passage_is_withheld_in_any_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told, refused = "Nadia kiếm được chừng bảy mươi ba nghìn euro.", "Bạn không có quyền xem lương của người khác."
    cases = [
        make_case(name, user_context={"tenant_id": "b"}, expected_chunk_ids=[], expected_behavior="abstain")
        for name in ("told", "refused")
    ]
    stages = [{"name": name, "chunks": [{"chunk_id": "pay:1"}]} for name in ("retrieved", "context")]
    row = {"config_id": "c", "stages": stages, "citations": ["pay:1"]}
    rows = [row | {"case_id": "told", "answer": told}, row | {"case_id": "refused", "answer": refused}]
    names = ("report.md", "page.html", "cases.jsonl", "junit.xml")
    report, page, cases_file, junit = (tmp_path / name for name in names)
    run = str(tmp_path / "run")
    files = ("--report", str(report), "--html", str(page), "--per-case", str(cases_file))
    score(tmp_path, cases, rows, "--corpus", write(tmp_path / "corpus.jsonl", CORPUS), "--run-dir", run, *files)
    main(["report", run, "--junit", str(junit)])
    capsys.readouterr()
    shown = {path.name: read_whole(path) for path in (report, page, cases_file, junit)}
    for name in ("told", "refused"):
        main(["explain", name, "--run", run, "--verbose"])
        shown[name] = capsys.readouterr().out

    assert [] == [name for name, text in shown.items() if "bảy mươi ba" in text]
    assert "withheld: it shows or cites what the user must not see" in shown["told"]
    assert refused in shown["refused"]


def test_the_question_that_a_withheld_answer_repeats_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = make_case("told", user_context={"tenant_id": "b"}, expected_chunk_ids=[], expected_behavior="abstain")
    answer = f"{case['question']} Chừng bảy mươi ba nghìn euro."
    stages = [{"name": name, "chunks": [{"chunk_id": "pay:1"}]} for name in ("retrieved", "context")]
    rows = [{"case_id": "told", "config_id": "c", "answer": answer, "citations": ["pay:1"], "stages": stages}]
    run = str(tmp_path / "run")
    score(tmp_path, [case], rows, "--corpus", write(tmp_path / "corpus.jsonl", CORPUS), "--run-dir", run)
    capsys.readouterr()
    main(["explain", "told", "--run", run, "--verbose"])
    shown = capsys.readouterr().out
    assert case["question"] in shown
    assert "bảy mươi ba" not in shown
