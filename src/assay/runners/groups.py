"""Group commit: what many tasks want kept at the same moment is kept in one transaction, beside the event loop."""

from __future__ import annotations

import asyncio
from queue import SimpleQueue
from threading import Thread
from typing import Any, Literal

from assay.ports import SampleKey, Turn, VerdictStore
from assay.verdict import Verdict

GATHERED = 0.001
"""Seconds in which others may join a group: each costs a commit and two changes of thread."""
Act = Literal["claim", "save", "release"]
Wanted = tuple[Act, Any, "asyncio.Future[Any]"]


class Groups:
    """Stands before a store whose every commit waits for the disk; a call returns when its group is committed."""

    def __init__(self, store: VerdictStore, lease: float) -> None:
        """`lease` is how many seconds a claim is honoured by others."""
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
        """Return the verdict that is kept, or whose turn it is."""
        found: Verdict | Turn = await self._begun("claim", key)
        return found

    def save(self, verdict: Verdict) -> asyncio.Future[None]:
        """Begin to keep a verdict; it is kept when the future is done. What is claimed after this is not committed
        before it."""
        return self._begun("save", verdict)

    async def release(self, key: SampleKey) -> None:
        """Give a claim back."""
        await self._begun("release", key)

    def _begun(self, act: Act, item: Any) -> asyncio.Future[Any]:
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
        """In the thread: do one group after another, and hand over what came of each in one step of the loop."""
        while (group := self._groups.get()) is not None:
            try:
                loop.call_soon_threadsafe(self._handed, group, self._apply(group), None)
            except Exception as error:  # noqa: BLE001  # whatever it is, it belongs to those who wait
                loop.call_soon_threadsafe(self._handed, group, [], error)

    def _handed(self, group: list[Wanted], results: list[Any], failure: Exception | None) -> None:
        for place, (_, _, future) in enumerate(group):
            if future.done():
                continue
            if failure is not None:
                future.set_exception(failure)
                future.exception()  # who waited may have been stopped by what another one of the group reports
            else:
                future.set_result(results[place])
        if self._waiting:
            self._write()
        elif self._writing is not None:
            self._writing.set_result(None)
            self._writing = None

    def _apply(self, group: list[Wanted]) -> list[Any]:
        """Do a group as one change. Returns the results in the group's order."""
        items: dict[Act, list[Any]] = {"save": [], "release": [], "claim": []}
        for act, item, _ in group:
            items[act].append(item)
        try:
            with self._store.together():
                if items["save"]:
                    self._store.save(items["save"])
                if items["release"]:
                    self._store.release(items["release"])
                found = iter(self._store.claim(items["claim"], self._lease) if items["claim"] else ())
        except Exception:
            if items["save"] and items["claim"]:  # what was paid for is kept where there is room for no more
                self._store.save(items["save"])
            raise
        return [next(found) if act == "claim" else None for act, _, _ in group]
