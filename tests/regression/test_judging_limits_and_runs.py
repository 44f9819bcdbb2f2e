"""Cost limits and exit codes of judging, and judged runs that are scored or saved again."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.judging import METRICS, NAMED, judging
from tests.faults.judging import honest
from tests.support.judge_server import JudgeCall, JudgeServer, Step, answer_with_labels, build_http_response

from assay.cli import main

INPUTS = ("--golden", "golden.jsonl", "--outputs", "outputs.jsonl")


@pytest.fixture(name="server")
def _server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judging(tmp_path, monkeypatch) as server:
        yield server


def judge(*more: str) -> int:
    return main(["judge", *INPUTS, *NAMED, *METRICS, *more])


# ── what judging takes ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize("honestly", [True, False], ids=["one vote each", "five votes, asked for three times"])
def test_judging_costs_at_most_its_estimate(
    server: JudgeServer, capsys: pytest.CaptureFixture[str], honestly: bool
) -> None:
    """Of a judge that answers every fourth time only, most votes are asked for three times."""
    turn = itertools.count()
    said = answer_with_labels(honest)
    server.answer = said if honestly else lambda asked: said(asked) if next(turn) % 4 == 3 else "What?"
    judge("--concurrency", "1", "--votes", "1" if honestly else "5")
    printed = capsys.readouterr().err
    ((least, most),) = re.findall(r"calls: (\d+) at least, (\d+) at most", printed)
    ((prompt, completion),) = re.findall(r"limit: (\d+) prompt and (\d+) completion", printed)
    ((calls, tokens),) = re.findall(r"calls: (\d+)\b.*?; tokens: (\d+)", printed)
    assert int(least) <= int(calls) <= int(most)
    assert server.calls == int(calls)
    assert int(tokens) <= int(prompt) + int(completion)


def test_limit_below_the_cost_of_one_call_is_reported_and_ends_judging(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 3 == judge("--max-tokens", "100")
    assert "stopped at --max-tokens; a single call may exceed the limit" in capsys.readouterr().err
    assert 0 == server.calls


def test_a_cap_on_tokens_holds_for_a_judge_that_writes_to_its_limit(server: JudgeServer) -> None:
    """Sixteen at once, each of which says that it took all of its 4,096 tokens: an estimate of 40 and 100 a label let
    these through."""
    said, usage = server.reply, {"prompt_tokens": 1500, "completion_tokens": 4096, "total_tokens": 5596}

    def verbose(path: str, body: dict[str, Any], step: Step) -> bytes:
        return build_http_response(json.loads(said(path, body, step).partition(b"\r\n\r\n")[2]) | {"usage": usage})

    server.reply = verbose  # type: ignore[method-assign]
    assert 3 == judge("--votes", "1", "--max-tokens", "60000")
    spent = 5596 * server.calls
    assert 40_000 < spent <= 60_000


# ── what the exit code covers ────────────────────────────────────────────────────────────────────────────────────


def test_votes_that_tie_are_no_verdict_and_the_exit_code_says_so(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two votes that contradict each other: relevance has a median of neither, support no majority."""
    said, turn = answer_with_labels(honest), itertools.cycle((0, -1))

    def torn(asked: JudgeCall) -> Any:
        if "in year 0" not in json.dumps(asked.data):
            return said(asked)
        label = str(asked.item["label"]["enum"][next(turn)])
        return answer_with_labels(lambda *_: label)(asked)

    server.answer = torn
    assert 3 == judge("--votes", "2", "--only", "case:c0", "--concurrency", "1")
    printed = capsys.readouterr().err
    assert "2 of 2 requests have no verdict (tie 2); tie: as many votes for as against" in printed
    assert "asks again" not in printed
    calls = server.calls
    assert 3 == judge("--votes", "2", "--only", "case:c0")
    assert calls == server.calls


def test_text_too_long_for_the_judge_is_counted_and_not_sent(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [json.loads(line) for line in Path("outputs.jsonl").read_text().splitlines()]
    rows[0]["answer"] += " word" * 21_000
    Path("outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    relevance = ("--metrics", "answer_relevance(by=judge)")
    assert 3 == main(["judge", *INPUTS, *NAMED, *relevance, "--votes", "1"])
    printed = capsys.readouterr().err
    assert "1 of 8 requests have no verdict (too_long 1); too_long: longer than the judge can read" in printed


# ── run folders ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(name="run")
def _run(server: JudgeServer) -> Path:
    rows = [json.loads(line) for line in Path("outputs.jsonl").read_text().splitlines()]
    both = rows + [row | {"config_id": "b"} for row in rows[:7]]
    Path("outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in both))
    assert 3 == main(["score", *INPUTS, "--run-dir", "run"])
    return Path("run")


def edit(run: Path) -> None:
    text = (run / "golden.jsonl").read_text(encoding="utf-8")
    (run / "golden.jsonl").write_text(text.replace("in year 0", "in year 99"), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["explain", "c0", "--run", "run:a"],
        ["judge", "--run", "run", *NAMED, *METRICS, "--dry-run"],
        ["score", "run"],
        ["labels", "export", "--run", "run", "--out", "sheets"],
    ],
    ids=lambda words: words[0],
)
def test_a_run_whose_golden_set_was_edited_is_refused_by_all_who_read_it(
    run: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    """Its scores, and the verdicts on its questions, are about other questions."""
    edit(run)
    assert 2 == main(words)
    assert "E_RUN_CHANGED is not the golden set that the run was made with" in capsys.readouterr().err


def files(name: str) -> list[str]:
    return ["--json-report", f"{name}.json", "--per-case", f"{name}.jsonl"]


@pytest.mark.slow
def test_a_run_scored_by_its_name_gives_the_bytes_of_its_files_scored_by_theirs(run: Path) -> None:
    assert 3 == main(["score", "run", *files("by-name")])
    named = ["--golden", "run/golden.jsonl", "--outputs", "run/observations.jsonl"]
    assert 3 == main(["score", *named, *files("by-files")])
    for suffix in (".json", ".jsonl"):
        assert Path(f"by-files{suffix}").read_bytes() == Path(f"by-name{suffix}").read_bytes()


@pytest.mark.slow
def test_one_configuration_of_a_run_is_scored_and_reported_alone(run: Path) -> None:
    """The other one, of which an answer is missing, leaves nothing incomplete."""
    assert 0 == main(["score", "run:a", *files("scored")])
    assert 0 == main(["report", "run:a", "--json", "reported.json", "--csv", "reported.csv"])
    scored, reported = (json.loads(Path(name).read_bytes()) for name in ("scored.json", "reported.json"))
    assert (["a"], scored) == (list(scored["configs"]), reported)
    assert "NOT_GATED" == reported["decision"]["outcome"]
    assert {"a"} == {line.split(",")[0] for line in Path("reported.csv").read_text().splitlines()[1:]}


def test_a_run_is_named_alone_and_not_written_over(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["score", "run", "--golden", "golden.jsonl"])
    assert "a run folder already holds its golden set, outputs and corpus" in capsys.readouterr().err
    assert 2 == main(["score", "run", "--run-dir", "./run"])
    assert "E_OVERWRITE is the run that is being scored" in capsys.readouterr().err
    assert 2 == main(["score", "run:c"])
    assert "E_CONFIG no such configuration (got 'c'; expected one of a, b)" in capsys.readouterr().err
    assert 2 == main(["score"])
    assert "no answers named" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_that_was_judged_is_kept_as_another_run_with_its_verdicts(run: Path) -> None:
    assert 0 == main(["judge", "--run", "run", *NAMED, *METRICS, "--votes", "1"])
    main(["score", "run:a", "--run-dir", "again", *files("first")])
    main(["score", "again:a", *files("second")])
    assert Path("first.jsonl").read_bytes() == Path("second.jsonl").read_bytes()
    assert b"faithfulness(by=judge)" in Path("second.jsonl").read_bytes()
