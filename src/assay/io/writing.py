"""Writes files so that no reader ever sees half of one, not even after a crash."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from assay.errors import IncompleteError


def write_whole(path: str | Path, parts: Iterable[bytes]) -> Path:
    """Write a file completely or not at all, creating its folder if needed, and return its path.

    Devices and pipes (/dev/null, /dev/stdout) are written to and never replaced. Raises IncompleteError if the file
    cannot be written (no space, no permission).
    """
    target = Path(path)
    try:
        if target.exists() and (not target.is_file() or target.absolute().is_relative_to("/dev")):
            with target.open("ab") as device:
                device.writelines(parts)
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(draft, target.stat().st_mode & 0o777 if target.exists() else 0o644)  # noqa: PTH101
            os.replace(draft, target)  # noqa: PTH105
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise IncompleteError(f"{target}: cannot be written: {error.strerror or error}") from error
    return target
