"""One small system under test, served in every way that a target can be reached: `python system.py command|mcp|http`.

Special questions make it misbehave: `fail` raises, `hang` waits, `garbage` answers with the wrong types. `tools`
reports tool calls.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from typing import Any

HANG_SECONDS = 30.0
TOOL_STEPS = [
    {"tool": "leave", "input": '{"year": 2}', "output": {"days_left": 12}},
    {"tool": "clock", "output": "noon"},
]
CANARY = "canary-secret-value-123"


def reply(question: str, user: dict[str, Any] | None = None) -> dict[str, Any]:
    """Answer with the question itself and with who asked."""
    if question == "fail":
        raise RuntimeError(f"broken, and here is {os.environ.get('SYSTEM_KEY', 'nothing')}")
    if question == "garbage":
        return {"answer": 5, "retrieved_chunks": "none"}
    if question == "tools":
        return {"answer": "You have 12 days left.", "used": TOOL_STEPS}
    tenant = (user or {}).get("tenant", "nobody")
    return {
        "answer": f"{question} for {tenant}",
        "retrieved_chunks": [{"chunk_id": "a", "score": 0.9}, {"chunk_id": "b", "score": 0.5}],
        "citations": ["a"],
    }


def ask(question: str, user: dict[str, Any] | None = None) -> dict[str, Any]:
    """Answer, in a plain function."""
    if question == "hang":
        time.sleep(HANG_SECONDS)
    return reply(question, user)


async def ask_async(question: str, user: dict[str, Any] | None = None) -> dict[str, Any]:
    """Answer, in a coroutine."""
    if question == "hang":
        await asyncio.sleep(HANG_SECONDS)
    return reply(question, user)


def search(question: str, k: int) -> list[str]:
    """Return ids only."""
    return ["a", "b", "c"][:k]


def command() -> None:
    """One JSON line in, one out."""
    for line in sys.stdin:
        case = json.loads(line)
        answer = ask(case["question"], case["user"])
        sys.stdout.write(json.dumps({"case_id": case["case_id"], **answer}) + "\n")
        sys.stdout.flush()


def mcp(transport: str) -> None:
    """Serve over stdio, or over HTTP on a port (a free one) that is printed first."""
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("system", version="1.0", log_level="CRITICAL")

    @server.tool(name="ask")
    async def _ask(question: str, tenant: str | None = None) -> dict[str, Any]:
        return await ask_async(question, {"tenant": tenant} if tenant else None)

    @server.tool(name="search")
    async def _search(query: str, k: int = 10) -> list[str]:
        return search(query, k)

    if transport == "stdio":
        server.run("stdio")
        return
    import uvicorn

    port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    listener = socket.create_server(("127.0.0.1", port))
    sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp\n")
    sys.stdout.flush()
    app = server.streamable_http_app(json_response=True, stateless_http=True)
    uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listener])


if __name__ == "__main__":
    if sys.argv[1] == "command":
        command()
    else:
        mcp(sys.argv[1])
