"""The same map on one process or several; results come in the order of the shards, so workers change no bit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from assay.errors import IncompleteError

S = TypeVar("S")
R = TypeVar("R")

_work: Callable[[Any], Any] | None = None


def _install(work: Callable[[Any], Any]) -> None:
    global _work  # a worker process does one job; the golden set reaches it once, not with every shard
    _work = work


def _call(shard: Any) -> Any:
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

    Raises IncompleteError when a worker process dies; an exception of `work` comes out as itself.
    """
    if workers <= 1 or len(shards) <= 1:
        yield from map(work, shards)
        return
    import multiprocessing  # one process needs none of these
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context(_start_method())
    try:
        with ProcessPoolExecutor(min(workers, len(shards)), context, _install, (work,)) as pool:
            yield from pool.map(_call, shards)
    except BrokenProcessPool as died:
        raise IncompleteError("a worker process died before it finished (out of memory, or killed)") from died
