"""An MCP server that misbehaves: `python rude_mcp.py STATE [http]`; STATE is a folder that outlives it.

Questions choose the fault: `die` ends the process (once), `flood` fills the standard error, `sample` and `elicit` ask
the client for something, `change` brings another schema. raw_mcp.py is for what the SDK would never write.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

STATE = Path(sys.argv[1])
server = MCPServer("rude", version="1.0", log_level="CRITICAL")


def first_time(name: str) -> bool:
    """Return whether this happens for the first time, in any process."""
    try:
        (STATE / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


async def _ask(question: str, context: Context[Any, Any]) -> dict[str, Any]:
    if question == "die" and first_time("died"):
        os._exit(9)
    if question == "flood":
        os.write(2, b"x" * 3_000_000 + b"the end\n")
    if question == "sample":
        await context.session.create_message(messages=[], max_tokens=5)
    if question == "elicit":
        await context.elicit("Your password?", schema=None)  # type: ignore[call-arg, arg-type, unused-ignore]
    if question == "fail":
        raise ToolError("upstream 503")
    if question == "large":
        return {"answer": "x" * 2_000_000}
    if question == "environment":
        return {"answer": " ".join(sorted(os.environ))}
    await asyncio.sleep(0)
    return {"answer": f"answer to {question}"}


if (STATE / "changed").exists():

    @server.tool(name="ask")
    async def ask_otherwise(question: str, context: Context[Any, Any], extra: int = 0) -> dict[str, Any]:
        """Answer, with a different schema."""
        return await _ask(question, context)

else:

    @server.tool(name="ask")
    async def ask(question: str, context: Context[Any, Any]) -> dict[str, Any]:
        """Answer."""
        if question == "change":
            (STATE / "changed").touch()
            os._exit(0)
        return await _ask(question, context)


if __name__ == "__main__":
    server.run("stdio")
