"""Calls of one server run together, except those that may end it: each of these has the server to itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """Lets calls run together, or one alone; who waits to be alone goes before those that begin after him."""

    def __init__(self) -> None:
        self._together = self._wanting = 0
        self._is_alone = False
        self._waiters: list[asyncio.Future[None]] = []

    @asynccontextmanager
    async def run_together(self) -> AsyncIterator[None]:
        """Run with others; wait while one is alone, or waits to be."""
        while self._is_alone or self._wanting:
            await self._wait()
        self._together += 1
        try:
            yield
        finally:
            self._together -= 1
            self._wake()

    @asynccontextmanager
    async def run_alone(self) -> AsyncIterator[None]:
        """Run with nobody else."""
        self._wanting += 1
        try:
            while self._is_alone or self._together:
                await self._wait()
            self._is_alone = True
        finally:
            self._wanting -= 1
            self._wake()
        try:
            yield
        finally:
            self._is_alone = False
            self._wake()

    async def _wait(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
