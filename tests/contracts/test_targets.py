"""What every target promises, whatever it reaches: one suite over all kinds, on this machine."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.contracts import system
from tests.contracts.loopback import Request, as_json, serving
from tests.faults.forking import CommandForker

from assay.calls.interfaces import CallError, Target, TargetCall, TargetOperation
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.parsed_answer import ParsedAnswer
from assay.records.golden_set import Case, GoldenSet, User
from assay.records.observations import Chunk, Observation, Stage, ToolCall
from assay.records.settings import (
    CommandTargetSettings,
    HttpSearchSettings,
    HttpTargetSettings,
    LangchainTargetSettings,
    LlamaindexTargetSettings,
    McpArguments,
    McpTargetSettings,
    PythonTargetSettings,
    ResponseMapping,
    ToolMapping,
)
from assay.targets import command, http, langchain, llamaindex, mcp, python, recorded

pytestmark = pytest.mark.slow

SYSTEM = str(Path(system.__file__))
KINDS = ("python", "python-async", "recorded", "http", "command", "mcp-stdio", "mcp-http", "langchain", "llamaindex")
TELLS_WHO_ASKS = ("python", "python-async", "http", "command", "mcp-stdio", "mcp-http")
CANNOT_FAIL = ("recorded",)
ARGUMENTS = McpArguments(
    search={"query": "{{question}}", "k": "{{k}}"}, ask={"question": "{{question}}", "tenant": "{{user.tenant}}"}
)


def case_of(question: str, tenant: str | None = None) -> Case:
    return Case(f"case-{question}", question, user=User(tenant=tenant) if tenant else None)


async def _serve(request: Request, writer: asyncio.StreamWriter) -> None:
    body = request.json
    question = body.get("question", body.get("query"))
    if request.path == "/search":
        writer.write(as_json({"results": system.search(question, body["k"])}))
    elif question == "hang":
        await asyncio.sleep(system.HANG_SECONDS)
    elif question == "fail":
        writer.write(as_json({"error": "broken"}, 500))
    else:
        writer.write(as_json(system.reply(question, {"tenant": request.headers.get("x-tenant", "nobody")})))


class FakeRunnable:
    """Looks like a LangChain runnable: calls the handlers that it is given."""

    async def ainvoke(self, question: str, config: dict[str, Any]) -> dict[str, Any]:
        answer = await system.ask_async(question)
        documents = [
            SimpleNamespace(id=each["chunk_id"], page_content="text", metadata={"score": each["score"]})
            for each in answer["retrieved_chunks"]
        ]
        for handler in config["callbacks"]:
            handler.add_ranking(documents, "run")
        return {"answer": answer["answer"]}


class FakeEngine:
    """Looks like a LlamaIndex query engine and retriever."""

    async def aquery(self, question: str) -> Any:
        answer = await system.ask_async(question)
        nodes = [
            SimpleNamespace(score=each["score"], node=SimpleNamespace(node_id=each["chunk_id"], text="", metadata={}))
            for each in answer["retrieved_chunks"]
        ]
        return SimpleNamespace(response=answer["answer"], source_nodes=nodes)

    async def aretrieve(self, question: str) -> Any:
        return [SimpleNamespace(score=1.0, node=SimpleNamespace(node_id=each)) for each in system.search(question, 3)]


def _recorded() -> Target:
    stage = Stage("retrieved", (Chunk("a"), Chunk("b")))
    observations = [Observation(f"case-{q}", stages=(stage,), answer=f"{q} for nobody") for q in ("q0", "q1", "q2")]
    return recorded.RecordedTarget("t", observations, "sha256:0")


@pytest.fixture(scope="session")
def http_url() -> Iterator[str]:
    with serving(_serve) as server:
        yield server.url


@pytest.fixture(scope="module")
def served(forker: CommandForker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The system as a command that is a fork of a process with the SDK of MCP, whose import takes a second."""
    with forker.command_file(tmp_path_factory.mktemp("served") / "system", SYSTEM, ["mcp.server.mcpserver"]) as path:
        yield str(path)


@pytest.fixture(scope="session")
def mcp_url() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, SYSTEM, "http"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def making(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Target]:
    """A function from a kind to a new target of that kind."""
    monkeypatch.setenv("SYSTEM_KEY", system.CANARY)

    def make(kind: str) -> Target:
        module = "tests.contracts.system"
        if kind == "python":
            return python.make_python_target("t", PythonTargetSettings(call=f"{module}:ask", search=f"{module}:search"))
        if kind == "python-async":
            return python.make_python_target("t", PythonTargetSettings(call=f"{module}:ask_async"))
        if kind == "recorded":
            return _recorded()
        if kind == "http":
            url = request.getfixturevalue("http_url")
            search = HttpSearchSettings(f"{url}/search")
            settings = HttpTargetSettings(url=f"{url}/ask", identity={"x-tenant": "user.tenant"}, search=search)
            return http.HttpTarget("t", settings, 8, typed=True)
        if kind == "command":
            return command.CommandTarget(
                "t", CommandTargetSettings((sys.executable, SYSTEM, "command"), ("SYSTEM_KEY",))
            )
        if kind == "mcp-stdio":
            settings_of_mcp = McpTargetSettings(
                command=(request.getfixturevalue("served"), "stdio"), arguments=ARGUMENTS
            )
            return mcp.McpTarget("t", settings_of_mcp, typed=True)
        if kind == "mcp-http":
            return mcp.McpTarget(
                "t", McpTargetSettings(url=request.getfixturevalue("mcp_url"), arguments=ARGUMENTS), typed=True
            )
        if kind == "langchain":
            return langchain.LangchainTarget(
                "t", FakeRunnable(), LangchainTargetSettings(call="fake:chain"), lambda trace: trace
            )
        engine = FakeEngine()
        return llamaindex.LlamaindexTarget("t", engine, engine, LlamaindexTargetSettings(call="fake:engine"))

    return make


@asynccontextmanager
async def opened(target: Target) -> AsyncIterator[Target]:
    try:
        await target.identity()
        yield target
    finally:
        await target.aclose()


async def observed(target: Target, question: str, *, tenant: str | None = None, seconds: float = 20.0) -> Observation:
    operation: TargetOperation = "ask"
    async with asyncio.timeout(seconds):
        return await target.observe(TargetCall(case_of(question, tenant), operation, seconds, 10))


@pytest.mark.parametrize("kind", KINDS)
def test_observation_is_of_the_case_and_holds_answer_and_ranking(kind: str, making: Callable[[str], Target]) -> None:
    async def run() -> Observation:
        async with opened(making(kind)) as target:
            return await observed(target, "q1")

    observation = asyncio.run(run())
    assert ("case-q1", "q1", "q1 for nobody") == (observation.case_id, observation.question, observation.answer)
    assert observation.stages is not None
    assert ("retrieved", ["a", "b"]) == (
        observation.stages[0].name,
        [chunk.chunk_id for chunk in observation.stages[0].chunks],
    )
    assert observation.error is None


@pytest.mark.parametrize("kind", KINDS)
def test_calls_at_the_same_time_each_get_their_own_answer(kind: str, making: Callable[[str], Target]) -> None:
    async def run() -> list[Observation]:
        async with opened(making(kind)) as target:
            return await asyncio.gather(*(observed(target, f"q{number % 3}") for number in range(12)))

    assert [f"q{number % 3} for nobody" for number in range(12)] == [
        observation.answer for observation in asyncio.run(run())
    ]


@pytest.mark.parametrize("kind", TELLS_WHO_ASKS)
def test_each_call_says_who_is_asking(kind: str, making: Callable[[str], Target]) -> None:
    async def run() -> list[Observation]:
        async with opened(making(kind)) as target:
            return await asyncio.gather(*(observed(target, "q0", tenant=f"t{number}") for number in range(6)))

    assert [f"q0 for t{number}" for number in range(6)] == [observation.answer for observation in asyncio.run(run())]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in CANNOT_FAIL])
def test_failure_is_a_call_error_and_the_next_call_works(kind: str, making: Callable[[str], Target]) -> None:
    async def run() -> tuple[str, Observation]:
        async with opened(making(kind)) as target:
            with pytest.raises(CallError) as failure:
                await observed(target, "fail")
            return failure.value.code, await observed(target, "q2")

    code, after = asyncio.run(run())
    expected = {"http": "http_500", "command": "crashed", "mcp-stdio": "tool_error", "mcp-http": "tool_error"}
    assert (expected.get(kind, "exception"), "q2 for nobody") == (code, after.answer)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (*CANNOT_FAIL, "langchain", "llamaindex")])
def test_reply_of_the_wrong_types_is_a_schema_error(kind: str, making: Callable[[str], Target]) -> None:
    async def run() -> None:
        async with opened(making(kind)) as target:
            await observed(target, "garbage")

    with pytest.raises(CallError) as failure:
        asyncio.run(run())
    assert "schema" == failure.value.code


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in CANNOT_FAIL])
def test_call_that_hangs_can_be_given_up_and_the_next_one_works(kind: str, making: Callable[[str], Target]) -> None:
    async def run() -> Observation:
        async with opened(making(kind)) as target:
            await observed(target, "q0")
            with pytest.raises((TimeoutError, CallError)):
                await observed(target, "hang", seconds=0.2)
            return await observed(target, "q2")

    assert "q2 for nobody" == asyncio.run(run()).answer


@pytest.mark.parametrize("kind", KINDS)
def test_identity_is_plain_stable_and_without_secrets(kind: str, making: Callable[[str], Target]) -> None:
    async def run() -> dict[str, Any]:
        target = making(kind)
        try:
            return await target.identity()
        finally:
            await target.aclose()
            await target.aclose()

    first, second = asyncio.run(run()), asyncio.run(run())
    assert first == second
    assert system.CANARY not in json.dumps(first)


@pytest.mark.parametrize("kind", ["python", "http", "mcp-stdio", "llamaindex"])
def test_search_returns_a_ranking_and_no_answer(kind: str, making: Callable[[str], Target]) -> None:
    async def run() -> Observation:
        async with opened(making(kind)) as target:
            assert ("search", "ask") == target.operations
            return await target.observe(TargetCall(case_of("q0"), "search", 20.0, 2))

    observation = asyncio.run(run())
    assert observation.stages is not None
    assert ("search", msgspec.UNSET) == (observation.stages[0].name, observation.answer)
    assert ["a", "b"] == [chunk.chunk_id for chunk in observation.stages[0].chunks][:2]


TOOLS = ResponseMapping(
    answer="answer", tool_calls="used", tool=ToolMapping(name="tool", arguments="input", result="output")
)


@pytest.mark.parametrize("mapping", [TOOLS, ResponseMapping(tool_calls="used", tool=TOOLS.tool)])
@pytest.mark.parametrize("kind", ["http", "command", "mcp-stdio", "mcp-http"])
def test_results_of_tools_are_what_the_model_saw(
    kind: str, mapping: ResponseMapping, making: Callable[[str], Target]
) -> None:
    async def run() -> Observation:
        target = making(kind)
        target.settings = msgspec.structs.replace(target.settings, response=mapping)  # type: ignore[attr-defined]
        async with opened(target):
            return await observed(target, "tools")

    observation = asyncio.run(run())
    assert (ToolCall("leave", {"year": 2}, result={"days_left": 12}), ToolCall("clock", result="noon")) == (
        observation.tool_calls
    )
    reading = ParsedAnswer(GoldenIndex(GoldenSet((case_of("tools"),))).case_index(0), observation)
    assert {"tool call 1": '{"days_left":12}', "tool call 2": "noon"} == reading.context_texts
