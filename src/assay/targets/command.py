"""A target that is a program: it reads one JSON line for each case and answers with one JSON line.

A process that is still running gets the next case; a program that ends after one answer is started again for each. One
that fails in any way is killed with its whole process group. Errors quote the last part of its standard error.
"""

from __future__ import annotations

import asyncio
import os
import select
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TextIO

import msgspec

from assay.calls.interfaces import CallError, TargetCall, TargetOperation
from assay.calls.target_kinds import TargetRequest
from assay.calls.templates import list_placeholder_values
from assay.records.errors import Problem, SettingsError, shorten_repr
from assay.records.observations import Observation
from assay.records.settings import CommandTargetSettings as Settings
from assay.targets.process_group import GroupGuard, kill_group
from assay.targets.reply import decode_reply, read_reply

PASSED_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SYSTEMROOT")
"""The environment variables that a program sees, besides those that the settings name."""
TAIL_BYTES = 2000
GRACE_SECONDS = 1.0


class CommandTarget:
    """Keeps a pool of processes, each of which has one case at a time."""

    def __init__(self, name: str, settings: Settings) -> None:
        """Raises SettingsError if the command is empty or a named environment variable is not set."""
        if not settings.command:
            problem = Problem("", None, f"targets.{name}.command", "empty (expected a program)", "E_TARGET")
            raise SettingsError([problem])
        self.name, self.settings = name, settings
        self.operations: tuple[TargetOperation, ...] = ("ask",)
        self._environment = select_environment(settings.env, f"targets.{name}.env")
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._ended: list[_Worker] = []
        self._guard = GroupGuard()

    async def identity(self) -> dict[str, Any]:
        """Return the settings: the command and the names of the variables that it sees."""
        return {"type": "command", **msgspec.to_builtins(self.settings)}

    async def observe(self, call: TargetCall) -> Observation:
        """Write one line to a process and read one line from it."""
        line = msgspec.json.encode(_build_request(call)) + b"\n"
        if self._idle:
            reply = await self._exchange(self._idle.pop(), line)
            if reply:
                return self._read_observation(reply, call)
        # An idle process that ended after its last answer is not a failure of this case: a new process gets the case.
        worker = await self._start()
        reply = await self._exchange(worker, line)
        if not reply:
            raise CallError("crashed", f"ended without an answer ({await worker.describe_end()})")
        return self._read_observation(reply, call)

    async def aclose(self) -> None:
        """End all processes: close their input, then kill their process groups."""
        try:
            await asyncio.gather(*(worker.end() for worker in self._all))
            for worker in self._all:
                self._guard.remove(worker.process.pid)
        finally:
            self._guard.close()
            for worker in (*self._all, *self._ended):
                worker.close_pipes()
        self._all.clear()
        self._ended.clear()
        self._idle.clear()

    def _read_observation(self, reply: bytes, call: TargetCall) -> Observation:
        value = decode_reply(reply)
        if not isinstance(value, dict) or value.get("case_id", value.get("query_id")) is None:
            raise CallError(
                "schema", f"not an object with case_id (got {shorten_repr(reply[:60].decode('utf-8', 'replace'))})"
            )
        return read_reply(value, call, self.settings.response)

    async def _start(self) -> _Worker:
        try:
            process = await asyncio.create_subprocess_exec(
                *self.settings.command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
                limit=self.settings.max_bytes,
            )
        except OSError as error:
            raise CallError("not_started", f"{self.settings.command[0]}: {error.strerror or error}") from None
        self._guard.add(process.pid)
        worker = _Worker(process)
        self._all.add(worker)
        return worker

    async def _exchange(self, worker: _Worker, line: bytes) -> bytes:
        """Return the answer of a process, empty if it has ended; after an answer the process is idle again."""
        try:
            reply = await worker.exchange(line, self.settings.max_bytes)
            if reply:
                self._idle.append(worker)
                return reply
        finally:
            if worker not in self._idle:
                self._all.discard(worker)
                self._ended.append(worker)
                kill_group(worker.process.pid)
                self._guard.remove(worker.process.pid)
        return b""


def make_target(request: TargetRequest) -> CommandTarget:
    """Make the target of a settings file."""
    return CommandTarget(request.name, request.settings)


class _Worker:
    """One process, with the last part of its standard error."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._tail = b""
        self._drain = asyncio.create_task(self._read_stderr())

    async def exchange(self, line: bytes, max_bytes: int) -> bytes:
        """Write a line and return the next line of output, empty at its end."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with suppress(BrokenPipeError, ConnectionResetError):
            self.process.stdin.write(line)
            await self.process.stdin.drain()
        try:
            reply = await self.process.stdout.readline()
        except ValueError:
            raise CallError(
                "too_large", f"a line of more than {max_bytes} bytes (expected {max_bytes} at most)"
            ) from None
        if reply and not reply.endswith(b"\n"):
            raise CallError("crashed", f"ended in the middle of its answer ({await self.describe_end()})")
        return reply

    async def describe_end(self) -> str:
        """Describe how the process ended: its exit status and the last part of its standard error."""
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await self.process.wait()
                await self._drain
        stderr = self._tail.decode("utf-8", "replace").strip()
        status = f"exit status {self.process.returncode}"
        return f"{status}; end of its standard error: {shorten_repr(stderr[-300:], 300)}" if stderr else status

    async def end(self) -> None:
        """Close the input, wait up to `GRACE_SECONDS`, then kill what is left of the process group."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await self.process.wait()
        kill_group(self.process.pid)
        await self.process.wait()

    def close_pipes(self) -> None:
        """Close this end of the pipes; a process that left the group could hold them open for ever."""
        self._drain.cancel()
        self.process._transport.close()  # type: ignore[attr-defined]  # asyncio has no public way

    async def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        while data := await self.process.stderr.read(65536):
            self._tail = (self._tail + data)[-TAIL_BYTES:]


def select_environment(names: Sequence[str], field: str, source: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment variables that a program may see. Raises SettingsError for a named one that is not set."""
    missing = [name for name in names if not source.get(name)]
    if missing:
        message = f"environment variables not set (got none for {', '.join(missing)}; expected a value for each)"
        raise SettingsError([Problem("", None, field, message, "E_SECRET")])
    return {name: source[name] for name in (*PASSED_VARIABLES, *names) if name in source}


def _build_request(call: TargetCall) -> dict[str, Any]:
    """Return what a program gets of a case, which never includes what is expected of the answer."""
    values = list_placeholder_values(call)
    return {name: values[name] for name in ("case_id", "question", "history", "user", "k")}


STDERR_TAIL_BYTES = 2000
_MAX_BLOCKS = 64  # what is read at a time from a program that never stops writing


class StderrTail:
    """A file for a child process to write to; everything is read at once and only the last part is kept."""

    def __init__(self) -> None:
        self._tail = b""
        self._read, write = os.pipe()
        self._has_ended = False
        self._reading = threading.Lock()
        self.file: TextIO = os.fdopen(write, "w")
        threading.Thread(target=self._drain, name="assay-stderr", daemon=True).start()

    def close(self) -> None:
        """Close the file here; reading ends once every child process has closed it too."""
        self.file.close()

    def read_text(self) -> str:
        """Return the last part of what was written so far."""
        self._read_available()
        return self._tail.decode("utf-8", "replace").strip()

    def _drain(self) -> None:
        while not self._has_ended:
            select.select([self._read], [], [])
            self._read_available()
        os.close(self._read)

    def _read_available(self) -> None:
        """Read what is in the pipe by now: what a process wrote before its end is never missing from its message."""
        with self._reading:
            blocks = 0
            while blocks < _MAX_BLOCKS and not self._has_ended and select.select([self._read], [], [], 0)[0]:
                data = os.read(self._read, 65536)
                self._tail = (self._tail + data)[-STDERR_TAIL_BYTES:]
                self._has_ended = not data
                blocks += 1
