"""Writing files so that a reader, or a crash, never sees half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from assay.errors import IncompleteError


def write_whole(path: str | Path, parts: Iterable[bytes]) -> Path:
    """Write a file completely or not at all, making its folder where needed, and return its path.

    What is there and no file (/dev/null, a pipe, /dev/stdout) is written to as it is, never replaced. Raises
    IncompleteError where the system does not let it be written (no space, no permission).
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
