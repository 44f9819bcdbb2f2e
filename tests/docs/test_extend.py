"""The page about plugins: exactly its files, installed as one distribution, do what its commands say."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.docs.pages import ROOT, iter_blocks, iter_commands, write_files
from tests.faults.judging import honest, write_inputs
from tests.runs.scoring import make_case, make_trace, write
from tests.support.distributions import installed_folder, write_distribution
from tests.support.judge_server import answer_with_labels, judge_server

from assay.cli import main

PAGE = ROOT / "docs/how-to/extend.md"
EXAMPLES = ("acme_metrics.py", "acme_formats.py", "acme_golden.py", "acme_targets.py", "acme_judges.py")


@pytest.fixture(autouse=True)
def _installed_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the page's package, and work in a folder with the inputs that the page's commands name."""
    work, pages = tmp_path / "work", tmp_path / "page"
    work.mkdir()
    pages.mkdir()
    monkeypatch.chdir(work)
    write_files(PAGE, pages)
    cases = [make_case("q1", expected_answer="One two."), make_case("q2", expected_answer="Three.")]
    write(work / "golden.jsonl", cases)
    traces = [make_trace("q1", answer="One two."), make_trace("q2", answer="Three four five six.")]
    write(work / "outputs.jsonl", traces)
    write(work / "chat.jsonl", [{"ticket": "q1", "reply": "One."}, {"ticket": "q2", "reply": "Two."}])
    (work / "faq.txt").write_text("q1|How many?|One two.\nq2|And then?|Three.\n", encoding="utf-8")
    (work / "assay.yaml").write_text((pages / "assay.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    project = tomllib.loads((pages / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    entry_points = []
    for group, names in project["entry-points"].items():
        entry_points += [f"[{group}]", *(f"{name} = {value}" for name, value in names.items())]
    with installed_folder(tmp_path / "site") as site:
        modules = {name: (pages / name).read_text(encoding="utf-8") for name in EXAMPLES}
        write_distribution(site, project["name"], "\n".join(entry_points), modules)
        yield


def run_command_of_page(option: str, *more: str) -> int:
    """Run the page's command that has an option, exactly as it is written."""
    commands = [words for block in iter_blocks(PAGE) if block.kind == "sh" for words in iter_commands(block.text)]
    (words,) = [words for words in commands if option in words]
    return main([*words, *more])


def read_summary(config: str, metric: str) -> dict[str, Any]:
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    summary: dict[str, Any] = report["configs"][config]["summary"][metric]
    return summary


def test_metric_of_the_page_counts_words() -> None:
    assert 0 == run_command_of_page("answer_words,recall@5", "--json-report", "report.json")
    assert (3.0, 2) == tuple(read_summary("c", "answer_words")[key] for key in ("value", "scored"))


def test_metric_of_the_page_can_be_named_by_its_import_path() -> None:
    (text,) = [block.text for block in iter_blocks(PAGE) if block.kind == "yaml" and "acme_metrics:" in block.text]
    assert '"acme_metrics:answer_words"' in text
    target = 'targets: {c: {type: echo, prefix: ""}}\n'
    Path("assay.yaml").write_text(f"golden: golden.jsonl\n{target}{text}", encoding="utf-8")
    assert 0 == main(["run", "--json-report", "report.json"])
    assert 2.0 == read_summary("c", "answer_words")["value"]  # the questions are Why q1? and Why q2?


def test_format_of_the_page_is_read_and_a_line_that_does_not_fit_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run_command_of_page("chat-log", "--json-report", "report.json")
    assert (1.0, 2) == tuple(read_summary("chat", "answered")[key] for key in ("value", "scored"))
    Path("chat.jsonl").write_text('{"ticket": "q1"}\n', encoding="utf-8")
    assert 2 == run_command_of_page("chat-log")
    assert "chat.jsonl:1: reply" in capsys.readouterr().err


def test_target_of_the_page_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["run", "--json-report", "report.json"])
    assert 4.0 == read_summary("loud", "answer_words")["value"]  # You asked: Why q1?
    Path("assay.yaml").write_text("golden: golden.jsonl\ntargets: {c: {type: echo, volume: 9}}\n", encoding="utf-8")
    assert 2 == main(["run"])
    assert "targets.c.volume" in capsys.readouterr().err


@pytest.mark.slow
def test_judge_provider_of_the_page_sends_its_header_and_its_verdicts_are_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_inputs(Path(), 8)
    with judge_server(answer=answer_with_labels(honest)) as server:
        monkeypatch.setenv("GATEWAY_URL", f"{server.url}/v1")
        monkeypatch.setenv("GATEWAY_KEY", "a-secret")
        assert 0 == run_command_of_page("gateway", "--metrics", "faithfulness(by=judge)")
        headers = [request["headers"] for request in server.requests]
    assert {("a-secret", None)} == {(header.get("x-gateway-key"), header.get("authorization")) for header in headers}
    judged = ["--metrics", "faithfulness(by=judge)", "--verdicts", "verdicts.sqlite"]
    inputs = ["--golden", "golden.jsonl", "--outputs", "outputs.jsonl"]
    assert 0 == main(["score", *inputs, *judged, "--json-report", "report.json"])
    assert 8 == read_summary("a", "faithfulness(by=judge)")["scored"]


def test_doctor_finds_every_plugin_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor"])
    shown = " ".join(capsys.readouterr().out.split())
    for subject in ("metric answer_words", "output format chat-log", "target kind echo", "judge provider gateway"):
        assert f"ok {subject}: plugin acme_" in shown
    assert 5 == shown.count("of acme-assay 1.2")


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_short(name: str) -> None:
    (text,) = [block.text for block in iter_blocks(PAGE) if block.mark == ("file", name)]
    assert len([line for line in text.splitlines() if line.strip()]) <= 12


def test_the_golden_format_reads_cases_and_names_the_line_of_a_bad_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run_command_of_page("--golden-format", "--json-report", "report.json")
    assert 1.0 == read_summary("c", "answered")["value"]
    Path("faq.txt").write_text("q1|How many?\n", encoding="utf-8")
    assert 2 == run_command_of_page("--golden-format")
    assert "faq.txt:1: " in capsys.readouterr().err
