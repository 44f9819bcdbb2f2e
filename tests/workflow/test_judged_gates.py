"""Gates on judged metrics: what is not calibrated informs, and what is may decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.workflow.judged import JUDGE, OTHER, World, summary

from assay.io.calibrations import write_calibrations
from assay.io.rubrics import load_rubrics
from assay.verdict import Calibration, Standing, rubrics_hash


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


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
