"""One request record from the command line or Python to the run; a run folder completes it from its manifest."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import assay
from assay.cli import main
from assay.formats.run_files.run_folder import _override_verdicts
from assay.records.errors import ExitCode, InputError
from assay.records.release_gates import Gate, Rule
from assay.records.requests import GateOptions, InputOptions, ScoreRequest, ScoringOptions, VerdictOptions
from assay.runs.compare_runs import load_gate_with_baseline
from assay.runs.rescore_run import complete_request, format_input_arguments, list_named_configs, refuse_own_folder
from assay.runs.save_run import save_run
from assay.runs.score_run import load_gate, open_scored_run
from assay.scoring.scored_run import ScoredRun

HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"
INPUTS = InputOptions(
    golden=str(HANDBOOK / "golden" / "handbook.jsonl"),
    outputs=[str(HANDBOOK / "outputs" / f"{config}.jsonl") for config in ("hybrid-rerank", "vector-only")],
)
CASE = "hr_leave_001"


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "0001"
    scoring = ScoringOptions(metrics=("recall@5",), good="recall@5>=0.5", production_k=3, look_again=True)
    with open_scored_run(ScoreRequest(INPUTS, scoring=scoring)) as run:
        save_run(run, folder)
    return folder


def of_run(run: Path | str, request: ScoreRequest | None = None) -> ScoreRequest:
    request = request or ScoreRequest()
    return complete_request(replace(request, inputs=replace(request.inputs, run=str(run))))


def metrics_of(run: ScoredRun) -> list[str]:
    return [str(name) for name in run.plan.requested]


def test_a_run_folder_completes_what_the_request_leaves_open(run_folder: Path) -> None:
    request = of_run(run_folder)
    assert (str(run_folder / "golden.jsonl"), "assay", "handbook") == (
        request.inputs.golden,
        request.inputs.golden_format,
        request.inputs.golden_name,
    )
    assert ("recall@5>=0.5", 3, True) == (
        request.scoring.good,
        request.scoring.production_k,
        request.scoring.look_again,
    )
    with open_scored_run(request) as run:
        assert ["recall@5"] == metrics_of(run)


def test_what_the_request_states_wins_over_the_run_folder(run_folder: Path) -> None:
    scoring = ScoringOptions(metrics=["ndcg@10"], missing_as_zero=False, good="auto", production_k=7, workers=2)
    given = ScoreRequest(InputOptions(limit=3), scoring=scoring)
    request = of_run(run_folder, given)
    assert replace(given.scoring, look_again=True) == request.scoring
    assert 3 == request.inputs.limit


def test_the_configuration_of_a_run_name_is_the_one_that_is_scored(run_folder: Path) -> None:
    request = of_run(f"{run_folder}:vector-only")
    assert ("vector-only",) == tuple(request.inputs.configs) == list_named_configs(request.inputs)
    with open_scored_run(request) as run:
        assert ["vector-only"] == list(run.scoring.configs)


RECORDED = VerdictOptions("verdicts.jsonl", "sha256:1", "calibration.json", ("rubrics",), judged=True)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (VerdictOptions(), RECORDED),
        (VerdictOptions(judge="other"), replace(RECORDED, judge="other")),
        (VerdictOptions(calibration="c.json"), replace(RECORDED, calibration="c.json")),
        (VerdictOptions("mine.sqlite"), replace(RECORDED, store="mine.sqlite", judge=None, rubrics=())),
        (
            VerdictOptions("mine.sqlite", "other", rubrics=["r"]),
            replace(RECORDED, store="mine.sqlite", judge="other", rubrics=["r"]),
        ),
    ],
    ids=["nothing", "judge", "calibration", "other verdicts", "other verdicts with their judge"],
)
def test_other_verdicts_come_with_their_own_judge_and_rubrics(given: VerdictOptions, expected: VerdictOptions) -> None:
    assert expected == _override_verdicts(RECORDED, given)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (InputOptions(), "no answers named"),
        (replace(INPUTS, outputs=()), "no answers named"),
        (replace(INPUTS, run="runs/0001"), "a run folder already holds its golden set, outputs and corpus"),
        (InputOptions("runs/0001", corpus="chunks.jsonl"), "a run folder already holds"),
    ],
)
def test_answers_are_named_in_exactly_one_way(inputs: InputOptions, message: str) -> None:
    with pytest.raises(InputError, match=message):
        complete_request(ScoreRequest(inputs))


def test_a_request_without_a_run_folder_is_complete_as_it_is() -> None:
    request = ScoreRequest(INPUTS)
    assert request is complete_request(request)


def test_the_arguments_for_the_same_answers() -> None:
    inputs = replace(INPUTS, golden="g.jsonl", outputs=["a b.jsonl"], corpus="c.jsonl")
    assert "--golden g.jsonl --corpus c.jsonl --outputs 'a b.jsonl'" == format_input_arguments(inputs)
    assert "--run runs/1" == format_input_arguments(InputOptions("runs/1:hybrid"))


def test_a_run_is_not_replaced_by_its_own_scores(tmp_path: Path) -> None:
    refuse_own_folder(InputOptions(str(tmp_path)), str(tmp_path / "other"))
    with pytest.raises(InputError, match="is the run that is being scored"):
        refuse_own_folder(InputOptions(f"{tmp_path}:hybrid"), f"{tmp_path}/../{tmp_path.name}")


def test_an_edited_golden_set_of_a_run_is_refused_wherever_the_run_is_opened(run_folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in run_folder.iterdir():
        if file.is_file():
            (copy / file.name).write_bytes(file.read_bytes())
    lines = (copy / "golden.jsonl").read_text(encoding="utf-8").replace("company_a", "company_b")
    (copy / "golden.jsonl").write_text(lines, encoding="utf-8")
    message = "is not the golden set that the run was made with"
    with pytest.raises(InputError, match=message), open_scored_run(of_run(copy)):
        pass


def test_a_baseline_is_loaded_before_the_run_is_scored(run_folder: Path) -> None:
    request = of_run(run_folder, ScoreRequest(gate=GateOptions(baseline=f"{run_folder}:vector-only")))
    baseline = load_gate_with_baseline(request).baseline
    assert baseline is not None
    assert ("vector-only", ["recall@5"]) == (baseline.side.config_id, list(baseline.metrics))
    with pytest.raises(ValueError, match="the baseline must be loaded before"):
        load_gate(request)


def test_a_case_is_explained_with_what_changed_since_a_baseline(
    run_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run_folder.parent)  # a long path would take the place of what is looked for
    name = run_folder.name
    command = ["explain", CASE, "--run", f"{name}:hybrid-rerank", "--baseline", f"{name}:vector-only"]
    assert ExitCode.PASS == main(command)
    assert "vector-only" in capsys.readouterr().out


def test_python_and_the_command_line_ask_for_the_same(run_folder: Path) -> None:
    golden, observations = assay.load_golden(INPUTS.golden), assay.load_observations(*INPUTS.outputs)
    gate = Gate(rules=(Rule("hit@1", at_least=0.1),))
    result = assay.score(golden, observations, metrics=("recall@5",), by="difficulty", gate=gate)
    scoring = ScoringOptions(metrics=("recall@5",), by=("difficulty",))
    with open_scored_run(ScoreRequest(INPUTS, gate=GateOptions(gate), scoring=scoring)) as run:
        assert metrics_of(run) == metrics_of(result.run)
        assert run.scoring.decision == result.decision
        for config in result.configs:
            assert run.scoring.configs[config].summary == result.summary(config)
            assert dict(run.scoring.configs[config].slices) == dict(result.slices(config))


def test_no_metrics_at_all_leave_what_the_gate_needs() -> None:
    golden, observations = assay.load_golden(INPUTS.golden), assay.load_observations(*INPUTS.outputs)
    result = assay.score(golden, observations, metrics=(), gate=Gate(rules=(Rule("hit@1", at_least=0.1),)))
    assert "hit@1" in metrics_of(result.run)
    assert not {"recall@5", "ndcg@10"} & set(metrics_of(result.run))
