"""One connection to an MCP server, opened and closed by the same task, as the scopes of the SDK require."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Any

from assay.digest import digest
from assay.ports import CallError

if TYPE_CHECKING:
    from mcp import Client

CLOSE_SECONDS = 10.0
MAX_TOOLS = 1000

Handler = Any
"""The SDK's type of message handler, an async function of one notification."""
Explain = Callable[[BaseException], CallError | None]
Connect = Callable[[Handler], AbstractAsyncContextManager["Client"]]


class Session:
    """A connected client, until it is closed or the server ends."""

    def __init__(self, connect: Connect, explain: Explain) -> None:
        self.client: Client
        self._connect, self._explain = connect, explain
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._changed = False

    @property
    def alive(self) -> bool:
        """Whether calls can still be sent."""
        return self._task is not None and not self._task.done() and not self._closing.is_set()

    async def open(self) -> dict[str, str]:
        """Connect and return the digest of each tool. Raises CallError, with code `connection` for unknown failures."""
        ready: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(ready))
        try:
            return await ready
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close the connection; after `CLOSE_SECONDS` the SDK kills a server that has not ended."""
        self._closing.set()
        if self._task is None:
            return
        _, pending = await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        for task in pending:
            task.cancel()

    async def list_tools(self) -> dict[str, str]:
        """Return the digest of each tool's name and schemas."""
        digests: dict[str, str] = {}
        cursor = None
        while len(digests) < MAX_TOOLS:
            page = await self.client.list_tools(cursor=cursor)
            for tool in page.tools:
                digests[tool.name] = digest([tool.name, tool.input_schema, tool.output_schema])
            cursor = page.next_cursor
            if not cursor:
                break
        return digests

    async def changed_tools(self) -> dict[str, str] | None:
        """Return the tools if the server announced a change since the last call, else None."""
        if not self._changed:
            return None
        self._changed = False
        return await self.list_tools()

    async def _run(self, ready: asyncio.Future[dict[str, str]]) -> None:
        try:
            async with self._connect(self._handle_message) as client:
                self.client = client
                digests = await self.list_tools()
                if not ready.done():
                    ready.set_result(digests)
                await self._closing.wait()
        except CallError as error:
            _fail(ready, error)
        except Exception as error:  # noqa: BLE001  # the SDK raises groups of many types; all of them mean that there is no connection
            _fail(ready, self._explain_group(error))
        finally:
            self._closing.set()

    def _explain_group(self, error: Exception) -> CallError:
        """Return the first error of a group that can be explained, or else one with all of their messages."""
        single_errors = _flatten_group(error)
        for single_error in single_errors:
            failure = self._explain(single_error)
            if failure is not None:
                return failure
        messages = dict.fromkeys(f"{type(single_error).__name__}: {single_error}" for single_error in single_errors)
        return CallError("connection", "; ".join(messages))

    async def _handle_message(self, message: Any) -> None:
        """Note that the tools of the server changed; ignore all other notifications."""
        if "ToolListChanged" in type(getattr(message, "root", message)).__name__:
            self._changed = True


def _fail(ready: asyncio.Future[dict[str, str]], error: CallError) -> None:
    with suppress(asyncio.InvalidStateError):
        ready.set_exception(error)


def _flatten_group(error: BaseException) -> list[BaseException]:
    """Return the single errors of a group, including those of nested groups."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    single_errors: list[BaseException] = []
    for member in error.exceptions:
        single_errors += _flatten_group(member)
    return single_errors
