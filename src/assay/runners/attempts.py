"""Retries: transient failures are retried inside one deadline, and an overload slows all calls down.

Clock, sleep and random numbers are arguments, so that tests need none of them.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from assay.ports import OVERLOADED, TRANSIENT, CallError
from assay.runners.throttle import Throttle

FIRST_DELAY, LONGEST_DELAY = 0.5, 30.0
R = TypeVar("R")


@dataclass(slots=True)
class Clock:
    """Sources of time and random numbers; `now` is monotonic, `jitter` returns numbers from 0 to 1."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = field(default_factory=lambda: random.Random(0).random)  # noqa: S311  # no secret


@dataclass(frozen=True, slots=True)
class Patience:
    """The most attempts of one call, and the longest Retry-After in seconds that is honoured."""

    attempts: int
    retry_after_cap: float


class Attempts:
    """Calls with retries that share one throttle: a Retry-After in one reply applies to all calls."""

    def __init__(
        self,
        patience: Patience,
        clock: Clock,
        throttle: Throttle,
        may_call: Callable[[], bool],
        halted: Callable[[], bool],
    ) -> None:
        """`may_call` is called before each attempt and counts it; `halted` says whether new attempts are forbidden."""
        self._patience, self._clock, self._throttle = patience, clock, throttle
        self._may_call, self._halted = may_call, halted
        self._paused_until = 0.0

    async def done(self, once: Callable[[], Awaitable[R]], deadline: float, ticket: int) -> R | None:
        """Return the result of `once`; None if the run was stopped before there was one.

        Raises the CallError of the last attempt: it is final, attempts are used up, or the deadline is too close.
        """
        for attempt in range(1, self._patience.attempts + 1):
            await self._wait(self._paused_until - self._clock.now(), deadline)
            if not self._may_call():
                return None
            try:
                reply = await once()
            except CallError as error:
                delay = self._delay(attempt, error)
                if error.code in OVERLOADED:
                    self._slow_down(ticket, delay if error.retry_after is not None else 0.0)
                final = error.code not in TRANSIENT or attempt == self._patience.attempts
                if final or self._clock.now() + delay >= deadline:
                    raise
                await self._pause(delay)
                if self._halted():
                    return None
            else:
                self._throttle.succeeded()
                return reply
        raise AssertionError("the last attempt returns or raises")

    def _slow_down(self, ticket: int, pause: float) -> None:
        """Reduce the number of concurrent calls and, if the endpoint named a time, pause all of them until then."""
        self._throttle.overloaded(ticket)
        self._paused_until = max(self._paused_until, self._clock.now() + pause)

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
            return min(error.retry_after, self._patience.retry_after_cap)
        longest = min(LONGEST_DELAY, FIRST_DELAY * 2.0 ** (attempt - 1))
        return longest * (0.5 + self._clock.jitter() / 2)
