"""Who must be alone is alone, and waits for no more than the calls that run already."""

from __future__ import annotations

import asyncio

from assay.calls.turns import Turns


def test_calls_run_together_and_one_alone_and_a_cancelled_wait_blocks_nobody() -> None:
    running: list[str] = []
    running_calls: list[tuple[str, ...]] = []

    async def run() -> None:
        turns = Turns()

        async def call(name: str, *, alone: bool = False) -> None:
            async with turns.run_alone() if alone else turns.run_together():
                running.append(name)
                running_calls.append(tuple(running))
                await asyncio.sleep(0.01)
                running.remove(name)

        names = ("a", "b", "X", "c", "Y", "d")
        tasks = [asyncio.create_task(call(name, alone=name.isupper())) for name in names]
        await asyncio.sleep(0)
        dropped = asyncio.create_task(call("Z", alone=True))
        await asyncio.sleep(0)
        dropped.cancel()
        await asyncio.gather(*tasks)

    asyncio.run(asyncio.wait_for(run(), 20))
    assert ("a", "b") in running_calls, "calls run together"
    assert {("X",), ("Y",)} <= set(running_calls)
    assert not [group for group in running_calls if len(group) > 1 and not set(group).isdisjoint("XY")]
    assert {"a", "b", "c", "d", "X", "Y"} == {name for group in running_calls for name in group}
