"""Lets a command that follows a file end with Ctrl-C or SIGTERM: what was read is stored, and the exit code is kept."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

POLL_SECONDS = 0.2


class FollowedSource:
    """While open and `enabled`, the first signal makes `keep_waiting` return False; a second one interrupts."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled and threading.current_thread() is threading.main_thread()
        self._stopped = threading.Event()
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> FollowedSource:
        if self._enabled:
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _stop(self, number: int, _: FrameType | None) -> None:
        if self._stopped.is_set():
            raise KeyboardInterrupt
        self._stopped.set()

    def keep_waiting(self) -> bool:
        """Wait a moment at the end of the file; return whether to look for more."""
        return not self._stopped.wait(POLL_SECONDS)
