"""A candidate that is its own baseline: the same folder, or the same recording under another name (ADR 228)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.cli import main
from assay.gates.release_decision import decide_release
from assay.records.golden_set import Case
from assay.records.release_gates import Gate, Rule
from assay.records.scores import SCORED, ScoreColumn, ScoreTable
from assay.scoring.same_recording import find_same_recording

Printed = pytest.CaptureFixture[str]
CASES, WRONG = 80, 30
UNDER_ANOTHER_NAME = "it is this recording under another name"
WITH_ITSELF = "correct_answer is compared with itself; the baseline is the recording that is scored"


def _row(case: int, config: str, time: float | None) -> dict[str, Any]:
    room = 40 + case if case >= WRONG else 7
    row: dict[str, Any] = {"case_id": f"w{case}", "config_id": config, "answer": f"Ward {case} is in room {room}."}
    return row | ({"usage": {"end_to_end_ms": time}} if time is not None else {})


def _write(path: str, rows: list[dict[str, Any]]) -> None:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Score outputs, a configuration with its times each, into a run folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    golden = [
        {"id": f"w{case}", "question": f"In which room is ward {case}?", "must_have": [f"room {40 + case}"]}
        for case in range(CASES)
    ]
    _write("golden.jsonl", golden)
    rule = "{metric: correct_answer, max_regression: 0.05}"
    Path("gate.yaml").write_text(f"rules: [{rule}]\nzero_tolerance_tags: []\n", encoding="utf-8")

    def write_run(folder: str, **times: Callable[[int], float | None]) -> None:
        rows = [_row(case, config, time(case)) for config, time in times.items() for case in range(CASES)]
        _write(f"{folder}.jsonl", rows)
        recorded = ["--golden", "golden.jsonl", "--outputs", f"{folder}.jsonl"]
        assert 0 == main(["score", *recorded, "--run-dir", folder, "--no-history"])

    return write_run


def _gate(capsys: Printed, *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main([*arguments, "--gate", "gate.yaml", "--strict"])
    return code, capsys.readouterr().out


def _first(case: int) -> float:
    return 803.25 + 11.5 * case


def _second(case: int) -> float:
    return 790.75 + 12.25 * case


def _no_time(case: int) -> None:
    return None


def test_a_run_that_is_its_own_baseline_is_incomplete(score: Callable[..., None], capsys: Printed) -> None:
    """By every command that applies a gate, however the folder is named, with the remedy."""
    score("night", bot=_first)
    assert 0 == main(["baseline", "save", "night", "--out", "saved.json"])
    Path("link").symlink_to("night")
    for arguments in (
        ("score", "night", "--baseline", "night"),
        ("score", "night", "--baseline", "link"),
        ("score", "--golden", "golden.jsonl", "--outputs", "night/observations.jsonl", "--baseline", "night:bot"),
        ("gate", "check", "night", "--baseline", "./night"),
        ("gate", "check", "saved.json", "--baseline", "saved.json"),
        ("compare", "night", "night"),
    ):
        code, printed = _gate(capsys, *arguments)
        assert (3, True) == (code, WITH_ITSELF in printed), (arguments, printed)
        assert arguments[0] == "compare" or "name a run of the release before as the baseline" in printed


def test_the_baseline_among_other_configurations_is_no_reason(score: Callable[..., None], capsys: Printed) -> None:
    """A folder of two configurations is compared with one of them; named alone, that one is its own baseline."""
    score("both", old=_first, new=_second)
    _, printed = _gate(capsys, "gate", "check", "both", "--baseline", "both:old")
    assert "itself, which others are compared with" in printed
    assert "INCOMPLETE" not in printed and UNDER_ANOTHER_NAME not in printed
    code, printed = _gate(capsys, "gate", "check", "both:old", "--baseline", "both:old")
    assert (3, True) == (code, WITH_ITSELF in printed)


def test_the_same_recording_under_another_name_is_a_risk(score: Callable[..., None], capsys: Printed) -> None:
    """A copy of the folder, a baseline that was saved too late, or the outputs scored a second time."""
    score("today", bot=_first)
    score("copied", bot=_first)
    shutil.copytree("today", "yesterday")
    assert 0 == main(["baseline", "save", "today", "--out", "late.json"])
    for baseline in ("copied", "yesterday", "late.json"):
        for arguments in (("score", "today"), ("gate", "check", "today")):
            code, printed = _gate(capsys, *arguments, "--baseline", baseline)
            assert (1, True) == (code, UNDER_ANOTHER_NAME in printed), (baseline, printed)


def test_a_system_that_answers_alike_twice_is_no_risk(score: Callable[..., None], capsys: Printed) -> None:
    """Its times differ; without times a note says that nothing tells."""
    score("monday", bot=_first)
    score("tuesday", bot=_second)
    _, printed = _gate(capsys, "score", "tuesday", "--baseline", "monday")
    assert UNDER_ANOTHER_NAME not in printed and WITH_ITSELF not in printed and "no times" not in printed
    score("untimed", bot=_no_time)
    score("untimed-too", bot=_no_time)
    capsys.readouterr()
    main(["score", "untimed-too", "--baseline", "untimed", "--gate", "gate.yaml", "--verbose"])
    printed = capsys.readouterr().out
    assert UNDER_ANOTHER_NAME not in printed
    assert "the baseline has the same scores as bot on every case, and no times are recorded" in printed


def test_a_result_compared_with_itself_says_so(score: Callable[..., None]) -> None:
    """From Python, with a gate and without one."""
    score("night", bot=_first)
    result = assay.score("golden.jsonl", "night.jsonl")
    rules = {"rules": [{"metric": "correct_answer", "max_regression": 0.05}]}
    decision = assay.compare(result, result, gate=rules).decision
    assert decision is not None and decision.outcome == "INCOMPLETE"
    assert any("the baseline is the recording that is scored" in note for note in assay.compare(result, result).notes)


def _table(values: list[float], times: list[float] | None, config: str = "c") -> ScoreTable:
    columns = {"recall@10": values} | ({"latency_ms": times} if times is not None else {})
    return ScoreTable(
        config,
        [f"c{row}" for row in range(len(values))],
        {name: _column(name, column) for name, column in columns.items()},
        (),
        (),
    )


def _column(name: str, values: list[float]) -> ScoreColumn:
    zeros = np.zeros(len(values), np.uint16)
    return ScoreColumn(name, np.array(values), np.full(len(values), SCORED, np.uint8), zeros)


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ([812.0, 1043.0, 667.0], [812.0, 1043.0, 667.0], "same times"),
        ([812.0, 1043.0, 667.0], [812.0, 1043.0, 668.0], ""),
        ([2.0, 1.0, 12.0], [2.0, 1.0, 12.0], ""),  # what a fast search takes twice, to the millisecond
        ([500.0, 500.0, 500.0], [500.0, 500.0, 500.0], ""),  # no measurement at all
        (None, None, "no times"),
    ],
)
def test_times_tell_a_second_run(before: list[float] | None, after: list[float] | None, found: str) -> None:
    """Only times that no two runs share: three different ones of three digits at least."""
    scores = [1.0, 0.0, 1.0]
    assert found == find_same_recording(_table(scores, before), _table(scores, after))
    other = [1.0, 0.0, 0.0]
    assert "" == find_same_recording(_table(scores, before), _table(other, after))


def test_a_gate_without_a_rule_on_a_baseline_does_not_look_at_it() -> None:
    """Nothing of such a gate is compared, so that the recording of the baseline is no risk."""
    mine = _table([1.0] * 3, [812.0, 1043.0, 667.0])
    cases = [Case(case_id, "?") for case_id in mine.case_ids]
    for rule, is_risk in ((Rule("recall@10", at_least=0.5), False), (Rule("recall@10", max_regression=0.9), True)):
        gate = Gate(rules=(rule,), exempt_from_correctness="only the search is measured")
        decision = decide_release(gate, mine, cases, baseline=mine)
        assert is_risk == any(UNDER_ANOTHER_NAME in risk for risk in decision.risks)
