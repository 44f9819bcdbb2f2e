"""Progress for what takes longer than two seconds: what is done, the rate, and the time left.

One line is overwritten in place and removed at the end, without colours: on standard error where that is a terminal,
and in a notebook below its cell. Nothing is drawn anywhere else.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from assay.text.escaping import escape_terminal

UpdateProgress = Callable[[int, int], None]
"""Is told how many of how many are done."""

QUIET_SECONDS = 2.0
"""Work that ends earlier shows no progress."""
_REDRAW_SECONDS = 0.2


class ProgressLine:
    """The progress of one or several tasks that run at the same time, on one line.

    `clock` returns seconds. The rate is that of all tasks together since the line was created.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._begun = clock()
        self._next_drawing = self._begun + QUIET_SECONDS
        self._counts: dict[str, tuple[int, int]] = {}
        self._resumed: dict[str, int] = {}
        self._drawn_width = 0

    def start_task(self, name: str) -> UpdateProgress:
        """Return the function that updates a task."""
        label = escape_terminal(name)

        def update(done: int, total: int) -> None:
            self._resumed.setdefault(
                label, max(done - 1, 0)
            )  # what an earlier run has done says nothing about the rate
            self._counts[label] = done, total
            now = self._clock()
            if now >= self._next_drawing:
                self._next_drawing = now + _REDRAW_SECONDS
                self._draw(self.describe(now))

        return update

    def describe(self, now: float) -> str:
        """Return the line as it is at a time of the clock.

        >>> line = ProgressLine(sys.stderr, clock=lambda: 0.0)
        >>> update = line.start_task("hybrid")
        >>> update(1, 120), update(30, 120)
        (None, None)
        >>> line.describe(now=20.0)
        'hybrid 30/120, 1.5/s, 1:00 left'
        """
        parts = [f"{label} {done:,}/{total:,}" for label, (done, total) in self._counts.items()]
        finished = sum(done - self._resumed[label] for label, (done, _) in self._counts.items())
        rate = finished / (now - self._begun) if now > self._begun else 0.0
        if rate > 0:
            parts.append(f"{rate:,.1f}/s" if rate >= 1 else f"{rate * 60:.1f}/min")
            left = round(sum(total - done for done, total in self._counts.values()) / rate)
            minutes, seconds = divmod(left, 60)
            hours, minutes = divmod(minutes, 60)
            parts.append(f"{hours}:{minutes:02}:{seconds:02} left" if hours else f"{minutes}:{seconds:02} left")
        return ", ".join(parts)

    def clear(self) -> None:
        """Remove the line."""
        if self._drawn_width:
            self._draw("")
            self._stream.write("\r")
            self._stream.flush()
            self._drawn_width = 0

    def _draw(self, text: str) -> None:
        text = text[: shutil.get_terminal_size().columns - 1]
        self._stream.write("\r" + text.ljust(self._drawn_width))
        self._stream.flush()
        self._drawn_width = len(text)


class NotebookLine(ProgressLine):
    """The line below the cell of a notebook; `display` is `IPython.display.display`, or what does the same."""

    def __init__(self, display: Callable[..., Any], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(sys.stderr, clock)
        self._display = display
        self._handle: Any = None

    def clear(self) -> None:
        """Empty the line."""
        if self._handle is not None:
            self._draw("")

    def _draw(self, text: str) -> None:
        shown = {"text/plain": text}
        if self._handle is None:
            self._handle = self._display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)


def _open_line() -> ProgressLine | None:
    """Return the line of a notebook or of a terminal; None where nobody watches. IPython is not imported for this."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if ipython is not None and getattr(shell, "kernel", None) is not None:
        return NotebookLine(ipython.display.display)
    return ProgressLine(sys.stderr) if sys.stderr is not None and sys.stderr.isatty() else None


@contextmanager
def show_tasks(*, is_shown: bool = True) -> Iterator[Callable[[str], UpdateProgress | None]]:
    """Yield a function that starts a task by its name; it returns None where nobody watches, or unless `is_shown`."""
    line = _open_line() if is_shown else None
    if line is None:
        yield lambda _: None
        return
    try:
        yield line.start_task
    finally:
        line.clear()


@contextmanager
def show_progress(name: str, *, is_shown: bool = True) -> Iterator[UpdateProgress | None]:
    """Yield a function that updates the progress of one task; None where nobody watches, or unless `is_shown`."""
    with show_tasks(is_shown=is_shown) as start_task:
        yield start_task(name)
