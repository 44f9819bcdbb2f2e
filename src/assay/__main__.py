"""The process of the command `assay`, as a script and as `python -m assay`: only here is it ended."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn

from assay.cli import main
from assay.records.plugin_table import PluginTable

ENDED_AT_ONCE = ("score", "compare", "explain", "report")
"""Commands that read and write files and connect to nothing. Those that run targets or open stores end as usual."""


def run_process() -> NoReturn:
    """Run the command that the process was started for, and end the process with its exit code.

    A command that only read and wrote files ends it at once, after what is registered for the exit: to free the objects
    one by one that the system takes back together took a twenty-fifth of the time of a small run.
    """
    code = main()
    if may_end_at_once(sys.argv[1:], code):
        atexit._run_exitfuncs()
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (AttributeError, OSError, ValueError):  # a stream that is closed or full: Python knows what to do
            sys.exit(code)
        os._exit(code)
    sys.exit(code)


def may_end_at_once(arguments: Sequence[str], code: int) -> bool:
    """Return whether only files were used: no thread is left, no plugin was loaded, and nothing traces the run."""
    if not arguments or arguments[0] not in ENDED_AT_ONCE:
        return False
    is_done = code in (0, 1) and threading.active_count() == 1  # an error may come from a plugin that was half loaded
    is_traced = sys.gettrace() is not None or sys.getprofile() is not None
    return is_done and not is_traced and not PluginTable.in_use


if __name__ == "__main__":
    run_process()
