"""The command from files to exit code: what it scores, writes, decides and says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.runs.scoring import HANDBOOK, make_case, make_trace, score, score_to_cells, score_to_report, write

from assay.cli import main

Printed = pytest.CaptureFixture[str]
GATE = "rules: [{metric: recall@10, at_least: 0.9}]\n"
ONE = [make_case("q1")]


def gate_file(folder: Path, text: str = GATE) -> str:
    path = folder / "gate.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


# ── exit codes ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "options", "code"),
    [
        ([make_trace("q1")], (), 0),
        ([make_trace("q1")], ("--gate",), 0),
        ([make_trace("q1", retrieved_chunks=["b"])], (), 0),  # without a gate, bad scores decide nothing
        ([make_trace("q1", retrieved_chunks=["b"])], ("--gate",), 1),
        ([make_trace("q9")], (), 2),
        ([make_trace("q1", error="timeout", retrieved_chunks=None)], (), 3),
        ([make_trace("q1", error="timeout", retrieved_chunks=None)], ("--gate",), 3),
    ],
    ids=["measured", "passed", "bad but ungated", "failed", "bad input", "incomplete", "gated and incomplete"],
)
def test_the_exit_code_says_what_happened(
    tmp_path: Path, rows: list[dict[str, Any]], options: tuple[str, ...], code: int
) -> None:
    gate = ("--gate", gate_file(tmp_path)) if options else ()
    assert code == score(tmp_path, ONE, rows, *gate)


@pytest.mark.parametrize(
    "arguments",
    [
        ["score"],
        ["score", "--golden", "x"],
        ["scor"],
        ["score", "--golden", "nowhere.jsonl", "--outputs", "nowhere.jsonl"],
        ["score", "--golden", "nowhere.jsonl", "--outputs", "*.nowhere"],
        ["gate", "show", "nothing"],
        ["score", "--golden", "-", "--outputs", "-"],
    ],
)
def test_wrong_usage_is_exit_code_two(arguments: list[str], capsys: Printed) -> None:
    assert 2 == main(arguments)
    assert "" != capsys.readouterr().err


def test_a_gate_and_a_profile_together_are_refused(tmp_path: Path, capsys: Printed) -> None:
    assert 2 == score(tmp_path, ONE, [make_trace("q1")], "--gate", gate_file(tmp_path), "--profile", "support")
    assert "--gate and --profile: both given" in capsys.readouterr().err


def test_an_unknown_metric_is_refused_before_anything_is_scored(tmp_path: Path, capsys: Printed) -> None:
    assert 2 == score(tmp_path, ONE, [make_trace("q1")], "--metrics", "recal@5,ndcg@ten")
    message = capsys.readouterr().err
    assert "did you mean recall" in message
    assert "ndcg@ten" in message


@pytest.mark.parametrize("time", ["tomorrow", "2026-13-01"])
def test_a_time_that_is_none_is_refused(tmp_path: Path, time: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 2 == score(tmp_path, ONE, [make_trace("q1")], "--now", time)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", time)
    assert 2 == score(tmp_path, ONE, [make_trace("q1")])


# ── which cases and rows count ───────────────────────────────────────────────────────────────────────────────────


def test_repeats_are_folded_to_one_score_of_the_case(tmp_path: Path) -> None:
    """recall 1, 0, 1, 1 over four repeats: 0.75 for the one case."""
    rows = [make_trace("q1", repeat=n, retrieved_chunks=["b"] if n == 1 else ["a"]) for n in range(4)]
    recall = score_to_report(tmp_path, ONE, rows)["configs"]["c"]["summary"]["recall@10"]
    assert (1, 0.75) == (recall["scored"], recall["mean"])


def test_a_case_without_output_is_an_error_of_every_metric_and_counts_as_the_worst(tmp_path: Path) -> None:
    result = score_to_report(tmp_path, [make_case("q1"), make_case("q2")], [make_trace("q1")])["configs"]["c"]
    assert ["q2"] == result["missing"]
    recall = result["summary"]["recall@10"]
    assert (1, 1, 1.0, 0.5) == (recall["scored"], recall["errors"], recall["mean"], recall["mean_worst"])
    assert {"case_id": "q2", "failed_checks": ["missing_output"]} in result["failed_cases"]


def test_missing_cases_scored_as_zero_lower_the_mean(tmp_path: Path) -> None:
    cases = [make_case("q1"), make_case("q2")]
    result = score_to_report(tmp_path, cases, [make_trace("q1")], "--metrics", "recall@10", "--missing", "zero")[
        "configs"
    ]["c"]
    assert (2, 0, 0.5) == tuple(result["summary"]["recall@10"][key] for key in ("scored", "errors", "mean"))
    assert ["q2"] == result["missing"]


def test_a_run_whose_missing_cases_are_scored_as_zero_is_complete(tmp_path: Path) -> None:
    assert 0 == score(tmp_path, [make_case("q1"), make_case("q2")], [make_trace("q1")], "--missing", "zero")


def test_a_missing_case_is_not_scored_by_metrics_that_do_not_apply_to_it(tmp_path: Path) -> None:
    cases = [make_case("q1"), make_case("q2")]  # neither lists symbols, keywords or a canary, neither must be refused
    result = score_to_report(tmp_path, cases, [make_trace("q1")], "--missing", "zero")["configs"]["c"]
    for metric in ("symbol_recall", "keywords", "abstention_accuracy", "under_refusal", "injection_followed"):
        assert 0 == result["summary"][metric]["scored"], metric
    assert [{"case_id": "q2", "failed_checks": ["missing_output"]}] == result["failed_cases"]


def test_a_limit_scores_the_first_cases_and_decides_nothing(tmp_path: Path) -> None:
    cases, rows = [make_case(f"q{n}") for n in range(5)], [make_trace(f"q{n}", retrieved_chunks=[]) for n in range(5)]
    options = ("--limit", "2", "--gate", gate_file(tmp_path))
    json_report = score_to_report(tmp_path, cases, rows, *options)
    assert 2 == json_report["configs"]["c"]["summary"]["recall@10"]["scored"]
    assert 3 == score(tmp_path, cases, rows, *options)
    assert 0 == score(tmp_path, cases, rows, *options[:2])
    assert 1 == score(tmp_path, cases, rows, *options[2:])
    assert "left out: 3 rows of cases beyond the limit" in json_report["warnings"]


def test_an_unanswered_case_lowers_no_mean_but_is_counted(tmp_path: Path) -> None:
    rows = [make_trace("q1", answer="Because."), make_trace("q2", answer=None)]
    behaviour = score_to_report(tmp_path, [make_case("q1"), make_case("q2")], rows)["configs"]["c"]["summary"][
        "behaviour"
    ]
    assert (1, 1) == (behaviour["scored"], behaviour["errors"])


def test_a_search_that_worked_is_scored_although_the_answer_failed(tmp_path: Path) -> None:
    scores = score_to_cells(tmp_path, ONE, [make_trace("q1", error={"code": "timeout"})])["q1"]
    assert 1.0 == scores["scores"]["recall@10"]
    assert {"status": "error", "reason": "target error: timeout"} == scores["status"]["behaviour"]
    assert ["target_error"] == scores["failed_checks"]


# ── what is written ──────────────────────────────────────────────────────────────────────────────────────────────


def test_every_report_is_written_and_named(tmp_path: Path, capsys: Printed) -> None:
    kinds = {"--report": "r.md", "--json-report": "r.json", "--per-case": "c.jsonl", "--legacy-json-report": "l.json"}
    options = [word for flag, name in kinds.items() for word in (flag, str(tmp_path / "new" / name))]
    assert 0 == score(tmp_path, ONE, [make_trace("q1")], *options, "--run-dir", str(tmp_path / "run"))
    messages = capsys.readouterr().err
    assert [] == [name for name in kinds.values() if f"{tmp_path / 'new' / name}" not in messages]
    legacy = json.loads((tmp_path / "new" / "l.json").read_text(encoding="utf-8"))
    assert 1.0 == legacy["c"][0]["metrics"]["recall@5"]
    written = {str(path.relative_to(tmp_path / "run")) for path in (tmp_path / "run").rglob("*") if path.is_file()}
    assert {"manifest.json", "golden.jsonl", "observations.jsonl", "derived/report.json"} <= written


def test_a_run_folder_is_scored_again_to_the_same_report(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    first = score_to_report(tmp_path, ONE, [make_trace("q1")], "--run-dir", str(folder))
    again = tmp_path / "again.json"
    outputs = str(folder / "observations.jsonl")
    main(["score", "--golden", str(folder / "golden.jsonl"), "--outputs", outputs, "--json-report", str(again)])
    second = json.loads(again.read_text(encoding="utf-8"))
    assert first["configs"] == second["configs"]
    assert first["golden"]["digest"] == second["golden"]["digest"]


def test_the_report_for_people_is_printed_on_request(tmp_path: Path, capsys: Printed) -> None:
    assert 0 == score(tmp_path, ONE, [make_trace("q1")], "--format", "markdown")
    assert capsys.readouterr().out.startswith("# ")


def test_the_next_step_can_be_pasted_into_a_shell(tmp_path: Path, capsys: Printed) -> None:
    odd = "q 1; rm -rf"
    score(tmp_path, [make_case(odd)], [make_trace(odd, retrieved_chunks=[])])
    messages = capsys.readouterr().err
    assert f"next: assay explain '{odd}' --config c" in messages


@pytest.mark.slow
def test_one_case_is_explained_whole(capsys: Printed) -> None:
    outputs = [str(HANDBOOK / "outputs" / f"{name}.jsonl") for name in ("hybrid-rerank", "vector-only")]
    command = ["explain", "hr_leave_001", "--golden", str(HANDBOOK / "golden" / "handbook.jsonl"), "--outputs"]
    assert 2 == main([*command, *outputs])
    assert "none named (expected one of hybrid-rerank, vector-only)" in capsys.readouterr().err
    assert 0 == main([*command, *outputs, "--config", "vector-only", "--verbose"])
    text = capsys.readouterr().out
    parts = (
        "hr_leave_001 under vector-only",
        "Question",
        "Stage retrieved",
        "Context",
        "Answer",
        "Scores",
        "recall@10",
    )
    assert [] == [part for part in parts if part not in text]
    assert 2 == main([*command, *outputs, "--config", "vector-only", "--golden", outputs[0]])


def test_an_unknown_case_cannot_be_explained(tmp_path: Path, capsys: Printed) -> None:
    golden, outputs = write(tmp_path / "g.jsonl", ONE), write(tmp_path / "o.jsonl", [make_trace("q1")])
    assert 2 == main(["explain", "q7", "--golden", golden, "--outputs", outputs])
    assert "no such case in the golden set (got 'q7'; " in capsys.readouterr().err


# ── start-up ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = ("numpy", "scipy", "msgspec", "typer", "rich", "yaml")
    code = f"import sys, assay; print([name for name in {heavy!r} if name in sys.modules])"
    source = str(Path(__file__).resolve().parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r}); {code}"], capture_output=True, text=True
    )
    assert ("[]\n", "") == (done.stdout, done.stderr)
