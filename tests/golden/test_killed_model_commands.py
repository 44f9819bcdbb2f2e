"""`golden twins` and `golden nuggets` with a model, killed in the midst: nothing is paid twice, nothing is lost."""

from __future__ import annotations

import json
import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.faults.forking import CommandForker
from tests.golden.test_model_drafts import digest_body, list_paid
from tests.support.judge_server import JudgeCall, judge_server
from tests.support.verdicts import count_all_double_bills

from assay.cli import main
from assay.formats.golden_files import write_golden
from assay.judging.verdict_store import SqliteVerdictStore
from assay.records.golden_set import Case, GoldenSet

KILLS = 3
QUESTIONS = 8
ASKING = ["--model", "scripted-1", "--protocol", "openai", "--base-url-env", "THE_MODEL", "--concurrency", "2"]


def answer_twins(asked: JudgeCall) -> Any:
    """Return another wording that keeps the code of the question."""
    code = next(word for word in asked.data["question"].split() if word.startswith("HR-")).rstrip("?")
    return {"possible": "yes", "question": f"What is my yearly number of free days under {code}?", "echo": ""}


def answer_nuggets(asked: JudgeCall) -> Any:
    """Return one fact of the first passage, with its quote."""
    (passage, *_) = asked.data["passages"]
    fact = {"text": passage["text"], "importance": "vital", "quote": passage["text"], "source": passage["id"]}
    return {"facts": [fact], "echo": ""}


def write_twins_input(folder: Path) -> list[str]:
    """Write questions with a code each; return the command without its model."""
    cases = [
        Case(
            f"q{number}", f"How many days of leave do I get under HR-{number + 10}?", reference="25 days", language="en"
        )
        for number in range(QUESTIONS)
    ]
    write_golden(GoldenSet(tuple(cases)), str(folder / "golden.jsonl"))
    return ["golden", "twins", str(folder / "golden.jsonl"), "--kinds", "paraphrase"]


def write_nuggets_input(folder: Path) -> list[str]:
    """Write questions and what one system retrieved for each; return the command without its model."""
    cases = [Case(f"q{number}", f"How long is leave {number}?") for number in range(QUESTIONS)]
    write_golden(GoldenSet(tuple(cases), judgments="partial"), str(folder / "golden.jsonl"))
    rows = []
    for number in range(QUESTIONS):
        chunk = {"chunk_id": f"c{number}", "text": f"Leave {number} lasts {number + 12} days."}
        stages = [{"name": "context", "chunks": [chunk]}]
        rows.append({"case_id": f"q{number}", "config_id": "a", "stages": stages, "answer": "Long."})
    (folder / "outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return ["golden", "nuggets", str(folder / "golden.jsonl"), "--outputs", str(folder / "outputs.jsonl")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write_input", "answer"), [(write_twins_input, answer_twins), (write_nuggets_input, answer_nuggets)]
)
def test_a_killed_command_pays_for_no_reply_twice_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forker: CommandForker, write_input: Any, answer: Any
) -> None:
    chance = random.Random(3)
    state = {"pid": 0, "left": 0}

    def watched(asked: JudgeCall) -> Any:
        state["left"] -= 1
        if state["pid"] and state["left"] <= 0:
            pid, state["pid"] = state["pid"], 0
            os.kill(pid, signal.SIGKILL)
        return answer(asked)

    def list_words(folder: Path) -> list[str]:
        store, out = folder / "draft.sqlite", folder / "out.jsonl"
        return [*write_input(folder), "--out", str(out), "--store", str(store), *ASKING]

    peace, war = tmp_path / "peace", tmp_path / "war"
    for folder in (peace, war):
        folder.mkdir()
    with judge_server(answer=watched) as server:
        monkeypatch.setenv("THE_MODEL", server.url)
        assert 0 == main(list_words(peace))
        words, kills, status = list_words(war), 0, -signal.SIGKILL
        while status == -signal.SIGKILL:
            paid = list_paid(war / "draft.sqlite")
            asked_before = len(server.requests)
            command = forker.start(words, {"THE_MODEL": server.url})
            if kills < KILLS:
                state["left"], state["pid"] = 1 + chance.randrange(2), command.pid
            status, message = command.wait(timeout=120)
            state["pid"] = 0
            kills += status == -signal.SIGKILL
            sent = {digest_body(call["body"]) for call in server.requests[asked_before:]}
            assert not sent & paid
            assert paid <= list_paid(war / "draft.sqlite")
            assert status == 0 or not (war / "out.jsonl").exists()  # nothing half written
        assert 0 == status, message
        assert KILLS == kills
    assert (peace / "out.jsonl").read_bytes() == (war / "out.jsonl").read_bytes()
    with SqliteVerdictStore(war / "draft.sqlite") as store:
        assert count_all_double_bills(store) <= KILLS * 2  # only calls in progress may have been paid for in vain
