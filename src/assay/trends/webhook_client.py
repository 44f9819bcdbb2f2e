"""Sends alerts to an address, signed with a secret that both sides know."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable, Sequence

from assay.calls.addresses import check_url, resolve_address
from assay.calls.interfaces import CallError
from assay.calls.retry import Clock, RetryingCaller, RetryPolicy, Throttle, read_retry_after
from assay.judging.http_client import HttpTransport
from assay.judging.provider import HttpRequest
from assay.records.errors import IncompleteError, SettingsError

ATTEMPTS, CALL_SECONDS, DEADLINE_SECONDS = 4, 15.0, 60.0
MAX_REPLY_BYTES = 2**16
SIGNATURE_HEADER, TIME_HEADER = "x-assay-signature", "x-assay-timestamp"
_OK, _BEYOND_OK = 200, 300


def sign_body(secret: bytes, timestamp: str, body: bytes) -> str:
    """Return the value of the signature header: HMAC-SHA256 of the timestamp, a full stop and the body.

    >>> sign_body(b"secret", "1767225600", b"{}")[:15]
    'sha256=fa7eaa06'
    """
    return f"sha256={hmac.digest(secret, timestamp.encode() + b'.' + body, 'sha256').hex()}"


def send_webhook(
    url: str,
    body: bytes,
    secret: bytes,
    timestamp: str,
    *,
    typed: bool,
    allowed: Sequence[str] = (),
    clock: Clock | None = None,
) -> None:
    """Post a body of JSON to an address; what may pass is tried again.

    `typed` says that the address was typed on the command line, not read from a settings file, which may only name
    public addresses over https. Raises SettingsError for an address that may not be called, IncompleteError if the
    body was not taken.
    """
    refused = check_url(url, typed=typed, allowed=allowed)
    if refused:
        raise SettingsError(f"webhook: {refused}")
    headers = {SIGNATURE_HEADER: sign_body(secret, timestamp, body), TIME_HEADER: timestamp}
    try:
        asyncio.run(_send(HttpRequest(url, headers, body), clock or Clock(), typed, allowed))
    except CallError as error:
        raise IncompleteError(f"webhook: not delivered: {error.code}: {error.message}") from None


async def _send(request: HttpRequest, clock: Clock, typed: bool, allowed: Sequence[str]) -> None:
    await resolve_address(request.url, typed=typed, allowed=allowed)
    transport = HttpTransport(1, CALL_SECONDS, MAX_REPLY_BYTES, address="the webhook's address")
    never: Callable[[], bool] = lambda: False  # noqa: E731  # typed
    caller = RetryingCaller(RetryPolicy(ATTEMPTS), clock, Throttle(1), lambda: True, never)

    async def post() -> bool:
        reply = await transport.send(request)
        if _OK <= reply.status < _BEYOND_OK:
            return True
        raise CallError(f"http_{reply.status}", "the address refused it", read_retry_after(reply.headers))

    try:
        await caller.run_with_retries(post, clock.now() + DEADLINE_SECONDS, 0)
    finally:
        await transport.aclose()
