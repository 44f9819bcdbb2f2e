"""Suspending Python's cyclic garbage collector while millions of records without cycles are created and freed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collections() -> Iterator[None]:
    """Suspend garbage collection within the block: each collection would traverse every golden case to free nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
