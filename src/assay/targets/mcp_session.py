"""One connection to an MCP server, opened and closed by a task of its own, as the SDK's scopes need."""

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
    """A client that is ready, until it is closed or the server is gone."""

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
        """Connect and return the digest of each tool. Raises CallError, code connection, where that fails."""
        ready: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._own(ready))
        try:
            return await ready
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End the connection; a server that does not go is left to the SDK's own kill."""
        self._closing.set()
        if self._task is None:
            return
        _, late = await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        for task in late:
            task.cancel()

    async def tools(self) -> dict[str, str]:
        """Return the digest of each tool's name and schemas."""
        found: dict[str, str] = {}
        cursor = None
        while len(found) < MAX_TOOLS:
            page = await self.client.list_tools(cursor=cursor)
            for tool in page.tools:
                found[tool.name] = digest([tool.name, tool.input_schema, tool.output_schema])
            cursor = page.next_cursor
            if not cursor:
                break
        return found

    async def changed_tools(self) -> dict[str, str] | None:
        """Return the tools where the server said that they changed, None where it said nothing."""
        if not self._changed:
            return None
        self._changed = False
        return await self.tools()

    async def _own(self, ready: asyncio.Future[dict[str, str]]) -> None:
        try:
            async with self._connect(self._hear) as client:
                self.client = client
                found = await self.tools()
                if not ready.done():
                    ready.set_result(found)
                await self._closing.wait()
        except CallError as error:
            _fail(ready, error)
        except Exception as error:  # noqa: BLE001  # the SDK raises groups of many kinds; all mean: no connection
            known = [failure for each in leaves(error) if (failure := self._explain(each)) is not None]
            said = "; ".join(dict.fromkeys(f"{type(each).__name__}: {each}" for each in leaves(error)))
            _fail(ready, known[0] if known else CallError("connection", said))
        finally:
            self._closing.set()

    async def _hear(self, message: Any) -> None:
        """Note that the server's tools changed; every other notification is of no concern."""
        if "ToolListChanged" in type(getattr(message, "root", message)).__name__:
            self._changed = True


def _fail(ready: asyncio.Future[dict[str, str]], error: CallError) -> None:
    with suppress(asyncio.InvalidStateError):
        ready.set_exception(error)


def leaves(error: BaseException) -> list[BaseException]:
    """Return the single errors of a group."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in leaves(each)]
    return [error]
