"""The end of what a program writes to its standard error, however much that is."""

from __future__ import annotations

import os
import threading
from typing import TextIO

KEPT_BYTES = 2000


class Tail:
    """A file to hand to a child process; what arrives is read at once, and only the end is kept."""

    def __init__(self) -> None:
        self._kept = b""
        self._read, write = os.pipe()
        self.file: TextIO = os.fdopen(write, "w")
        threading.Thread(target=self._drain, name="assay-stderr", daemon=True).start()

    def close(self) -> None:
        """Close our end; the reading ends when every child has closed its own."""
        self.file.close()

    def text(self) -> str:
        """Return the end of what was written so far."""
        return self._kept.decode("utf-8", "replace").strip()

    def _drain(self) -> None:
        with os.fdopen(self._read, "rb", buffering=0) as pipe:
            while data := pipe.read(65536):
                self._kept = (self._kept + data)[-KEPT_BYTES:]
