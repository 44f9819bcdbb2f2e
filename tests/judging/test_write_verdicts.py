"""`assay judge export --run`: verdicts for reading, one object a line."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.judging import INPUTS, METRICS, NAMED, judging
from tests.support.judge_server import JudgeServer

from assay.cli import main
from assay.judging.verdict_store import read_store

KEYS = {
    *("component", "item_id", "config", "rubric", "version", "language", "model", "request_id", "label", "value"),
    *(
        "reasoning",
        "quote",
        "text",
        "unscored",
        "latency_ms",
        "prompt_tokens",
        "completion_tokens",
        "cost_usd",
        "votes",
        "reviews",
    ),
}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judging(tmp_path, monkeypatch) as running:
        assert 0 == main(["score", *INPUTS, "--run-dir", "run"])
        yield running


def read_lines() -> list[dict[str, Any]]:
    assert 0 == main(["judge", "export", "--run", "run", "--to", "details.jsonl"])
    return [json.loads(line) for line in Path("details.jsonl").read_bytes().splitlines()]


@pytest.mark.slow
def test_each_request_about_a_case_is_a_line_that_can_be_read(server: JudgeServer) -> None:
    assert 0 == main(["judge", "--run", "run", *NAMED, *METRICS, "--votes", "2"])
    lines = read_lines()
    assert 16 == len(lines), "claims and relevance of eight cases"
    assert KEYS == set(lines[0])
    by_key = {(line["item_id"], line["component"]): line for line in lines}
    claims, relevance = by_key["c1", "faithfulness"], by_key["c1", "answer_relevance"]
    assert ("a", "support", "1", "scripted-1-2026-01-01") == tuple(
        claims[key] for key in ("config", "rubric", "version", "model")
    )
    assert {"c1": "Staff get 12 days of leave in year 1."} == claims["text"]
    assert {"c1": "not_found"} == claims["label"] and {"c1": 0.0} == claims["value"]
    assert {"answer": "as scripted"} == relevance["reasoning"]
    assert 2 == len(claims["votes"]) and {"c1": "not_found"} == claims["votes"][1]["label"]
    usages = [
        sample.usage
        for sample in read_store("run/verdicts.sqlite").verdicts[claims["votes"][0]["judge"]][claims["request_id"]]
    ]
    assert sum(usage.prompt_tokens for usage in usages) == claims["prompt_tokens"] > 0
    assert claims["latency_ms"] > 0 and claims["cost_usd"] is None


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_jq_finds_the_reasoning_about_a_case(server: JudgeServer) -> None:
    assert 0 == main(["judge", "--run", "run", *NAMED, *METRICS])
    read_lines()
    words = ["jq", "-c", 'select(.item_id=="c1") | .reasoning', "details.jsonl"]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert ['{"c1":"as scripted"}', '{"answer":"as scripted"}'] == printed.splitlines()


@pytest.mark.slow
def test_what_has_no_label_says_why(server: JudgeServer) -> None:
    good, server.answer = server.answer, lambda asked: "no label at all" if "year 3" in asked.text else good(asked)
    main(["judge", "--run", "run", *NAMED, *METRICS])
    by_key = {(line["item_id"], line["component"]): line for line in read_lines()}
    unscored = by_key["c3", "faithfulness"]
    assert ("judge_parse", {}, {}) == (unscored["unscored"], unscored["label"], unscored["reasoning"])
    assert "judge_parse" == unscored["votes"][0]["unscored"]


def test_a_run_without_verdicts_has_nothing_to_export(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["judge", "export", "--run", "run", "--to", "details.jsonl"])
    assert "no verdicts about the answers of this run" in capsys.readouterr().err
    for words in ([], ["--run", "run", "--store", "verdicts.sqlite"]):
        assert 2 == main(["judge", "export", *words, "--to", "details.jsonl"])
        assert "--store or --run: expected one of them" in capsys.readouterr().err
