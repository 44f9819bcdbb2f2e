"""A rubric is a metric: a file of the user's is asked, scored, sliced, gated, compared, explained and calibrated."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.judging import INPUTS, NAMED, judging
from tests.faults.judging import honest
from tests.support.judge_server import JudgeCall, JudgeServer, answer_with_labels

import assay
from assay.cli import main
from assay.judging.rubric_files import load_rubrics, load_shipped_rubrics, use_rubrics
from assay.metrics.answers.rubric_metrics import RubricMetric
from assay.metrics.catalog import CATALOG, find_main_rubric, parse_metric, parse_metrics
from assay.metrics.judged.judge_requests import find_rubric
from assay.records.errors import InputError, MetricNameError, SettingsError

ROOT = Path(__file__).resolve().parents[2]
TONE = "tone(by=judge)"
STANCE = """\
name: stance
version: "1"
language: en
inputs: [answer, question, history, context]
task: What does {{answer}} do?
labels:
  - name: states
    meaning: It states something.
  - name: hedges
    meaning: It hedges.
"""
PASSAGE = """\
name: passage_use
version: "1"
language: en
per_item: true
inputs: [context, answer]
task: Which entries of {{context}} does {{answer}} use?
labels:
  - name: used
    value: 1
    meaning: The answer rests on it.
  - name: unused
    value: 0
    meaning: The answer does not need it.
"""


def read_documented_rubric() -> str:
    """Return the rubric that the documentation shows."""
    page = (ROOT / "docs/how-to/judging.md").read_text(encoding="utf-8")
    match = re.search(r"## A rubric of your own\n.*?```yaml\n(name: tone\n.*?)```", page, re.DOTALL)
    assert match is not None
    return match[1]


def choose(asked: JudgeCall, item: str) -> str:
    """Call the answers about even years polite, those about odd ones and the rude anchors rude; the rest honestly."""
    labels = [str(label) for label in asked.item["label"]["enum"]]
    if labels not in (["polite", "rude"], ["states", "hedges"], ["used", "unused"]):
        return honest(asked, item)
    answer = str(asked.data["answer"])
    year = re.search(r"in year (\d+)", answer)
    if year is None:
        return "rude" if answer.endswith("?") else "polite"
    return labels[int(year[1]) % 2]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judging(tmp_path, monkeypatch) as running:
        running.answer = answer_with_labels(choose)
        Path("rubrics").mkdir()
        Path("rubrics/tone.yaml").write_text(read_documented_rubric(), encoding="utf-8")
        rows = [json.loads(line) for line in Path("golden.jsonl").read_text().splitlines()]
        tagged = [row | {"tags": ["even" if number % 2 == 0 else "odd"]} for number, row in enumerate(rows)]
        Path("golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in tagged))
        yield running


def read_report(*words: str) -> tuple[int, dict[str, Any]]:
    """Score with reports; return the exit code and the JSON report."""
    status = main(["score", *INPUTS, "--verdicts", "verdicts.sqlite", "--rubrics", "rubrics", *words])
    return status, json.loads(Path("report.json").read_bytes())


@pytest.mark.slow
def test_the_documented_rubric_is_asked_scored_sliced_and_gated(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(["judge", *INPUTS, *NAMED, "--rubrics", "rubrics"])
    gate = {"rules": [{"metric": TONE, "at_least": 0.9, "slice": "tag=even"}, {"metric": TONE, "at_least": 0.9}]}
    Path("gate.yaml").write_text(json.dumps(gate))
    reports = ("--json-report", "report.json", "--per-case", "cases.jsonl", "--report", "report.md")
    status, report = read_report("--gate", "gate.yaml", "--by", "tag", *reports)
    tone = report["configs"]["a"]["summary"][TONE]
    assert (0.5, 8, 0) == (tone["value"], tone["scored"], tone["errors"])
    sliced = report["configs"]["a"]["slices"]
    values = {name: summary[TONE]["value"] for name, summary in sliced.items()}
    assert {"tag=even": 1.0, "tag=odd": 0.0} == values
    rules = report["configs"]["a"]["decision"]["rules"]
    assert [1.0, 0.5] == [rule["value"] for rule in rules]
    assert 1 == status, "what a judge finds bad fails the gate, calibrated or not"
    assert "tone@1 (8)" in Path("report.md").read_text()
    rows = {row["case_id"]: row for row in map(json.loads, Path("cases.jsonl").read_text().splitlines())}
    assert (1.0, 0.0) == (rows["c0"]["scores"][TONE], rows["c1"]["scores"][TONE])


@pytest.mark.slow
def test_a_run_folder_knows_its_own_rubrics(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["score", *INPUTS, "--run-dir", "run"])
    assert 0 == main(["judge", "--run", "run", *NAMED, "--rubrics", "rubrics", "--metrics", "tone"])
    Path("rubrics/tone.yaml").unlink()
    capsys.readouterr()
    assert 0 == main(["explain", "c1", "--run", "run", "--verbose"])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.strip().startswith(TONE)]
    assert "0.000" in line and "rude" in line
    assert 0 == main(["compare", "run", "run", "--metrics", TONE, "--format", "json"])
    assert TONE in capsys.readouterr().out
    Path("gate.yaml").write_text(json.dumps({"rules": [{"metric": TONE, "at_least": 0.1}], "correctness": None}))
    for words in (["gate", "check", "run"], ["compare", "run", "run"]):  # a process that has not read the rubric yet
        command = [sys.executable, "-m", "assay", *words, "--gate", "gate.yaml"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "no such metric" not in done.stderr and done.returncode in (0, 1), done.stderr
    assert 0 == main(["labels", "export", "--run", "run", "--metric", "tone", "--out", "sheets"])
    rows = [json.loads(line) for line in Path("sheets/sheet-1.jsonl").read_bytes().splitlines()]
    assert {("polite", "rude")} == {tuple(row["options"]) for row in rows}
    Path("filled.jsonl").write_text(
        "".join(json.dumps(row | {"label": row["options"][0], "rater": "Lan"}) + "\n" for row in rows)
    )
    words = ["labels", "import", "filled.jsonl", "--key", "sheets/key.json", "--rubrics", "run/rubrics"]
    assert 0 == main([*words, "--out", "labels.jsonl"])
    capsys.readouterr()
    assert 0 == main(["calibrate", "--run", "run", "--labels", "labels.jsonl", "--format", "json"])
    (measured,) = json.loads(capsys.readouterr().out)["measured"]
    assert (TONE, 8, 0.5) == (
        measured["calibration"]["metric"],
        measured["pass_fail"]["n"],
        measured["pass_fail"]["raw"],
    )


@pytest.mark.slow
@pytest.mark.parametrize("others", ["shipped", "others"])
def test_a_rubric_that_the_second_side_does_not_have_is_left_out_and_named(
    server: JudgeServer, capsys: pytest.CaptureFixture[str], others: str
) -> None:
    """The shipped rubrics, or a folder with another rubric, against a run with one of its own next to shipped ones."""
    Path("others").mkdir()
    Path("others/stance.yaml").write_text(STANCE)
    assert 0 == main(["score", *INPUTS, "--run-dir", "run"])
    rubrics = ("--rubrics", "rubrics", "--metrics", "tone,answer_relevance", "--control-share", "0.9")
    assert 0 == main(["judge", "--run", "run", *NAMED, *rubrics])
    capsys.readouterr()
    assert 0 == main(["regrade", "run", "--with", f"rubrics={others}", "--format", "json"])
    regrade = json.loads(capsys.readouterr().out)
    assert "answer_relevance(by=judge)" in regrade["unchanged"]
    assert ([TONE], ["tone"]) == (regrade["only_once"], regrade["absent_rubrics"])
    assert 0 == main(["regrade", "run", "--with", f"rubrics={others}"])
    assert "left out the second time, for want of the rubric: tone" in capsys.readouterr().out
    assert 0 == main(["regrade", "run", "--with", "rubrics=run/rubrics"])
    assert "left out" not in capsys.readouterr().out
    assert 0 == main(["score", "run", "--rubrics", "others", "--verbose"])
    assert "verdicts on tone are not scored: no rubric of this name" in capsys.readouterr().out


@pytest.mark.slow
def test_a_regrade_of_a_run_judged_by_nothing_but_an_absent_rubric_is_refused(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(["score", *INPUTS, "--run-dir", "run"])
    words = ("--rubrics", "rubrics", "--metrics", "tone", "--control-share", "0.9")
    assert 0 == main(["judge", "--run", "run", *NAMED, *words])
    capsys.readouterr()
    assert 3 == main(["regrade", "run", "--with", "rubrics=shipped"])
    assert "no verdict to compare: left out the second time, for want of the rubric: tone" in capsys.readouterr().err


def test_a_rubric_in_no_language_is_an_error_that_lists_those_there_are() -> None:
    with pytest.raises(
        InputError, match=r"no rubric manner in any language \(got citation_support, .*; expected --rubrics"
    ):
        find_rubric(load_shipped_rubrics(), "manner", "en")


@pytest.mark.slow
def test_a_rubric_from_python_is_a_metric(server: JudgeServer) -> None:
    labels = (assay.RubricLabel("polite", "It is kind.", 1.0), assay.RubricLabel("rude", "It is not.", 0.0))
    tone = assay.JudgeRubric("manner", "1", "en", "Say how {{answer}} sounds.", ("answer",), labels)
    settings = {"judge": {"model": "scripted-1", "base_url_env": "THE_JUDGE", "api_key_env": "THE_KEY"}}
    Path("assay.yaml").write_text(json.dumps(settings))
    result = assay.score("golden.jsonl", "outputs.jsonl", metrics=["hit@1"])
    judged = assay.judge(result, store="own.sqlite", settings="assay.yaml", rubrics=[tone], metrics=["manner"])
    assert 8 == judged.requests
    name = "manner(by=judge)"
    result = assay.score("golden.jsonl", "outputs.jsonl", metrics=[name], verdicts="own.sqlite", rubrics=[tone])
    assert 0.5 == result.summary("a")[name].value


@pytest.mark.slow
def test_workers_score_rubrics_too(server: JudgeServer) -> None:
    """Processes that are started, not forked, learn of the rubric as well."""
    Path("rubrics/stance.yaml").write_text(STANCE)
    assert 0 == main(["judge", *INPUTS, *NAMED, "--rubrics", "rubrics", "--metrics", "tone,stance"])
    assert 0 == main(["judge", *INPUTS, *NAMED, "--rubrics", "rubrics", "--metrics", "tone,stance"])
    single = read_report("--json-report", "report.json")[1]
    several = read_report("--json-report", "report.json", "--workers", "2")[1]
    assert single == several
    summary = single["configs"]["a"]["summary"]
    shares = {name: summary[name]["value"] for name in summary if name.startswith("stance")}
    assert {"stance(by=judge,label=hedges)": 0.5, "stance(by=judge,label=states)": 0.5} == shares


@pytest.mark.slow
def test_a_rubric_may_label_the_passages_of_the_context(server: JudgeServer) -> None:
    Path("rubrics/passage.yaml").write_text(PASSAGE)
    assert 0 == main(["judge", *INPUTS, *NAMED, "--rubrics", "rubrics", "--metrics", "passage_use"])
    summary = read_report("--json-report", "report.json")[1]["configs"]["a"]["summary"]["passage_use(by=judge)"]
    assert (0.5, 8) == (summary["value"], summary["scored"])


@pytest.mark.slow
def test_shipped_rubrics_that_no_metric_named_are_metrics(server: JudgeServer) -> None:
    names = "refusal,claims"
    assert 0 == main(["judge", *INPUTS, *NAMED, "--metrics", names])
    summary = read_report("--json-report", "report.json")[1]["configs"]["a"]["summary"]
    assert 8 == summary["refusal(by=judge,label=answer)"]["scored"]
    assert 1.0 == sum(summary[str(name)]["value"] for name in parse_metrics(["refusal"]))
    assert 1.0 == sum(summary[str(name)]["value"] for name in parse_metrics(["claims"]))


def test_every_shipped_rubric_belongs_to_a_metric() -> None:
    rubrics = load_shipped_rubrics()
    asked = {rubric for row in CATALOG.values() for rubric in row.rubrics}
    assert {name for name, _ in rubrics} == asked
    labelled = {find_main_rubric(name) for name in CATALOG} - {""}
    assert {name for name, _ in rubrics} == labelled
    for row in CATALOG.values():
        if isinstance(row, RubricMetric):
            (name,) = row.rubrics
            for language in ("en", "vi"):
                labels = tuple((label.name, label.value) for label in rubrics[name, language].labels)
                assert row.label_values == labels, (name, language)


def test_a_label_without_a_number_must_be_named() -> None:
    assert ["failure_label(by=judge,label=none)"] == [str(n) for n in parse_metrics(["failure_label(label=none)"])]
    assert 7 == len(parse_metrics(["failure_label"]))
    with pytest.raises(MetricNameError, match="say which label: failure_label"):
        parse_metric("failure_label(by=judge)")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("name: stance", "name: recall"), "rubric recall: E_RUBRIC as a metric, the name is taken"),
        (("per_item: false", "per_item: true"), "inputs.0.: E_RUBRIC no list of items to label .got 'answer'"),
        (("controls: []", "controls: [empty_answer]"), "controls.0.: E_RUBRIC no label has a value"),
    ],
)
def test_a_rubric_that_can_be_no_metric_is_refused(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    text = STANCE.replace("inputs:", "per_item: false\ncontrols: []\ninputs:").replace(*change)
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(SettingsError, match=message):
        use_rubrics([tmp_path])


def test_languages_of_a_rubric_have_the_same_labels(tmp_path: Path) -> None:
    (tmp_path / "stance.en.yaml").write_text(STANCE)
    (tmp_path / "stance.de.yaml").write_text(STANCE.replace("language: en", "language: de").replace("hedges", "zögert"))
    with pytest.raises(SettingsError):
        use_rubrics([tmp_path])
    (tmp_path / "stance.de.yaml").write_text(
        STANCE.replace("language: en", "language: de").replace("name: hedges", "name: evades")
    )
    with pytest.raises(SettingsError, match="rubric stance: E_RUBRIC other labels or values in another language"):
        use_rubrics([tmp_path])


def test_controls_are_no_part_of_the_question(tmp_path: Path) -> None:
    """Listing a control changes neither the hash of a rubric nor the verdicts that it has."""
    text = re.sub(r"controls:.*\n", "", read_documented_rubric())
    hashes = set()
    for name, controls in (("a", "controls: [planted_order]\n"), ("b", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tone.yaml").write_text(text + controls)
        hashes.add(load_rubrics([tmp_path / name])["tone", "en"].hash)
    assert 1 == len(hashes)


@pytest.mark.slow
def test_earlier_turns_and_tables_are_judged_as_the_model_saw_them(server: JudgeServer) -> None:
    table = "| Year | Days |\n|------|-----:|\n| 2 | 12 |\n\n\ttool: get_leave(year=2) → 12"
    history = [{"role": "user", "text": "I ask about year 2."}, {"role": "assistant", "text": "Go on."}]
    unit = {"any_of": [{"chunk_id": "t"}]}
    case = {"id": "c2", "question": "And the days?", "history": history, "evidence": [unit]}
    header = {"golden_set": {"name": "g", "schema_version": 1}}
    Path("golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in (header, case)))
    stage = {"name": "context", "chunks": [{"chunk_id": "t", "text": table}]}
    row = {"case_id": "c2", "config_id": "a", "stages": [stage], "answer": "You get 12 days in year 2."}
    Path("outputs.jsonl").write_text(json.dumps(row) + "\n")
    Path("rubrics/stance.yaml").write_text(STANCE)
    assert 0 == main(["judge", *INPUTS, *NAMED, "--rubrics", "rubrics", "--metrics", "faithfulness(by=judge),stance"])
    asked = [call["body"]["messages"][1]["content"] for call in server.requests]
    support = next(text for text in asked if '"claims"' in text and "12 days in year 2" in text)
    stance = next(text for text in asked if '"history"' in text)
    turns = "[user] I ask about year 2.\\n[assistant] Go on.\\n[user] And the days?"
    unmarked = re.sub(r"\[\[/?[a-p]{16}\]\]", "", support)
    assert unmarked != support and json.dumps(table, ensure_ascii=False)[1:-1] in unmarked and turns in unmarked
    assert '"history":[{"role":"user","text":"I ask about year 2."}' in stance
    assert '"question":"And the days?"' in stance
