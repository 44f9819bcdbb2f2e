"""The retry rule of all calls, to targets and to judges: which errors are retried, how often, and after which delay.

Transient failures are retried inside one deadline. An overload slows all calls down: fewer run at once, and more again
while calls succeed. Adapters only raise a `CallError` with its code and what `read_retry_after` has read. Clock, sleep
and random numbers are arguments, so that tests need none of them.
"""

from __future__ import annotations

import asyncio
import email.utils
import math
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from assay.calls.interfaces import CallError

TRANSIENT_CODES = frozenset(
    {"connection", "crashed", "rate_limited", "timeout", "unreachable"}
    | {f"http_{status}" for status in (408, 425, 429, 500, 502, 503, 504, 529)}
)
"""Error codes that are worth a retry; every other code is final."""

OVERLOAD_CODES = frozenset({"rate_limited", "http_429", "http_503", "http_529"})
"""Error codes that ask the caller to lower its concurrency."""

FIRST_DELAY_SECONDS, MAX_DELAY_SECONDS = 0.5, 30.0
RETRY_AFTER_CAP_SECONDS = 60.0
_TOLD_SECONDS = 2.0
"""By how many seconds a Retry-After must lengthen the pause to be told."""
R = TypeVar("R")


def read_retry_after(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Return the seconds that reply headers, with names in lower case, ask to wait; None if absent, invalid or past.

    `retry-after-ms` is the more precise form that model endpoints send, and comes first.

    >>> read_retry_after({"retry-after-ms": "1500"}), read_retry_after({"retry-after": "nan"}), read_retry_after({})
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


class Throttle:
    """Slots whose number is halved on overload (once for the calls then in progress) and grows by one per round."""

    def __init__(self, most: int) -> None:
        self.max_slots = most
        self.allowed_slots = float(most)
        self.used_slots = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._started = 0
        self._cut_at = 0

    async def acquire_slot(self) -> int:
        """Wait for a slot; returns its ticket, for `overloaded`."""
        while self.used_slots >= int(self.allowed_slots):
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            try:
                await waiter
            finally:
                if waiter in self._waiting:
                    self._waiting.remove(waiter)
        self.used_slots += 1
        self._started += 1
        return self._started

    def release_slot(self) -> None:
        """Release the slot."""
        self.used_slots -= 1
        self._wake()

    def record_success(self) -> None:
        """Raise the limit by one slot for each round of successes."""
        self.allowed_slots = min(self.max_slots, self.allowed_slots + 1 / self.allowed_slots)
        self._wake()

    def record_overload(self, ticket: int) -> None:
        """Halve the slots, unless the call began before the last cut: a burst of errors counts once."""
        if ticket > self._cut_at:
            self.allowed_slots = max(1.0, self.allowed_slots / 2)
            self._cut_at = self._started

    def _wake(self) -> None:
        free = int(self.allowed_slots) - self.used_slots
        while free > 0 and self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                free -= 1


@dataclass(slots=True)
class Clock:
    """Sources of time and random numbers; `now` is monotonic, `jitter` returns numbers from 0 to 1."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = field(default_factory=lambda: random.Random(0).random)  # noqa: S311  # no secret


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The most attempts of one call, and the longest Retry-After in seconds that is honoured.

    A call that asks for a longer one is made again after that time, or, with `gives_up`, not at all.
    """

    attempts: int
    retry_after_cap: float = RETRY_AFTER_CAP_SECONDS
    gives_up: bool = False

    def is_too_long(self, error: CallError) -> bool:
        """Return whether an overloaded endpoint asks to wait so long that the call is given up."""
        wait = error.retry_after
        return self.gives_up and error.code in OVERLOAD_CODES and wait is not None and wait > self.retry_after_cap


def format_wait(seconds: float) -> str:
    """Return a time to wait for people.

    >>> format_wait(20), format_wait(150), format_wait(3600)
    ('20 s', '2.5 min', '1 h')
    """
    if seconds < 2 * 60:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 60 * 60 else f"{seconds / 3600:,.6g} h"


class RetryingCaller:
    """Calls with retries that share one throttle: a Retry-After in one reply applies to all calls."""

    def __init__(
        self,
        policy: RetryPolicy,
        clock: Clock,
        throttle: Throttle,
        may_call: Callable[[], bool],
        halted: Callable[[], bool],
        on_wait: Callable[[float], None] = lambda _: None,
    ) -> None:
        """`may_call` is called before each attempt and counts it; `halted` says whether new attempts are forbidden.
        `on_wait` is told the seconds for which an endpoint asked all calls to wait."""
        self._on_wait = on_wait
        self.policy, self._clock, self._throttle = policy, clock, throttle
        self._may_call, self._halted = may_call, halted
        self._paused_until = 0.0

    async def wait_for_pause(self) -> None:
        """Wait until a Retry-After of an earlier reply has passed.

        To be called before the deadline of a call is set: the pause belongs to no call, and would otherwise fail each
        of them where it is longer than the deadline.
        """
        while (seconds := self._paused_until - self._clock.now()) > 0 and not self._halted():
            await self._clock.sleep(seconds)

    async def run_with_retries(self, once: Callable[[], Awaitable[R]], deadline: float, ticket: int) -> R | None:
        """Return the result of `once`; None if the run was stopped before there was one.

        Raises the CallError of the last attempt: it is final, attempts are used up, or the deadline is too close.
        """
        for attempt in range(1, self.policy.attempts + 1):
            await self._wait(self._paused_until - self._clock.now(), deadline)
            if not self._may_call():
                return None
            try:
                reply = await once()
            except CallError as error:
                if self.policy.is_too_long(error):
                    raise
                delay = self._delay(attempt, error)
                if error.code in OVERLOAD_CODES:
                    self._slow_down(ticket, delay if error.retry_after is not None else 0.0)
                final = error.code not in TRANSIENT_CODES or attempt == self.policy.attempts
                if final or self._clock.now() + delay >= deadline:
                    raise
                await self._pause(delay)
                if self._halted():
                    return None
            else:
                self._throttle.record_success()
                return reply
        raise AssertionError("the last attempt returns or raises")

    def _slow_down(self, ticket: int, pause: float) -> None:
        """Reduce the number of concurrent calls and, if the endpoint named a time, pause all of them until then."""
        self._throttle.record_overload(ticket)
        until = self._clock.now() + pause
        if until - max(self._paused_until, self._clock.now()) >= _TOLD_SECONDS:
            self._on_wait(pause)
        self._paused_until = max(self._paused_until, until)

    async def _wait(self, seconds: float, deadline: float) -> None:
        """Wait until a Retry-After of an earlier reply has passed."""
        if seconds <= 0:
            return
        if self._clock.now() + seconds >= deadline:
            raise CallError("rate_limited", f"asked to retry in {seconds:.1f} s, which is after the deadline")
        await self._clock.sleep(seconds)

    async def _pause(self, seconds: float) -> None:
        if not self._halted():
            await self._clock.sleep(seconds)

    def _delay(self, attempt: int, error: CallError) -> float:
        """Return the seconds to wait: Retry-After (capped), else exponential backoff, up to half of it random."""
        if error.retry_after is not None:
            return min(error.retry_after, self.policy.retry_after_cap)
        longest = min(MAX_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2.0 ** (attempt - 1))
        return longest * (0.5 + self._clock.jitter() / 2)
