"""The HTTP client of the judges: POST requests over connections that stay open, with limits on time and size.

Redirects are not followed, proxies and .netrc of the environment are not used, certificates are checked, and a
reply is read only up to its size limit, before and after decompression.
"""

from __future__ import annotations

import os
import socket
import time
import zlib
from typing import TYPE_CHECKING

from assay.calls.interfaces import CallError
from assay.judging.provider import HttpReply, HttpRequest
from assay.records.errors import MissingExtraError

if TYPE_CHECKING:
    import aiohttp


MAX_REPLY_BYTES = 8 * 2**20
CONNECT_SECONDS = 15.0
READ_BYTES = 2**16
HTTP_OK = 200


class HttpTransport:
    """A pool of connections. It belongs to the event loop that first uses it."""

    def __init__(
        self,
        concurrency: int = 64,
        seconds: float = 120.0,
        max_bytes: int = MAX_REPLY_BYTES,
        *,
        address: str = "the judge's address",
    ) -> None:
        """`seconds` is the longest that one call may take, `address` what errors call the one that is called.

        Raises MissingExtraError without the extra `judge`.
        """
        try:
            import aiohttp
        except ImportError:
            raise MissingExtraError("a judge", "judge") from None
        self._http = aiohttp
        self._concurrency, self._seconds, self._max_bytes = concurrency, seconds, max_bytes
        self._address = address
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: HttpRequest) -> HttpReply:
        """Do one POST and return the reply, whatever its status.

        Raises CallError: unreachable (no connection, so nothing was sent), timeout, connection (also a reply that was
        cut off), tls, too_large, protocol.
        """
        http = self._http
        session = self._open()
        headers = {"content-type": "application/json", "accept-encoding": "gzip, identity", **request.headers}
        start = time.monotonic()
        try:
            async with session.post(request.url, data=request.body, headers=headers, allow_redirects=False) as reply:
                body = await self._read(reply)
        except http.ConnectionTimeoutError as error:
            raise CallError("unreachable", f"{type(error).__name__}: no connection in time") from None
        except TimeoutError as error:  # aiohttp's own are subclasses of it
            raise CallError("timeout", f"{type(error).__name__}: no reply in time ({self._seconds:g} s)") from None
        except http.ClientSSLError as error:
            raise CallError("tls", f"no safe connection: {error.os_error or error}") from None
        # Messages are recorded with verdicts and compared byte for byte: no address of a machine is in them.
        except http.InvalidURL as error:
            raise CallError("protocol", f"{type(error).__name__}: {self._address} is no URL") from None
        except http.ClientResponseError as error:
            raise CallError("protocol", f"{type(error).__name__}: {error.message}") from None
        except ValueError as error:
            raise CallError("protocol", f"{type(error).__name__}: {error}") from None
        except http.ClientConnectorError as error:
            message = f"no connection to {self._address}: {describe_system_error(error.os_error)}"
            raise CallError("unreachable", message) from None
        except (http.ClientError, OSError) as error:
            raise CallError(
                "connection", f"{type(error).__name__}: {str(error) or 'the connection was lost'}"
            ) from None
        failure_headers = (
            {name.lower(): value for name, value in reply.headers.items()} if reply.status != HTTP_OK else {}
        )
        return HttpReply(reply.status, failure_headers, body, round((time.monotonic() - start) * 1000, 3))

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            http = self._http
            self._session = http.ClientSession(
                connector=http.TCPConnector(limit=self._concurrency, keepalive_timeout=75),
                timeout=http.ClientTimeout(total=self._seconds, sock_connect=CONNECT_SECONDS),
                cookie_jar=http.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
            )
        return self._session

    async def _read(self, reply: aiohttp.ClientResponse) -> bytes:
        coding = reply.headers.get("content-encoding", "identity").strip().lower()
        if coding not in ("", "identity", "gzip", "deflate"):
            raise CallError("protocol", f"packed as {coding}, which was not asked for (expected gzip or identity)")
        if (
            coding in ("", "identity") and (reply.content_length or READ_BYTES) < READ_BYTES
        ):  # the usual case, read at once
            return await reply.read()
        packed = zlib.decompressobj(wbits=47) if coding in ("gzip", "deflate") else None
        parts, size = [], 0
        async for raw in reply.content.iter_chunked(READ_BYTES):
            try:
                part = raw if packed is None else packed.decompress(raw, self._max_bytes - size + 1)
            except zlib.error as error:
                raise CallError("protocol", f"broken {coding} data: {error}") from None
            parts.append(part)
            size += len(part)
            if size > self._max_bytes:
                raise CallError("too_large", f"a reply of more than {self._max_bytes} bytes (expected that at most)")
        if packed is not None and not packed.eof:
            raise CallError("connection", f"the {coding} data was cut off")
        return b"".join(parts)


def describe_system_error(error: OSError) -> str:
    """Return what an error of the system means, without the address that its own text names."""
    if isinstance(error, socket.gaierror):
        return error.strerror or "the name is not known"
    if error.errno is None:  # several addresses were tried
        return "none of its addresses answers"
    return os.strerror(error.errno)
