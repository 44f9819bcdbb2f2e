"""The process of the command `assay`, as a script and as `python -m assay`: only here is it ended."""

from __future__ import annotations

import atexit
import os
import sys
from typing import NoReturn

from assay.cli import main, may_end_at_once


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


if __name__ == "__main__":
    run_process()
