"""Servers without the SDK that write to the pipe what they like: one case fails at most; nothing outlives the run."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.faults.forking import CommandForker
from tests.faults.killing import write_golden

from assay.calls.interfaces import CallError, TargetCall
from assay.records.golden_set import Case
from assay.records.settings import CommandTargetSettings, McpTargetSettings
from assay.targets import mcp_stdio
from assay.targets.command import CommandTarget
from assay.targets.mcp import McpTarget
from assay.targets.mcp_stdio import LineCutter, OutputLine, find_reply_id

pytest.importorskip("mcp", reason="the extra mcp is not installed")

SILENCE_SECONDS = 0.5
"""After which a question is given up of a server that runs and does not answer it."""
RAW = str(Path(__file__).with_name("raw_mcp.py"))


@pytest.fixture(name="settings")
def make_settings(tmp_path: Path) -> McpTargetSettings:
    return McpTargetSettings(command=(sys.executable, RAW, str(tmp_path)))


@pytest.fixture
def _soon_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait shortly for servers that do not end when their input is closed."""
    monkeypatch.setattr(mcp_stdio, "EXIT_SECONDS", 0.2)


async def ask(target: McpTarget, question: str, seconds: float = 20.0) -> str:
    """Ask one question and return the answer or the code of the error."""
    try:
        async with asyncio.timeout(seconds):
            return str((await target.observe(TargetCall(Case(question, question), "ask", seconds))).answer)
    except CallError as error:
        return error.code
    except TimeoutError:
        return "timeout"


def ask_together(settings: McpTargetSettings, *rounds: list[str], given_up: int | None = None) -> list[list[str]]:
    """Ask the questions of each round at the same time, through one target; the round `given_up` is so soon."""

    async def run() -> list[list[str]]:
        target = McpTarget("t", settings, typed=True)
        answers = []
        try:
            await target.identity()
            for number, names in enumerate(rounds):
                seconds = SILENCE_SECONDS if number == given_up else 20.0
                answers.append(await asyncio.gather(*(ask(target, name, seconds) for name in names)))
            return answers
        finally:
            await target.aclose()

    return asyncio.run(run())


def is_running(process: int) -> bool:
    """Return whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], seconds: float = 100.0) -> bool:
    """Return whether the condition becomes true in time."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("noise", "answer to noise"),
        ("latin-1", "protocol"),
        ("huge", "too_large"),
        ("huge id last", "too_large"),
        ("deep", "protocol"),
        ("other form", "protocol"),
        ("others", "answer to others"),
    ],
)
def test_a_bad_line_costs_its_own_case_at_most(fault: str, code: str, settings: McpTargetSettings) -> None:
    neighbours = ["later", "later", "a"]
    rounds = ask_together(settings, [*neighbours, fault, "b"], ["c"])
    assert [["answer to later", "answer to later", "answer to a", code, "answer to b"], ["answer to c"]] == rounds


@pytest.mark.slow
@pytest.mark.usefixtures("_soon_ended")
def test_a_server_that_closes_its_output_is_started_again(settings: McpTargetSettings) -> None:
    assert [["crashed"], ["answer to close"]] == ask_together(settings, ["close"], ["close"])


@pytest.mark.slow
@pytest.mark.usefixtures("_soon_ended")
def test_a_question_that_ends_the_server_takes_the_others_with_it_only_once(settings: McpTargetSettings) -> None:
    """Nothing says which call ended the server, so the next attempt of each has a server to itself."""
    questions = ["later #1", "later #2", "die", "later #3"]
    first, second, third = ask_together(settings, questions, questions[::-1], questions)
    assert ["crashed"] * 4 == first
    assert ["answer to later", "crashed", "answer to later", "answer to later"] == second
    assert ["answer to later", "answer to later", "crashed", "answer to later"] == third, "the suspect stays alone"


@pytest.mark.usefixtures("_soon_ended")
def test_a_server_that_falls_silent_is_started_again(settings: McpTargetSettings) -> None:
    rounds = ask_together(settings, ["a"], ["silent"], ["b"], ["silent"], given_up=1)
    assert [["answer to a"], ["timeout"], ["answer to b"], ["answer to silent"]] == rounds


@pytest.mark.slow
def test_a_line_without_an_end_loses_the_session(settings: McpTargetSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_stdio, "MAX_DISCARDED_BYTES", settings.max_bytes + 1_000_000)
    assert [["crashed"], ["answer to b"]] == ask_together(settings, ["huge"], ["b"])


@pytest.mark.slow
def test_tools_that_changed_fail_the_case_under_way_and_all_later_ones(settings: McpTargetSettings) -> None:
    rounds = ask_together(settings, ["a"], ["change"], ["b"], ["c"])
    assert [["answer to a"], ["schema_drift"], ["schema_drift"], ["schema_drift"]] == rounds


@pytest.mark.slow
def test_pages_of_tools_that_never_end_are_read_up_to_a_limit(settings: McpTargetSettings, tmp_path: Path) -> None:
    (tmp_path / "pages").touch()
    assert [["answer to a"]] == ask_together(settings, ["a"])


@pytest.mark.slow
def test_children_of_a_server_end_with_the_run(settings: McpTargetSettings) -> None:
    ((child,),) = ask_together(settings, ["child"])
    assert wait_until(lambda: not is_running(int(child)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mcp", "command"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_children_end_when_assay_is_killed(
    kind: str, number: signal.Signals, tmp_path: Path, forker: CommandForker
) -> None:
    program = [sys.executable, RAW, str(tmp_path)]
    if kind == "command":
        child = f"import sys; sys.path.insert(0, {str(Path(RAW).parent)!r}); import raw_mcp as r, pathlib as p, time;"
        program = [
            sys.executable,
            "-c",
            f"{child} r.STATE = p.Path({str(tmp_path)!r}); r.start_child(1); time.sleep(60)",
        ]
    settings = tmp_path / "assay.yaml"
    settings.write_text(
        f"golden: {{path: {write_golden(tmp_path, 3)}}}\nrun: {{concurrency: 1}}\n"
        f"targets:\n  t:\n    type: {kind}\n    command: {program!r}\n"
        + ("    arguments: {ask: {question: child}}\n" if kind == "mcp" else "")
        + ("    tools: {search: null, ask: ask}\n" if kind == "mcp" else "")
    )
    words = ["observe", "--settings", str(settings), "--allow-exec", "--run-dir", str(tmp_path / "run")]
    command = forker.start(words)
    pid_file = tmp_path / "child"
    assert wait_until(lambda: (pid_file.exists() and pid_file.read_text() != "") or not is_running(command.pid))
    assert pid_file.exists(), command.wait(60)
    child_number = int(pid_file.read_text())
    while is_running(command.pid):
        with suppress(ProcessLookupError):  # it ended a moment ago
            os.kill(command.pid, number)
        time.sleep(0.2)
    assert command.wait(60)[0] != 0
    assert wait_until(lambda: not is_running(child_number))


def test_a_program_that_cannot_be_started_is_named() -> None:
    with pytest.raises(CallError, match="not_started: /no/such: No such file"):
        ask_together(McpTargetSettings(command=("/no/such",)), ["a"])


@pytest.mark.slow
def test_children_of_a_command_end_with_the_run(tmp_path: Path) -> None:
    script = (
        "import os, subprocess, sys; line = sys.stdin.readline()\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'])\n"
        'sys.stdout.write(\'{"case_id": "c", "answer": "%d"}\\n\' % child.pid); sys.stdout.flush()\n'
        "sys.stdin.readline()"
    )

    async def run() -> int:
        target = CommandTarget("t", CommandTargetSettings((sys.executable, "-c", script)))
        try:
            return int((await target.observe(TargetCall(Case("c", "q"), "ask", 20.0))).answer or "")
        finally:
            await target.aclose()

    child = asyncio.run(run())
    assert wait_until(lambda: not is_running(child))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"id": 5, "result": {"id": 6}}', 5),
        (b'{"result": {"id": 6}, "id": "x"}', "x"),
        (b'{"result": "\\"id\\": 6", "id" : 7}', 7),
        (b'{"result": {"id": 6}}', None),
        (b'"id": 5', None),
        (b'{"id": 1e5}', None),
        (b'{"result": "' + b'\\"' * 50_000, None),
        (b"", None),
    ],
)
def test_the_id_of_a_reply_is_that_of_its_outermost_object(line: bytes, expected: object) -> None:
    assert expected == find_reply_id(OutputLine(line))


def test_lines_are_cut_wherever_the_blocks_end_and_too_long_ones_keep_their_ends() -> None:
    text = b"one\n\n" + b"{" + b"x" * 100 + b"}\nlast\n"
    for size in (1, 2, 7, 1000):
        cutter = LineCutter(50)
        lines = [line for start in range(0, len(text), size) for line in cutter.cut(text[start : start + size])]
        assert [False, False, True, False] == [line.is_too_long for line in lines]
        assert [b"one", b"", b"last"] == [line.data for line in lines if not line.is_too_long]
        assert lines[2].data.startswith(b"{x")
        assert lines[2].end.endswith(b"x}")


def test_a_guard_kills_what_is_left_when_its_owner_dies(tmp_path: Path) -> None:
    script = (
        "import os, subprocess, sys\n"
        "from assay.targets.process_group import GroupGuard\n"
        "guard = GroupGuard()\n"
        "quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "children = [subprocess.Popen(['sleep', '300'], start_new_session=True, **quiet) for _ in range(3)]\n"
        "for child in children: guard.add(child.pid)\n"
        "guard.remove(children[1].pid)\n"
        "sys.stdout.write(' '.join(str(child.pid) for child in children)); sys.stdout.flush()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=False, timeout=30)
    first, removed, last = (int(word) for word in run.stdout.split())
    try:
        assert wait_until(lambda: not (is_running(first) or is_running(last)))
        assert is_running(removed)
    finally:
        os.kill(removed, signal.SIGKILL)
