"""Scoring with recorded verdicts: same bytes without a network, missing verdicts, choice of the judge, and gates."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from msgspec import structs
from tests.runs.judged import CASES, JUDGE, OTHER, World, read_summary
from tests.runs.scoring import write

import assay
from assay.cli import main
from assay.formats import outputs as files_of_outputs
from assay.judging.collect_questions import parse_judged_metrics
from assay.judging.load_verdicts import describe_judge, match_verdicts, open_verdicts, warn_of_self_judging
from assay.judging.rubric_files import load_rubrics
from assay.judging.verdict_files import StoreContents, encode_lines, sort_verdicts
from assay.judging.verdict_store import SqliteVerdictStore
from assay.records.requests import InputOptions, ScoreRequest, ScoringOptions, VerdictOptions
from assay.records.verdicts import Calibration, ItemVerdict, Verdict, compute_rubrics_hash
from assay.report.cases.explain_case import explain_case
from assay.runs.rescore_run import open_run
from assay.runs.score_run import open_scored_run


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_configurations_that_say_the_same_share_their_verdicts(world: World) -> None:
    """Two answers that are judged: support, citations, correctness, completeness and relevance of each; the refusal is
    asked about for correctness and completeness only."""
    assert 2 * 5 + 2 == len(world.requests())


def test_what_is_judged_by_default_is_all_that_is_scored_by_default(world: World) -> None:
    everything = {request.digest for request in world.requests()}
    assert everything == {request.digest for request in world.requests(parse_judged_metrics(()))}


def test_scores_come_from_the_labels(world: World) -> None:
    """q1: 1 of 1 claim; q2: 1 of 2, its mean is .75. The refusal has no claims. Risk: q1 1 − 1 × 1 (the spare citation
    of carry is attached to the only claim), q2 1 − 1/2 × 1/2."""
    status, _, report = world.score(world.export(world.contents(JUDGE)))
    faithful, risk = (
        read_summary(report, "faithfulness(by=judge)"),
        read_summary(report, "hallucination_risk(by=judge)"),
    )
    assert (0, 0.75, 2, 1) == (status, faithful["value"], faithful["scored"], faithful["not_applicable"])
    assert (0.0 + 0.75) / 2 == risk["value"]
    assert 1.0 == read_summary(report, "unsupported_claims(by=judge)")["value"] * 2
    assert 0.0 == read_summary(report, "judge_unscored")["value"]


@pytest.mark.slow
def test_scoring_from_a_verdict_store_gives_the_same_bytes_with_sockets_blocked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = world.contents(JUDGE)
    exported = world.export(contents)
    store_path = world.folder / "verdicts.sqlite"
    with SqliteVerdictStore(store_path) as store:
        store.register_judge(JUDGE)
        store.save([verdict for samples in contents.verdicts[JUDGE.digest].values() for verdict in samples])
    expected = world.score(exported)[:2]

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(files_of_outputs, "BYTES_PER_SHARD", 300)
    for verdicts, workers in ((exported, "1"), (str(store_path), "1"), (str(store_path), "2")):
        assert expected == world.score(verdicts, "--workers", workers)[:2]


def test_a_request_without_a_verdict_is_an_error_and_leaves_the_run_incomplete(world: World) -> None:
    gone = next(request for request in world.requests() if request.rubric == "support").digest
    status, _, report = world.score(world.export(world.contents(JUDGE, but=lambda request: request.digest == gone)))
    metric_summary = read_summary(report, "faithfulness(by=judge)")
    assert (3, 1, 1) == (status, metric_summary["scored"], metric_summary["errors"])
    assert b'"reason": "no verdict recorded"' in (world.folder / "cases.jsonl").read_bytes().replace(b'":"', b'": "')


def test_a_metric_without_recorded_verdicts_on_its_rubric_stays_unmeasured(world: World) -> None:
    only = world.export(world.contents(JUDGE, but=lambda each: each.rubric != "support"))
    status, _, report = world.score(only)
    measured = report["configs"]["a"]["summary"]
    assert (0, True, False) == (status, "faithfulness(by=judge)" in measured, "correctness(by=judge)" in measured)
    _, _, requested_report = world.score(only, "--metrics", "correctness(by=judge)")
    assert any("no verdicts are recorded: correctness(by=judge)" in warning for warning in requested_report["warnings"])


@pytest.mark.slow
def test_verdicts_on_rubrics_of_the_user_need_those_rubrics(world: World) -> None:
    """The hash of a rubric belongs to what was asked: under other words it is another question."""
    mine = world.folder / "rubrics"
    mine.mkdir()
    shipped = (Path(assay.__file__).parent / "judging" / "rubrics" / "relevance.en.yaml").read_text(encoding="utf-8")
    (mine / "relevance.en.yaml").write_text(shipped.replace('version: "1"', 'version: "mine"'), encoding="utf-8")
    verdicts = world.export(world.contents(JUDGE, rubrics=load_rubrics([mine])))
    _, _, without = world.score(verdicts)
    _, _, report_with_rubrics = world.score(verdicts, "--rubrics", str(mine))
    metric = "answer_relevance(by=judge)"
    assert (2, 0) == (read_summary(without, metric)["errors"], read_summary(report_with_rubrics, metric)["errors"])


@pytest.mark.slow
def test_two_judges_and_none_named_is_a_usage_error(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = world.export(world.contents(JUDGE, OTHER))
    command = ["score", "--golden", world.golden, "--outputs", world.outputs, "--verdicts", verdicts]
    assert 2 == main(command)
    message = capsys.readouterr().err
    assert "several judges, and none named" in message and "judge-1" in message and JUDGE.digest in message
    assert 0 == main([*command, "--judge", "judge-2"]) == main([*command, "--judge", JUDGE.digest])
    assert 2 == main([*command, "--judge", "judge-3"])
    assert "no such judge (got 'judge-3'" in capsys.readouterr().err


def test_a_judge_without_verdicts_is_a_usage_error(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["score", "--golden", world.golden, "--outputs", world.outputs, "--judge", "judge-1"])
    assert "expected --verdicts FILE as well" in capsys.readouterr().err


# ── run folders and single cases ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_a_run_folder_is_scored_again_with_the_judge_of_its_manifest(world: World) -> None:
    run = world.folder / "run"
    assert 0 == main(["score", "--golden", world.golden, "--outputs", world.outputs, "--run-dir", str(run)])
    (run / "verdicts.jsonl").write_bytes(b"".join(encode_lines(world.contents(JUDGE, OTHER))))
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    manifest["judge"] = {"digest": JUDGE.digest, "model": "judge-1", "endpoint": "local", "store": "verdicts.jsonl"}
    (run / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with open_run(run) as scored_run:
        assert 0.75 == scored_run.scoring.configs["a"].summary["faithfulness(by=judge)"].value


def test_from_python_the_same_verdicts_give_the_same_numbers(world: World) -> None:
    golden, observations = assay.load_golden(world.golden), assay.load_observations(world.outputs)
    result = assay.score(golden, observations, verdicts=world.export(world.contents(JUDGE)), judge="judge-1")
    assert 0.75 == result.summary("a")["faithfulness(by=judge)"].value


def _request(golden: str, outputs: str, verdicts: str) -> ScoreRequest:
    inputs = InputOptions(golden=golden, outputs=[outputs])
    return ScoreRequest(inputs, VerdictOptions(verdicts), scoring=ScoringOptions(look_again=True))


def test_one_case_says_how_its_scores_came_about(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = world.export(world.contents(JUDGE))
    with open_scored_run(_request(world.golden, world.outputs, verdicts)) as run:
        text = explain_case(run, "q2", "a", verbose=True)
    (line,) = [
        line_of_text
        for line_of_text in text.splitlines()
        if line_of_text.strip().startswith("unsupported_claims(by=judge)")
    ]
    assert "1.000" in line and "unsupported: Ten unused days carry over. (contradicted)" in line


def test_an_answer_that_leaks_is_not_quoted_in_the_reasons(world: World) -> None:
    golden = write(world.folder / "guarded.jsonl", [case | {"forbidden_text": ["Ten unused"]} for case in CASES])
    verdicts = world.export(world.contents(JUDGE))
    with open_scored_run(_request(golden, world.outputs, verdicts)) as run:
        assert "days carry over. (" not in explain_case(run, "q2", "a", verbose=True)


def test_a_run_folder_keeps_the_verdicts_that_it_was_scored_with(world: World) -> None:
    store = world.export(world.contents(JUDGE))
    _, _, report = world.score(store, "--run-dir", str(world.folder / "kept"))
    with open_run(world.folder / "kept") as run:
        again = run.scoring.configs[next(iter(run.scoring.configs))].summary["faithfulness(by=judge)"]
    assert (0.75, 2) == (again.value, again.scored)
    assert 0.75 == read_summary(report, "faithfulness(by=judge)")["value"]


def test_a_judge_that_never_answered_leaves_the_scores_as_they_were(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    dead = [
        Verdict(each.digest, JUDGE.digest, 0, each.rubric, unscored="provider", message="unreachable: nobody listens")
        for each in world.requests()
    ]
    _, _, judged = world.score(world.export(StoreContents([JUDGE], sort_verdicts(dead))))
    screen = capsys.readouterr()
    _, _, before = world.score(world.export(StoreContents([JUDGE], {})))
    assert before["configs"] == judged["configs"]
    assert "judge-1 gave no verdict on anything it was asked" in screen.out + screen.err
    assert "judged by" not in screen.out + screen.err


def test_a_judge_that_answered_once_counts_with_its_errors(world: World) -> None:
    requests = world.requests()
    verdicts = [Verdict(each.digest, JUDGE.digest, 0, each.rubric, unscored="provider") for each in requests[1:]]
    first = requests[0]
    verdicts.append(
        Verdict(
            first.digest, JUDGE.digest, 0, first.rubric, tuple(ItemVerdict(i, first.labels[0]) for i in first.items)
        )
    )
    _, _, judged = world.score(world.export(StoreContents([JUDGE], sort_verdicts(verdicts))))
    assert judged["configs"]["a"]["summary"]["faithfulness(by=judge)"]["errors"] >= 1


def named_models(world: World, *models: str | None) -> str:
    """An export whose verdicts were given by these models in turn, None for one that its endpoint did not name."""
    contents = world.contents(JUDGE)
    samples = [sample for samples in contents.verdicts[JUDGE.digest].values() for sample in samples]
    answered = [structs.replace(sample, model=models[row % len(models)]) for row, sample in enumerate(samples)]
    return world.export(structs.replace(contents, verdicts=sort_verdicts(answered)))


def test_several_models_under_the_name_of_a_judge_are_named_and_do_not_gate(world: World) -> None:
    mixed = named_models(world, "judge-1-may", "judge-1-june")
    judging, notices = open_verdicts(mixed, None, load_rubrics())
    assert ("judge-1-june", "judge-1-may") == judging.answering_models and not judging.valid
    (notice,) = (notice for notice in notices if "E_JUDGE_MODELS" in notice)
    assert "judge-1-june (" in notice and "judge-1-may (" in notice
    (line,) = describe_judge(judging)
    assert "answered as judge-1-june and judge-1-may" in line
    rubric = compute_rubrics_hash(judging.rubrics.values(), "correctness")
    metric = "correctness(by=judge)"
    record = Calibration(metric, judging.judge, rubric, "golden", "labels", 200, 2, may_gate=True)
    matched, _ = match_verdicts(structs.replace(judging, calibrations={metric: record}), "golden")
    assert matched is not None  # that it was calibrated and does not count is another thing than no calibration
    assert "several models answered under its name" in matched.refused_calibrations[metric]


def test_one_model_under_another_name_is_usual_and_named(world: World) -> None:
    judging, notices = open_verdicts(named_models(world, "judge-1-may"), None, load_rubrics())
    assert judging.valid and not any("E_JUDGE_MODELS" in notice for notice in notices)
    assert "answered as judge-1-may)" in describe_judge(judging)[0]


@pytest.mark.parametrize(
    "measured, applies", [(("judge-1-may",), True), ((), True), (("judge-1-april",), False)], ids=str
)
def test_a_calibration_of_another_model_under_the_same_name_lets_nothing_gate(
    world: World, measured: tuple[str, ...], applies: bool
) -> None:
    judging, _ = open_verdicts(named_models(world, "judge-1-may"), None, load_rubrics())
    rubric = compute_rubrics_hash(judging.rubrics.values(), "correctness")
    metric = "correctness(by=judge)"
    record = Calibration(metric, judging.judge, rubric, "golden", "labels", 200, 2, may_gate=True, models=measured)
    matched, notices = match_verdicts(structs.replace(judging, calibrations={metric: record}), "golden")
    assert matched is not None and applies == (metric in matched.calibrations)
    assert applies == (not any("another model under the name of the judge" in notice for notice in notices))


@pytest.mark.parametrize(
    "answering, measured, applies",
    [
        ((None,), ("judge-1-may",), False),
        (("judge-1-may", None), ("judge-1-may",), False),
        ((None,), (), True),
    ],
    ids=str,
)
def test_a_calibration_of_a_named_model_does_not_count_for_verdicts_that_name_none(
    world: World, answering: tuple[str | None, ...], measured: tuple[str, ...], applies: bool
) -> None:
    judging, _ = open_verdicts(named_models(world, *answering), None, load_rubrics())
    rubric = compute_rubrics_hash(judging.rubrics.values(), "correctness")
    metric = "correctness(by=judge)"
    record = Calibration(metric, judging.judge, rubric, "golden", "labels", 200, 2, may_gate=True, models=measured)
    matched, notices = match_verdicts(structs.replace(judging, calibrations={metric: record}), "golden")
    assert matched is not None and applies == (metric in matched.calibrations)
    assert applies == (not any("do not name the model that gave them (judge again" in notice for notice in notices))


def test_a_metric_that_was_asked_for_and_not_measured_is_the_first_note(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Next to a judge with much to say it was one of the notes that only --verbose shows."""
    monkeypatch.setenv("COLUMNS", "120")
    world.score(named_models(world, "judge-1"), "--metrics", "faithfulness(by=entailment)")
    notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("note: ")]
    assert "note: not measured, because no --entailment-model is named: faithfulness(by=entailment)" == notes[0]


def test_a_judge_behind_whose_name_the_generator_answers_is_named(world: World) -> None:
    judging, _ = open_verdicts(named_models(world, "writer-7b-2026-01-01"), None, load_rubrics())
    (warning,) = warn_of_self_judging(judging, {"generator": ["writer-7b"]})
    assert "judged by the model that wrote the answers (writer-7b-2026-01-01)" in warning
    assert () == warn_of_self_judging(judging, {"generator": ["another-7b"]})
