"""Starts `assay` and `pytest` as forks of a process that has imported both, for tests that start many of them.

Three quarters of the processor time of a short command are imports. A fork has a process id of its own, is killed like
any other process, and shares no thread, file or event loop with the process that it came from.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NoReturn

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_HEAVY_MODULES = ("httpx2", "numpy", "sqlite3", "rich.console", "typer", "yaml")
_WITH_EXTRAS = ("assay.pytest_plugin", "assay.targets.langchain", "assay.targets.llamaindex")
_COMMAND_FILE = """\
#!/bin/sh
exec '{python}' -IS '{sender}' "$@"
"""
_SENDER = """\
import json, os, socket, sys
job = dict(words=sys.argv[1:], environment=dict(os.environ), folder=os.getcwd(), program="{program}")
content = json.dumps(job).encode()
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect("{address}")
    socket.send_fds(connection, [len(content).to_bytes(8, "big")], [0, 1, 2])
    connection.sendall(content)
    status = connection.recv(1)
sys.exit(status[0] if status else 1)
"""


class CommandForker:
    """A process that has imported the package and forks one command at a time. Use it in a `with` block.

    Tests share the one of the fixture `forker`.
    """

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.faults.forking"]
        self._process = subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> CommandForker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # it ends when its input does

    def start(
        self,
        words: Sequence[str],
        environment: Mapping[str, str] | None = None,
        stdout: str | Path = os.devnull,
        folder: str | Path = ".",
        program: Literal["assay", "pytest"] = "assay",
    ) -> ForkedCommand:
        """Start a command in a folder; `environment` is added to the present variables, `stdout` is a file to write."""
        handle, name = tempfile.mkstemp(prefix="assay-stderr-")
        os.close(handle)
        job = {
            "words": list(words),
            "environment": {**os.environ, **(environment or {})},
            "stdout": str(stdout),
            "stderr": name,
            "folder": str(Path(folder).absolute()),
            "program": program,
        }
        return ForkedCommand(self._send(job), Path(name), self)

    @contextmanager
    def command_file(self, path: Path, program: str = "assay", modules: Sequence[str] = ()) -> Iterator[Path]:
        """Write an executable file that does what the command `assay` does, for programs that start it by its name.

        The arguments, the variables, the folder and the standard streams of whoever starts it are those of a fork, and
        the status of the fork is its own. If it is killed, so is the fork. `program` may be the path of a Python
        program instead, and `modules` are those that it imports.
        """
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:  # the address of a socket may not be long
            address = f"{folder}/socket"
            sender = Path(folder, "send.py")
            sender.write_text(_SENDER.format(address=address, program=program), encoding="utf-8")
            path.write_text(_COMMAND_FILE.format(python=sys.executable, sender=sender), encoding="utf-8")
            path.chmod(0o755)
            pid = self._send({"listen": address, "modules": list(modules)})
            try:
                yield path
            finally:
                os.kill(pid, signal.SIGTERM)

    def _send(self, job: Mapping[str, Any]) -> int:
        """Let the process fork for a job; return the id of the fork."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return self._read_number()

    def _read_number(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


@dataclass(frozen=True)
class ForkedCommand:
    """One running command."""

    pid: int
    stderr: Path
    forker: CommandForker

    def wait_for_message(self, text: str, timeout: float) -> None:
        """Wait until a text is in what was written to stderr. Raises AssertionError after so many seconds."""
        end = time.monotonic() + timeout
        while text not in self.stderr.read_text(encoding="utf-8", errors="replace"):
            if time.monotonic() > end:
                raise AssertionError(f"no {text!r} in {self.stderr.read_text(encoding='utf-8', errors='replace')!r}")
            time.sleep(0.02)  # stderr is a file, which tells nobody that it grew

    def wait(self, timeout: float) -> tuple[int, str]:
        """Return the exit status, negative for a signal, and what was written to stderr.

        A command that runs for longer than `timeout` seconds is killed, and the status is that of the kill.
        """
        guard = threading.Timer(timeout, os.kill, (self.pid, 9))
        guard.start()
        try:
            status = self.forker._read_number()
        finally:
            guard.cancel()
        message = self.stderr.read_text(encoding="utf-8", errors="replace")
        self.stderr.unlink()
        return status, message


def serve() -> None:
    """Fork a command for each line of standard input; print its process id, and its status when it has ended."""
    import_package()
    gc.freeze()  # what the forks share is no garbage of theirs
    for line in sys.stdin:
        job = json.loads(line)
        if "listen" in job:
            write_number(fork_listener(job["listen"], job["modules"]))
            continue
        pid = os.fork()
        if pid == 0:
            end_process(partial(run_command, job))
        write_number(pid)
        write_number(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def fork_listener(address: str, modules: Sequence[str]) -> int:
    """Return the id of a fork that runs the commands that are sent to an address, until it is stopped."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    parent, pid = os.getpid(), os.fork()
    if pid:
        listener.close()
        return pid
    for name in modules:
        import_module(name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who wait for a command
    listener.settimeout(1.0)
    while os.getppid() == parent:
        with suppress(TimeoutError):  # nothing came for a second: look whether the parent is still there
            connection = listener.accept()[0]
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                run_sent_command(connection)
            connection.close()
    os._exit(0)


def run_sent_command(connection: socket.socket) -> NoReturn:
    """Run the command that a program of `command_file` has sent, in a fork, and send its status."""
    connection.settimeout(None)
    head, streams, _, _ = socket.recv_fds(connection, 8, 3)
    with connection.makefile("rb") as content:
        job = json.loads(content.read(int.from_bytes(head, "big")))
    pid = os.fork()
    if pid == 0:
        connection.close()
        end_process(partial(run_command, job, streams))
    for stream in streams:
        os.close(stream)
    ended = os.pidfd_open(pid)
    readable, _, _ = select.select([ended, connection.fileno()], [], [])
    if ended not in readable:  # whoever sent the command was killed
        os.kill(pid, signal.SIGKILL)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    connection.sendall(bytes([status if status >= 0 else 128 - status]))
    os._exit(0)


def write_number(number: int) -> None:
    """Write a line that the forker's user is waiting for."""
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def import_package() -> None:
    """Import every module of the package, and those of others that it imports when they are needed."""
    import assay

    names = [module.name for module in pkgutil.walk_packages(assay.__path__, "assay.")]
    for name in (*_HEAVY_MODULES, *sorted(set(names) - set(_WITH_EXTRAS))):
        import_module(name)


def end_process(command: Callable[[], int]) -> NoReturn:
    """End this process, which is a fork, with the status of a command, as the interpreter does at its end.

    Only the modules are not taken apart, which takes a tenth of a second: nothing sees it.
    """
    status = 1
    try:
        status = command()
    except SystemExit as ended:
        status = 0 if ended.code is None else ended.code if isinstance(ended.code, int) else 1
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
    except BaseException:  # noqa: BLE001  # whatever it is, the interpreter would print it
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads as the interpreter does; it has no public name
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            status = 120
    os._exit(status)


def run_command(job: Mapping[str, Any], streams: Sequence[int] = ()) -> int:
    """Run a command in this process, which is a fork, and return its exit status."""
    os.environ.clear()
    os.environ.update(job["environment"])
    if not streams:
        stdout = os.open(job["stdout"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        streams = (os.open(os.devnull, os.O_RDONLY), stdout, os.open(job["stderr"], os.O_WRONLY))
    for descriptor, source in enumerate(streams):
        os.dup2(source, descriptor)
        os.close(source)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # the old one may hold what others sent
    os.chdir(job["folder"])
    sys.path.insert(0, job["folder"])  # as the name of the package's command does, run with `python -c`
    if job["program"] == "pytest":
        return int(pytest.main(job["words"]))
    if job["program"] != "assay":
        sys.argv = [job["program"], *job["words"]]
        sys.path[0] = str(Path(job["program"]).parent)
        runpy.run_path(job["program"], run_name="__main__")
        return 0
    from assay.cli import main

    sys.argv = ["assay", *job["words"]]  # quoted in the advice on how to go on
    return main(job["words"])


if __name__ == "__main__":
    serve()
