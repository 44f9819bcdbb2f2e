"""Rules of redaction act on every text before it leaves for a judge, and one request can be looked at before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.judging import INPUTS, METRICS, judging
from tests.support.judge_server import JudgeServer

from assay.cli import main
from assay.judging.choose_judge import make_input_redactor
from assay.judging.verdict_store import read_store

RULES: list[dict[str, Any]] = [
    {"name": "unit", "pattern": "head of [a-z]+"},
    {"name": "who", "pattern": r"\bstaff\b", "ignore_case": True, "replacement": "people"},
]


def write_settings(rules: list[dict[str, Any]]) -> None:
    judge = {"model": "scripted-1", "base_url_env": "THE_JUDGE", "api_key_env": "THE_KEY", "redact": rules}
    Path("assay.yaml").write_text(json.dumps({"judge": judge}))


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with judging(tmp_path, monkeypatch) as running:
        yield running


def judge(*words: str) -> int:
    return main(["judge", *INPUTS, *METRICS, "--settings", "assay.yaml", *words])


@pytest.mark.slow
def test_nothing_that_a_rule_names_reaches_the_judge(server: JudgeServer) -> None:
    write_settings(RULES)
    assert 0 == judge()
    about_cases = [text for text in map(json.dumps, server.requests) if "in year" in text]
    assert len(about_cases) > 4, "requests and controls"
    assert not [text for text in about_cases if "head of department" in text or "Staff get" in text]
    assert [text for text in about_cases if "ask the [unit]" in text and "people get" in text]


def test_keys_never_reach_a_judge_and_what_a_text_calls_a_password_does() -> None:
    redact = make_input_redactor(())
    assert redact("Use sk_live_" + "9aZ8" * 6 + ".") == "Use [redacted]."
    assert redact("The default password: Winter2025") == "The default password: Winter2025"


@pytest.mark.slow
def test_other_rules_are_another_judge(server: JudgeServer) -> None:
    """What a judge was shown belongs to its identity: verdicts on other texts are never mixed."""
    write_settings(RULES)
    assert 0 == judge()
    write_settings([])
    assert 0 == judge()
    redacted, plain = sorted(read_store("verdicts.sqlite").judges, key=lambda each: "redaction" not in each.parameters)
    assert redacted.parameters["redaction"].startswith("sha256:") and "redaction" not in plain.parameters


def test_a_dry_run_shows_one_request_as_it_would_be_sent(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_settings(RULES)
    assert 0 == judge("--dry-run", "--show")
    printed = capsys.readouterr().out
    body = json.loads(printed[printed.index("{\n") :])
    assert "scripted-1" == body["model"]
    assert "[unit]" in json.dumps(body["messages"]) and "Staff get" not in json.dumps(body["messages"])
    assert 0 == server.calls
    assert 2 == judge("--show")
    assert "--show: prints a request without sending it" in capsys.readouterr().err


def test_patterns_that_cannot_be_used_are_named(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    write_settings([{"name": "a", "pattern": "(a"}, {"name": "b", "pattern": "b*"}])
    assert 2 == judge("--dry-run")
    printed = capsys.readouterr().err
    assert "judge.redact[0].pattern: E_PATTERN not a pattern (got '(a': a ( without its ) at character 1)" in printed
    assert "judge.redact[1].pattern: E_PATTERN matches the empty text" in printed
