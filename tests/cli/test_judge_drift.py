"""Anchors: a judge that has moved behind its name is found out, and its numbers gate nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from tests.cli.judging import calibrated, gate, judge, judging, score, state
from tests.faults.judging import honest
from tests.support.judge_server import JudgeCall, JudgeServer, answer_with_labels

from assay.cli import main
from assay.judging.rubric_files import load_anchors
from assay.judging.verdict_store import read_store
from assay.records.verdicts import LabelledRate
from assay.stats.intervals import wilson_interval

pytestmark = pytest.mark.slow


@pytest.fixture(name="server")
def _server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judging(tmp_path, monkeypatch) as server:
        yield server


def lenient(asked: JudgeCall, _: str) -> str:
    """What a judge says that has moved behind its name: every anchor is supported."""
    context = json.dumps(asked.data.get("context"))
    is_anchor = "claims" in asked.data and "year" not in context
    return str(asked.item["label"]["enum"][0]) if is_anchor else honest(asked, _)


def test_anchors_are_asked_again_on_a_later_day_in_the_same_order(server: JudgeServer) -> None:
    assert 0 == judge("--votes", "1", "--only", "case:c0", "--now", "2026-05-01T08:00:00Z")
    assert 20 == server.calls  # two requests with two controls each, ten English anchors of support, four of relevance
    assert 0 == judge("--votes", "1", "--only", "case:c2", "--now", "2026-05-01T20:00:00Z")
    assert 26 == server.calls  # the same day: two requests, and the second controls of their kinds
    assert 0 == judge("--votes", "1", "--only", "case:c2", "--now", "2026-05-02T08:00:00Z")
    assert 26 == server.calls  # nothing else to ask
    assert 0 == judge("--votes", "1", "--only", "case:c4", "--now", "2026-05-02T08:00:00Z")
    assert 42 == server.calls
    ((_, by_request),) = read_store("verdicts.sqlite").verdicts.items()
    again = [each for each in by_request.values() if len(each) > 1]
    assert (14, {(0, 2)}) == (len(again), {tuple(vote.sample for vote in each) for each in again})
    assert not any("shuffled" in vote.flags for each in again for vote in each)
    (judge_status,) = read_store("verdicts.sqlite").statuses.values()
    assert (2, ()) == (judge_status.rounds, judge_status.drift)


def test_anchors_whose_round_was_cut_short_are_not_asked_twice(server: JudgeServer) -> None:
    assert 0 == judge("--votes", "1", "--only", "case:c0", "--now", "2026-05-01T08:00:00Z")
    later = ("--votes", "1", "--only", "case:c4", "--now", "2026-05-02T08:00:00Z", "--concurrency", "1")
    server.plan.extend([{}] * 6 + [{"status": 429, "error": "insufficient_quota"}])
    assert 3 == judge(*later)
    assert 0 == judge(*later)
    assert 20 + 20 + 1 == server.calls  # one was refused


def test_anchors_of_a_rubric_that_nobody_asked_under_are_asked_once(server: JudgeServer) -> None:
    """A rubric of one's own in the place of the shipped one: ten of the anchors are English."""
    assert 0 == judge("--votes", "1", "--only", "case:c0", "--now", "2026-05-01T08:00:00Z")
    assert 0 == judge("--votes", "1", "--only", "case:c4", "--now", "2026-05-02T08:00:00Z")
    before = server.calls
    shipped = files("assay").joinpath("judging", "rubrics", "support.en.yaml").read_text(encoding="utf-8")
    text = shipped.replace('version: "1"', 'version: "own-1"')
    Path("own").mkdir()
    Path("own/support.en.yaml").write_text(text, encoding="utf-8")
    english = sum(anchor.language == "en" for anchor in load_anchors().anchors)
    more = ("--rubrics", "own", "--only", "case:c4", "--now", "2026-05-02T09:00:00Z")
    assert 0 == judge("--votes", "1", *more)
    assert before + english + 1 + 2 == server.calls  # one request and two controls


def test_a_judge_that_has_moved_behind_its_name_is_told_and_may_not_gate(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """All anchors right at first; later every claim is supported, as it is for 5 of 10."""
    server.answer = answer_with_labels(honest)
    assert 0 == judge("--votes", "1", "--only", "case:c0", "--only", "case:c2", "--now", "2026-05-01T08:00:00Z")
    server.answer = answer_with_labels(lenient)
    assert 1 == judge("--votes", "1", "--now", "2026-06-01T08:00:00Z")
    printed = capsys.readouterr().err
    assert "judge DRIFTED: anchors labelled as expected: 9 of 14, were 14 (78% to 100% allowed)" in printed
    assert "other anchors recognised as such: 2 of 7, were 7" in printed
    assert "anchors of the highest label" not in printed
    report = score(*gate(), *calibrated())
    assert any(each.startswith("E_JUDGE_DRIFT scripted-1") for each in report["warnings"])
    assert (0, "uncalibrated") == (report["status"], state(report))
    assert 1 == judge("--votes", "1", "--now", "2026-06-02T08:00:00Z")  # the evidence stays in the verdict store
    assert 0 == main(["judge", "export", "--store", "verdicts.sqlite", "--to", "verdicts.jsonl"])
    assert report["warnings"] == score(*gate(), *calibrated(), verdicts="verdicts.jsonl")["warnings"]


@pytest.mark.parametrize(("right", "of", "found"), [(18, 20, "pass"), (6, 20, "uncalibrated")])
def test_a_calibration_with_other_anchors_is_contradicted_only_by_an_interval_apart(
    server: JudgeServer, right: int, of: int, found: str
) -> None:
    """All 14 anchors that are asked now are as expected (78% to 100%); of 20 others 18 were (70% to 97%), or 6."""
    assert 0 == judge("--votes", "1")
    bounds = wilson_interval(right, of)
    report = score(*gate(), *calibrated(anchors=LabelledRate(right / of, bounds.low, bounds.high, of)))
    assert (0, found) == (report["status"], state(report))


@pytest.mark.parametrize(("then", "found"), [(14, "pass"), (6, "uncalibrated")])
def test_a_calibration_of_before_the_judge_moved_unlocks_nothing(server: JudgeServer, then: int, found: str) -> None:
    """In its own verdict store the judge is not known to have drifted: all 14 anchors are as expected."""
    assert 0 == judge("--votes", "1")
    bounds = wilson_interval(then, 14)
    anchor_rate = LabelledRate(then / 14, bounds.low, bounds.high, 14)
    report = score(*gate(), *calibrated(anchors=anchor_rate))
    assert (0, found) == (report["status"], state(report))
    told = [each for each in report["warnings"] if "E_JUDGE_DRIFT" in each]
    assert (found == "uncalibrated") == bool(told)
