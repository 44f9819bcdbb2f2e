"""The HTTP transport of an MCP session, which keeps the failure of one request from ending the session.

An uncaught transport error would end the session and all its pending calls. It becomes a JSON-RPC error of its own
request instead, with the status and the Retry-After header, which the SDK would drop.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

from assay.ports import CallError
from assay.targets.http import capped, pin

if TYPE_CHECKING:
    import httpx2

NOT_CONNECTED, HTTP_FAILED, REPLY_FAILED = -32010, -32011, -32012
MAX_ERROR_BYTES = 2000
_BODY_HEADERS = ("content-encoding", "content-length", "transfer-encoding")

identity_headers: ContextVar[Mapping[str, str]] = ContextVar("identity_headers", default={})  # noqa: B039  # never changed
"""The headers that identify the user, for the request that the current task sends."""


def http_client(headers: Mapping[str, str], max_bytes: int, address: str | None) -> httpx2.AsyncClient:
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
            pin(request, self._address)
        try:
            response = await self._inner.handle_async_request(request)
            if _is_failure(response.status_code):
                return await self._read_failure(request, response)
            if response.headers.get("content-type", "").startswith("application/json"):
                return await self._read_reply(request, response)
        except httpx2.TransportError as error:
            return _error_response(request, 503, NOT_CONNECTED, f"{type(error).__name__}: {error}", {})
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()

    async def _read_reply(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        import httpx2

        try:
            content = await capped(response, self._max_bytes)
        except CallError as error:
            return _error_response(request, 502, REPLY_FAILED, error.message, {"code": error.code})
        finally:
            await response.aclose()
        # The content is decompressed and complete by now, so these headers no longer describe it.
        headers = {name: value for name, value in response.headers.items() if name.lower() not in _BODY_HEADERS}
        return httpx2.Response(response.status_code, headers=headers, content=content, request=request)

    async def _read_failure(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        status, retry_after = response.status_code, response.headers.get("retry-after")
        try:
            body = await capped(response, self._max_bytes, cut=MAX_ERROR_BYTES)
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
