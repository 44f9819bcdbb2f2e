"""The handbook over HTTP and MCP, called as a client would: with http.client and the MCP SDK's own client."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from examples.handbook import handbook
from examples.handbook.serve_http import LARGEST_BODY, Server
from tests.examples.handbook_cases import ROOT

LEAVE = "Nhân viên được hưởng bao nhiêu ngày phép năm có lương?"
HEADERS = {"x-tenant": "company_a", "x-roles": "employee"}
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


# ── HTTP ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(handbook("hybrid-rerank"), 0) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def send(server: Server, path: str, body: Any, headers: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    try:
        connection.request("POST", path, content, HEADERS if headers is None else headers)
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


def test_http_gives_what_python_gives_but_for_times(server: Server) -> None:
    user = {"tenant": "company_a", "roles": ["employee"]}
    status, answer_body = send(server, "/ask", {"question": LEAVE})
    assert 200 == status
    direct = server.handbook.ask(LEAVE, user)
    assert (direct["answer"], direct["citations"]) == (answer_body["answer"], answer_body["citations"])
    assert direct.keys() == answer_body.keys()
    status, search_body = send(server, "/search", {"query": LEAVE, "k": 2})
    assert 200 == status
    assert server.handbook.search(LEAVE, 2, user)["results"] == search_body["results"]


def test_http_identity_is_that_of_each_request_on_one_connection(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    days = []
    for tenant in ("company_a", "company_b", "company_a", ""):
        headers = {"x-tenant": tenant, "x-roles": "employee, support", "x-position": "3"}
        connection.request("POST", "/ask", json.dumps({"question": LEAVE}).encode(), headers)
        answer = json.loads(connection.getresponse().read())["answer"]
        days.append([number for number in ("12 ngày", "15 ngày") if number in answer])
    connection.close()
    assert [["12 ngày"], ["15 ngày"], ["12 ngày"], []] == days


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/answer", {}, 404, "no such path"),
        ("/ask", [], 400, "must be a JSON object"),
        ("/ask", {}, 400, "question must be a text (got None)"),
        ("/ask", {"question": "  "}, 400, "question must be a text"),
        ("/ask", b"{", 400, "not JSON"),
        ("/ask", b"[" * 50_000, 400, "not JSON"),
        ("/ask", b'{"question": "\xff"}', 400, "not JSON"),
        ("/ask", b" " * (LARGEST_BODY + 1), 400, "Content-Length"),
        ("/ask", {"question": "x" * 4001}, 400, "at most 4000 characters"),
        ("/ask", b'{"question": "\\ud800 MFA"}', 400, "valid Unicode"),
        ("/search", {"query": "MFA", "k": 0}, 400, "from 1 to 50 (got 0)"),
        ("/search", {"query": "MFA", "k": True}, 400, "from 1 to 50 (got True)"),
        ("/search", {"query": "MFA", "k": "3"}, 400, "from 1 to 50 (got '3')"),
    ],
)
def test_http_says_what_is_wrong_with_a_request(
    server: Server, path: str, body: Any, status: int, message: str
) -> None:
    got, reply = send(server, path, body)
    assert status == got
    assert message in reply["error"]


def test_http_refuses_a_position_that_is_no_number(server: Server) -> None:
    status, reply = send(server, "/ask", {"question": LEAVE}, {"x-tenant": "company_a", "x-position": "last"})
    assert (400, "x-position must be a number (got 'last')") == (status, reply["error"])


@contextmanager
def started(module: str, *arguments: str) -> Iterator[str]:
    """Start a server as a command; give the address that it prints, and stop it afterwards."""
    command = [sys.executable, "-m", f"examples.handbook.{module}", "--port", "0", *arguments]
    with subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@pytest.mark.slow
def test_the_http_command_prints_its_address_and_serves_the_faults_that_it_is_given() -> None:
    with started("serve_http", "--config", "vector-only", "--fault", "acl:filter-off") as url:
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
        connection.request("POST", "/ask", json.dumps({"question": "Khung lương của bậc E5 là bao nhiêu?"}), HEADERS)
        reply = json.loads(connection.getresponse().read())
        connection.close()
    assert "vector-only" == reply["config_id"]
    assert "57.200.000" in reply["answer"]


@pytest.mark.slow
@pytest.mark.parametrize("module", ["serve_http", "serve_mcp"])
@pytest.mark.parametrize("wrong", [("--fault", "acl:off"), ("--embedding", "bert"), ("--chat", "model")])
def test_a_wrong_option_is_reported_and_nothing_is_served(
    module: str, wrong: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    main = __import__(f"examples.handbook.{module}", fromlist=["main"]).main
    if module == "serve_mcp":
        pytest.importorskip("mcp", reason="the MCP server needs the extra mcp")
    with pytest.raises(SystemExit) as stop:
        main(list(wrong))
    assert 2 == stop.value.code
    assert wrong[1] in capsys.readouterr().err


# ── MCP ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def check_tools(client: Any) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert {"search", "ask"} == set(tools)
    assert {"query", "k", "tenant", "roles"} == set(tools["search"].input_schema["properties"])
    assert {"answer", "behaviour", "citations", "stages"} <= set(tools["ask"].output_schema["properties"])
    for name, arguments in (("search", {"query": LEAVE, "k": 99}), ("search", {"query": ""}), ("ask", {})):
        assert (await client.call_tool(name, arguments)).is_error


@pytest.mark.slow
def test_mcp_over_stdio_takes_the_identity_from_the_arguments(tmp_path: Path) -> None:
    mcp = pytest.importorskip("mcp", reason="the MCP server needs the extra mcp")
    stdio = pytest.importorskip("mcp.client.stdio")

    async def talk() -> list[Any]:
        command = ["-m", "examples.handbook.serve_mcp", "--config", "entity-linked"]
        parameters = mcp.StdioServerParameters(command=sys.executable, args=command, cwd=ROOT, env=ENVIRONMENT)
        with (tmp_path / "errors").open("w") as errors:  # pytest's own stderr has no file behind it
            async with mcp.Client(stdio.stdio_client(parameters, errlog=errors)) as client:
                return await converse(client)

    async def converse(client: Any) -> list[Any]:
        await check_tools(client)
        user = {"tenant": "company_a", "roles": ["security"]}
        score = "What is the CVSS score of CVE-2026-990017?"
        replies = [
            await client.call_tool("ask", {"question": score, **user}),
            await client.call_tool("ask", {"question": score}),
            await client.call_tool("search", {"query": score, "k": 2, **user}),
        ]
        assert not any(reply.is_error for reply in replies)
        return [reply.structured_content for reply in replies]

    answered, nobody, search_result = asyncio.run(talk())
    assert "9.1" in answered["answer"]
    assert ["entity", "dense", "bm25", "merge", "rerank", "context"] == [
        stage_fields["name"] for stage_fields in answered["stages"]
    ]
    assert ("abstain", []) == (nobody["behaviour"], nobody["citations"])
    assert "operations_log.vulnerabilities:v2026-03:002" == search_result["results"][0]["chunk_id"]
    assert 2 == len(search_result["results"])


@pytest.mark.slow
def test_mcp_over_http_takes_the_identity_from_the_headers_of_each_call_and_from_nowhere_else() -> None:
    mcp = pytest.importorskip("mcp", reason="the MCP server needs the extra mcp")
    httpx2 = pytest.importorskip("httpx2", reason="the MCP client over HTTP needs httpx2")
    transport = pytest.importorskip("mcp.client.streamable_http")

    async def talk(url: str) -> list[str]:
        async with (
            httpx2.AsyncClient(timeout=20) as session,
            mcp.Client(transport.streamable_http_client(url, http_client=session)) as client,
        ):
            await check_tools(client)
            answers = []
            for tenant in ("company_a", "company_b", ""):
                session.headers["x-tenant"] = tenant
                # The argument tries to be somebody else.
                reply = await client.call_tool("ask", {"question": LEAVE, "tenant": "company_a"})
                answers.append(reply.structured_content["answer"])
            return answers

    with started("serve_mcp", "--http") as url:
        mine, theirs, nobodys = asyncio.run(talk(url))
    assert "12 ngày" in mine
    assert "15 ngày" in theirs
    assert "12 ngày" not in theirs
    assert "ngày" not in nobodys
