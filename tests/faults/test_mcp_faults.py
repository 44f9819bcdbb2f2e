"""MCP servers that die, flood, change, make demands or lie: only the affected case fails, and the run continues."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contracts import system
from tests.contracts.loopback import Request, as_json, serving
from tests.faults.forking import CommandForker

from assay.calls.interfaces import CallError, ReplyNotices, TargetCall
from assay.records.errors import SettingsError
from assay.records.golden_set import Case
from assay.records.observations import Observation
from assay.records.settings import AuthSettings, McpTargetSettings, McpToolNames
from assay.report.findings.doubts import is_misread
from assay.targets.mcp import McpTarget as Target

pytest.importorskip("mcp", reason="the extra mcp is not installed")

RUDE = str(Path(__file__).with_name("rude_mcp.py"))
SYSTEM = str(Path(system.__file__))


@pytest.fixture(scope="module")
def rude_server(forker: CommandForker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server as a command that is a fork of a process with the SDK of MCP, whose import takes a second."""
    with forker.command_file(tmp_path_factory.mktemp("rude") / "rude", RUDE, ["mcp.server.mcpserver"]) as path:
        yield str(path)


@pytest.fixture
def rude(rude_server: str, tmp_path: Path) -> McpTargetSettings:
    return McpTargetSettings(command=(rude_server, str(tmp_path)), max_bytes=1_000_000)


def asked(
    settings: McpTargetSettings, *questions: str, seconds: float = 20.0, notices: ReplyNotices | None = None
) -> list[Observation | CallError]:
    """Ask the questions one after the other through one target."""
    noted = notices if notices is not None else ReplyNotices()

    async def run() -> list[Observation | CallError]:
        target = Target("t", settings, typed=True)
        try:
            await target.identity()
            return [await one(target, question) for question in questions]
        finally:
            await target.aclose()

    async def one(target: Target, question: str) -> Observation | CallError:
        try:
            async with asyncio.timeout(seconds):
                return await target.observe(TargetCall(Case("c", question), "ask", seconds, notices=noted))
        except CallError as error:
            return error

    return asyncio.run(run())


def code(results: Observation | CallError) -> str:
    return results.code if isinstance(results, CallError) else str(results.answer)


@pytest.mark.slow
def test_server_that_dies_is_started_again(rude: McpTargetSettings) -> None:
    assert ["a", "crashed", "answer to die"] == [
        "a" if code(result) == "answer to a" else code(result) for result in asked(rude, "a", "die", "die")
    ]


@pytest.mark.slow
def test_a_server_that_is_started_again_is_counted(rude: McpTargetSettings) -> None:
    quiet, noisy = ReplyNotices(), ReplyNotices()
    asked(rude, "a", "b", notices=quiet)
    assert not any("again" in notice for notice in quiet)
    asked(rude, "a", "die", "b", "c", notices=noisy)
    restarted = "its server was started again 1 time (it had ended, closed its output or been silent for a whole call)"
    assert restarted in noisy
    noisy.add_restart("started")
    assert is_misread(f"target t: {next(iter(noisy))}")
    assert "started again 2 times" in next(iter(noisy))


@pytest.mark.slow
def test_flood_errors_and_large_replies_stay_with_their_case(rude: McpTargetSettings) -> None:
    results = asked(rude, "flood", "fail", "large", "b")
    assert ["answer to flood", "tool_error", "too_large", "answer to b"] == [code(result) for result in results]
    assert "upstream 503" in str(results[1])


@pytest.mark.slow
@pytest.mark.parametrize("demand", ["sample", "elicit"])
def test_demands_of_a_server_are_declined(rude: McpTargetSettings, demand: str) -> None:
    first, second = asked(rude, demand, "b")
    assert isinstance(first, CallError)
    assert "answer to b" == code(second)


@pytest.mark.slow
def test_changed_schema_is_noticed_when_the_server_comes_back(rude: McpTargetSettings) -> None:
    results = asked(rude, "a", "change", "b", "c")
    assert ["answer to a", "crashed", "schema_drift", "schema_drift"] == [code(result) for result in results]
    assert "changed its tools during the run: ask" in str(results[2])


@pytest.mark.slow
def test_server_sees_a_small_environment(rude: McpTargetSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_CANARY", "1")
    (answer,) = asked(rude, "environment")
    assert "PATH" in code(answer)
    assert "SECRET_CANARY" not in code(answer)


@pytest.mark.slow
def test_server_without_the_tools_is_named_with_what_it_has(rude: McpTargetSettings) -> None:
    settings = McpTargetSettings(command=rude.command, tools=McpToolNames(search=None, ask="answer"))
    with pytest.raises(CallError, match=r"tool_missing: the server has none of the tools answer \(got ask\)"):
        asked(settings, "a")


def test_server_that_does_not_start_says_its_last_words() -> None:
    program = "import sys; sys.exit('no index found')"
    with pytest.raises(CallError, match=r"connection: .*no index found"):
        asked(McpTargetSettings(command=(sys.executable, "-c", program)), "a")


def test_nobody_listening_is_a_connection_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(CallError, match="connection: "):
        asked(McpTargetSettings(url=f"http://127.0.0.1:{port}/mcp"), "a")


@pytest.mark.parametrize(
    "settings",
    [
        McpTargetSettings(),
        McpTargetSettings(command=("x",), url="http://127.0.0.1/"),
        McpTargetSettings(command=("x",), auth=AuthSettings("A")),
    ],
)
def test_settings_that_say_too_little_or_too_much_are_refused(settings: McpTargetSettings) -> None:
    with pytest.raises(SettingsError):
        Target("t", settings, typed=True)


class Restarting:
    """An HTTP server on one port that can be killed and started again."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.process = self.start()

    def start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen([sys.executable, SYSTEM, "http", str(self.port)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        process.stdout.readline()
        return process

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def restarting() -> Iterator[Restarting]:
    server = Restarting()
    yield server
    server.kill()


@pytest.mark.slow
def test_http_server_that_dies_fails_the_calls_under_way_and_serves_after_its_restart(restarting: Restarting) -> None:
    async def run() -> tuple[list[str], str, str]:
        target = Target("t", McpTargetSettings(url=restarting.url), typed=True)
        try:
            await target.identity()
            under_way = [asyncio.create_task(answer(target, "hang")) for _ in range(3)]
            await answer(target, "q0")
            restarting.kill()
            lost = await asyncio.gather(*under_way)
            down = await answer(target, "q1")
            restarting.process = await asyncio.to_thread(restarting.start)
            return lost, down, await answer(target, "q2")
        finally:
            await target.aclose()

    async def answer(target: Target, question: str) -> str:
        try:
            return str((await target.observe(TargetCall(Case("c", question), "ask", 20.0))).answer)
        except CallError as error:
            return error.code

    lost, down, after = asyncio.run(run())
    assert {"connection"} == {*lost, down}
    assert "q2 for nobody" == after


@pytest.mark.parametrize(("status", "expected"), [(429, "http_429"), (503, "http_503"), (401, "http_401")])
def test_status_and_retry_after_of_the_http_layer_are_kept(
    status: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_KEY", "canary-0123456789")

    async def refuse(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(as_json({"detail": "no"}, status, {"retry-after": "7"}))

    async def run(url: str) -> None:
        target = Target("t", McpTargetSettings(url=url, auth=AuthSettings("MCP_KEY")), typed=True)
        try:
            await target.identity()
        finally:
            await target.aclose()

    with serving(refuse) as server, pytest.raises(CallError) as failure:
        asyncio.run(run(f"{server.url}/mcp"))
    assert (expected, 7.0) == (failure.value.code, failure.value.retry_after)
    assert "canary" not in str(failure.value)
    assert "Bearer canary-0123456789" == server.requests[0].headers["authorization"]
