"""Judging from the command line, gates on judged metrics, and human labels: one small case for each past defect."""

from __future__ import annotations

import asyncio
import csv
import gc
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.calibration.calibrating import JUDGE, flags, truly, write_labels, write_verdict_export, write_world
from tests.cli.judging import FAITHFUL, INPUTS, NAMED, calibrated, gate, judging, score, state
from tests.cli.judging import judge as judge_eight
from tests.judging.asking import rendered, support_request
from tests.judging.malformed_replies import GOOD
from tests.runs.test_observation_runner import FakeTime
from tests.support.judge_server import JudgeServer
from tests.support.scripted_judge import QUESTIONS, MemoryStore, ScriptedJudge, fail_first, run_scripted_judge
from tests.support.verdicts import make_verdict

from assay.cli import main
from assay.judging.call_scheduler import GroupCommitter, JudgingLimits
from assay.judging.reply_parsing import ReplyProblem, parse_reply
from assay.judging.verdict_store import read_store
from assay.records.errors import InputError

UNSUPPORTED, UNSCORED = "unsupported_claims(by=judge)", "judge_unscored"


@pytest.fixture(name="server")
def _server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judging(tmp_path, monkeypatch) as server:
        yield server


def judge(*more: str) -> int:
    return judge_eight("--votes", "1", *more)


def decided(report: dict[str, Any]) -> str:
    return str(report["configs"]["a"]["decision"]["outcome"])


# ── who decides ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize("gate", [{"blocking_tags": ["hr"]}, {"rules": [{"metric": "failed", "at_most": 0}]}])
def test_uncalibrated_judge_fails_no_case_and_no_gate(server: JudgeServer, gate: Any) -> None:
    """Every second answer has a claim that its context lacks: the check failed cases, and these failed the gate."""
    rows = [json.loads(line) | {"tags": ["hr"]} for line in Path("golden.jsonl").read_text().splitlines()]
    Path("golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("gate.yaml").write_text(
        json.dumps({"rules": [], "zero_tolerance_tags": [], "exempt_from_correctness": "a test"} | gate)
    )
    assert 0 == judge()
    asked = ("--gate", "gate.yaml")
    result = score(*asked, metrics=UNSUPPORTED)
    assert (0, "PASS") == (result["status"], decided(result))
    assert [] == result["configs"]["a"]["failed_cases"]
    result = score(*asked, *calibrated(), metrics=UNSUPPORTED)
    assert (1, "FAIL") == (result["status"], decided(result))


def test_verdicts_that_cannot_be_requested_do_not_count_as_missing(server: JudgeServer) -> None:
    """Correctness, completeness and relevance are not asked where no answer is expected, and counted as missing."""
    rows = [json.loads(line) for line in Path("golden.jsonl").read_text().splitlines()]
    rows[0] |= {"expected_behavior": "abstain", "expected_answer": "It is not said.", "expected_chunk_ids": []}
    Path("golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert 0 == main(["judge", *INPUTS, *NAMED, "--votes", "1"])
    assert [0.0] * 8 == [each["scores"][UNSCORED] for each in scored_lines(UNSCORED)]


def scored_lines(metrics: str) -> list[dict[str, Any]]:
    score(metrics=metrics)
    return [json.loads(line) for line in Path("cases.jsonl").read_text().splitlines()]


@pytest.mark.slow
def test_headline_by_a_judge_says_whether_it_was_calibrated(server: JudgeServer) -> None:
    assert 0 == judge()
    said = "Not calibrated, for ranking and trends only: Faithfulness."
    for more, expected in (((), True), (calibrated(), False)):
        score(*more, metrics=FAITHFUL)
        assert expected is (said in Path("report.md").read_text())
    refused = calibrated(may_gate=False, reasons=("too few labels",))
    score(*refused, metrics=FAITHFUL)
    report = Path("report.md").read_text().replace("\\", "")
    assert said not in report
    assert "For ranking and trends only: Faithfulness: the calibration of faithfulness(by=judge) does not let" in report
    assert "it gate: too few labels" in report
    assert "calibrated: faithfulness(by=judge) (may not gate)" in report


# ── what a judge may say ─────────────────────────────────────────────────────────────────────────────────────────


def test_planted_word_is_detected_in_other_letters_and_in_escapes() -> None:
    asked = rendered(support_request())
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in asked.canary)
    reasoning = json.loads(GOOD)["items"][0]["reasoning"]
    for spelled in (asked.canary.upper(), escaped):
        found = parse_reply(GOOD.replace(reasoning, spelled), asked)
        assert isinstance(found, ReplyProblem)
        assert ("canary", True) == (found.code, found.final)


# ── what is counted, and what fails ──────────────────────────────────────────────────────────────────────────────


def test_calls_that_were_never_made_do_not_count_as_negative_retries() -> None:
    """The first is told to wait until after every deadline; those behind it are not made at all."""
    limits = JudgingLimits(1, deadline=5.0, breaker=3)
    runner = run_scripted_judge(
        ScriptedJudge(fail_first("rate_limited", 99, 30.0)), QUESTIONS[:3], limits=limits, time=FakeTime()
    )
    assert (0, 3) == (runner.tally.retries, runner.tally.asked)


@pytest.mark.slow
def test_full_disk_is_reported_once_without_tracebacks_of_waiting_tasks() -> None:
    heard: list[str] = []

    async def abandoned() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(context["message"]))
        async with GroupCommitter(MemoryStore(full_at=1), 60.0) as groups:
            groups.save(make_verdict(QUESTIONS[0], 0))  # who wanted it kept was stopped meanwhile
        gc.collect()

    asyncio.run(abandoned())
    assert [] == heard


@pytest.mark.parametrize("cap", ["nan", "inf"])
@pytest.mark.parametrize("option", ["--max-cost", "--deadline"])
def test_limit_that_is_not_a_number_is_refused_before_any_call(
    server: JudgeServer, capsys: pytest.CaptureFixture[str], option: str, cap: str
) -> None:
    """Nothing is more than NaN: dollars had no cap, and a deadline ended with a traceback."""
    assert 2 == judge(option, cap)
    assert f"(got {cap}; expected a finite number" in capsys.readouterr().err
    assert 0 == server.calls


def test_device_is_refused_as_verdict_store() -> None:
    with pytest.raises(InputError, match="no file"):
        read_store("/dev/zero")


# ── labels ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize(
    ("separator", "quoting", "encoding"),
    [(";", csv.QUOTE_MINIMAL, "utf-8-sig"), ("\t", csv.QUOTE_MINIMAL, "utf-8"), (",", csv.QUOTE_ALL, "utf-8")],
    ids=["semicolons", "tabs", "everything quoted"],
)
def test_label_sheet_is_read_as_any_spreadsheet_writes_it(
    tmp_path: Path, separator: str, quoting: Any, encoding: str
) -> None:
    where, sheets, out = write_world(tmp_path, cases=3), tmp_path / "sheets", tmp_path / "labels.jsonl"
    assert 0 == main(["labels", "export", *flags(where), "--metric", "faithfulness", "--out", str(sheets)])
    with (sheets / "sheet-1.csv").open(newline="", encoding="utf-8") as file:
        rows = [row | {"label": "supported"} for row in csv.DictReader(file)]
    filled = tmp_path / "Lan.csv"
    with filled.open("w", newline="", encoding=encoding) as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=separator, quoting=quoting)
        writer.writeheader()
        writer.writerows(rows)
    assert 0 == main(["labels", "import", str(filled), "--key", str(sheets / "key.json"), "--out", str(out)])
    assert [("Lan", "supported")] * len(rows) == [
        (each["rater"], each["label"]) for each in map(json.loads, out.read_text().splitlines())
    ]


@pytest.mark.slow
def test_labels_count_under_every_spelling_of_their_metric(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those of `faithfulness(by=judge)` were left out in silence; `against=context` was a metric apart."""
    where = write_world(tmp_path, cases=4)
    path = Path(write_labels(tmp_path / "labels.jsonl", where, "faithfulness"))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row, metric in zip(rows, ("faithfulness(by=judge)", "faithfulness(against=context)"), strict=False):
        row["metric"] = metric
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "calibration.json"
    assert 0 == main(["calibrate", *flags(where), "--labels", str(path), "--out", str(out)])
    (record,) = json.loads(out.read_bytes())["calibrations"]
    assert ("faithfulness(by=rules)", len(rows)) == (record["metric"], record["n"])
    path.write_text(json.dumps(rows[0] | {"metric": "faithfulness(foo=1)"}) + "\n")
    assert 2 == main(["calibrate", *flags(where), "--labels", str(path)])
    assert "faithfulness has no key 'foo'" in capsys.readouterr().err


def test_one_rater_does_not_label_an_item_twice_by_leaving_the_configuration_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second label contradicted the first: the item was left out as if two people had split."""
    where = write_world(tmp_path, cases=2, configs=("only",))
    path = Path(write_labels(tmp_path / "labels.jsonl", where, "correctness"))
    row = json.loads(path.read_text().splitlines()[0])
    del row["config_id"]
    with path.open("a") as file:
        file.write(json.dumps(row | {"label": "incorrect"}) + "\n")
    assert 2 == main(["calibrate", *flags(where), "--labels", str(path)])
    assert "one item labelled twice by one rater (got case000 by Lan" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("source", ["judge", "rules"])
def test_labels_of_another_tool_do_not_count_as_those_of_the_judge_or_the_rules(tmp_path: Path, source: str) -> None:
    """A grade with `judge_model` has the source `judge`: with 100 of them an external score could gate."""
    where = write_world(tmp_path)
    people = write_labels(tmp_path / "people.jsonl", where, "faithfulness")
    other = write_labels(tmp_path / "other.jsonl", where, "faithfulness", rater="gpt", source=source)
    said = write_verdict_export(tmp_path / "verdicts.jsonl", where, [(JUDGE, [truly])], ("faithfulness",))
    out = tmp_path / "calibration.json"
    words = ["calibrate", *flags(where), "--labels", people, "--labels", other, "--verdicts", said, "--out", str(out)]
    assert 0 == main(words)
    found = {each["by"]: each["calibration"] for each in json.loads(out.read_bytes())["report"]["measured"]}
    assert {"judge": True, f"another {source}": False} == {
        by: record["may_gate"] for by, record in found.items() if by not in ("rules", "combined")
    }
    assert [FAITHFUL, "faithfulness(by=rules)", "faithfulness(by=combined)"] == [
        each["metric"] for each in json.loads(out.read_bytes())["calibrations"]
    ]


# ── books ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_judge_is_not_made_valid_by_editing_the_record_of_its_controls(server: JudgeServer) -> None:
    """The record was left out as if there had been none: a judge that rewards everything could gate."""
    server.answer = JudgeServer().answer
    assert 1 == judge()
    with closing(sqlite3.connect("verdicts.sqlite", isolation_level=None)) as db:
        db.execute("UPDATE judge_statuses SET record = replace(record, 'true', 'false')")
    result = score(*calibrated(), *gate(), metrics=FAITHFUL)
    assert "incomplete" == state(result)  # an invalid judge gives no numbers


def test_invalid_judge_stays_invalid_when_nothing_is_left_to_ask(server: JudgeServer) -> None:
    """No case states a fact to look for: without questions there are no controls, and the exit code was 0."""
    server.answer = JudgeServer().answer
    assert 1 == judge()
    assert 1 == main(["judge", *INPUTS, *NAMED, "--metrics", "completeness(by=judge)"])


# ── what comes next ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_the_command_that_comes_next_reads_the_texts_that_were_judged(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the corpus that judging was given no context has a text, and no verdict is found."""
    rows = [json.loads(line) for line in Path("outputs.jsonl").read_text().splitlines()]
    chunks = [row["context_chunks"][0] for row in rows]
    Path("corpus.jsonl").write_text("".join(json.dumps(chunk) + "\n" for chunk in chunks))
    bare = [{"chunk_id": chunk["chunk_id"]} for chunk in chunks]
    rows = [
        row | {"retrieved_chunks": [chunk], "context_chunks": [chunk]} for row, chunk in zip(rows, bare, strict=True)
    ]
    Path("outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert 0 == judge("--corpus", "corpus.jsonl")
    (following,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("next: assay score")]
    assert 0 == main([*following.split()[2:], "--json-report", "report.json"])
    summary = json.loads(Path("report.json").read_bytes())["configs"]["a"]["summary"]
    assert 8 == summary[FAITHFUL]["scored"]
