"""An MCP server as a target: one session carries the whole run, and is opened anew when the server has died.

The tools' schemas are pinned when the run begins; a server that changes them is no longer the one that was measured.
Sampling, elicitation and roots are declined, and a result marked as an error is a failure, never an answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from assay.config_model import McpTarget as Settings
from assay.errors import Problem, SettingsError
from assay.model import Observation
from assay.ports import Call, CallError, Operation
from assay.targets.addresses import check_resolved, check_url
from assay.targets.command import environment
from assay.targets.http import retry_after, secret_of, status_code
from assay.targets.mcp_session import Handler, Session
from assay.targets.reply import decode, read_reply
from assay.targets.tail import Tail
from assay.targets.template import fill, headers_of

if TYPE_CHECKING:
    from mcp import Client, MCPError
    from mcp.types import CallToolResult

TIMED_OUT = -32001
GONE = ("connection closed", "session not found", "session terminated", "unknown session")


class McpTarget:
    """Calls the tools `search` and `ask`, whatever the server calls them."""

    def __init__(self, name: str, settings: Settings, *, typed: bool = False, allowed: Sequence[str] = ()) -> None:
        """Raises SettingsError for a missing package, a refused address, and secrets that the environment lacks."""
        _check_settings(name, settings, typed=typed, allowed=allowed)
        self.name, self.settings = name, settings
        self.operations: tuple[Operation, ...] = ("search", "ask")
        self._names: dict[Operation, str | None] = {"search": settings.tools.search, "ask": settings.tools.ask}
        self._typed, self._allowed = typed, allowed
        self._environment = environment(settings.env, f"targets.{name}.env")
        self._headers = {}
        if settings.auth is not None:
            secret = secret_of(settings.auth.env, f"targets.{name}.auth.env")
            self._headers[settings.auth.header] = f"{settings.auth.scheme} {secret}".strip()
        self._session: Session | None = None
        self._opening = asyncio.Lock()
        self._pinned: dict[str, str] = {}
        self._tail = Tail() if settings.command else None

    async def identity(self) -> dict[str, Any]:
        """Connect; return the settings, the server's name and version, and the digest of each tool's schema."""
        session = await self._ready()
        self.operations = tuple(each for each, name in self._names.items() if name in self._pinned)
        server = session.client.server_info
        return {
            "type": "mcp",
            **msgspec.to_builtins(self.settings),
            "server": {"name": server.name, "version": server.version} if server is not None else None,
            "schemas": dict(sorted(self._pinned.items())),
        }

    async def observe(self, call: Call) -> Observation:
        """Call one tool. Raises CallError; a session that is lost is opened anew at the next call."""
        from mcp import MCPError

        from assay.targets.mcp_http import identity_headers

        session = await self._ready()
        try:
            identity_headers.set(headers_of(self.settings.identity, call))
        except ValueError as error:
            raise CallError("identity", str(error)) from None
        name = self._names[call.operation] or ""
        arguments = fill(getattr(self.settings.arguments, call.operation), call)
        try:
            changed = await session.changed_tools()
            if changed is not None:
                self._pin(changed)
            result = await session.client.call_tool(name, arguments, read_timeout_seconds=call.seconds)
        except MCPError as error:
            failure = self._failure(error)
            if failure.code == "crashed":
                await self._drop(session)
            raise failure from None
        except (RuntimeError, ValueError) as error:  # the SDK's words for a closed session and for content it refuses
            await self._drop(session)
            raise CallError("protocol", f"{type(error).__name__}: {error}") from None
        return read_reply(_content(result, self.settings.max_bytes), call, self.settings.response)

    async def aclose(self) -> None:
        """End the session, and the server where it was started here."""
        if self._session is not None:
            await self._drop(self._session)
        if self._tail is not None:
            self._tail.close()

    async def _ready(self) -> Session:
        async with self._opening:
            if self._session is not None and not self._session.alive:
                await self._drop(self._session)
            if self._session is None:
                session = Session(self._connected, self._explained)
                try:
                    self._pin(await session.open())
                except CallError as error:
                    await session.close()
                    raise CallError(error.code, self._with_last_words(error.message), error.retry_after) from None
                self._session = session
            return self._session

    def _pin(self, found: dict[str, str]) -> None:
        """Remember the tools at the first look; later, raise CallError where they are others."""
        wanted = {name: found[name] for name in self._names.values() if name is not None and name in found}
        if not wanted:
            names = ", ".join(name for name in self._names.values() if name is not None)
            message = f"the server has none of the tools {names} (got {', '.join(sorted(found)) or 'none'})"
            raise CallError("tool_missing", message)
        if self._pinned and wanted != self._pinned:
            differing = sorted(name for name in {*wanted, *self._pinned} if wanted.get(name) != self._pinned.get(name))
            raise CallError("schema_drift", f"the server changed its tools during the run: {', '.join(differing)}")
        self._pinned = wanted

    async def _drop(self, session: Session) -> None:
        if self._session is session:
            self._session = None
        await session.close()

    @asynccontextmanager
    async def _connected(self, hear: Handler) -> AsyncIterator[Client]:
        from mcp import Client, StdioServerParameters
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client

        from assay.targets.mcp_http import http_client

        # The SDK logs what servers write; where nobody listens that would reach the screen, secrets included.
        logging.getLogger("mcp").addHandler(logging.NullHandler())
        settings = self.settings
        async with AsyncExitStack() as stack:
            transport: Any
            if settings.url is not None:
                number = await check_resolved(settings.url, typed=self._typed, allowed=self._allowed)
                pinned = None if self._typed else number
                client = await stack.enter_async_context(http_client(self._headers, settings.max_bytes, pinned))
                most = settings.max_bytes
                transport = streamable_http_client(settings.url, http_client=client, max_sse_event_size=most)
            else:
                command, *rest = settings.command
                server = StdioServerParameters(command=command, args=rest, env=self._environment)
                assert self._tail is not None
                transport = stdio_client(server, errlog=self._tail.file)
            yield await stack.enter_async_context(Client(transport, cache=None, message_handler=hear))

    def _explained(self, error: BaseException) -> CallError | None:
        """Return what an error of the handshake means, None where only its words tell."""
        from mcp import MCPError

        failure = self._failure(error) if isinstance(error, MCPError) else None
        return failure if failure is not None and failure.code not in ("crashed", "protocol") else None

    def _failure(self, error: MCPError) -> CallError:
        """Return what a JSON-RPC error means."""
        from assay.targets.mcp_http import HTTP_FAILED, NOT_CONNECTED, REPLY_FAILED

        data = error.error.data if isinstance(error.error.data, dict) else {}
        code, message = error.error.code, error.error.message
        if code == TIMED_OUT:
            return CallError("timeout", message)
        if code == HTTP_FAILED:
            status, body = int(data.get("status", 500)), str(data.get("body", ""))
            return CallError(status_code(status, body), f"HTTP {status}: {body}", retry_after(data.get("retry_after")))
        if code == NOT_CONNECTED:
            return CallError("connection", message)
        if code == REPLY_FAILED:
            return CallError(str(data.get("code", "protocol")), message)
        if any(word in message.lower() for word in GONE):
            return CallError("crashed", self._with_last_words(message))
        return CallError("protocol", f"{message} ({code})")

    def _with_last_words(self, message: str) -> str:
        said = self._tail.text()[-300:] if self._tail is not None else ""
        return f"{message} (the server's last words: {said!r})" if said else message


def _check_settings(name: str, settings: Settings, *, typed: bool, allowed: Sequence[str]) -> None:
    def refuse(field: str, message: str, code: str) -> None:
        raise SettingsError([Problem("", None, f"targets.{name}{field}", message, code)])

    try:
        import mcp  # noqa: F401
    except ImportError:
        raise SettingsError("an MCP target needs a package more: pip install 'rag-assay[mcp]'") from None
    if bool(settings.command) == bool(settings.url):
        refuse("", "a command or a url (expected exactly one of them)", "E_TARGET")
    refused = check_url(settings.url, typed=typed, allowed=allowed) if settings.url else ""
    if refused:
        refuse(".url", f"refused: {refused}", "E_URL")
    if settings.command and (settings.identity or settings.auth):
        message = "headers exist over HTTP only (expected {{user}} in the arguments, and env for secrets)"
        refuse(".identity", message, "E_TARGET")


def _content(result: CallToolResult, most: int) -> Any:
    """Return what a tool gave: structured, else JSON in its text, else the text itself."""
    texts = [item.text for item in result.content if item.type == "text"]
    if result.is_error:
        raise CallError("tool_error", texts[0] if texts else "an error without words")
    value: Any = result.structured_content
    if value is None:
        text = "\n".join(texts)
        if len(text.encode()) > most:
            raise CallError("too_large", f"a reply of more than {most} bytes (expected that at most)")
        try:
            value = decode(text.encode())
        except CallError as error:
            if error.code != "protocol" or not text:
                raise
            return text
    elif len(msgspec.json.encode(value)) > most:
        raise CallError("too_large", f"a reply of more than {most} bytes (expected that at most)")
    return value["result"] if isinstance(value, dict) and set(value) == {"result"} else value
