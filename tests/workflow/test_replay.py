"""Recorded verdicts replayed: the same bytes without a network, what is not recorded, whose verdicts, and gates."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.workflow.scoring import write

import assay
from assay.cli import main
from assay.graders.catalog import JUDGED_METRICS, parse
from assay.graders.instruments import requests_of
from assay.graders.joins import Joins
from assay.graders.names import MetricName
from assay.io.calibrations import write_calibrations
from assay.io.golden import load_golden
from assay.io.rubrics import load_rubrics
from assay.judges.book import Book
from assay.judges.rows import Contents, sorted_verdicts, to_lines
from assay.verdict import Calibration, ItemVerdict, JudgeIdentity, JudgeRequest, Standing, Verdict, rubrics_hash
from assay.workflow import outputs as files_of_outputs
from assay.workflow.api import load_observations
from assay.workflow.explain import explain_case
from assay.workflow.questions import judged_names
from assay.workflow.runs import opened
from assay.workflow.session import Request, scored

NAMES = [parse(text) for text in JUDGED_METRICS]
JUDGE, OTHER = JudgeIdentity("openai", "local", "judge-1"), JudgeIdentity("openai", "local", "judge-2")
TEXTS = {"leave": "Staff get 12 days of leave.", "carry": "Five unused days carry over to March."}
ANSWERS = {
    "q1": "Staff get 12 days of leave [leave].",
    "q2": "Staff get 12 days of leave [leave]. Ten unused days carry over [carry].",
    "q3": "I could not find any information about this.",
}
CASES = [
    {
        "id": case_id,
        "question": f"How much in {case_id}?",
        "expected_chunk_ids": ["leave"],
        "expected_answer": "12 days",
        "must_have": ["12 days"],
    }
    for case_id in ANSWERS
]


def rows(config: str) -> list[dict[str, Any]]:
    """The recorded outputs of one configuration."""
    context = {"name": "context", "chunks": [{"chunk_id": name, "text": text} for name, text in TEXTS.items()]}
    return [
        {"case_id": case_id, "config_id": config, "stages": [context], "answer": answer, "citations": list(TEXTS)}
        for case_id, answer in ANSWERS.items()
    ]


def supports(request: JudgeRequest, item: str) -> str:
    """A judge that finds all but the ten days, and is content with everything else."""
    if request.rubric not in ("support", "citation_support"):
        return request.labels[0]
    (key,) = {"claims", "citations"} & request.inputs.keys()
    text = next(entry["text"] for entry in request.inputs[key] if entry["id"] == item)
    return "contradicted" if "Ten" in text else "supported"


class World:
    """A golden set and outputs as files, and books of what judges said about them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.golden = write(folder / "golden.jsonl", CASES)
        self.outputs = write(folder / "outputs.jsonl", [row for config in "ab" for row in rows(config)])

    def requests(self, names: Sequence[MetricName] = NAMES) -> list[JudgeRequest]:
        golden = load_golden(self.golden).golden
        joins, rubrics = Joins(golden), load_rubrics()
        seen = load_observations(self.outputs)
        asked = [requests_of(joins.case(joins.position[each.case_id]), each, names, rubrics) for each in seen]
        return list({request.digest: request for each in asked for request in each}.values())

    def contents(self, *judges: JudgeIdentity, but: Callable[[JudgeRequest], bool] = lambda _: False) -> Contents:
        verdicts = [
            Verdict(
                each.digest, judge.digest, 0, each.rubric, tuple(ItemVerdict(i, supports(each, i)) for i in each.items)
            )
            for judge in judges
            for each in self.requests()
            if not but(each)
        ]
        return Contents(list(judges), sorted_verdicts(verdicts))

    def export(self, contents: Contents) -> str:
        path = self.folder / "verdicts.jsonl"
        path.write_bytes(b"".join(to_lines(contents)))
        return str(path)

    def score(self, verdicts: str, *options: str) -> tuple[int, bytes, dict[str, Any]]:
        cases, report = self.folder / "cases.jsonl", self.folder / "report.json"
        command = ["score", "--golden", self.golden, "--outputs", self.outputs, "--verdicts", verdicts]
        status = main([*command, "--per-case", str(cases), "--json-report", str(report), *options])
        return status, cases.read_bytes() + report.read_bytes(), json.loads(report.read_bytes())


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def summary(report: dict[str, Any], metric: str) -> dict[str, Any]:
    """The summary of a metric of configuration `a`."""
    found: dict[str, Any] = report["configs"]["a"]["summary"][metric]
    return found


def test_configurations_that_say_the_same_share_their_verdicts(world: World) -> None:
    """Two answers that are judged: support, citations, correctness, completeness and relevance of each; the refusal is
    asked about for correctness and completeness only."""
    assert 2 * 5 + 2 == len(world.requests())


def test_what_is_judged_by_default_is_all_that_is_scored_by_default(world: World) -> None:
    everything = {request.digest for request in world.requests()}
    assert everything == {request.digest for request in world.requests(judged_names(()))}


def test_scores_come_from_the_labels(world: World) -> None:
    """q1: 1 of 1 claim; q2: 1 of 2, its mean is .75. The refusal has no claims. Risk: q1 1 − 1 × 1 (the spare citation
    of carry is attached to the only claim), q2 1 − 1/2 × 1/2."""
    status, _, report = world.score(world.export(world.contents(JUDGE)))
    faithful, risk = summary(report, "faithfulness(by=judge)"), summary(report, "hallucination_risk(by=judge)")
    assert (0, 0.75, 2, 1) == (status, faithful["value"], faithful["scored"], faithful["not_applicable"])
    assert (0.0 + 0.75) / 2 == risk["value"]
    assert 1.0 == summary(report, "unsupported_claims(by=judge)")["value"] * 2
    assert 0.0 == summary(report, "judge_unscored")["value"]


def test_scoring_from_a_recorded_book_gives_the_same_bytes_with_sockets_blocked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = world.contents(JUDGE)
    exported = world.export(contents)
    book = world.folder / "verdicts.sqlite"
    with Book(book) as kept:
        kept.register(JUDGE)
        kept.save([each for samples in contents.verdicts[JUDGE.digest].values() for each in samples])
    expected = world.score(exported)[:2]

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(files_of_outputs, "SHARD_BYTES", 300)
    for verdicts in (exported, str(book)):
        for workers in ("1", "2"):
            assert expected == world.score(verdicts, "--workers", workers)[:2]


def test_a_request_without_a_verdict_is_an_error_and_leaves_the_run_incomplete(world: World) -> None:
    gone = next(each for each in world.requests() if each.rubric == "support").digest
    status, _, report = world.score(world.export(world.contents(JUDGE, but=lambda each: each.digest == gone)))
    found = summary(report, "faithfulness(by=judge)")
    assert (3, 1, 1) == (status, found["scored"], found["errors"])
    assert b'"reason": "no verdict recorded"' in (world.folder / "cases.jsonl").read_bytes().replace(b'":"', b'": "')


def test_a_metric_on_whose_rubric_nothing_is_recorded_stays_unmeasured(world: World) -> None:
    only = world.export(world.contents(JUDGE, but=lambda each: each.rubric != "support"))
    status, _, report = world.score(only)
    measured = report["configs"]["a"]["summary"]
    assert (0, True, False) == (status, "faithfulness(by=judge)" in measured, "correctness(by=judge)" in measured)
    _, _, asked = world.score(only, "--metrics", "correctness(by=judge)")
    assert any("no verdicts are recorded: correctness(by=judge)" in warning for warning in asked["warnings"])


def test_two_judges_and_none_named_is_a_usage_error(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = world.export(world.contents(JUDGE, OTHER))
    command = ["score", "--golden", world.golden, "--outputs", world.outputs, "--verdicts", verdicts]
    assert 2 == main(command)
    said = capsys.readouterr().err
    assert "several judges, and none named" in said and "judge-1" in said and JUDGE.digest in said
    assert 0 == main([*command, "--judge", "judge-2"]) == main([*command, "--judge", JUDGE.digest])
    assert 2 == main([*command, "--judge", "judge-3"])
    assert "no such judge (got 'judge-3'" in capsys.readouterr().err


def test_a_judge_without_verdicts_is_a_usage_error(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["score", "--golden", world.golden, "--outputs", world.outputs, "--judge", "judge-1"])
    assert "expected --verdicts FILE as well" in capsys.readouterr().err


# ── gates ────────────────────────────────────────────────────────────────────────────────────────────────────────

RULE = "rules: [{{metric: 'faithfulness(by={by})', at_least: 0.5, if_unmeasured: {unmeasured}}}]\n"


def gated(world: World, verdicts: str, by: str, unmeasured: str, *options: str) -> tuple[int, str]:
    """The exit code of a gate on faithfulness, and what is said of its rule."""
    gate = world.folder / "gate.yaml"
    gate.write_text(RULE.format(by=by, unmeasured=unmeasured), encoding="utf-8")
    status, _, report = world.score(verdicts, "--gate", str(gate), *options)
    (rule,) = report["configs"]["a"]["decision"]["rules"]
    return status, rule["state"]


def calibrated(world: World, **changes: Any) -> str:
    """A file that lets the judge gate by faithfulness."""
    rubrics = rubrics_hash(load_rubrics().values(), "support")
    record = Calibration("faithfulness(by=judge)", JUDGE.digest, rubrics, "", "", n=100, raters=2, may_gate=True)
    record = replace(record, **changes)
    return str(write_calibrations(str(world.folder / "calibration.json"), [record], {}))


@pytest.mark.parametrize("by", ["rules", "judge"])
def test_an_uncalibrated_instrument_may_inform_and_not_gate(world: World, by: str) -> None:
    """Not even where the user lets what is unmeasured fail: it was measured, and is told as a risk."""
    verdicts = world.export(world.contents(JUDGE))
    assert [(0, "unmeasured")] * 2 == [gated(world, verdicts, by, each) for each in ("fail", "risk")]
    assert 1 == gated(world, verdicts, by, "risk", "--strict")[0]


def test_a_calibrated_judge_may_gate(world: World) -> None:
    verdicts = world.export(world.contents(JUDGE))
    assert (0, "pass") == gated(world, verdicts, "judge", "fail", "--calibration", calibrated(world))


@pytest.mark.parametrize("changes", [{"may_gate": False}, {"judge": OTHER.digest}, {"rubric_hash": "sha256:older"}])
def test_a_calibration_of_something_else_unlocks_nothing(world: World, changes: dict[str, Any]) -> None:
    verdicts = world.export(world.contents(JUDGE))
    given = ("--calibration", calibrated(world, **changes))
    assert (0, "unmeasured") == gated(world, verdicts, "judge", "fail", *given)


def test_a_judge_that_failed_its_controls_warns_and_may_not_gate(world: World) -> None:
    contents = world.contents(JUDGE)
    contents.standings[JUDGE.digest] = Standing(JUDGE.digest, invalid=True, reasons=("passed shuffled contexts",))
    verdicts = world.export(contents)
    assert (0, "unmeasured") == gated(world, verdicts, "judge", "fail", "--calibration", calibrated(world))
    _, _, report = world.score(verdicts)
    assert any("E_JUDGE_INVALID judge-1" in warning for warning in report["warnings"])


def test_a_calibrated_rules_instrument_scores_probabilities_and_may_gate(world: World) -> None:
    """With slope 0 and intercept 0 every claim has probability one half."""
    record = {"judge": "1", "rubric_hash": "", "platt": {"slope": 0.0, "intercept": 0.0}}
    path = calibrated(world, **record)
    text = Path(path).read_text(encoding="utf-8").replace("by=judge", "by=rules")
    Path(path).write_text(text, encoding="utf-8")
    verdicts = world.export(world.contents(JUDGE))
    assert (0, "pass") == gated(world, verdicts, "rules", "fail", "--calibration", path)
    assert 0.5 == summary(world.score(verdicts, "--calibration", path)[2], "faithfulness(by=rules)")["value"]


# ── run folders and single cases ─────────────────────────────────────────────────────────────────────────────────


def test_a_run_folder_is_scored_again_with_the_judge_of_its_manifest(world: World) -> None:
    run = world.folder / "run"
    assert 0 == main(["score", "--golden", world.golden, "--outputs", world.outputs, "--run-dir", str(run)])
    (run / "verdicts.jsonl").write_bytes(b"".join(to_lines(world.contents(JUDGE, OTHER))))
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    manifest["judge"] = {"digest": JUDGE.digest, "model": "judge-1", "endpoint": "local", "book": "verdicts.jsonl"}
    (run / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with opened(run) as found:
        assert 0.75 == found.scoring.configs["a"].summary["faithfulness(by=judge)"].value


def test_from_python_the_same_verdicts_give_the_same_numbers(world: World) -> None:
    golden, seen = assay.load_golden(world.golden), assay.load_observations(world.outputs)
    result = assay.score(golden, seen, verdicts=world.export(world.contents(JUDGE)), judge="judge-1")
    assert 0.75 == result.summary("a")["faithfulness(by=judge)"].value


def test_one_case_says_how_its_scores_came_about(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = world.export(world.contents(JUDGE))
    with scored(Request(world.golden, [world.outputs], verdicts=verdicts, look_again=True)) as run:
        told = explain_case(run, "q2", "a")
    (line,) = [each for each in told.splitlines() if each.strip().startswith("unsupported_claims(by=judge)")]
    assert "1.000" in line and "unsupported: Ten unused days carry over. (contradicted)" in line


def test_an_answer_that_leaks_is_not_quoted_in_the_reasons(world: World) -> None:
    golden = write(world.folder / "guarded.jsonl", [case | {"forbidden_text": ["Ten unused"]} for case in CASES])
    verdicts = world.export(world.contents(JUDGE))
    with scored(Request(golden, [world.outputs], verdicts=verdicts, look_again=True)) as run:
        assert "days carry over. (" not in explain_case(run, "q2", "a")
