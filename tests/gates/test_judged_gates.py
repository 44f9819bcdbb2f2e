"""Gates on judged metrics: what is not calibrated informs, and what is may decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.runs.judged import JUDGE, OTHER, World, read_summary

from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.gates.calibration_file import write_calibrations
from assay.judging.rubric_files import load_rubrics
from assay.metrics.judged.judge_requests import RULES_VERSION
from assay.records.errors import SettingsError
from assay.records.requests import GateOptions, InputOptions, ScoreRequest
from assay.records.verdicts import Calibration, JudgeStatus, LabelledRate, Leniency, compute_rubrics_hash
from assay.runs.score_run import open_scored_run
from assay.stats.intervals import wilson_interval

pytestmark = pytest.mark.slow


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


RULE = "rules: [{{metric: 'faithfulness(by={by})', at_least: {least}{more}}}]\nexempt_from_correctness: a test\n"


def write_gate(world: World, by: str, least: float = 0.5, more: str = "") -> str:
    gate = world.folder / "gate.yaml"
    gate.write_text(RULE.format(by=by, least=least, more=f", {more}" if more else ""), encoding="utf-8")
    return str(gate)


def gated(world: World, verdicts: str, gate: str, *options: str) -> tuple[int, str, str]:
    """The exit code of a gate on faithfulness, the state of its rule and what is said of it."""
    status, _, report = world.score(verdicts, "--gate", gate, *options)
    (rule,) = report["configs"]["a"]["decision"]["rules"]
    return status, rule["state"], rule["message"]


def calibrated(world: World, **changes: Any) -> str:
    """A file that lets the judge gate by faithfulness: of 50 items that people passed, and of 50 that they failed, it
    got 48 right each."""
    rubrics = compute_rubrics_hash(load_rubrics().values(), "support")
    bounds = wilson_interval(48, 50)
    rate = LabelledRate(48 / 50, bounds.low, bounds.high, 50)
    golden = load_golden(world.golden).digest
    record = Calibration("faithfulness(by=judge)", JUDGE.digest, rubrics, golden, "", 100, 2, rate, rate, may_gate=True)
    record = replace(record, **changes)
    return str(write_calibrations(str(world.folder / "calibration.json"), [record], {}))


@pytest.mark.parametrize(
    ("least", "more", "code", "state", "compared"),
    [
        (0.5, "", 0, "uncalibrated", " ≥ 0.5"),
        (0.99, "", 1, "fail", " < 0.99"),
        (0.99, "uncalibrated: fail", 1, "fail", " < 0.99"),
        (0.99, "uncalibrated: risk", 0, "uncalibrated", " < 0.99"),
        (0.99, "if_unmeasured: risk", 1, "fail", " < 0.99"),
    ],
)
def test_an_uncalibrated_judge_may_stop_a_release_and_never_allow_one(
    world: World, least: float, more: str, code: int, state: str, compared: str
) -> None:
    """The reason names value and bound whatever follows from them."""
    verdicts = world.export(world.contents(JUDGE))
    value = read_summary(world.score(verdicts)[2], "faithfulness(by=judge)")["value"]
    result = gated(world, verdicts, write_gate(world, "judge", least, more))
    assert (code, state) == result[:2]
    assert f"{value:.3f}"[:4] in result[2]
    assert compared in result[2]
    assert "not calibrated" in result[2]
    if code == 0:
        assert 1 == gated(world, verdicts, write_gate(world, "judge", least, more), "--strict")[0]


def test_an_uncalibrated_scorer_may_inform_but_not_gate(world: World) -> None:
    """A bound that it keeps shows nothing: it was measured, and is a risk even where unmeasured metrics would fail."""
    gate = write_gate(world, "judge", 0.5, "if_unmeasured: fail")
    assert (0, "uncalibrated") == gated(world, world.export(world.contents(JUDGE)), gate)[:2]


def test_a_rule_on_uncalibrated_scores_by_rules_is_refused_unless_it_says_what_it_may_do(world: World) -> None:
    verdicts = world.export(world.contents(JUDGE))
    with pytest.raises(SettingsError, match="has no absolute scale"):
        open_gated(world, write_gate(world, "rules"))
    for statement, violated in (("risk", (0, "uncalibrated")), ("fail", (1, "fail"))):
        gate = write_gate(world, "rules", 1.0, f"uncalibrated: {statement}")
        assert violated == gated(world, verdicts, gate)[:2]
        gate = write_gate(world, "rules", 0.0, f"uncalibrated: {statement}")
        assert (0, "uncalibrated") == gated(world, verdicts, gate)[:2]


def open_gated(world: World, gate: str) -> None:
    """Score with a gate, without the command line, so that its errors are raised here."""
    with open_scored_run(
        ScoreRequest(InputOptions(golden=str(world.golden), outputs=[str(world.outputs)]), gate=GateOptions(gate))
    ):
        pass


@pytest.mark.parametrize(
    ("leniency", "margin", "code", "state"),
    [
        (Leniency(0.1, 0.02, 0.18), 0.05, 1, "inconclusive"),
        (Leniency(0.1, 0.02, 0.18), 0.15, 0, "pass"),
        (Leniency(0.1, 0.02, 0.18), -0.01, 1, "fail"),
        (Leniency(0.1, -0.02, 0.22), 0.05, 0, "pass"),
        (None, 0.05, 0, "pass"),
    ],
)
def test_what_a_judge_gives_more_than_people_passes_no_rule(
    world: World, leniency: Leniency | None, margin: float, code: int, state: str
) -> None:
    """The rule is kept by `margin`, less than the judge gives too much by its own calibration."""
    verdicts = world.export(world.contents(JUDGE))
    value = read_summary(world.score(verdicts)[2], "faithfulness(by=judge)")["value"]
    gate = write_gate(world, "judge", round(value - margin, 6))
    options = "--calibration", calibrated(world, leniency=leniency), "--strict"
    result = gated(world, verdicts, gate, *options)
    assert (code, state) == result[:2]
    if state == "inconclusive":
        assert f"gives 0.100 more than people in its calibration (0.020 to 0.180): {value - 0.1:.3f}" in result[2]


def test_a_calibrated_judge_may_gate(world: World) -> None:
    verdicts = world.export(world.contents(JUDGE))
    result = gated(world, verdicts, write_gate(world, "judge"), "--calibration", calibrated(world))
    assert (0, "pass") == result[:2]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"may_gate": False, "reasons": ("people say so", "too few")}, "does not let it gate: people say so; too few"),
        ({"judge": OTHER.digest}, "was measured on another judge"),
        ({"rubric_hash": "sha256:older"}, "was measured with another rubric"),
    ],
)
def test_a_calibration_of_something_else_lets_no_metric_gate_and_says_so(
    world: World, changes: dict[str, Any], said: str
) -> None:
    verdicts = world.export(world.contents(JUDGE))
    calibration_flags = ("--calibration", calibrated(world, **changes))
    code, state, message = gated(world, verdicts, write_gate(world, "judge"), *calibration_flags)
    assert (0, "uncalibrated") == (code, state)
    assert "the calibration of faithfulness(by=judge) does not let it gate: " in message
    assert said in message
    assert "not calibrated" not in message
    _, _, report = world.score(verdicts, *calibration_flags)
    notices = [warning for warning in report["warnings"] if warning.startswith("the calibration of")]
    assert [True] == [said in warning for warning in notices]
    assert said in read_summary(report, "faithfulness(by=judge)")["note"]
    assert not any("uncalibrated" in note for note in [read_summary(report, "faithfulness(by=judge)")["note"]])


def test_a_refused_rule_on_scores_by_rules_says_why_their_calibration_lets_them_not_gate(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    record = {"judge": RULES_VERSION, "rubric_hash": "", "platt": {"slope": 0.0, "intercept": 0.0}}
    path = calibrated(world, **record, may_gate=False, reasons=("too few labels",))
    Path(path).write_text(Path(path).read_text(encoding="utf-8").replace("by=judge", "by=rules"), encoding="utf-8")
    inputs = ["score", "--golden", str(world.golden), "--outputs", str(world.outputs), "--calibration", path]
    assert 2 == main([*inputs, "--gate", write_gate(world, "rules")])
    printed = capsys.readouterr().err
    assert "has no absolute scale" in printed
    assert "the calibration of faithfulness(by=rules) does not let it gate: too few labels" in printed


def test_a_judge_calibrated_on_another_golden_set_may_gate_and_the_report_says_so(world: World) -> None:
    verdicts = world.export(world.contents(JUDGE))
    calibration_flags = ("--calibration", calibrated(world, golden="sha256:another"))
    assert (0, "pass") == gated(world, verdicts, write_gate(world, "judge"), *calibration_flags)[:2]
    assert any(
        "measured on another golden set: calibrate again" in warning
        for warning in world.score(verdicts, *calibration_flags)[2]["warnings"]
    )


def test_a_judge_that_failed_its_controls_leaves_a_gate_on_its_metrics_incomplete(world: World) -> None:
    contents = world.contents(JUDGE)
    contents.statuses[JUDGE.digest] = JudgeStatus(JUDGE.digest, invalid=True, reasons=("passed shuffled contexts",))
    verdicts = world.export(contents)
    result = gated(world, verdicts, write_gate(world, "judge"), "--calibration", calibrated(world))
    assert (3, "incomplete") == result[:2]
    _, _, report = world.score(verdicts)
    assert any("E_JUDGE_INVALID judge-1" in warning for warning in report["warnings"])


def test_a_calibrated_rules_scorer_gives_probabilities_and_may_gate(world: World) -> None:
    """With slope 0 and intercept 0 every claim has probability one half."""
    record = {"judge": RULES_VERSION, "rubric_hash": "", "platt": {"slope": 0.0, "intercept": 0.0}}
    path = calibrated(world, **record)
    text = Path(path).read_text(encoding="utf-8").replace("by=judge", "by=rules")
    Path(path).write_text(text, encoding="utf-8")
    verdicts = world.export(world.contents(JUDGE))
    assert (0, "pass") == gated(world, verdicts, write_gate(world, "rules"), "--calibration", path)[:2]
    assert 0.5 == read_summary(world.score(verdicts, "--calibration", path)[2], "faithfulness(by=rules)")["value"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"golden": "sha256:another"}, "on another golden set"), ({"judge": "0"}, "with another version of the rules")],
)
def test_a_curve_belongs_to_its_golden_set_and_its_rules(world: World, changes: dict[str, str], said: str) -> None:
    """The rules weigh words by how rare they are in the golden set: its curve says nothing of another one."""
    record = {"judge": RULES_VERSION, "rubric_hash": "", "platt": {"slope": 0.0, "intercept": 0.0}}
    path = calibrated(world, **record | changes)
    Path(path).write_text(Path(path).read_text(encoding="utf-8").replace("by=judge", "by=rules"), encoding="utf-8")
    verdicts = world.export(world.contents(JUDGE))
    gate = write_gate(world, "rules", more="uncalibrated: risk")
    assert (0, "uncalibrated") == gated(world, verdicts, gate, "--calibration", path)[:2]
    report = world.score(verdicts, "--calibration", path)[2]
    assert any(said in warning for warning in report["warnings"])
    assert 0.5 != read_summary(report, "faithfulness(by=rules)")["value"]
