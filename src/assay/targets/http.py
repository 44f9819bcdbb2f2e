"""A target that is a JSON API over HTTP: request bodies from a template, replies mapped by settings.

One client serves the whole run. Redirects are not followed, proxies of the environment are not used, and no more of a
reply is read than the limit allows, in bytes before and after decompression.
"""

from __future__ import annotations

import os
import ssl
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from assay.calls.addresses import check_url, is_localhost, resolve_address
from assay.calls.interfaces import CallError, TargetCall, TargetOperation
from assay.calls.raised_errors import format_exception
from assay.calls.retry import read_retry_after
from assay.calls.target_kinds import TargetRequest
from assay.calls.templates import build_identity_headers, fill_call_template
from assay.records.errors import MissingExtraError, Problem, SettingsError, shorten_repr
from assay.records.observations import Observation
from assay.records.settings import HttpSearchSettings
from assay.records.settings import HttpTargetSettings as Settings
from assay.targets.reply import decode_reply, read_reply

if TYPE_CHECKING:
    import httpx2


DEFAULT_BODY = {"question": "{{question}}"}
DEFAULT_SEARCH = {"query": "{{question}}", "k": "{{k}}"}
QUOTA_CODES = ("insufficient_quota", "quota_exceeded", "billing_hard_limit_reached")
SHOWN_BYTES = 200


class HttpTarget:
    """Asks one address, and searches at another one if the settings name it; or only searches."""

    def __init__(
        self, name: str, settings: Settings, concurrency: int, *, typed: bool = False, allowed: Sequence[str] = ()
    ) -> None:
        """Raises SettingsError for an address that may not be called and for a secret missing from the environment."""
        self.name, self.settings = name, settings
        self._typed, self._allowed = typed, allowed
        self._calls: dict[TargetOperation, tuple[HttpSearchSettings, Any]] = {}
        if settings.search is not None:
            self._calls["search"] = settings.search, DEFAULT_SEARCH
        if settings.url is not None:
            ask_call = HttpSearchSettings(settings.url, settings.method, settings.body, settings.query)
            self._calls["ask"] = ask_call, DEFAULT_BODY
        if not self._calls:
            message = "missing (expected the address that answers, or search: {url: …} for a system that only searches)"
            raise SettingsError([Problem("", None, f"targets.{name}.url", message, "E_MISSING")])
        self.operations: tuple[TargetOperation, ...] = tuple(self._calls)
        for operation, (call, _) in self._calls.items():
            refused = check_url(call.url, typed=typed, allowed=allowed)
            if refused:
                field = f"targets.{name}.{'search.url' if operation == 'search' else 'url'}"
                raise SettingsError([Problem("", None, field, f"refused: {refused}", "E_URL")])
        self._headers = {"accept": "application/json", "accept-encoding": "gzip, identity", **settings.headers}
        if settings.auth is not None:
            secret = read_secret(settings.auth.env, f"targets.{name}.auth.env")
            self._headers[settings.auth.header] = f"{settings.auth.scheme} {secret}".strip()
        self._client = _make_client(concurrency)
        self._addresses: dict[str, str] = {}

    async def identity(self) -> dict[str, Any]:
        """Return the settings, which hold no secrets."""
        return {"type": "http", **msgspec.to_builtins(self.settings)}

    async def observe(self, call: TargetCall) -> Observation:
        """Send one request and read its reply."""
        body = await self._send(call)
        return read_reply(decode_reply(body), call, self.settings.response)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _send(self, call: TargetCall) -> bytes:
        import httpx2

        request = await self._build_request(call)
        try:
            response = await self._client.send(request, stream=True)
            try:
                return await self._read(response)
            finally:
                await response.aclose()
        except httpx2.TimeoutException as error:
            raise CallError("timeout", f"{type(error).__name__}: no reply in time") from None
        except httpx2.RemoteProtocolError as error:
            raise CallError("connection", f"the reply was cut off or malformed: {error}") from None
        except httpx2.TransportError as error:
            raise CallError(*_transport_failure(error)) from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise CallError("protocol", format_exception(error)) from None

    async def _build_request(self, call: TargetCall) -> httpx2.Request:
        http_call, default_body = self._calls[call.operation]
        if http_call.url not in self._addresses:
            address = await resolve_address(http_call.url, typed=self._typed, allowed=self._allowed)
            self._addresses[http_call.url] = address
        try:
            headers = {**self._headers, **build_identity_headers(self.settings.identity, call)}
        except ValueError as error:
            raise CallError("identity", str(error)) from None
        query = {key: str(value) for key, value in fill_call_template(http_call.query, call).items()} or None
        content = None
        if http_call.method != "GET":
            body = default_body if http_call.body is None else http_call.body
            content = msgspec.json.encode(fill_call_template(body, call))
            headers["content-type"] = "application/json"
        request = self._client.build_request(
            http_call.method, http_call.url, params=query, content=content, headers=headers, timeout=call.seconds
        )
        if not self._typed:
            pin_address(request, self._addresses[http_call.url])
        return request

    async def _read(self, response: httpx2.Response) -> bytes:
        status = response.status_code
        if status >= 300 or status in (204, 205):
            body = await read_limited(response, self.settings.max_bytes, cut=SHOWN_BYTES)
            raise _status_failure(status, response.headers, body)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind and kind != "application/json" and not kind.endswith("+json"):
            body = await read_limited(response, self.settings.max_bytes, cut=SHOWN_BYTES)
            raise CallError("protocol", f"not JSON (got {kind}: {_show_start(body)}; expected application/json)")
        return await read_limited(response, self.settings.max_bytes)


def make_target(request: TargetRequest) -> HttpTarget:
    """Make the target of a settings file or of an address on the command line."""
    return HttpTarget(
        request.name,
        request.settings,
        request.concurrency,
        typed=request.is_from_command_line,
        allowed=request.allowed_hosts,
    )


def pin_address(request: httpx2.Request, address: str) -> None:
    """Send a request to the IP address that was checked, because resolving the host again could return another one.

    The Host header and the name that TLS verifies do not change.
    """
    host = request.url.host
    if not is_localhost(host):
        request.extensions = {**request.extensions, "sni_hostname": host}
        request.url = request.url.copy_with(host=address)


def read_secret(variable: str, field: str) -> str:
    """Return a secret from the environment. Raises SettingsError naming the variable that is missing or empty."""
    value = os.environ.get(variable, "").strip()
    if not value:
        message = f"environment variable {variable} is not set (expected the secret itself in it)"
        raise SettingsError([Problem("", None, field, message, "E_SECRET")])
    return value


def _make_client(concurrency: int) -> httpx2.AsyncClient:
    try:
        import httpx2
    except ImportError:
        raise MissingExtraError("an HTTP target", "http") from None
    # Each call has its own connection. A connection that is kept open could hold a second, unasked reply of the server,
    # which HTTP/1.1 would match with the next case.
    limits = httpx2.Limits(max_connections=concurrency, max_keepalive_connections=0)
    return httpx2.AsyncClient(limits=limits, trust_env=False, follow_redirects=False)


async def read_limited(response: httpx2.Response, most: int, *, cut: int | None = None) -> bytes:
    """Read the body of a response and decompress it.

    Raises CallError with code `too_large` for more than `most` bytes, and `protocol` for broken or unknown compression.
    With `cut`, at most that many bytes are returned and the rest of the body is not read.
    """
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity", "gzip", "deflate"):
        raise CallError("protocol", f"compressed as {coding}, which was not requested (expected gzip or identity)")
    decompress = _make_decompressor() if coding in ("gzip", "deflate") else lambda data, _: data
    limit = most if cut is None else min(cut, most)
    parts, size = [], 0
    async for raw in response.aiter_raw():
        try:
            part = decompress(raw, limit - size + 1)
        except zlib.error as error:
            raise CallError("protocol", f"broken {coding} data: {error}") from None
        parts.append(part)
        size += len(part)
        if size > limit:
            if cut is not None:
                break
            raise CallError("too_large", f"a reply of more than {most} bytes (expected {most} at most)")
    return b"".join(parts)[:limit]


def _make_decompressor() -> Callable[[bytes, int], bytes]:
    """Return a function that decompresses data to a limited number of bytes, against decompression bombs."""
    decompressor = zlib.decompressobj(wbits=47)  # detects gzip and zlib by their headers
    return lambda data, max_bytes: decompressor.decompress(data, max_bytes)


def _status_failure(status: int, headers: httpx2.Headers, body: bytes) -> CallError:
    """Return the error for a status, with the seconds to wait if the reply has a Retry-After header."""
    if 300 <= status < 400:
        return CallError("redirect", f"redirected with {status} (expected the final address in the settings)")
    if status in (204, 205):
        return CallError("protocol", f"HTTP {status}: a reply without content")
    code = classify_status(status, body.decode("utf-8", "replace"))
    return CallError(code, f"HTTP {status}: {_show_start(body)}", read_retry_after(headers))


def classify_status(status: int, body: str) -> str:
    """Return the error code of a failed reply; a used-up quota differs from overload, because no retry helps."""
    return "quota" if status == 429 and any(word in body for word in QUOTA_CODES) else f"http_{status}"


def _transport_failure(error: BaseException) -> tuple[str, str]:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return "tls", f"no secure connection: {cause.reason or cause}"
        cause = cause.__cause__ or cause.__context__
    return "connection", f"{type(error).__name__}: {str(error) or 'the connection was lost'}"


def _show_start(body: bytes) -> str:
    return shorten_repr(body[:SHOWN_BYTES].decode("utf-8", "backslashreplace"), SHOWN_BYTES)
