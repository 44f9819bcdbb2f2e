"""`assay init`, `assay doctor` and `--show-settings`: from nothing to a settings file that is known to work."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from assay.cli import main


def test_settings_are_shown_with_their_origins(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["run", "--show-settings", "--repeat", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert {
        'golden = "golden.jsonl"  (assay.yaml:1)',
        "run.repeat = 2  (--repeat)",
        "run.attempts = 4  (default)",
    } <= set(lines)
    assert not (here / "runs").exists()


KINDS = ("python", "http", "mcp", "command", "recorded", "langchain", "llamaindex")


@pytest.mark.parametrize("kind", KINDS)
def test_first_settings_are_valid_and_never_written_over_others(
    here: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(["init", "--kind", kind, "--file", f"{kind}.yaml"])
    assert 0 == main(["run", "--settings", f"{kind}.yaml", "--show-settings"])
    capsys.readouterr()
    assert 2 == main(["init", "--kind", kind, "--file", f"{kind}.yaml"])
    assert "already exists" in capsys.readouterr().err


def test_doctor_names_what_is_missing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["doctor"])
    printed = capsys.readouterr().out
    assert "ok    golden set: 3 cases" in printed
    assert "warn  golden set: no owner" in printed
    assert "ok    target first: ask: understood as" in printed
    (here / "assay.yaml").write_text("golden: none.jsonl\ntargets: {a: {type: python, call: 'none:x'}}\n")
    assert 2 == main(["doctor"])
    printed = capsys.readouterr().out
    assert "fail  golden set" in printed
    assert "fail  target a" in printed


def write_target(here: Path, body: str, more: str = "") -> None:
    """Write a target of two functions into the folder, and settings that name it."""
    (here / "my_rag.py").write_text(body, encoding="utf-8")
    settings = f"golden: golden.jsonl\ntargets:\n  mine:\n    type: python\n    call: my_rag:ask\n{more}"
    (here / "assay.yaml").write_text(settings, encoding="utf-8")


def test_doctor_warns_where_a_reply_has_no_answer_that_it_can_read(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(here)
    monkeypatch.delitem(sys.modules, "my_rag", raising=False)
    write_target(here, "def ask(question):\n    return {'said': 'yes', 'contexts': ['1']}\n")
    main(["doctor"])
    assert "warn  target mine: ask: no answer was read" in capsys.readouterr().out


def test_doctor_fails_where_a_member_that_is_not_read_is_named_like_the_answer(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(here)
    monkeypatch.delitem(sys.modules, "my_rag", raising=False)
    write_target(here, "def ask(question):\n    return {'reply_text': 'yes', 'contexts': ['1']}\n")
    assert 2 == main(["doctor"])
    printed = capsys.readouterr().out
    assert "fail  target mine" in printed
    assert "no answer, but a text in reply_text" in printed


def test_doctor_asks_every_operation_and_shows_the_replies_as_they_were_understood(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(here))
    monkeypatch.delitem(sys.modules, "my_rag", raising=False)
    write_target(
        here,
        "def ask(question):\n"
        "    sources = [{'id': 'hr:1', 'text': 'Leave is twelve days.'}]\n"
        "    return {'answer': 'Twelve\\ndays.', 'sources': sources, 'citation': 1}\n"
        "def search(question, k):\n"
        "    raise KeyError('INDEX_URL')\n",
        "    search: my_rag:search\n",
    )
    assert 2 == main(["doctor"])
    lines = capsys.readouterr().out.splitlines()
    assert "fail  target mine: search: exception: KeyError: 'INDEX_URL', at my_rag.py:5" in lines
    start = lines.index("ok    target mine: ask: understood as")
    assert [
        "      answer: 'Twelve days.'",
        "      stage retrieved: 1 chunk",
        "        1. hr:1: 'Leave is twelve days.'",
    ] == lines[start + 1 : start + 4]
    assert "ok    target mine: sources is read as the stage retrieved" in lines
    assert "warn  target mine: keys that were not read: citation (did you mean citations?)" in lines
    remedy = "      context: retrieved in the target's settings, if the model is shown what is retrieved"
    assert remedy == lines[lines.index("warn  target mine: does not say what the model was shown") + 1]


def test_doctor_and_run_name_a_path_of_the_settings_that_finds_nothing(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.syspath_prepend(here)
    monkeypatch.delitem(sys.modules, "my_rag", raising=False)
    body = "def ask(question):\n    return {'result': {'reply': 'yes', 'hits': [{'ref': 'a'}]}}\n"
    mapping = "    response: {answer: result.reply, stages: {retrieved: result.hit}, chunk: {id: ref}}\n"
    write_target(here, body, mapping)
    keys = "result has the keys hits, reply"
    named = f"response.stages.retrieved: nothing at result.hit ({keys}; did you mean result.hits?)"
    main(["doctor"])
    lines = capsys.readouterr().out.splitlines()
    remedy = lines[lines.index(f"warn  target mine: {named}") + 1]
    assert "correct this path in the target's settings" in remedy
    main(["run"])
    assert f"target mine: {named}" in capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "80")
    main(["run", "--run-dir", "narrow"])
    assert named in capsys.readouterr().out.replace("\n", " ")

    monkeypatch.setenv("COLUMNS", "300")
    write_target(here, body, mapping.replace("reply", "repli"))
    main(["run", "--run-dir", "second"])
    assert f"nothing at result.repli ({keys}; did you mean result.reply?)" in capsys.readouterr().out


def test_doctor_warns_first_of_what_breaks_the_measurement_and_last_of_housekeeping(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(here)
    monkeypatch.delitem(sys.modules, "my_rag", raising=False)
    (here / "golden.jsonl").write_text('{"id": "a", "question": "Q?", "expected_answer": "A"}\n', encoding="utf-8")
    write_target(here, "def ask(question):\n    return {'answer': 'yes', 'citation': ['a']}\n")
    main(["doctor"])
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    warnings = [line.removeprefix("warn  ") for line in lines if line.startswith("warn")]
    assert lines[-len(warnings) :] == [f"warn  {warning}" for warning in warnings]  # what works is said before
    assert [
        "target mine: keys that were not read: citation (did you mean citations?)",
        "target mine: reports no ranking",
    ] == warnings[:2]
    assert ["golden set: no owner, no changelog, no version", "target mine: reports no versions"] == warnings[-2:]
    assert "golden set: 1 case: intervals will be wide" in warnings[2:-2]


def test_doctor_writes_several_problems_as_lines(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "golden.jsonl").write_text('{"id": "a"}\n{"id": "b", "question": 5}\n', encoding="utf-8")
    assert 2 == main(["doctor"])
    printed = capsys.readouterr().out
    assert "\\u000a" not in printed
    assert 2 == sum("golden.jsonl:" in line for line in printed.splitlines())


def test_a_target_of_which_the_settings_name_the_context_is_measured_on_it(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(here))
    monkeypatch.delitem(sys.modules, "my_rag", raising=False)
    body = (
        "def ask(question):\n    return {'answer': 'Twelve.', 'documents': [{'id': 'hr:1', 'text': 'Twelve days.'}]}\n"
    )
    write_target(here, body)
    main(["run", "--run-dir", "without", "--verbose"])
    printed = " ".join(capsys.readouterr().out.split())  # a note may take two lines
    assert "or set context: retrieved for a target" in printed
    write_target(here, body, "    context: retrieved\n")
    main(["run", "--run-dir", "with"])
    capsys.readouterr()
    rows = [json.loads(line) for line in (here / "with/observations.jsonl").read_text().splitlines()]
    assert [["retrieved", "context"]] * 3 == [[stage["name"] for stage in row["stages"]] for row in rows]
