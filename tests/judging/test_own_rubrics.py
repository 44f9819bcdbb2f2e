"""Rubrics of one's own, wherever verdicts are read: scoring, run folders, labels, calibration, judging."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.judging import NAMED, judging
from tests.runs.judged import JUDGE, World, read_summary
from tests.runs.scoring import write
from tests.support.judge_server import JudgeServer

import assay
from assay.cli import main
from assay.judging.rubric_files import load_rubrics

METRIC = "answer_relevance(by=judge)"


def own_rubric(folder: Path) -> str:
    """Write a rubric of relevance with a label that the shipped one does not have."""
    mine = folder / "mine"
    mine.mkdir()
    shipped = (Path(assay.__file__).parent / "judging" / "rubrics" / "relevance.en.yaml").read_text(encoding="utf-8")
    text = shipped.replace('version: "1"', 'version: "mine"').replace("name: relevant", "name: to_the_point")
    text = text.replace("label: relevant", "label: to_the_point")
    (mine / "relevance.en.yaml").write_text(text, encoding="utf-8")
    return str(mine)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def run(world: World) -> Path:
    """A run that was judged with a rubric from a folder that was deleted afterwards."""
    mine = own_rubric(world.folder)
    verdicts = world.export(world.contents(JUDGE, rubrics=load_rubrics([mine])))
    run = world.folder / "run"
    assert 0 == world.score(verdicts, "--rubrics", mine, "--run-dir", str(run))[0]
    for path in (Path(mine) / "relevance.en.yaml", Path(verdicts)):
        path.unlink()
    return run


def scored(run: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    status = main(["score", str(run), "--format", "json"])
    printed = capsys.readouterr()
    return read_summary(json.loads(printed.out), METRIC) if not status else printed.err


@pytest.mark.slow
def test_a_run_folder_carries_the_rubrics_that_it_is_scored_again_with(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    report = scored(run, capsys)
    assert (1.0, 2, 0) == (report["value"], report["scored"], report["errors"])
    assert 0 == main(["report", str(run), "--json", str(run / "again.json")])
    assert report == read_summary(json.loads((run / "again.json").read_bytes()), METRIC)
    assert 0 == main(["explain", "q1", "--verbose", "--run", f"{run}:a"])
    (line,) = [
        line_of_output
        for line_of_output in capsys.readouterr().out.splitlines()
        if line_of_output.strip().startswith(METRIC)
    ]
    assert "1.000" in line and "to_the_point" in line


@pytest.mark.slow
def test_a_run_copied_out_of_a_run_has_them_too(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = run.with_name("other")
    assert 0 == main(["score", str(run), "--run-dir", str(other)])
    capsys.readouterr()
    assert scored(run, capsys) == scored(other, capsys)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: path.write_text(path.read_text() + "# only a comment\n"), "is not the file that was scored"),
        (lambda path: path.unlink(), "does not exist (expected the file that the manifest names)"),
        (lambda path: path.with_name("2-tone.yaml").write_text("name: tone"), "is not a rubric of this run"),
    ],
    ids=["edited", "gone", "another beside it"],
)
def test_a_rubric_of_a_run_that_was_changed_is_refused(
    run: Path, capsys: pytest.CaptureFixture[str], change: Any, said: str
) -> None:
    change(run / "rubrics" / "1-relevance.en.yaml")
    for words in (["score", str(run)], ["explain", "q1", "--run", str(run)]):
        assert 2 == main(words)
        assert said in capsys.readouterr().err


@pytest.mark.slow
def test_other_verdicts_of_a_run_come_with_their_own_rubrics(
    world: World, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = world.export(world.contents(JUDGE))
    capsys.readouterr()
    assert 0 == main(["score", str(run), "--verdicts", shipped, "--format", "json"])
    assert 0 == read_summary(json.loads(capsys.readouterr().out), METRIC)["errors"]


@pytest.mark.slow
def test_people_choose_among_the_labels_that_the_judge_chose_among(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The labels of the sheet, those that come back, and the judge's are those of the run's own rubric."""
    sheets, labels = run.with_name("sheets"), run.with_name("labels.jsonl")
    assert 0 == main(["labels", "export", "--run", str(run), "--metric", "answer_relevance", "--out", str(sheets)])
    rows = [json.loads(line) for line in (sheets / "sheet-1.jsonl").read_bytes().splitlines()]
    assert {"to_the_point"} == {row["options"][0] for row in rows}
    filled = run.with_name("filled.jsonl")
    filled.write_text("".join(json.dumps(row | {"label": row["options"][0], "rater": "Lan"}) + "\n" for row in rows))
    words = ["labels", "import", str(filled), "--key", str(sheets / "key.json"), "--out", str(labels)]
    assert 0 == main(words)
    capsys.readouterr()
    printed = []
    for verdicts in ([], ["--verdicts", str(run / "verdicts.jsonl")]):  # those of the run, unless others are named
        assert 0 == main(["calibrate", "--run", str(run), "--labels", str(labels), *verdicts, "--format", "json"])
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    measured = {measurement["by"]: measurement for measurement in json.loads(printed[0])["measured"]}
    assert (4, 1.0) == (measured["judge"]["pass_fail"]["n"], measured["judge"]["pass_fail"]["raw"])
    assert ["to_the_point"] == [label for label, share in measured["judge"]["by_label"]["prevalence"].items() if share]


@pytest.mark.parametrize("metric", ["answer_relevance", "tone"])
def test_a_key_of_an_earlier_version_needs_the_rubrics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], metric: str
) -> None:
    """It does not say from which labels people chose; a label or a metric that nothing knows is no bug."""
    rows = {"r1": {"case_id": "q1", "config_id": "a", "metric": metric}}
    key = write(tmp_path / "key.json", [{"format": 1, "golden": "sha256:0", "seed": 0, "rows": rows}])
    sheet = write(tmp_path / "sheet.jsonl", [{"row_id": "r1", "label": "polite", "rater": "Lan"}])
    assert 2 == main(["labels", "import", sheet, "--key", key, "--out", str(tmp_path / "labels.jsonl")])
    printed = capsys.readouterr().err
    assert "E_LABEL unknown" in printed and (metric != "tone" or "name its folder with --rubrics" in printed)


@pytest.mark.slow
def test_a_custom_rubric_can_be_calibrated_together_with_built_in_ones(world: World) -> None:
    """The built-in rubric of correctness is used either way: it is one scorer, not two."""
    mine = own_rubric(world.folder)
    verdicts = world.export(world.contents(JUDGE, rubrics=load_rubrics([mine])))
    label_by_metric = {"answer_relevance": "to_the_point", "correctness": "correct"}
    rows = [
        {"case_id": case_id, "metric": metric, "rater": "Lan", "label": label, "config_id": "a"}
        for case_id in ("q1", "q2")
        for metric, label in label_by_metric.items()
    ]
    labels, out = world.folder / "labels.jsonl", world.folder / "calibration.json"
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    words = ["calibrate", "--golden", world.golden, "--outputs", world.outputs, "--labels", str(labels)]
    assert 0 == main([*words, "--verdicts", verdicts, "--rubrics", mine, "--out", str(out)])
    names = [each["metric"] for each in json.loads(out.read_bytes())["calibrations"]]
    assert 1 == names.count("correctness(by=judge)") == names.count(METRIC)


@pytest.mark.slow
def test_from_python_verdicts_are_replayed_with_the_rubrics_of_a_folder(world: World) -> None:
    mine = own_rubric(world.folder)
    verdicts = world.export(world.contents(JUDGE, rubrics=load_rubrics([mine])))
    golden, observations = assay.load_golden(world.golden), assay.load_observations(world.outputs)
    assert 2 == assay.score(golden, observations, verdicts=verdicts, rubrics=[mine]).summary("a")[METRIC].scored


# ── asked ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(name="server")
def _server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judging(tmp_path, monkeypatch) as server:
        yield server


def judge(*more: str) -> int:
    return main(["judge", *more, *NAMED, "--metrics", METRIC, "--votes", "1"])


@pytest.mark.slow
def test_a_run_is_judged_with_the_rubrics_named_and_asked_with_them_again(server: JudgeServer) -> None:
    words = ["--golden", "golden.jsonl", "--outputs", "outputs.jsonl"]
    assert 0 == main(["score", *words, "--run-dir", "run"])
    assert 0 == judge("--run", "run", "--rubrics", own_rubric(Path()))
    Path("mine/relevance.en.yaml").unlink()
    calls = server.calls
    assert any("to_the_point" in json.dumps(request["body"]) for request in server.requests)
    assert 0 == judge("--run", "run")
    assert calls == server.calls
    assert 0 == main(["score", "run", "--json-report", "report.json"])  # claims were not asked about: no error
    assert (8, 0) == tuple(
        read_summary(json.loads(Path("report.json").read_bytes()), METRIC)[key] for key in ("scored", "errors")
    )


def test_another_text_under_the_version_of_recorded_verdicts_is_refused(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--run-dir", "run"])
    folder = own_rubric(Path())
    assert 0 == judge("--run", "run", "--rubrics", folder)
    calls, path = server.calls, Path(folder, "relevance.en.yaml")
    text = path.read_text(encoding="utf-8")
    changed = text.replace("Repeating the question", "Repeating the whole question")
    assert changed != text
    path.write_text(changed, encoding="utf-8")
    assert 2 == judge("--run", "run", "--rubrics", folder)
    assert "E_RUBRIC_VERSION another text than the run has verdicts on (got relevance@" in capsys.readouterr().err
    path.write_text(re.sub(r"(?m)^version: .*", 'version: "mine-2"', changed), encoding="utf-8")
    assert calls == server.calls
    assert 0 == judge("--run", "run", "--rubrics", folder)
    assert calls < server.calls


def test_what_comes_after_judging_with_own_rubrics_names_them(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == judge("--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--rubrics", own_rubric(Path()))
    (following,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("next: assay score")]
    assert following.endswith("--verdicts verdicts.sqlite --rubrics mine")
    assert 0 == main([*following.split()[2:], "--metrics", METRIC])
