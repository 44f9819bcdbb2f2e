"""The file that keeps compiled expressions, where Python keeps compiled modules."""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import suppress
from pathlib import Path


class PatternFile:
    """A file that may be missing or unreadable, in a folder that may be read-only, and that other processes use too."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> bytes:
        """Return the content, empty if there is none that can be read."""
        try:
            return self._path.read_bytes()
        except OSError:
            return b""

    def replace(self, content: bytes) -> None:
        """Write the file as a whole; a place that is read-only or full stays as it is."""
        scratch = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            scratch.write_bytes(content)
            scratch.replace(self._path)
        except OSError:
            with suppress(OSError):
                scratch.unlink()


def find_pattern_file() -> PatternFile | None:
    """Return the file beside the compiled modules of this Python, in the place that its settings name; None where it
    keeps none."""
    try:
        return PatternFile(Path(importlib.util.cache_from_source(__file__)).with_suffix(".patterns"))
    except NotImplementedError:
        return None


def may_write() -> bool:
    """Return whether Python may write compiled modules (`PYTHONDONTWRITEBYTECODE`)."""
    return not sys.dont_write_bytecode
