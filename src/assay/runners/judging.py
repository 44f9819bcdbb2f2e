"""Ask a judge many questions: bounded concurrency, retries inside a deadline, votes where they are needed, hard caps.

A verdict is kept for good before it counts, and nothing is begun once one cannot be kept. Time, waiting and chance are
arguments, so that tests need none.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import structs

from assay.ports import CallError, Judge, SampleKey, Turn, VerdictStore
from assay.runners.attempts import Attempts, Clock, Patience
from assay.runners.budget import CURRENT, Budget
from assay.runners.groups import Groups
from assay.runners.throttle import Throttle
from assay.verdict import JudgeRequest, JudgeUsage, Verdict

Progress = Callable[[int, int], None]
NeedsMore = Callable[[JudgeRequest, Sequence[Verdict]], bool]
"""Whether one more sample of a request is wanted, after those that are there."""
LOOK_AGAIN = 0.05
"""Seconds until a verdict that another process is asking for is looked for again."""
APART = 0.001
"""Seconds between the first calls: what is asked in one instant is answered in one, and then waits for each other."""
LEASE_MARGIN = 60.0
HOPELESS = frozenset({"quota", "http_401", "http_402", "http_403", "http_404"})
"""Failures that every further call would meet too."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`deadline`, in seconds, covers a sample with its retries; `breaker` samples in a row without a verdict end it."""

    concurrency: int = 16
    deadline: float = 120.0
    attempts: int = 6
    breaker: int = 20
    retry_after_cap: float = 60.0


@dataclass(slots=True)
class JudgingTally:
    """What a judging did: requests seen to, samples newly asked for and those of them without a verdict (with what the
    first of each reason said), samples that were in the book (also by another process), and why it ended early."""

    total: int = 0
    done: int = 0
    asked: int = 0
    unscored: Counter[str] = field(default_factory=Counter)
    messages: dict[str, str] = field(default_factory=dict)
    known: int = 0
    retries: int = 0
    halted: str = ""


class JudgingRunner:
    """Asks one judge; `stop` lets what is under way finish and begins nothing more."""

    def __init__(
        self,
        judge: Judge,
        store: VerdictStore,
        needs_more: NeedsMore,
        limits: Limits | None = None,
        budget: Budget | None = None,
        clock: Clock | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.budget = budget or Budget()
        self.clock = clock or Clock()
        self.tally = JudgingTally()
        self.verdicts: dict[str, list[Verdict]] = {}
        self._judge, self._needs_more, self._progress = judge, needs_more, progress
        self._judge_digest = judge.identity.digest
        self._store = store
        self._throttle = Throttle(self.limits.concurrency)
        patience = Patience(self.limits.attempts, self.limits.retry_after_cap)
        self._attempts = Attempts(patience, self.clock, self._throttle, self._goes_on, lambda: not self._goes_on())
        self._in_a_row = 0

    def stop(self, reason: str = "interrupted") -> None:
        """Begin nothing more: no sample, no retry. What is under way ends by its deadline and is kept."""
        self.tally.halted = self.tally.halted or reason

    async def run(
        self, requests: Iterable[JudgeRequest], known: Mapping[str, Sequence[Verdict]] | None = None
    ) -> dict[str, list[Verdict]]:
        """Return the samples of each request by its digest, in order; identical requests are asked once.

        `known` are recorded samples by request. Raises what the store raises; nothing is begun after that.
        """
        wanted = {request.digest: request for request in requests}
        self.tally.total += len(wanted)
        self.verdicts = {name: [] for name in wanted}
        scored = {(v.request, v.sample): v for each in (known or {}).values() for v in each if v.unscored is None}
        queue = deque(wanted.items())
        try:
            async with Groups(self._store, self.limits.deadline + LEASE_MARGIN) as groups, asyncio.TaskGroup() as tasks:
                for place in range(min(self.limits.concurrency, len(queue))):
                    if place:
                        await self.clock.sleep(APART)
                    tasks.create_task(self._work(queue, scored, groups))
        except BaseExceptionGroup as failures:  # the store's: one is enough, the others only follow from it
            raise failures.exceptions[0] from None
        return self.verdicts

    async def _work(
        self, queue: deque[tuple[str, JudgeRequest]], known: Mapping[tuple[str, int], Verdict], groups: Groups
    ) -> None:
        last = _Last()
        while queue and not self.tally.halted:
            name, request = queue.popleft()
            found = await self._samples(name, request, known, groups, last)
            if found is Turn.BUSY:  # another process asks: see to the others first
                queue.append((name, request))
                await self._committed(last)
                await self.clock.sleep(LOOK_AGAIN)
        await self._committed(last)

    async def _samples(
        self,
        name: str,
        request: JudgeRequest,
        known: Mapping[tuple[str, int], Verdict],
        groups: Groups,
        last: _Last,
    ) -> Verdict | Turn | None:
        """Take samples of one request while more are needed; returns the last one, or why there is none."""
        samples = self.verdicts[name]
        found: Verdict | Turn | None = None
        while self._needs_more(request, samples):
            found = known.get((name, len(samples)))
            if found is None:
                found = await self._sample(name, request, len(samples), groups, last)
            else:
                self.tally.known += 1
            if not isinstance(found, Verdict):
                return found
            samples.append(found)
        last.finished += 1
        if last.saving is None:
            await self._committed(last)
        return found

    async def _sample(
        self, name: str, request: JudgeRequest, sample: int, groups: Groups, last: _Last
    ) -> Verdict | Turn | None:
        """Return one sample, BUSY where another process asks for it, None where the judging was stopped before.

        Its verdict is committed together with the next claim of this worker, and before the call that is claimed.
        """
        ticket = await self._throttle.enter()
        try:
            if self.tally.halted:
                return None
            key: SampleKey = (name, self._judge_digest, sample)
            claimed = await groups.claim(key)
            await self._committed(last)
            if isinstance(claimed, Verdict):
                self.tally.known += 1
                return claimed
            if claimed is Turn.BUSY:
                return Turn.BUSY
            verdict = await self._ask(request, key, ticket)
            if verdict is None:
                await groups.release(key)
                return None
            last.saving = verdict, groups.save(verdict)
        finally:
            self._throttle.leave()
        return verdict

    async def _committed(self, last: _Last) -> None:
        """Wait until what this worker did last is on the disk; only then it counts."""
        if last.saving is not None:
            verdict, saved = last.saving
            await saved
            last.saving = None
            self._count(verdict)
        for _ in range(last.finished):
            self.tally.done += 1
            if self._progress is not None:
                self._progress(self.tally.done, self.tally.total)
        last.finished = 0

    async def _ask(self, request: JudgeRequest, key: SampleKey, ticket: int) -> Verdict | None:
        known: list[tuple[int, int]] = []

        def estimate() -> tuple[int, int]:
            if not known:  # found when first asked for: it takes time, and without a cap nobody asks
                known.append(self._judge.estimate(request))
            return known[0]

        await self.budget.room(estimate)  # which is no part of the time that a verdict may take
        deadline = self.clock.now() + self.limits.deadline
        calls = 0

        async def once() -> Verdict:
            nonlocal calls
            calls += 1
            return await self._call(request, key[2], deadline, estimate)

        try:
            verdict = await self._attempts.done(once, deadline, ticket)
        except CallError as error:
            self.tally.retries += max(0, calls - 1)  # none was made where the other side's pause outlasts the deadline
            if error.code == "budget":
                self.stop(self.budget.reached)
                return None
            if error.code in HOPELESS:
                self.stop(error.code)
            return _failed(request, key, error, calls)
        self.tally.retries += max(0, calls - 1)
        if verdict is None or calls == 1:
            return verdict
        usage = structs.replace(verdict.usage, attempts=verdict.usage.attempts + calls - 1)
        return structs.replace(verdict, usage=usage)

    async def _call(
        self, request: JudgeRequest, sample: int, deadline: float, estimate: Callable[[], tuple[int, int]]
    ) -> Verdict:
        reserved = await self.budget.reserve(estimate)
        if reserved is None:
            raise CallError("budget", f"{self.budget.reached} is reached")
        token = CURRENT.set(reserved)
        try:
            verdict = await self._timed(request, sample, deadline)
        except CallError as error:
            self.budget.fail(reserved, error.code)
            raise
        except BaseException:
            self.budget.fail(reserved, "timeout")
            raise
        finally:
            CURRENT.reset(token)
        self.budget.settle(reserved, verdict.usage)
        return verdict

    def _goes_on(self) -> bool:
        return not self.tally.halted

    async def _timed(self, request: JudgeRequest, sample: int, deadline: float) -> Verdict:
        seconds = deadline - self.clock.now()
        try:
            async with asyncio.timeout(seconds):
                return await self._judge.ask(request, sample)
        except TimeoutError:
            raise CallError("timeout", f"no verdict within {seconds:.1f} s") from None

    def _count(self, verdict: Verdict) -> None:
        self.tally.asked += 1
        if verdict.unscored is None:
            self._in_a_row = 0
            return
        self.tally.unscored[verdict.unscored] += 1
        self.tally.messages.setdefault(verdict.unscored, verdict.message)
        self._in_a_row += 1
        if self._in_a_row >= self.limits.breaker:
            self.stop("breaker")


@dataclass(slots=True)
class _Last:
    """What a worker did and has not seen committed: a verdict that is being saved, and requests finished with it."""

    saving: tuple[Verdict, asyncio.Future[None]] | None = None
    finished: int = 0


def _failed(request: JudgeRequest, key: SampleKey, error: CallError, calls: int) -> Verdict:
    """Return the record of a sample that the endpoint never answered."""
    return Verdict(
        *key,
        rubric=f"{request.rubric}@{request.version}",
        unscored="deadline" if error.code == "timeout" else "provider",
        message=f"{error.code}: {error.message}",
        usage=JudgeUsage(attempts=calls),
    )
