"""Keeps the last part of what a program writes to its standard error."""

from __future__ import annotations

import os
import threading
from typing import TextIO

STDERR_TAIL_BYTES = 2000


class Tail:
    """A file for a child process to write to; everything is read at once and only the last part is kept."""

    def __init__(self) -> None:
        self._tail = b""
        self._read, write = os.pipe()
        self.file: TextIO = os.fdopen(write, "w")
        threading.Thread(target=self._drain, name="assay-stderr", daemon=True).start()

    def close(self) -> None:
        """Close the file here; reading ends once every child process has closed it too."""
        self.file.close()

    def text(self) -> str:
        """Return the last part of what was written so far."""
        return self._tail.decode("utf-8", "replace").strip()

    def _drain(self) -> None:
        with os.fdopen(self._read, "rb", buffering=0) as pipe:
            while data := pipe.read(65536):
                self._tail = (self._tail + data)[-STDERR_TAIL_BYTES:]
