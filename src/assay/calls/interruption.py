"""Runs that end early: by Ctrl-C, by a limit, or because every call fails."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

_REASONS = {
    "interrupted": "interrupted",
    "breaker": "stopped asking: every one of the last calls failed (those in progress then were finished)",
    "retry_after": "stopped asking: it asks to wait longer than run.retry_after_cap allows (Retry-After)",
    "max_calls": "stopped at --max-calls",
    "max_cost": "stopped at --max-cost",
    "cost_unknown": "stopped: it does not report the cost of a call, so that --max-cost cannot be enforced",
}


class _Tally(Protocol):
    halted: str


class InterruptibleRunner(Protocol):
    """A runner that starts no further calls once its tally has a reason to halt."""

    @property
    def tally(self) -> _Tally:
        """Its counts so far, and the reason to halt."""
        ...


@contextmanager
def handle_interrupts(runner: InterruptibleRunner, on_interrupt: Callable[[], None]) -> Iterator[None]:
    """End the run at the first Ctrl-C (or SIGTERM) once the calls in progress are done, at the second immediately."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None

    def interrupt() -> None:
        if runner.tally.halted == "interrupted":
            task.cancel()
        else:
            runner.tally.halted = "interrupted"
            on_interrupt()

    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number in previous:
            loop.add_signal_handler(number, interrupt)
    except (NotImplementedError, RuntimeError, ValueError):  # not the main thread, which alone can handle signals
        yield
        return
    try:
        yield
    finally:
        for number, handler in previous.items():
            loop.remove_signal_handler(number)  # which restores the default of Python, not what was there
            signal.signal(number, handler)
