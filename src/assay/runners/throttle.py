"""Limiting concurrent calls: fewer when the endpoint reports overload, more again while calls succeed."""

from __future__ import annotations

import asyncio
from collections import deque


class Throttle:
    """Slots whose number is halved on overload (once for the calls then in progress) and grows by one per round."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self.active = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._started = 0
        self._cut_at = 0

    async def enter(self) -> int:
        """Wait for a slot; returns its ticket, for `overloaded`."""
        while self.active >= int(self.limit):
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            try:
                await waiter
            finally:
                if waiter in self._waiting:
                    self._waiting.remove(waiter)
        self.active += 1
        self._started += 1
        return self._started

    def leave(self) -> None:
        """Release the slot."""
        self.active -= 1
        self._wake()

    def succeeded(self) -> None:
        """Raise the limit by one slot for each round of successes."""
        self.limit = min(self.most, self.limit + 1 / self.limit)
        self._wake()

    def overloaded(self, ticket: int) -> None:
        """Halve the slots, unless the call began before the last cut: a burst of errors counts once."""
        if ticket > self._cut_at:
            self.limit = max(1.0, self.limit / 2)
            self._cut_at = self._started

    def _wake(self) -> None:
        free = int(self.limit) - self.active
        while free > 0 and self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                free -= 1
