"""Logs answers from inside an application, as JSON lines for `assay audit ingest FILE --follow`.

Logging must never hurt what is logged: `log` raises nothing, waits for nothing, and keeps at most a bounded number of
answers in memory. What it could not write it counts in `dropped`. It needs none of the packages of the store.
"""

from __future__ import annotations

import atexit
import os
import queue
import stat
import threading
import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from assay.formats.file_io import MAX_LINE_BYTES

LOG_ENV = "ASSAY_AUDIT_LOG"
MAX_QUEUED = 10_000
CLOSE_SECONDS = 2.0


class AnswerLog:
    """Appends answers to a file in a thread of its own; the file is made for its owner alone.

    `dropped` counts the answers that are lost: the queue was full, the answer was no JSON, or the file could not be
    written. A process that forks goes on in each child with an empty queue.
    """

    def __init__(self, path: str | Path, *, max_queued: int = MAX_QUEUED) -> None:
        self.path = Path(path)
        self.written = 0
        self._lost_by_caller = 0
        self._lost_by_writer = 0
        self._max_queued = max_queued
        self._lock = threading.Lock()
        self._start()

    @property
    def dropped(self) -> int:
        """How many answers are lost."""
        return self._lost_by_caller + self._lost_by_writer

    def log(self, fields: Mapping[str, Any] = MappingProxyType({}), /, **more: Any) -> bool:
        """Hand one answer to the writer; return whether it was accepted. Never raises and never waits.

        Fields are given as one mapping, as keywords, or both. `id` and `at` are added where they are missing.
        """
        try:
            if os.getpid() != self._process:
                self._start()
            row = {"id": uuid.uuid4().hex, "at": datetime.now(UTC).isoformat(), **fields, **more}
            line = msgspec.json.encode(row, enc_hook=str)
            if len(line) > MAX_LINE_BYTES:
                raise ValueError(len(line))
            self._queue.put_nowait(line + b"\n")
        except Exception:  # noqa: BLE001  # whatever is wrong with the answer, the application goes on
            self._lost_by_caller += 1
            return False
        return True

    def flush(self, seconds: float = CLOSE_SECONDS) -> bool:
        """Wait until everything that was accepted is written, for at most `seconds`; return whether it is."""
        deadline = time.monotonic() + seconds
        while self._queue.unfinished_tasks and time.monotonic() < deadline:
            time.sleep(0.005)
        return not self._queue.unfinished_tasks

    def close(self) -> None:
        """Write what is queued, for at most two seconds, and stop."""
        self.flush()
        try:
            self._queue.put_nowait(None)
        except queue.Full:
            return
        self._thread.join(CLOSE_SECONDS)

    def _start(self) -> None:
        self._process = os.getpid()
        self._queue: queue.Queue[bytes | None] = queue.Queue(self._max_queued)
        self._thread = threading.Thread(target=self._write, args=(self._queue,), name="assay-audit-log", daemon=True)
        self._thread.start()

    def _write(self, lines: queue.Queue[bytes | None]) -> None:
        file = _AppendedFile(self.path)
        while True:
            line = lines.get()
            if line is None:
                break
            try:
                file.append(line)
                self.written += 1
            except Exception:  # noqa: BLE001  # a full disk must not end the thread
                self._lost_by_writer += 1
            finally:
                lines.task_done()
        file.close()
        lines.task_done()


class _AppendedFile:
    """The file that lines are added to, as long as its name stands for it: once moved or deleted, a new one is made.

    Half a line, which a full disk or a killed process left at the end, is ended before the next one begins.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None
        self._ends_within_line = False

    def append(self, line: bytes) -> None:
        """Write a whole line. Raises OSError where it does not fit."""
        if self._handle is None or not self._is_current(self._handle):
            self._open()
        assert self._handle is not None
        if self._ends_within_line:
            line = b"\n" + line
        written = os.write(self._handle, line)
        self._ends_within_line = written < len(line)
        if self._ends_within_line:
            raise OSError(f"{written} of {len(line)} bytes were written")

    def close(self) -> None:
        """Close the file, if it is open."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _is_current(self, handle: int) -> bool:
        try:
            return os.path.samestat(self._path.stat(), os.fstat(handle))
        except FileNotFoundError:
            return False
        except OSError:  # a process that gave up its rights may not look, and goes on writing
            return True

    def _open(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except OSError:
            if self._handle is None or os.fstat(self._handle).st_nlink == 0:
                raise
            return  # where no new file can be made, the moved one goes on
        self.close()
        self._handle = handle
        status = os.fstat(handle)
        self._ends_within_line = stat.S_ISREG(status.st_mode) and status.st_size > 0 and _ends_within_line(self._path)


def _ends_within_line(path: Path) -> bool:
    """Return whether a file ends with half a line, as far as it may be read."""
    try:
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except OSError:
        return False


_default_log: AnswerLog | None = None
_without_log = 0
_default_lock = threading.Lock()


def log(**fields: Any) -> bool:
    """Log one answer to the file that the environment variable ASSAY_AUDIT_LOG names; return whether it was accepted.

    Fields are those of an audit record (`question`, `user_uid`, `answer`, `citations`, …). Never raises and never
    waits; without the variable nothing is logged, and the answer is counted as dropped.
    """
    global _default_log, _without_log
    try:
        if _default_log is None:
            path = os.environ.get(LOG_ENV)
            if not path:
                _without_log += 1
                return False
            with _default_lock:
                if _default_log is None:
                    _default_log = AnswerLog(path)
                    atexit.register(_default_log.close)
        return _default_log.log(fields)
    except Exception:  # noqa: BLE001  # no thread could be started, for example
        _without_log += 1
        return False


def count_dropped() -> int:
    """Return how many answers `log` has lost in this process."""
    return _without_log + (_default_log.dropped if _default_log is not None else 0)
