"""What Python results say: arguments in the place of options, the remedy first, and why an answer is wrong."""

from __future__ import annotations

import asyncio
import csv
import json
import shutil
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.cli import main

CASES: list[dict[str, Any]] = [
    {"id": "a", "question": "When must I check in?", "must_have": ["45 minutes"]},
    {"id": "b", "question": "What does it cost?", "must_have": ["20 euros"]},
]
ANSWERS = [
    {"case_id": "a", "answer": "Check in 15 minutes before."},
    {"case_id": "b", "answer": "It costs 20 euros."},
]
WAIVED = {
    "rules": [{"metric": "correct_answer", "at_least": 0.9}],
    "waivers": [{"metric": "correct_answer", "owner": "Lan", "expires": "2026-06-30", "reason": "trial"}],
}


def test_reasons_of_gates_name_arguments() -> None:
    rules = {"rules": [{"metric": "correct_answer", "max_regression": 0.1}]}
    scored = assay.score(CASES, ANSWERS, gate=rules)
    own = scored.scoring.configs["outputs"].decision
    assert own is not None
    shown = (scored.decision, assay.gate(scored, rules), own)
    for text in (*(decision.reasons[0] for decision in shown), own.results[0].message):
        assert "correct_answer needs a baseline; none was given (baseline=)" in text
    assert "(now=)" in assay.gate(scored, WAIVED).reasons[0]
    compared = assay.compare(scored, scored, gate=WAIVED).decision
    assert compared is not None
    assert "(now=)" in compared.reasons[0]


def test_errors_name_the_arguments_of_the_function_that_was_called() -> None:
    stranger = [{"case_id": "c", "answer": "Anything."}]
    with pytest.raises(assay.InputError) as raised:
        assay.score(CASES, stranger)
    assert "or ignore_unknown=True)" in str(raised.value)
    assert "ignore_unknown=True" in raised.value.problems[0].message
    scaled = {"rules": [{"metric": "faithfulness(by=rules)", "at_least": 0.9}]}
    with pytest.raises(assay.InputError, match=r"expected calibration=, or uncalibrated"):
        assay.score(CASES, ANSWERS, gate=scaled)
    with pytest.raises(assay.InputError, match=r"judge: no verdicts given \(expected verdicts= as well\)"):
        assay.score(CASES, ANSWERS, judge="m")
    with pytest.raises(assay.InputError, match=r"name it with assay.load_observations\(…, format=…\)"):
        assay.score(CASES, __file__)  # no argument of this function


async def _observe_strangers() -> None:
    await assay.run_async(lambda _: "Anything.", CASES, gate={"rules": [{"metric": "recal@5", "at_least": 1}]})


def test_errors_of_async_functions_and_of_functions_without_the_argument_name_no_option() -> None:
    with pytest.raises(assay.InputError) as raised:
        asyncio.run(_observe_strangers())
    assert "--" not in str(raised.value)
    scaled = {"rules": [{"metric": "faithfulness(by=rules)", "at_least": 0.9}]}
    with pytest.raises(assay.InputError) as refused:
        assay.run(lambda _: "Anything.", CASES, gate=scaled)
    assert "assay.score(…, calibration=…)" in str(refused.value) and "--" not in str(refused.value)


def test_rows_that_name_no_configuration_are_not_called_like_an_outcome() -> None:
    scored = assay.score(CASES, [{"case_id": "a", "answer": "Anything."}])
    assert ("outputs",) == scored.configs
    assert str(scored).startswith("NOT_GATED: outputs, ")


@pytest.mark.parametrize(
    ("now", "state"), [("2026-06-30T23:00:00Z", "waived by Lan"), ("2026-07-01", "has expired"), (None, "no time")]
)
def test_waivers_are_in_force_at_the_time_that_is_given(now: str | None, state: str) -> None:
    scored = assay.score(CASES, ANSWERS, gate=WAIVED, now=now)
    assert state in " ".join(scored.decision.reasons)
    assert state in " ".join(assay.gate(scored, WAIVED, now=now).reasons)
    for compared in (assay.compare(scored, scored, gate=WAIVED, now=now), scored.compare(scored, gate=WAIVED, now=now)):
        assert compared.decision is not None
        assert state in " ".join(compared.decision.reasons)


@pytest.mark.parametrize("now", ["1 March 2026", "2026-02-30", "", date(2026, 3, 1)])
def test_what_is_no_time_puts_no_waiver_in_force(now: Any) -> None:
    scored = assay.score(CASES, ANSWERS)
    score, compare = partial(assay.score, CASES, ANSWERS, gate=WAIVED), partial(assay.compare, scored, scored)
    for decide in (partial(assay.gate, scored, WAIVED), score, compare):
        with pytest.raises(assay.InputError) as raised:
            decide(now=now)
        assert "now: E_VALUE" in str(raised.value)


@pytest.mark.parametrize(
    ("metric", "remedy"),
    [
        (
            "faithfulness(by=judge)",
            "not measured: give the verdicts of a judge when scoring: assay.judge, or verdicts=",
        ),
        ("recall@7", "not measured: score with metrics=['recall@7']"),
    ],
)
def test_a_metric_that_was_not_measured_is_answered_with_the_remedy_first(metric: str, remedy: str) -> None:
    with pytest.raises(assay.InputError) as raised:
        assay.score(CASES, ANSWERS).metric(metric)
    message = str(raised.value)
    assert message.removeprefix("metric: E_METRIC ").startswith(remedy)
    near = message.rpartition(", or one of ")[2].rstrip(")").split(", ")
    base = metric.partition("(")[0].partition("@")[0]
    assert near
    assert len(near) <= 5
    assert all(name.startswith(base) for name in near)


def test_a_failed_case_says_why_its_answer_is_wrong() -> None:
    wrong, right = assay.score(CASES, ANSWERS).cases
    assert "45 minutes" in wrong.reasons["correct_answer"]
    assert wrong.reasons["correct_answer"] == wrong.reasons.get("correct_answer")
    assert right.reasons["correct_answer"] == "by must-have facts"
    assert right.reasons["answered"] == "scored 1"
    assert right.reasons.get("no such metric") is None
    with pytest.raises(KeyError, match="no metric"):
        right.reasons["no such metric"]


def test_the_failures_of_a_case_are_what_failed_and_nothing_else() -> None:
    wrong, right = assay.score(CASES, ANSWERS).cases
    assert {} == right.failures
    assert wrong.reasons["correct_answer"] == wrong.failures["correct_answer"]
    assert len(wrong.failures) == len(wrong.failed_checks) < len(wrong.reasons)
    (silent,) = assay.score(CASES[:1], [{"id": CASES[0]["id"], "error": "HTTP 503"}]).cases
    assert silent.error is not None and "HTTP 503" in silent.error
    assert all("correct_answer" != metric for metric in silent.failures)


def test_what_leaked_is_not_quoted_as_a_reason() -> None:
    case = {**CASES[1], "forbidden_text": ["20 euros"], "user": {}}
    leaking = assay.score([case], [ANSWERS[1]]).cases[0]
    assert "20 euros" not in leaking.reasons["correct_answer"]


OPEN_CASES = [*CASES, {"id": "c", "question": "May I take my dog on the bus?", "must_have": ["one dog per passenger"]}]
OPEN_ANSWERS = [*ANSWERS, {"case_id": "c", "answer": "Yes, a single dog for each traveller."}]


def test_a_value_that_unknown_answers_leave_open_is_no_number() -> None:
    scored = assay.score(OPEN_CASES, OPEN_ANSWERS)
    for summary in (scored.metric("correct_answer"), scored.summary("outputs")["correct_answer"]):
        assert (None, None, None, 2) == (summary.value, summary.mean, summary.interval, summary.scored)
        assert summary.unknown is not None
        assert (1 / 3, 2 / 3, 1) == (summary.unknown.low, summary.unknown.high, summary.unknown.count)
    assert "correct_answer  0.333–0.667 n=2, 1 unknown" in repr(scored)
    assert scored.metric("behaviour").value == 1.0


def test_trends_show_between_what_unknown_answers_leave_a_metric(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the run folder, and from the line of the registry once the folder is gone."""
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.chdir(tmp_path)
    for name, rows in (("golden", OPEN_CASES), ("outputs", OPEN_ANSWERS)):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for day in (1, 2):
        folder = ["--run-dir", f"runs/{day}", "--now", f"2026-03-0{day}T08:00:00Z"]
        assert 0 == main(["score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", *folder])
    shutil.rmtree("runs/1")
    capsys.readouterr()
    history = ["history", "--runs", "runs", "--metrics", "correct_answer"]
    assert 0 == main([*history, "--export-csv", "history.csv"])
    assert "0.333–0.667 → 0.333–0.667" in " ".join(capsys.readouterr().out.split())
    rows = list(csv.DictReader(Path("history.csv").read_text(encoding="utf-8").splitlines()))
    assert [("", "between 0.333 and 0.667: 1 answer unknown")] * 2 == [(row["value"], row["reason"]) for row in rows]
