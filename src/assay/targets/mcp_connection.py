"""One connection to an MCP server, opened and closed by the same task, as the scopes of the SDK require.

Over HTTP, an uncaught transport error would end the session and all its pending calls. It becomes a JSON-RPC error of
its own request instead, with the status and the Retry-After header, which the SDK would drop.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any, cast

from assay.calls.interfaces import CallError
from assay.calls.raised_errors import format_exception
from assay.calls.retry import read_retry_after
from assay.records.digest import compute_digest
from assay.targets.http import pin_address, read_limited
from assay.targets.mcp_stdio import REPLY_FAILED, StdioWatch

if TYPE_CHECKING:
    import httpx2
    from mcp import Client


NOT_CONNECTED, HTTP_FAILED = -32010, -32011
MAX_ERROR_BYTES = 2000
_BODY_HEADERS = ("content-encoding", "content-length", "transfer-encoding")

identity_headers: ContextVar[Mapping[str, str]] = ContextVar("identity_headers", default={})  # noqa: B039  # never changed
"""The headers that identify the user, for the request that the current task sends."""


def make_http_client(headers: Mapping[str, str], max_bytes: int, address: str | None) -> httpx2.AsyncClient:
    """Return a client for one session; `address` is the IP address to connect to, None to resolve the host."""
    import httpx2

    async def add_identity(request: httpx2.Request) -> None:
        request.headers.update(identity_headers.get())

    transport = IsolatingTransport(max_bytes, address, httpx2.AsyncHTTPTransport(trust_env=False))
    return httpx2.AsyncClient(
        transport=cast("httpx2.AsyncBaseTransport", transport),
        headers=dict(headers),
        event_hooks={"request": [add_identity]},
        timeout=httpx2.Timeout(30, read=None),  # each call has its own time limit
        trust_env=False,
        follow_redirects=False,
    )


class IsolatingTransport:
    """A transport that turns failures of a request into JSON-RPC errors, and limits the size of replies.

    It has the methods of httpx2.AsyncBaseTransport but does not inherit from it, so that this module can be imported
    without httpx2.
    """

    def __init__(self, max_bytes: int, address: str | None, inner: httpx2.AsyncBaseTransport) -> None:
        self._max_bytes, self._address, self._inner = max_bytes, address, inner

    async def __aenter__(self) -> IsolatingTransport:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._inner.__aexit__(None, None, None)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and return its response, or a JSON-RPC error that says what went wrong."""
        import httpx2

        if self._address is not None:
            pin_address(request, self._address)
        try:
            response = await self._inner.handle_async_request(request)
            if _is_failure(response.status_code):
                return await self._read_failure(request, response)
            if response.headers.get("content-type", "").startswith("application/json"):
                return await self._read_reply(request, response)
        except httpx2.TransportError as error:
            return _error_response(request, 503, NOT_CONNECTED, format_exception(error), {})
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()

    async def _read_reply(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        import httpx2

        try:
            content = await read_limited(response, self._max_bytes)
        except CallError as error:
            return _error_response(request, 502, REPLY_FAILED, error.message, {"code": error.code})
        finally:
            await response.aclose()
        # The content is decompressed and complete by now, so these headers no longer describe it.
        headers = {name: value for name, value in response.headers.items() if name.lower() not in _BODY_HEADERS}
        return httpx2.Response(response.status_code, headers=headers, content=content, request=request)

    async def _read_failure(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        status, retry_after = response.status_code, read_retry_after(response.headers)
        try:
            body = await read_limited(response, self._max_bytes, cut=MAX_ERROR_BYTES)
        except CallError:
            body = b""
        finally:
            await response.aclose()
        text = body.decode("utf-8", "replace")
        data = {"status": status, "retry_after": retry_after, "body": text}
        return _error_response(request, status, HTTP_FAILED, f"HTTP {status}", data)


def _is_failure(status: int) -> bool:
    """Return whether the SDK would lose information of a status; it handles 404 and other 4xx itself."""
    return status in (401, 403, 408, 429) or status >= 500 or 300 <= status < 400


def _error_response(
    request: httpx2.Request, status: int, code: int, message: str, data: dict[str, Any]
) -> httpx2.Response:
    """Return a JSON-RPC error with the id of the request, so that only its own call fails."""
    import httpx2

    try:
        request_id = json.loads(request.content).get("id")
    except (ValueError, AttributeError, httpx2.RequestNotRead):
        request_id = None
    body = {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message, "data": data}}
    return httpx2.Response(status if status >= 400 else 502, request=request, json=body)


CLOSE_SECONDS = 10.0
MAX_TOOLS, MAX_PAGES = 1000, 100

MessageHandler = Any
"""The SDK's type of message handler, an async function of one notification."""
ExplainError = Callable[[BaseException], CallError | None]
OpenClient = Callable[[MessageHandler, StdioWatch], AbstractAsyncContextManager["Client"]]


class McpSession:
    """A connected client, until it is closed or the server ends."""

    def __init__(self, connect: OpenClient, explain: ExplainError) -> None:
        self.client: Client
        self._connect, self._explain = connect, explain
        self.watch = StdioWatch()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._changed = False

    @property
    def is_alive(self) -> bool:
        """Whether calls can still be sent."""
        return self._task is not None and not (self._task.done() or self._closing.is_set() or self.watch.is_lost)

    async def open(self) -> dict[str, str]:
        """Connect and return the digest of each tool. Raises CallError, with code `connection` for unknown failures."""
        ready: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        # The session outlives the call that opens it, whose user must not be that of its background requests.
        context = copy_context()
        context.run(identity_headers.set, {})
        self._task = asyncio.create_task(self._run(ready), context=context)
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
        for _ in range(MAX_PAGES):
            page = await self.client.list_tools(cursor=cursor)
            for tool in page.tools:
                digests[tool.name] = compute_digest([tool.name, tool.input_schema, tool.output_schema])
            cursor = page.next_cursor
            if not cursor or len(digests) >= MAX_TOOLS:
                break
        return digests

    async def list_changed_tools(self) -> dict[str, str] | None:
        """Return the tools if the server announced a change since the last call, else None."""
        if not self._changed:
            return None
        digests = await self.list_tools()
        self._changed = False  # only now: a listing that fails is done again before the next call
        return digests

    async def _run(self, ready: asyncio.Future[dict[str, str]]) -> None:
        try:
            async with self._connect(self._handle_message, self.watch) as client:
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
        messages = dict.fromkeys(map(format_exception, single_errors))
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
