"""Judging and calibrating from Python, as a user does: ask a function, have it judged, score again, calibrate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.calibration.calibrating import write_labels, write_verdict_export, write_world
from tests.calibration.test_calibrate import erring
from tests.faults.judging import honest
from tests.support.judge_server import JudgeServer, answer_with_labels, judge_server
from tests.support.verdicts import JUDGE

import assay
from assay.records.errors import AssayError, ExitCode, InputError

FAITHFUL = "faithfulness(by=judge)"
GOLDEN = [
    {"id": f"c{n}", "question": f"How many days of leave are there in year {n}?", "reference": f"{n + 10} days"}
    for n in range(6)
]


def answer(question: str) -> dict[str, Any]:
    """A system that gets every second year wrong by a day."""
    year = int(question.rstrip("?").split()[-1])
    context = f"Staff get {year + 10} days of leave in year {year}. They ask the head of department."
    days = year + 10 + year % 2
    return {"answer": f"Staff get {days} days of leave in year {year}.", "contexts": [context]}


def assert_few_lines(value: object, *parts: str) -> None:
    """Check that a value prints as lines to be read, which contain the parts."""
    printed = repr(value)
    assert printed.count("\n") < 20 and not printed.startswith(type(value).__name__), printed
    assert [] == [part for part in parts if part not in printed], printed


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    """A scripted judge, named in the settings file of the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("assay.yaml").write_text(
        "judge: {protocol: openai, model: scripted-1, base_url_env: THE_JUDGE, api_key_env: THE_KEY}\n"
    )
    with judge_server(answer=answer_with_labels(honest)) as scripted:
        monkeypatch.setenv("THE_JUDGE", f"{scripted.url}/v1")
        monkeypatch.setenv("THE_KEY", "key-of-the-tests")
        yield scripted


def test_a_result_is_judged_with_the_corpus_that_it_was_scored_with(server: JudgeServer, tmp_path: Path) -> None:
    corpus = [
        {"chunk_id": f"p{year}", "text": f"Staff get {year + 10} days of leave in year {year}. They ask the head."}
        for year in range(3)
    ]
    golden = [{**case, "expected_chunk_ids": [f"p{number}"]} for number, case in enumerate(GOLDEN[:3])]

    def answer_by_ids(question: str) -> dict[str, Any]:
        year = int(question.rstrip("?").split()[-1])
        return {
            "answer": f"Staff get {year + 10} days of leave in year {year}.",
            "retrieved": [{"chunk_id": f"p{year}"}],
        }

    measured = assay.run(answer_by_ids, golden, corpus=corpus, context="retrieved")
    store = tmp_path / "verdicts.sqlite"
    judged = assay.judge(measured, metrics=[FAITHFUL], store=store)
    assert len(golden) == judged.requests
    scored = assay.score(golden, measured, corpus=corpus, verdicts=store)
    assert (len(golden), 0) == (scored.metric(FAITHFUL).scored, scored.metric(FAITHFUL).errors)


@pytest.mark.slow
def test_answers_of_a_function_are_judged_and_scored_with_the_verdicts(server: JudgeServer, tmp_path: Path) -> None:
    measured = assay.run(answer, GOLDEN, context="retrieved")
    judged = assay.judge(measured, metrics=[FAITHFUL], store=tmp_path / "verdicts.sqlite")
    assert judged.exit_code == ExitCode.PASS
    assert judged.requests == len(GOLDEN)
    assert not judged.unscored
    assert judged.store_path == tmp_path / "verdicts.sqlite"
    assert_few_lines(judged, "PASS: 6 requests, ", f"verdicts in {judged.store_path}")
    asked = server.calls
    assert asked >= len(GOLDEN)

    scored = assay.score(GOLDEN, measured, metrics=[FAITHFUL], verdicts=judged.store_path)
    by_case = {case.id: case.scores[FAITHFUL] for case in scored.cases}
    assert by_case == {f"c{n}": float(n % 2 == 0) for n in range(6)}

    again = assay.judge(measured, metrics=[FAITHFUL], store=tmp_path / "verdicts.sqlite")
    assert again.exit_code == ExitCode.PASS
    assert server.calls == asked, "verdicts that are in the store are not asked for again"


@pytest.mark.slow
def test_a_judge_reads_the_texts_of_chunks_in_a_corpus_of_rows(server: JudgeServer, tmp_path: Path) -> None:
    golden = [{"id": "leave", "question": "How long is the leave?", "reference": "14 days"}]
    chunk = {"chunk_id": "leave:4", "text": "Staff get 14 days of leave in year 4."}
    row = {"case_id": "leave", "answer": "Staff get 14 days of leave in year 4.", "context": [{"chunk_id": "leave:4"}]}
    judged = assay.judge(
        assay.score(golden, [row]), metrics=[FAITHFUL], store=tmp_path / "verdicts.sqlite", corpus=[chunk]
    )
    assert (ExitCode.PASS, 1) == (judged.exit_code, judged.requests)
    scored = assay.score(golden, [row], corpus=[chunk], metrics=[FAITHFUL], verdicts=judged.store_path)
    assert 1.0 == scored.cases[0].scores[FAITHFUL]


@pytest.mark.slow
def test_a_cap_on_calls_holds_and_the_rest_is_asked_later(server: JudgeServer, tmp_path: Path) -> None:
    measured = assay.run(answer, GOLDEN, context="retrieved")
    store = tmp_path / "verdicts.sqlite"
    judged = assay.judge(measured, metrics=[FAITHFUL], store=store, max_calls=2)
    assert judged.exit_code == ExitCode.INCOMPLETE
    assert judged.unscored["not asked"] > 0
    assert judged.tally.halted == "max_calls"
    assert_few_lines(judged, "INCOMPLETE: 6 requests, ", f"without a verdict: {judged.unscored.total()} (not asked")
    assert_few_lines(assay.review(assay.score(GOLDEN, measured, verdicts=store)), "left to review")
    assert server.calls <= 2
    assert assay.judge(measured, metrics=[FAITHFUL], store=store).exit_code == ExitCode.PASS


def test_judging_without_a_judge_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scored = assay.score(GOLDEN[:1], [{"query_id": "c0", "config_id": "a", "answer": "10 days"}])
    with pytest.raises(AssayError, match="judge"):
        assay.judge(scored, metrics=[FAITHFUL])


@pytest.mark.slow
def test_a_judge_is_calibrated_and_the_file_is_used_for_scoring(tmp_path: Path) -> None:
    """Of the unsupported claims the judge passes a tenth, as in the test of the command."""
    where = write_world(tmp_path)
    verdicts = write_verdict_export(tmp_path / "v.jsonl", where, [(JUDGE, [erring(10)])], ("faithfulness",))
    labels = write_labels(tmp_path / "l.jsonl", where, "faithfulness")
    scores = assay.score(where.golden, list(where.outputs), metrics=[FAITHFUL], verdicts=verdicts)
    out = tmp_path / "calibration.json"
    calibration = assay.calibrate(labels, scores, verdicts=[verdicts], metrics=["faithfulness"], out=out)
    assert calibration.raters == ("Lan",)
    assert_few_lines(calibration, " labels of 1 rater\n", "faithfulness", ", n=")
    assert {"judge", "rules"} <= {measured.by for measured in calibration.measured}
    (record,) = [measured.calibration for measured in calibration.measured if measured.by == "judge"]
    assert record is not None and record.sensitivity is not None and record.specificity is not None
    assert (record.sensitivity.value, record.specificity.value) == (1.0, 0.9)

    scored = assay.score(where.golden, list(where.outputs), metrics=[FAITHFUL], verdicts=verdicts, calibration=out)
    config = scored.configs[0]
    assert FAITHFUL in scores.run.scoring.configs[config].table.uncalibrated
    assert FAITHFUL not in scored.run.scoring.configs[config].table.uncalibrated


def test_labels_that_are_no_labels_are_refused_with_their_line(tmp_path: Path) -> None:
    scored = assay.score(GOLDEN[:1], [{"query_id": "c0", "config_id": "a", "answer": "10 days"}])
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"case": "c0"}\n')
    with pytest.raises(InputError, match=r"labels\.jsonl:1: "):
        assay.calibrate(labels, scored)
