"""The `assay` command. Exit codes: 0 pass, 1 gate failed, 2 bad input or usage, 3 incomplete, 130 interrupted."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

COLLECTED_AFTER = 100_000
"""Objects between two searches for cyclic garbage: modules and records form few cycles, and looking for them more often
is a tenth of a small run."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no linear algebra here; its threads only slow the start
    gc.set_threshold(COLLECTED_AFTER)
    from assay.cli.app import run

    return run(list(sys.argv[1:] if arguments is None else arguments))
