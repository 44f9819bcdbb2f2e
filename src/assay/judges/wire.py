"""Requests to a judge's endpoint, its replies, and the errors that unsuccessful replies become."""

from __future__ import annotations

import email.utils
import math
import re
import time
from collections.abc import Awaitable, Callable

from msgspec import Struct

from assay.ports import CallError


class HttpRequest(Struct, frozen=True):
    """One POST. `headers` may hold the key and are never kept; `body` never holds it."""

    url: str
    headers: dict[str, str]
    body: bytes


class HttpReply(Struct, frozen=True):
    """One reply of any status; `headers`, in lower case, are kept only for failures."""

    status: int
    headers: dict[str, str]
    body: bytes
    latency_ms: float


Send = Callable[[HttpRequest], Awaitable[HttpReply]]
"""Makes one call. Raises CallError if there is no reply (timeout, connection, tls, too_large)."""

_QUOTA = re.compile(r"insufficient_quota|quota_exceeded|credit balance is too low|billing", re.IGNORECASE)
_BUSY = re.compile(r"rate.?limit|overloaded|too many requests", re.IGNORECASE)


def failure(reply: HttpReply, message: str) -> CallError:
    """Return the error of an unsuccessful reply: rate_limited, quota or http_<status>.

    >>> failure(HttpReply(429, {"retry-after": "2"}, b"slow down", 1.0), "slow down").retry_after
    2.0
    """
    wait = retry_after(reply.headers)
    if reply.status in (402, 403, 429) and _QUOTA.search(message):
        return CallError("quota", message)
    if reply.status == 429:
        return CallError("rate_limited", message, wait)
    return CallError(f"http_{reply.status}", message, wait)


def busy(message: str) -> CallError | None:
    """Return the error of a message that an overloaded endpoint sends with status 200; None for other messages."""
    if _QUOTA.search(message):
        return CallError("quota", message)
    return CallError("rate_limited", message) if _BUSY.search(message) else None


def retry_after(headers: dict[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Return the seconds that the headers ask to wait; None if absent, invalid or in the past.

    >>> retry_after({"retry-after-ms": "1500"}), retry_after({"retry-after": "nan"}), retry_after({})
    (1.5, None, None)
    """
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        else:
            seconds = _seconds(headers.get("retry-after", ""), now)
    except (ValueError, TypeError, OverflowError):
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _seconds(text: str, now: Callable[[], float]) -> float:
    try:
        return float(text)
    except ValueError:
        return email.utils.parsedate_to_datetime(text).timestamp() - now()
