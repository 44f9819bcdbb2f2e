"""A process that has loaded Assay and forks one child for each command, so that a kill costs no start of Python.

A child is a process of its own: kill -9 leaves of it what it leaves of a command from a shell. The server itself opens
no store, makes no call and has one thread, so that a child inherits nothing but loaded modules.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAX_SECONDS = 300
"""A command that takes longer is ended by a signal."""


class ForkServer:
    """A running server, for one command at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def start(self, words: Sequence[str], log: Path) -> int:
        """Start a command that writes both of its streams to `log`, and return its process id."""
        return self._request({"words": list(words), "log": str(log)})

    def wait(self) -> int:
        """Return the exit status of the command, negative for the signal that ended it."""
        return self._request({})

    def _request(self, request: dict[str, object]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def run_fork_server(rehearsal: Sequence[str]) -> Iterator[ForkServer]:
    """Run a server whose children have the environment of now; `rehearsal` is a command that loads what they need."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.faults.fork_server", *rehearsal]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        yield ForkServer(process)
        process.communicate()


def serve(rehearsal: Sequence[str]) -> None:
    """Run the commands that come in as lines, until there are no more."""
    from assay.cli import main  # the process that uses the server need not load it

    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the rehearsal prints is no reply
    if main(list(rehearsal)) != 0 or threading.active_count() != 1:
        raise AssertionError("the rehearsal failed, or left a thread, which a fork would cut off")
    pid = 0
    for line in sys.stdin:
        request = json.loads(line)
        if not request:
            replies.write(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n")
        else:
            pid = os.fork()
            if not pid:
                log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                os.dup2(log, 1)
                os.dup2(log, 2)
                signal.alarm(MAX_SECONDS)
                status = main(request["words"])
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
            replies.write(f"{pid}\n")
        replies.flush()


if __name__ == "__main__":
    serve(sys.argv[1:])
