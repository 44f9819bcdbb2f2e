"""The HTTP transport under an MCP session: what goes wrong with one request stays with that request.

A transport error that escapes would end the whole session with every call under way. Here it becomes a JSON-RPC error
of the request that met it, with the status and the time to come back at, which the SDK would drop.
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
CUT = 2000

identity_headers: ContextVar[Mapping[str, str]] = ContextVar("identity_headers", default={})  # noqa: B039  # never changed
"""Who is asking, for the request that the current task sends."""


def http_client(headers: Mapping[str, str], max_bytes: int, number: str | None) -> httpx2.AsyncClient:
    """Return a client for one session; `number` is the address to connect to, None to look it up."""
    import httpx2

    async def add_identity(request: httpx2.Request) -> None:
        request.headers.update(identity_headers.get())

    return httpx2.AsyncClient(
        transport=cast(
            "httpx2.AsyncBaseTransport", Isolating(max_bytes, number, httpx2.AsyncHTTPTransport(trust_env=False))
        ),
        headers=dict(headers),
        event_hooks={"request": [add_identity]},
        timeout=httpx2.Timeout(30, read=None),  # each call has its own time
        trust_env=False,
        follow_redirects=False,
    )


class Isolating:
    """A transport that turns failures of a request into JSON-RPC errors, and reads replies no further than their cap.

    It has the methods of httpx2.AsyncBaseTransport without its name, so that importing this needs no package.
    """

    def __init__(self, max_bytes: int, number: str | None, inner: httpx2.AsyncBaseTransport) -> None:
        self._max_bytes, self._number, self._inner = max_bytes, number, inner

    async def __aenter__(self) -> Isolating:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._inner.__aexit__(None, None, None)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; returns its response, or one that says what went wrong."""
        import httpx2

        if self._number is not None:
            pin(request, self._number)
        try:
            response = await self._inner.handle_async_request(request)
            if _is_failure(response.status_code):
                return await self._failed(request, response)
            if response.headers.get("content-type", "").startswith("application/json"):
                return await self._read(request, response)
        except httpx2.TransportError as error:
            return _error(request, 503, NOT_CONNECTED, f"{type(error).__name__}: {error}", {})
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()

    async def _read(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        import httpx2

        try:
            content = await capped(response, self._max_bytes)
        except CallError as error:
            return _error(request, 502, REPLY_FAILED, error.message, {"code": error.code})
        finally:
            await response.aclose()
        kept = {
            name: value
            for name, value in response.headers.items()
            if name.lower() not in ("content-encoding", "content-length", "transfer-encoding")
        }
        return httpx2.Response(response.status_code, headers=kept, content=content, request=request)

    async def _failed(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        status, wait = response.status_code, response.headers.get("retry-after")
        try:
            body = await capped(response, self._max_bytes, cut=CUT)
        except CallError:
            body = b""
        finally:
            await response.aclose()
        text = body.decode("utf-8", "replace")
        return _error(
            request, status, HTTP_FAILED, f"HTTP {status}", {"status": status, "retry_after": wait, "body": text}
        )


def _is_failure(status: int) -> bool:
    """Whether a status says more than the SDK keeps; 404 and other 4xx are part of its protocol."""
    return status in (401, 403, 408, 429) or status >= 500 or 300 <= status < 400


def _error(request: httpx2.Request, status: int, code: int, message: str, data: dict[str, Any]) -> httpx2.Response:
    """Return a response that carries the id of the request, so that only its own call fails."""
    import httpx2

    try:
        number = json.loads(request.content).get("id")
    except (ValueError, AttributeError, httpx2.RequestNotRead):
        number = None
    body = {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message, "data": data}}
    return httpx2.Response(status if status >= 400 else 502, request=request, json=body)
