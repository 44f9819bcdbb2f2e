"""Process groups that end with Assay: after a run by signals, and after `kill -9` of Assay by a guard.

A process that Assay starts in a session of its own is the leader of a group with the same number, to which everything
that it starts belongs unless it leaves on purpose (a daemon).
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from contextlib import suppress

TERMINATE_SECONDS = 1.0
_POLL_SECONDS = 0.01
_GUARD = """
groups=" "
while read -r action group; do
  case $action in
    add) groups="$groups$group " ;;
    remove) groups="${groups%% $group *} ${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
"""


class GroupGuard:
    """A small shell that kills the groups it was told of as soon as its input ends, which `kill -9` of Assay causes.

    The signals of a terminal do not reach it, because it has a session of its own.
    """

    def __init__(self) -> None:
        self._shell: subprocess.Popen[bytes] | None = None

    def add(self, group: int) -> None:
        """Guard a group; the first one starts the shell."""
        if self._shell is None:
            self._shell = subprocess.Popen(  # noqa: S603  # the command is the constant above
                ["/bin/sh", "-c", _GUARD, "assay-guard"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                start_new_session=True,
            )
        self._write(f"add {group}\n")

    def remove(self, group: int) -> None:
        """Forget a group that has ended, whose number may soon be another's."""
        self._write(f"remove {group}\n")

    def close(self) -> None:
        """Kill the groups that were not removed, and end the shell."""
        if self._shell is None:
            return
        with suppress(OSError):
            self._shell.communicate()
        self._shell = None

    def _write(self, line: str) -> None:
        if self._shell is None or self._shell.stdin is None:
            return
        with suppress(OSError):  # somebody killed the guard; the run goes on without it
            self._shell.stdin.write(line.encode())
            self._shell.stdin.flush()


def kill_group(group: int) -> None:
    """Kill a process and everything that it started, at once."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


async def end_group(group: int) -> None:
    """Ask the processes of a group to end, and kill those that are left after `TERMINATE_SECONDS`."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(TERMINATE_SECONDS):
                while True:
                    await asyncio.sleep(_POLL_SECONDS)  # a group has nothing that could be awaited
                    os.killpg(group, 0)
        os.killpg(group, signal.SIGKILL)
