"""Runs that end early: by Ctrl-C, by a limit, or because every call fails."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from assay.runners.local import Tally

_REASONS = {
    "interrupted": "interrupted",
    "breaker": "stopped: every one of the last calls failed",
    "max_calls": "stopped at --max-calls",
    "max_cost": "stopped at --max-cost",
    "cost_unknown": "stopped: it does not report the cost of a call, so that --max-cost cannot be enforced",
}


class _Tally(Protocol):
    halted: str


class Stoppable(Protocol):
    """A runner that starts no further calls once its tally has a reason to halt."""

    @property
    def tally(self) -> _Tally:
        """Its counts so far, and the reason to halt."""
        ...


def halted(name: str, tally: Tally) -> str:
    """Return the notice for a run that ended early."""
    codes = ", ".join(f"{code} {count}" for code, count in sorted(tally.codes.items()))
    error_counts = f"; errors: {codes}" if codes else ""
    return f"target {name}: {_REASONS[tally.halted]}, after {tally.done} of {tally.total} observations{error_counts}"


@contextmanager
def interruptible(runner: Stoppable, stopping: Callable[[], None]) -> Iterator[None]:
    """End the run at the first Ctrl-C (or SIGTERM) once the calls in progress are done, at the second immediately."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None

    def interrupt() -> None:
        if runner.tally.halted == "interrupted":
            task.cancel()
        else:
            runner.tally.halted = "interrupted"
            stopping()

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupt)
    except (NotImplementedError, RuntimeError, ValueError):  # not the main thread, which alone can handle signals
        yield
        return
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
