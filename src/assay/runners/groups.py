"""Group commit: concurrent changes to the verdict store are committed in one transaction, outside the event loop."""

from __future__ import annotations

import asyncio
from queue import SimpleQueue
from threading import Thread
from typing import Any, Literal

from assay.ports import SampleKey, Turn, VerdictStore
from assay.verdict import Verdict

GATHERED = 0.001
"""Seconds in which operations join a group: each group costs a commit and two thread switches."""
Act = Literal["claim", "save", "release"]
Wanted = tuple[Act, Any, "asyncio.Future[Any]"]


class Groups:
    """A front end to a store whose commits wait for the disk; a call returns when its group is committed."""

    def __init__(self, store: VerdictStore, lease: float) -> None:
        """`lease` is the number of seconds for which other processes honour a claim."""
        self._store, self._lease = store, lease
        self._waiting: list[Wanted] = []
        self._writing: asyncio.Future[None] | None = None
        self._groups: SimpleQueue[list[Wanted] | None] = SimpleQueue()

    async def __aenter__(self) -> Groups:
        self._thread = Thread(target=self._serve, args=(asyncio.get_running_loop(),), daemon=True)
        self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Wait for what is being written."""
        if self._writing is not None:
            await asyncio.wait([self._writing])
        self._groups.put(None)
        self._thread.join()

    async def claim(self, key: SampleKey) -> Verdict | Turn:
        """Return the recorded verdict, or who asks for it."""
        recorded: Verdict | Turn = await self._enqueue("claim", key)
        return recorded

    def save(self, verdict: Verdict) -> asyncio.Future[None]:
        """Begin to save a verdict; it is saved when the future is done. Later claims are not committed before it."""
        return self._enqueue("save", verdict)

    async def release(self, key: SampleKey) -> None:
        """Release a claim."""
        await self._enqueue("release", key)

    def _enqueue(self, act: Act, item: Any) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._waiting.append((act, item, future))
        if self._writing is None:
            self._writing = loop.create_future()
            loop.call_later(GATHERED, self._write)
        return future

    def _write(self) -> None:
        group, self._waiting = self._waiting, []
        self._groups.put(group)

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        """In the thread: commit one group after another, and pass its results to the event loop in one step."""
        while (group := self._groups.get()) is not None:
            try:
                loop.call_soon_threadsafe(self._deliver, group, self._apply(group), None)
            except Exception as error:  # noqa: BLE001  # the waiting tasks raise it
                loop.call_soon_threadsafe(self._deliver, group, [], error)

    def _deliver(self, group: list[Wanted], results: list[Any], failure: Exception | None) -> None:
        for index, (_, _, future) in enumerate(group):
            if future.done():
                continue
            if failure is not None:
                future.set_exception(failure)
                future.exception()  # marks it as retrieved: the waiting task may already have been cancelled
            else:
                future.set_result(results[index])
        if self._waiting:
            self._write()
        elif self._writing is not None:
            self._writing.set_result(None)
            self._writing = None

    def _apply(self, group: list[Wanted]) -> list[Any]:
        """Apply a group in one transaction. Returns the results in the group's order."""
        items: dict[Act, list[Any]] = {"save": [], "release": [], "claim": []}
        for act, item, _ in group:
            items[act].append(item)
        try:
            with self._store.together():
                if items["save"]:
                    self._store.save(items["save"])
                if items["release"]:
                    self._store.release(items["release"])
                claimed = iter(self._store.claim(items["claim"], self._lease) if items["claim"] else ())
        except Exception:
            if items["save"] and items["claim"]:  # save what was paid for even if the claims cannot be stored
                self._store.save(items["save"])
            raise
        return [next(claimed) if act == "claim" else None for act, _, _ in group]
