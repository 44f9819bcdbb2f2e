"""Mapping a function over shards on one process or several, with results in the order of the shards."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from assay.errors import IncompleteError

S = TypeVar("S")
R = TypeVar("R")

_work: Callable[[Any], Any] | None = None


def _set_work(work: Callable[[Any], Any]) -> None:
    global _work  # set once per worker process, so that the golden set is not sent with every shard
    _work = work


def _call_work(shard: Any) -> Any:
    assert _work is not None
    return _work(shard)


def _start_method() -> str:
    """Return `fork` where it is safe (Linux, one thread), because it shares the golden set; else `spawn`."""
    try:
        single = len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208  # threads of libraries count too
    except OSError:
        single = False
    return "fork" if single else "spawn"


def run_shards(work: Callable[[S], R], shards: Sequence[S], workers: int = 1) -> Iterator[R]:
    """Yield `work(shard)` for each shard, in order, on as many processes as asked for.

    Raises IncompleteError if a worker process dies, and the exceptions of `work` unchanged.
    """
    if workers <= 1 or len(shards) <= 1:
        yield from map(work, shards)
        return
    import multiprocessing  # not needed, and slow to import, with one process
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context(_start_method())
    try:
        with ProcessPoolExecutor(min(workers, len(shards)), context, _set_work, (work,)) as pool:
            yield from pool.map(_call_work, shards)
    except BrokenProcessPool as died:
        raise IncompleteError("a worker process died before it finished (out of memory, or killed)") from died
