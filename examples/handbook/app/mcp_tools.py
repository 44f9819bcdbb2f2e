"""The handbook as two MCP tools, `search` and `ask`, with the official SDK (extra `mcp`).

Import this module only where an MCP server is wanted: the SDK is large and optional.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer  # type: ignore[import-not-found, unused-ignore]
from mcp.server.mcpserver.exceptions import ToolError  # type: ignore[import-not-found, unused-ignore]
from pydantic import BaseModel, Field

from examples.handbook.app.endpoint import EndpointError
from examples.handbook.app.pipeline import Handbook
from examples.handbook.app.settings import LONGEST_QUESTION, MOST_RESULTS, identity

INSTRUCTIONS = (
    "Questions about a company handbook. Over HTTP the headers x-tenant, x-roles and x-position say who asks, and the "
    "arguments tenant and roles are ignored; over stdio the arguments say it. Without a tenant nothing is visible."
)

Text = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]
Tenant = Annotated[str | None, Field(description="the tenant of whoever asks; over stdio only")]
Roles = Annotated[list[str] | None, Field(description="the roles of whoever asks; over stdio only")]


class FoundChunk(BaseModel):
    """One chunk of a ranking; the text is there in results and in the context."""

    chunk_id: str
    score: float
    rank: int
    text: str | None = None
    text_hash: str
    metadata: dict[str, Any]


class StageReport(BaseModel):
    """What one step of the pipeline returned, in rank order."""

    name: str
    chunks: list[FoundChunk]
    latency_ms: float


class SentenceReport(BaseModel):
    """A piece of the answer with the chunks that it cites."""

    text: str
    citations: list[str]


class Report(BaseModel):
    """The trace that both tools return."""

    config_id: str
    question: str
    query_rewrite: str
    stages: list[StageReport]
    usage: dict[str, Any]
    versions: dict[str, str]


class SearchReport(Report):
    """What `search` returns."""

    results: list[FoundChunk]


class AskReport(Report):
    """What `ask` returns."""

    answer: str
    behaviour: str
    citations: list[str]
    sentences: list[SentenceReport] | None = None


def user_of(context: Context, tenant: str | None, roles: list[str] | None) -> dict[str, Any]:
    """Return who asks: by the headers of the request where there is one, else by the arguments.

    Over HTTP the arguments never count: they are written by a model, which anyone may have talked into anything.
    """
    request = context.request_context.request
    if request is None:
        return {"tenant": tenant, "roles": roles or []}
    try:
        return identity(*(request.headers.get(name) for name in ("x-tenant", "x-roles", "x-position")))
    except ValueError:
        raise ToolError("x-position must be a number") from None


def build(handbook: Handbook) -> MCPServer:
    """Return the server with its two tools."""

    def search(
        context: Context,
        query: Text,
        k: Annotated[int, Field(ge=1, le=MOST_RESULTS)] = 5,
        tenant: Tenant = None,
        roles: Roles = None,
    ) -> SearchReport:
        """Find the passages of the handbook that fit a query, best first, among those that the user may see."""
        return SearchReport.model_validate(_run(lambda user: handbook.search(query, k, user), context, tenant, roles))

    def ask(context: Context, question: Text, tenant: Tenant = None, roles: Roles = None) -> AskReport:
        """Answer a question from the handbook with citations, or say that it cannot or must not be answered."""
        return AskReport.model_validate(_run(lambda user: handbook.ask(question, user), context, tenant, roles))

    server = MCPServer("handbook", version="1.0", instructions=INSTRUCTIONS, log_level="ERROR")
    server.add_tool(search)
    server.add_tool(ask)
    return server


def _run(
    use: Callable[[dict[str, Any]], dict[str, Any]], context: Context, tenant: str | None, roles: list[str] | None
) -> dict[str, Any]:
    try:
        return use(user_of(context, tenant, roles))
    except EndpointError as error:
        raise ToolError(str(error)) from None
