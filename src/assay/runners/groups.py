"""Group commit: what many tasks want kept at the same moment is kept in one transaction, beside the event loop."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

from assay.ports import SampleKey, Turn, VerdictStore
from assay.verdict import Verdict

Act = Literal["claim", "save", "release"]


class Groups:
    """Stands before a store whose every commit waits for the disk; a call returns when its group is committed."""

    def __init__(self, store: VerdictStore, lease: float) -> None:
        """`lease` is how many seconds a claim is honoured by others."""
        self._store, self._lease = store, lease
        self._waiting: list[tuple[Act, Any, asyncio.Future[Any]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1)

    async def __aenter__(self) -> Groups:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Wait for what is being written."""
        if self._writing is not None:
            await asyncio.wait([self._writing])
        self._thread.shutdown()

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
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((act, item, future))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        return future

    async def _write(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting, []
            try:
                results = await asyncio.get_running_loop().run_in_executor(self._thread, self._apply, group)
            except Exception as error:  # noqa: BLE001  # whatever it is, it belongs to those who wait
                for _, _, future in group:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, _, future), result in zip(group, results, strict=True):
                if not future.done():
                    future.set_result(result)

    def _apply(self, group: list[tuple[Act, Any, asyncio.Future[Any]]]) -> list[Any]:
        """Do a group, saves first: they are what must not be lost. Returns the results in the group's order."""
        items: dict[Act, list[Any]] = {"save": [], "release": [], "claim": []}
        for act, item, _ in group:
            items[act].append(item)
        if items["save"]:
            self._store.save(items["save"])
        if items["release"]:
            self._store.release(items["release"])
        found = iter(self._store.claim(items["claim"], self._lease) if items["claim"] else ())
        return [next(found) if act == "claim" else None for act, _, _ in group]
