"""Starts `assay` commands as forks of a process that has imported the package, for tests that start many of them.

Three quarters of the processor time of a short command are imports. A fork has a process id of its own, is killed like
any other process, and shares no thread, file or event loop with the process that it came from.
"""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_HEAVY_MODULES = ("httpx2", "numpy", "sqlite3", "rich.console", "typer", "yaml")
_WITH_EXTRAS = ("assay.pytest_plugin", "assay.targets.langchain", "assay.targets.llamaindex")


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
    ) -> ForkedCommand:
        """Start a command in a folder; `environment` is added to the present variables, `stdout` is a file to write."""
        handle, name = tempfile.mkstemp(prefix="assay-stderr-")
        os.close(handle)
        job = {
            "words": list(words),
            "environment": {**os.environ, **(environment or {})},
            "stdout": str(stdout),
            "stderr": name,
        }
        job["folder"] = str(Path(folder).absolute())
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return ForkedCommand(self._read_number(), Path(name), self)

    def _read_number(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


@dataclass(frozen=True)
class ForkedCommand:
    """One running command."""

    pid: int
    stderr: Path
    forker: CommandForker

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
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            run_command(job)
        write_number(pid)
        write_number(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


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


def run_command(job: Mapping[str, Any]) -> None:
    """Run a command in this process, which is a fork, and exit."""
    os.environ.clear()
    os.environ.update(job["environment"])
    stdout = os.open(job["stdout"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    stderr = os.open(job["stderr"], os.O_WRONLY)
    for descriptor, source in enumerate((os.open(os.devnull, os.O_RDONLY), stdout, stderr)):
        os.dup2(source, descriptor)
    os.chdir(job["folder"])
    sys.path.insert(0, job["folder"])  # as the name of the package's command does, run with `python -c`
    from assay.cli import main

    sys.exit(main(job["words"]))


if __name__ == "__main__":
    serve()
