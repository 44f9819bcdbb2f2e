"""Standard streams that cannot change the exit code (closed, full, with a narrow encoding), and the end by SIGTERM."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

import typer


class _ForgivingStream:
    """A text stream that loses what cannot be written: messages are not worth another exit code."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text, or lose it."""
        try:
            return self._stream.write(text)
        except (OSError, UnicodeError):
            return len(text)
        except ValueError:  # the stream was closed
            return len(text)

    def flush(self) -> None:
        """Flush, or lose what is in the buffer."""
        try:
            self._stream.flush()
        except (OSError, ValueError):
            return


@contextmanager
def end_on_termination() -> Iterator[None]:
    """Let SIGTERM end a command like Ctrl-C, so that temporary files go and the exit code says that it was interrupted.

    Only the main thread can handle signals; elsewhere nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


@contextmanager
def use_safe_streams() -> Iterator[None]:
    """Make standard output and standard error usable whatever the caller passed.

    A closed one becomes the null device, characters that its encoding lacks become escapes, and a failing write to
    standard error is ignored. A failing write to standard output stays an error, because the results are lost.
    """
    _fill_closed_descriptors()
    stdout, stderr = cast("TextIO | None", sys.stdout), cast("TextIO | None", sys.stderr)
    sys.stdout = stdout if stdout is not None else _open_null_device()
    errors = stderr if stderr is not None else _open_null_device()
    for stream in (sys.stdout, errors):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="backslashreplace")
    sys.stderr = cast("TextIO", _ForgivingStream(errors))
    try:
        yield
        sys.stderr.flush()
    finally:
        # A stream that was missing stays replaced: nothing could be written to it afterwards either.
        sys.stderr = stderr if stderr is not None else errors


def _fill_closed_descriptors() -> None:
    """Open the null device for each standard descriptor that is closed, so that no file of ours takes its number."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)


def _open_null_device() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # it is used until the process ends


def print_stopping() -> None:
    """Say on standard error, after the first Ctrl-C, what happens to calls in progress."""
    typer.echo("stopping: calls in progress are finished and saved; press Ctrl-C again to exit at once", err=True)
