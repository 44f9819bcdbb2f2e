"""`assay judge selftest`, and what is refused before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.judging import NAMED, judging
from tests.faults.judging import label_anchor
from tests.support.judge_server import JudgeCall, JudgeServer, answer_with_labels

from assay.cli import main
from assay.judging.rubric_files import load_rubrics


@pytest.fixture(name="server")
def _server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judging(tmp_path, monkeypatch) as server:
        yield server


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["judge", "--dry-run"], "none named (expected --judge with a name, and --model)"),
        (["judge", *NAMED], "nothing to judge (expected --run DIR, or --golden FILE with --outputs FILE)"),
        (["judge", *NAMED, "--run", "nowhere"], "no run folder"),
        (["judge", *NAMED, "--run", "x", "--golden", "golden.jsonl"], "--run: stands for --golden and --outputs"),
        (["judge", *NAMED[:2], "--golden", "golden.jsonl", "--outputs", "outputs.jsonl"], "no such judge"),
        (["judge", "selftest", *NAMED[:4]], "no address for judge scripted"),
        (["judge", "selftest", *NAMED[:4], "--base-url-env", "NOT_SET"], "variable NOT_SET is missing or empty"),
        (["judge", "selftest", *NAMED[:4], "--base-url-env", "METADATA"], "is refused"),
        (["judge", "selftest", *NAMED, "--protocol", "smoke"], "smoke"),
        (["judge", "export", "--store", "golden.jsonl", "--to", "golden.jsonl"], "would overwrite"),
        (["judge", "export", "--store", "golden.jsonl", "--to", "x.jsonl"], "not a line of verdicts"),
    ],
)
def test_what_cannot_be_judged_is_exit_2_with_a_remedy(
    words: list[str],
    said: str,
    server: JudgeServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("METADATA", "http://169.254.169.254/latest")
    assert 2 == main(words)
    assert said in capsys.readouterr().err
    assert 0 == server.calls


def test_metrics_without_a_judge_are_refused(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(
        ["judge", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", *NAMED, "--metrics", "recall@5"]
    )
    assert "none is judged" in capsys.readouterr().err


# ── selftest ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_selftest_passes_a_judge_that_tells_grounded_claims_from_others(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = answer_with_labels(label_anchor)
    assert 0 == main(["judge", "selftest", *NAMED])
    printed = capsys.readouterr().out
    assert "grounded claims score higher in 100% of pairs" in printed
    assert "the judge separates them" in printed
    assert "52 of 52 anchors labelled" in printed
    assert 52 == server.calls


@pytest.mark.parametrize("rubric", ["citation_support", "correctness", "relevance", "completeness"])
def test_selftest_fails_a_judge_that_never_gives_the_highest_label_of_one_rubric(
    server: JudgeServer, capsys: pytest.CaptureFixture[str], rubric: str
) -> None:
    """It labels the anchors of all other rubrics as they deserve."""
    highest = load_rubrics()[rubric, "en"].labels[0].name
    lowest = load_rubrics()[rubric, "en"].labels[-1].name

    def label(asked: JudgeCall, item: str) -> str:
        is_other = asked.item["label"]["enum"][0] != highest or (rubric == "citation_support") != (
            "citations" in asked.data
        )
        return label_anchor(asked, item) if is_other else lowest

    server.answer = answer_with_labels(label)
    assert 1 == main(["judge", "selftest", *NAMED])
    (told,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("NOT as expected")]
    counted = "0 of 4 that deserve the highest label got it, 4 of 4 the lowest"
    assert f"NOT as expected: anchors of {rubric}: {counted} (got means 0.00 apart; expected 0.5)" == told


def test_selftest_fails_a_judge_that_says_yes_to_everything(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = answer_with_labels(lambda asked, _: str(asked.item["label"]["enum"][0]))
    assert 1 == main(["judge", "selftest", *NAMED])
    assert "does NOT separate them" in capsys.readouterr().out


def test_selftest_that_gets_no_verdicts_is_incomplete(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.answer = lambda asked: "no"
    assert 3 == main(["judge", "selftest", *NAMED])
    assert "anchors got a verdict" in capsys.readouterr().err
