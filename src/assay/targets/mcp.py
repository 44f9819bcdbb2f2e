"""A target that is an MCP server: one session serves the whole run and is opened again if the server dies or is stuck.

The schemas of the tools are recorded when the run begins; a server that changes them is no longer the system that was
measured, and every later case fails. Sampling, elicitation and roots are declined. A result marked as an error is a
failure, never an answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from assay.calls.addresses import check_url, resolve_address
from assay.calls.interfaces import CallError, ReplyNotices, TargetCall, TargetOperation
from assay.calls.raised_errors import format_exception
from assay.calls.target_kinds import TargetRequest
from assay.calls.templates import build_identity_headers, fill_call_template
from assay.calls.turns import Turns
from assay.records.errors import MissingExtraError, Problem, SettingsError
from assay.records.observations import Observation
from assay.records.settings import McpTargetSettings as Settings
from assay.targets.command import StderrTail, select_environment
from assay.targets.http import classify_status, read_secret
from assay.targets.mcp_connection import McpSession, MessageHandler
from assay.targets.mcp_stdio import StdioWatch, open_stdio
from assay.targets.process_group import GroupGuard
from assay.targets.reply import decode_reply, read_reply

if TYPE_CHECKING:
    from mcp import Client, MCPError
    from mcp.types import CallToolResult


TIMED_OUT = -32001
SESSION_LOST = ("connection closed", "session not found", "session terminated", "unknown session")


class McpTarget:
    """Calls the tools for `search` and `ask`, whose names the settings give."""

    def __init__(self, name: str, settings: Settings, *, typed: bool = False, allowed: Sequence[str] = ()) -> None:
        """Raises MissingExtraError without the extra `mcp`, SettingsError for a refused address or a missing secret."""
        _check_settings(name, settings, typed=typed, allowed=allowed)
        self.name, self.settings = name, settings
        self.operations: tuple[TargetOperation, ...] = ("search", "ask")
        self._tool_names: dict[TargetOperation, str | None] = {
            "search": settings.tools.search,
            "ask": settings.tools.ask,
        }
        self._typed, self._allowed = typed, allowed
        self._environment = select_environment(settings.env, f"targets.{name}.env")
        self._headers = {}
        if settings.auth is not None:
            secret = read_secret(settings.auth.env, f"targets.{name}.auth.env")
            self._headers[settings.auth.header] = f"{settings.auth.scheme} {secret}".strip()
        self._session: McpSession | None = None
        self._was_opened = False
        self._opening = asyncio.Lock()
        self._turns = Turns()
        self._suspects: set[tuple[str, TargetOperation]] = set()
        self._schemas: dict[str, str] = {}
        self._drift = ""
        self._guard = GroupGuard()
        self._tail = StderrTail() if settings.command else None

    async def identity(self) -> dict[str, Any]:
        """Connect; return the settings, the server's name and version, and the digest of each tool's schema."""
        session = await self._get_session()
        self.operations = tuple(operation for operation, name in self._tool_names.items() if name in self._schemas)
        server = session.client.server_info
        return {
            "type": "mcp",
            **msgspec.to_builtins(self.settings),
            "server": {"name": server.name, "version": server.version} if server is not None else None,
            "schemas": dict(sorted(self._schemas.items())),
        }

    async def observe(self, call: TargetCall) -> Observation:
        """Call one tool. Raises CallError; a lost session is opened again at the next call.

        Where a server that was started here ends, one of the calls in progress may have ended it, and nothing says
        which: the next attempt of each has a server to itself, so that no call fails for another.
        """
        if not self.settings.command:
            return await self._observe(call)
        key = (call.case.id, call.operation)
        async with self._turns.run_alone() if key in self._suspects else self._turns.run_together():
            try:
                observation = await self._observe(call)
            except CallError as error:
                if error.code == "crashed":
                    self._suspects.add(key)
                raise
        self._suspects.discard(key)
        return observation

    async def _observe(self, call: TargetCall) -> Observation:
        import anyio
        from mcp import MCPError

        from assay.targets.mcp_connection import identity_headers

        session = await self._get_session(call.notices)
        try:
            identity_headers.set(build_identity_headers(self.settings.identity, call))
        except ValueError as error:
            raise CallError("identity", str(error)) from None
        lines_before = session.watch.lines
        try:
            result = await self._call_tool(session, call)
        except MCPError as error:
            failure = self._translate_error(error)
            if failure.code == "crashed":
                await self._close_session(session)
            elif failure.code == "timeout":
                self._note_silence(session, lines_before)
            raise failure from None
        except asyncio.CancelledError:  # the time limit of the case is over
            self._note_silence(session, lines_before)
            raise
        except (RuntimeError, ValueError) as error:
            # The SDK refused the content of this reply, which says nothing about the other calls of the session.
            raise CallError("protocol", format_exception(error)) from None
        except anyio.ClosedResourceError:
            await self._close_session(session)
            raise CallError("crashed", self._add_stderr("the session was closed")) from None
        return read_reply(_read_content(result, self.settings.max_bytes), call, self.settings.response)

    async def _call_tool(self, session: McpSession, call: TargetCall) -> CallToolResult:
        """Call the tool; before and after it, check the tools if the server announced that they changed."""
        await self._check_announced_change(session)
        name = self._tool_names[call.operation] or ""
        arguments = fill_call_template(getattr(self.settings.arguments, call.operation), call)
        result = await session.client.call_tool(name, arguments, read_timeout_seconds=call.seconds)
        await self._check_announced_change(session)
        return result

    async def _check_announced_change(self, session: McpSession) -> None:
        changed_schemas = await session.list_changed_tools()
        if changed_schemas is not None:
            self._check_schemas(changed_schemas)

    def _note_silence(self, session: McpSession, lines_before: int) -> None:
        """Give up a stdio session if the server wrote nothing during a whole call: it is stuck."""
        if self.settings.command and session.watch.lines == lines_before:
            session.watch.is_lost = True

    async def aclose(self) -> None:
        """Close the session, and end the server if it was started here."""
        try:
            if self._session is not None:
                await self._close_session(self._session)
        finally:
            self._guard.close()
            if self._tail is not None:
                self._tail.close()

    async def _get_session(self, notices: ReplyNotices | None = None) -> McpSession:
        """Return the session, opened again if it was lost, of which `notices` are told."""
        async with self._opening:
            if self._drift:
                raise CallError("schema_drift", self._drift)
            if self._session is not None and not self._session.is_alive:
                await self._close_session(self._session)
            if self._session is None:
                if self._was_opened and notices is not None:
                    notices.add_restart("started" if self.settings.command else "connected to")
                self._was_opened = True
                session = McpSession(self._connect, self._explain)
                try:
                    self._check_schemas(await session.open())
                except CallError as error:
                    await session.close()
                    raise CallError(error.code, self._add_stderr(error.message), error.retry_after) from None
                self._session = session
            return self._session

    def _check_schemas(self, server_schemas: dict[str, str]) -> None:
        """Record the schema digests of the tools the first time; later, raise CallError if they are different.

        A change is final: the server that was measured is gone, even if one with the old schemas comes back.
        """
        if self._drift:
            raise CallError("schema_drift", self._drift)
        tool_names = [name for name in self._tool_names.values() if name is not None]
        schemas = {name: server_schemas[name] for name in tool_names if name in server_schemas}
        if not schemas and not self._schemas:
            got = ", ".join(sorted(server_schemas)) or "none"
            raise CallError("tool_missing", f"the server has none of the tools {', '.join(tool_names)} (got {got})")
        if self._schemas and schemas != self._schemas:
            names = {*schemas, *self._schemas}
            changed = sorted(name for name in names if schemas.get(name) != self._schemas.get(name))
            self._drift = f"the server changed its tools during the run: {', '.join(changed)}"
            raise CallError("schema_drift", self._drift)
        self._schemas = schemas

    async def _close_session(self, session: McpSession) -> None:
        if self._session is session:
            self._session = None
        await session.close()

    @asynccontextmanager
    async def _connect(self, on_message: MessageHandler, watch: StdioWatch) -> AsyncIterator[Client]:
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        from assay.targets.mcp_connection import make_http_client

        # The SDK logs what servers write; without a handler, Python would print it to the terminal, secrets included.
        logging.getLogger("mcp").addHandler(logging.NullHandler())
        settings = self.settings
        async with AsyncExitStack() as stack:
            transport: Any
            if settings.url is not None:
                address = await resolve_address(settings.url, typed=self._typed, allowed=self._allowed)
                pinned_address = None if self._typed else address
                max_bytes = settings.max_bytes
                client = await stack.enter_async_context(make_http_client(self._headers, max_bytes, pinned_address))
                transport = streamable_http_client(settings.url, http_client=client, max_sse_event_size=max_bytes)
            else:
                assert self._tail is not None
                transport = open_stdio(
                    settings.command, self._environment, self._tail.file, settings.max_bytes, self._guard, watch
                )
            yield await stack.enter_async_context(Client(transport, cache=None, message_handler=on_message))

    def _explain(self, error: BaseException) -> CallError | None:
        """Return the error for a failed handshake; None if only its message says what happened."""
        from mcp import MCPError

        failure = self._translate_error(error) if isinstance(error, MCPError) else None
        return failure if failure is not None and failure.code not in ("crashed", "protocol") else None

    def _translate_error(self, error: MCPError) -> CallError:
        """Return the CallError for a JSON-RPC error."""
        from assay.targets.mcp_connection import HTTP_FAILED, NOT_CONNECTED
        from assay.targets.mcp_stdio import REPLY_FAILED

        data = error.error.data if isinstance(error.error.data, dict) else {}
        code, message = error.error.code, error.error.message
        if code == TIMED_OUT:
            return CallError("timeout", message)
        if code == HTTP_FAILED:
            status, body = int(data.get("status", 500)), str(data.get("body", ""))
            return CallError(classify_status(status, body), f"HTTP {status}: {body}", data.get("retry_after"))
        if code == NOT_CONNECTED:
            return CallError("connection", message)
        if code == REPLY_FAILED:
            return CallError(str(data.get("code", "protocol")), message)
        if any(phrase in message.lower() for phrase in SESSION_LOST):
            return CallError("crashed", self._add_stderr(message))
        return CallError("protocol", f"{message} ({code})")

    def _add_stderr(self, message: str) -> str:
        stderr = self._tail.read_text()[-300:] if self._tail is not None else ""
        return f"{message} (end of the server's standard error: {stderr!r})" if stderr else message


def make_target(request: TargetRequest) -> McpTarget:
    """Make the target of a settings file or of an address on the command line."""
    return McpTarget(request.name, request.settings, typed=request.is_from_command_line, allowed=request.allowed_hosts)


def _check_settings(name: str, settings: Settings, *, typed: bool, allowed: Sequence[str]) -> None:
    def refuse(field: str, message: str, code: str) -> None:
        raise SettingsError([Problem("", None, f"targets.{name}{field}", message, code)])

    try:
        import httpx2  # noqa: F401  # whether both are there is all that is asked
        import mcp  # noqa: F401  # as above
    except ImportError:
        raise MissingExtraError("an MCP target", "mcp") from None
    if bool(settings.command) == bool(settings.url):
        refuse("", "a command or a url (expected exactly one of them)", "E_TARGET")
    refused = check_url(settings.url, typed=typed, allowed=allowed) if settings.url else ""
    if refused:
        refuse(".url", f"refused: {refused}", "E_URL")
    if settings.command and (settings.identity or settings.auth):
        message = "headers need HTTP (expected {{user}} in the arguments, and env for secrets)"
        refuse(".identity", message, "E_TARGET")


def _read_content(result: CallToolResult, max_bytes: int) -> Any:
    """Return the result of a tool: its structured content, or else JSON in its text, or else the text itself."""
    texts = [item.text for item in result.content if item.type == "text"]
    if result.is_error:
        raise CallError("tool_error", texts[0] if texts else "an error without a message")
    value: Any = result.structured_content
    if value is None:
        text = "\n".join(texts)
        if len(text.encode()) > max_bytes:
            raise CallError("too_large", f"a reply of more than {max_bytes} bytes (expected {max_bytes} at most)")
        try:
            value = decode_reply(text.encode())
        except CallError as error:
            if error.code != "protocol" or not text:
                raise
            return text
    elif len(msgspec.json.encode(value)) > max_bytes:
        raise CallError("too_large", f"a reply of more than {max_bytes} bytes (expected {max_bytes} at most)")
    return value["result"] if isinstance(value, dict) and set(value) == {"result"} else value
