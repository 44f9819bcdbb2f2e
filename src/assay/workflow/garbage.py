"""Python's search for cyclic garbage, put off while millions of records that form no cycles come and go."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collections() -> Iterator[None]:
    """Put off the search until the block ends; it would walk through every golden case again and again for nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
