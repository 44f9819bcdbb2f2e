"""Calls that failed and were repeated are recorded, timed, measured and said, although their cases have no error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import assay
from assay.calls.interfaces import CallError, TargetCall, TargetOperation
from assay.calls.retry import Clock
from assay.cli import main
from assay.records.golden_set import Case
from assay.records.observations import FailedAttempt, Observation, Usage
from assay.report.findings.doubts import list_doubts
from assay.runs.observation_runner import ObservationLimits, ObservationRunner, ObservationTask, add_failed_time
from assay.runs.observe_run import prepare_observation
from assay.text.escaping import Redactor

CASES = [Case(f"c{number}", f"question {number}?", reference=f"code {number}") for number in range(4)]


class Unsteady:
    """A target that takes 100 ms for a call, and fails as often as is said for each case."""

    name = "unsteady"
    operations: tuple[TargetOperation, ...] = ("ask",)

    def __init__(self, errors: dict[str, list[str]]) -> None:
        self.errors, self.time = errors, 0.0

    async def identity(self) -> dict[str, Any]:
        return {}

    async def observe(self, call: TargetCall) -> Observation:
        self.time += 0.1
        waiting = self.errors.get(call.case.id, [])
        if waiting:
            raise CallError(waiting.pop(0), "came to nothing at https://me:secret-0123456789@desk/ask")
        return Observation(call.case.id, answer="code " + call.case.question[-2])

    async def aclose(self) -> None:
        pass


async def observe(target: Unsteady, attempts: int = 4) -> tuple[dict[str, Observation], ObservationRunner]:
    kept: dict[str, Observation] = {}

    def keep(observation: Observation) -> Observation:
        kept[observation.case_id] = observation
        return observation

    async def sleep(seconds: float) -> None:
        target.time += seconds

    limits = ObservationLimits(("ask",), concurrency=1, attempts=attempts)
    runner = ObservationRunner(target, limits, keep, Clock(now=lambda: target.time, sleep=sleep))
    await runner.run(map(ObservationTask, CASES))
    return kept, runner


def run(target: Unsteady, attempts: int = 4) -> tuple[dict[str, Observation], ObservationRunner]:
    import asyncio

    return asyncio.run(observe(target, attempts))


def test_every_failed_call_is_kept_with_its_code_and_its_time() -> None:
    kept, runner = run(Unsteady({"c1": ["http_503", "timeout"], "c2": ["connection"]}))
    assert () == kept["c0"].failed_attempts
    attempts = kept["c1"].failed_attempts or ()
    assert [("http_503", 100.0), ("timeout", 100.0)] == [(attempt.code, attempt.elapsed_ms) for attempt in attempts]
    assert (7, 3) == (runner.tally.calls, runner.tally.repeated)
    times = {case_id: row.usage.end_to_end_ms for case_id, row in kept.items() if row.usage is not None}
    assert {"c0": 100.0, "c1": 300.0, "c2": 200.0, "c3": 100.0} == times  # without the pauses between calls


def test_the_last_error_of_a_case_that_failed_is_its_error_and_no_repeated_call() -> None:
    kept, _ = run(Unsteady({"c0": ["http_500"] * 9, "c3": ["http_404"]}), attempts=3)
    assert ["http_500"] * 2 == [attempt.code for attempt in kept["c0"].failed_attempts or ()]
    assert kept["c0"].error is not None and "http_500" == kept["c0"].error.code
    assert kept["c3"].error is not None and () == kept["c3"].failed_attempts


def test_a_time_that_the_target_reports_gets_that_of_the_failed_calls_too() -> None:
    reported = Observation("c", usage=Usage(end_to_end_ms=40.0))
    longer = add_failed_time(reported, [FailedAttempt("http_502", elapsed_ms=1000.0), FailedAttempt("timeout")])
    assert longer.usage is not None and 1040.0 == longer.usage.end_to_end_ms
    assert reported == add_failed_time(reported, [])
    assert Observation("c") == add_failed_time(Observation("c"), [FailedAttempt("timeout", elapsed_ms=1.0)])


def test_what_a_failed_call_says_is_stored_without_secrets() -> None:
    kept, _ = run(Unsteady({"c1": ["http_503"]}))
    _, line = prepare_observation(kept["c1"], Redactor(()))
    assert b"came to nothing" in line
    assert b"secret-0123456789" not in line


def test_reports_say_how_many_calls_were_repeated_and_error_rate_does_not(tmp_path: Path) -> None:
    kept, _ = run(Unsteady({"c1": ["http_503", "timeout"], "c2": ["http_503"]}))
    scored = assay.score(
        CASES, list(kept.values()), metrics=["error_rate", "retries", "retries(stat=total)", "latency_ms"]
    )
    summary = scored.scoring.configs["unsteady"].summary
    assert (0.0, 0.75) == (summary["error_rate"].value, summary["retries"].value)
    assert 3.0 == summary["retries(stat=total)"].value
    (doubt,) = list_doubts(scored.scoring)
    assert "doubt: 3 calls failed and were repeated: HTTP 503 ×2, timeout ×1 (c1, c2; error_rate counts last" in doubt
    assert "doubt: 3 calls failed and were repeated: HTTP 503 ×2, timeout ×1" in str(scored)


def test_outputs_of_elsewhere_say_nothing_of_their_calls() -> None:
    scored = assay.score(CASES, [Observation(case.id, answer="code") for case in CASES], metrics=["retries"])
    summary = scored.scoring.configs["unknown"].summary["retries"]
    assert summary.value is None and 0 == summary.scored
    assert "repeated" not in str(scored)


@pytest.mark.slow
def test_a_recorded_run_says_it_again_and_a_gate_can_refuse_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    kept, _ = run(Unsteady({"c0": ["crashed"], "c3": ["http_429"]}))
    lines = [msgspec.json.encode(row) for row in kept.values()]
    (tmp_path / "o.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    golden = [b'{"golden_set": {"name": "g", "schema_version": 1}}', *map(msgspec.json.encode, CASES)]
    (tmp_path / "g.jsonl").write_bytes(b"\n".join(golden) + b"\n")
    (tmp_path / "gate.yaml").write_text("rules:\n  - {metric: retries, at_most: 0}\n", encoding="utf-8")
    inputs = ["--golden", str(tmp_path / "g.jsonl"), "--outputs", str(tmp_path / "o.jsonl")]
    files = [str(tmp_path / name) for name in ("r.json", "r.md")]
    assert 1 == main(
        ["score", *inputs, "--gate", str(tmp_path / "gate.yaml"), "--json-report", files[0], "--report", files[1]]
    )
    said = "2 calls failed and were repeated: crashed ×1, HTTP 429 ×1 (c0, c3;"
    assert said in capsys.readouterr().out
    report = json.loads((tmp_path / "r.json").read_bytes())
    assert [said in doubt for doubt in report["doubts"]] == [True]
    calls = report["configs"]["unsteady"]["repeated_calls"]
    assert [("crashed", 1, ["c0"]), ("http_429", 1, ["c3"])] == [
        (row["code"], row["calls"], row["case_ids"]) for row in calls
    ]
    assert said in (tmp_path / "r.md").read_text(encoding="utf-8")
