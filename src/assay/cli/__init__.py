"""The `assay` command. Exit codes: 0 pass, 1 gate failed, 2 bad input or usage, 3 incomplete, 130 interrupted."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from collections.abc import Sequence

GC_THRESHOLD = 500_000
"""Allocations between two runs of the cyclic garbage collector. Modules and records form few cycles, and at the default
threshold the collector takes a tenth of the time of a small run; so does a single collection at 100,000."""
ENDED_AT_ONCE = ("score", "compare", "explain", "report")
"""Commands that read and write files and connect to nothing. Those that run targets or open stores end as usual."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # no linear algebra is done; starting threads for it only costs time
    gc.set_threshold(GC_THRESHOLD)
    # At its exit, Python looks for cycles among all that is alive: a fifth of the time of a small run, for nothing.
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    from assay.cli.app import run_command

    return run_command(list(sys.argv[1:] if arguments is None else arguments))


def may_end_at_once(arguments: Sequence[str], code: int) -> bool:
    """Return whether only files were used: no thread is left, no plugin was loaded, and nothing traces the run."""
    from assay.records.plugin_table import PluginTable

    if not arguments or arguments[0] not in ENDED_AT_ONCE:
        return False
    is_done = code in (0, 1) and threading.active_count() == 1  # an error may come from a plugin that was half loaded
    is_traced = sys.gettrace() is not None or sys.getprofile() is not None
    return is_done and not is_traced and not PluginTable.in_use
