"""What goes to a judge's endpoint and what comes back, and how a reply that is not a success becomes an error."""

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
    """One reply of any status; `headers` are those of a failure, named in lower case: nothing else is asked of them."""

    status: int
    headers: dict[str, str]
    body: bytes
    latency_ms: float


Send = Callable[[HttpRequest], Awaitable[HttpReply]]
"""Does one call and nothing more. Raises CallError where there is no reply (timeout, connection, tls, too_large)."""

_QUOTA = re.compile(r"insufficient_quota|quota_exceeded|credit balance is too low|billing", re.IGNORECASE)
_BUSY = re.compile(r"rate.?limit|overloaded|too many requests", re.IGNORECASE)


def failure(reply: HttpReply, message: str) -> CallError:
    """Return the error of a reply that is not a success: rate_limited, quota or http_<status>.

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
    """Return the error that some endpoints put into a reply with status 200, where it says to come back later."""
    if _QUOTA.search(message):
        return CallError("quota", message)
    return CallError("rate_limited", message) if _BUSY.search(message) else None


def retry_after(headers: dict[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Return the seconds to wait that the headers ask for; None for none, nonsense and times gone by.

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
