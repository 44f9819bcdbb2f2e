"""How long an explanation is: long answers, a baseline, narrow screens; and what it quotes of a text that was cut."""

from pathlib import Path

import pytest

from assay.cli.explain import _explain_with_baseline
from assay.formats.run_folder import complete_run_request
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Observation
from assay.records.requests import GateOptions, InputOptions, ScoreRequest
from assay.report.explain_case import explain_case
from assay.runs.compare_runs import load_gate_with_baseline
from assay.runs.score_inputs import ScoreInputs
from assay.runs.score_run import open_scored_run, score_observations
from assay.text.passages import quote_difference

HANDBOOK = Path(__file__).resolve().parents[2] / "examples/handbook"


def explain_answer(answer: str) -> list[str]:
    """Return the lines that explain a case with an answer."""
    golden = GoldenSet((Case("a", "Which steps are there?", must_have=("step 1",)),))
    run = score_observations(
        ScoreInputs.from_golden(golden, ScoreRequest()), [Observation("a", answer=answer, config_id="c")]
    )
    return explain_case(run, "a", "c").splitlines()


@pytest.mark.parametrize(("count", "more"), [(8, ""), (9, "(1 more line)"), (20, "(12 more lines)")])
def test_eight_lines_of_an_answer_are_shown_and_how_many_more_there_are(count: int, more: str) -> None:
    lines = explain_answer("\n".join(f"step {number}" for number in range(1, count + 1)))
    text = "\n".join(lines)
    assert "step 8" in text and "step 9" not in text
    assert (more in text) if more else "more line" not in text
    assert len(lines) <= 30


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 100])
def test_every_case_of_the_example_is_explained_with_its_baseline_in_thirty_lines(width: int, tmp_path: Path) -> None:
    from assay.cli import main

    golden, corpus = str(HANDBOOK / "golden/handbook.jsonl"), str(HANDBOOK / "corpus/chunks.jsonl")
    for name in ("vector-only", "hybrid-rerank"):
        outputs = str(HANDBOOK / f"outputs/{name}.jsonl")
        folder = str(tmp_path / name)
        main(["score", "--golden", golden, "--outputs", outputs, "--corpus", corpus, "--run-dir", folder])
    request = complete_run_request(
        ScoreRequest(
            InputOptions(run=str(tmp_path / "hybrid-rerank")), gate=GateOptions(baseline=str(tmp_path / "vector-only"))
        )
    )
    with open_scored_run(request, loaded_gate=load_gate_with_baseline(request)) as run:
        for case_id in run.cases:
            text, change = _explain_with_baseline(
                run, case_id, None, "vector-only", width, show_forbidden=False, verbose=False
            )
            assert change is not None and len(text.splitlines()) + len(change.lines) <= 30, case_id


def test_a_lost_passage_is_quoted_as_it_is_written() -> None:
    whole = "Leave is 12 days a year. Ask the line manager first: the manager decides within 12 days."
    assert (
        quote_difference(whole, "Leave is 12 days a year.")
        == "Ask the line manager first: the manager decides within 12 days."
    )
    assert quote_difference(whole, "Leave is 12 days a year. Ask the line man") == (
        "manager first: the manager decides within 12 days."
    )
    assert quote_difference("| Basic | 9 USD |\n| Pro | 19 USD |", "| Pro | 19 USD |") == "Basic 9 USD"
    assert quote_difference("same words", "same words") == ""
