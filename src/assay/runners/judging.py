"""Scheduling the requests to a judge: bounded concurrency, retries inside a deadline, votes on demand, hard caps.

A verdict is stored durably before it counts, and nothing is started once one cannot be stored. Clock, sleep and random
numbers are arguments, so that tests need none of them.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from msgspec import structs

from assay.ports import CallError, Judge, SampleKey, Turn, VerdictStore
from assay.runners.attempts import Attempts, Clock, Patience
from assay.runners.budget import CURRENT, Budget
from assay.runners.groups import Groups
from assay.runners.throttle import Throttle
from assay.verdict import JudgeRequest, JudgeUsage, Verdict

Progress = Callable[[int, int], None]
NeedsMore = Callable[[JudgeRequest, Sequence[Verdict]], bool]
"""Whether a request needs one more sample, given those that it has."""
LOOK_AGAIN = 0.05
"""Seconds until the store is checked again for a verdict that another process asks for."""
APART = 0.001
"""Seconds between the first calls: replies to simultaneous calls arrive together and then wait for each other."""
LEASE_MARGIN = 60.0
HOPELESS = frozenset({"quota", "http_401", "http_402", "http_403", "http_404"})
"""Failures that every further call would have too."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`deadline`, in seconds, covers a sample with its retries; `breaker` unscored samples in a row end the judging."""

    concurrency: int = 16
    deadline: float = 120.0
    attempts: int = 6
    breaker: int = 20
    retry_after_cap: float = 60.0


@dataclass(slots=True)
class JudgingTally:
    """What a judging did: requests done, samples newly `asked` for and, by reason, those without a verdict (with the
    first message of each reason), samples `known` from the store (also from other processes), why it ended early."""

    total: int = 0
    done: int = 0
    asked: int = 0
    unscored: Counter[str] = field(default_factory=Counter)
    messages: dict[str, str] = field(default_factory=dict)
    known: int = 0
    retries: int = 0
    halted: str = ""


class JudgingRunner:
    """Asks one judge; `stop` lets calls in progress finish and starts no more."""

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
        self._attempts = Attempts(
            patience, self.clock, self._throttle, self._may_continue, lambda: not self._may_continue()
        )
        self._in_a_row = 0

    def stop(self, reason: str = "interrupted") -> None:
        """Start no more samples or retries. Calls in progress end by their deadline and are kept."""
        self.tally.halted = self.tally.halted or reason

    async def run(
        self, requests: Iterable[JudgeRequest], known: Mapping[str, Sequence[Verdict]] | None = None
    ) -> dict[str, list[Verdict]]:
        """Return the samples of each request by its digest, in order; identical requests are asked once.

        `known` are recorded samples by request. Raises the errors of the store; nothing is started after one.
        """
        by_digest = {request.digest: request for request in requests}
        self.tally.total += len(by_digest)
        self.verdicts = {name: [] for name in by_digest}
        scored: dict[tuple[str, int], Verdict] = {}
        for samples in (known or {}).values():
            scored.update({(sample.request, sample.sample): sample for sample in samples if sample.unscored is None})
        queue = deque(by_digest.items())
        try:
            async with Groups(self._store, self.limits.deadline + LEASE_MARGIN) as groups, asyncio.TaskGroup() as tasks:
                for worker in range(min(self.limits.concurrency, len(queue))):
                    if worker:
                        await self.clock.sleep(APART)
                    tasks.create_task(self._work(queue, scored, groups))
        except BaseExceptionGroup as failures:  # errors of the store: the first is enough, the others follow from it
            raise failures.exceptions[0] from None
        return self.verdicts

    async def _work(
        self, queue: deque[tuple[str, JudgeRequest]], known: Mapping[tuple[str, int], Verdict], groups: Groups
    ) -> None:
        pending = _Pending()
        while queue and not self.tally.halted:
            name, request = queue.popleft()
            outcome = await self._take_samples(name, request, known, groups, pending)
            if outcome is Turn.BUSY:  # another process asks: continue with the other requests first
                queue.append((name, request))
                await self._wait_committed(pending)
                await self.clock.sleep(LOOK_AGAIN)
        await self._wait_committed(pending)

    async def _take_samples(
        self,
        name: str,
        request: JudgeRequest,
        known: Mapping[tuple[str, int], Verdict],
        groups: Groups,
        pending: _Pending,
    ) -> Verdict | Turn | None:
        """Take samples of one request while more are needed; returns the last one, or why there is none."""
        samples = self.verdicts[name]
        outcome: Verdict | Turn | None = None
        while self._needs_more(request, samples):
            outcome = known.get((name, len(samples)))
            if outcome is None:
                outcome = await self._take_sample(name, request, len(samples), groups, pending)
            else:
                self.tally.known += 1
            if not isinstance(outcome, Verdict):
                return outcome
            samples.append(outcome)
        pending.finished += 1
        if pending.saving is None:
            await self._wait_committed(pending)
        return outcome

    async def _take_sample(
        self, name: str, request: JudgeRequest, sample: int, groups: Groups, pending: _Pending
    ) -> Verdict | Turn | None:
        """Return one sample, BUSY if another process asks for it, None if the judging was stopped.

        Its verdict is committed together with the next claim of this worker, before the call of that claim.
        """
        ticket = await self._throttle.enter()
        try:
            if self.tally.halted:
                return None
            key: SampleKey = (name, self._judge_digest, sample)
            claimed = await groups.claim(key)
            await self._wait_committed(pending)
            if isinstance(claimed, Verdict):
                self.tally.known += 1
                return claimed
            if claimed is Turn.BUSY:
                return Turn.BUSY
            verdict = await self._ask(request, key, ticket)
            if verdict is None:
                await groups.release(key)
                return None
            pending.saving = verdict, groups.save(verdict)
        finally:
            self._throttle.leave()
        return verdict

    async def _wait_committed(self, pending: _Pending) -> None:
        """Wait until the last verdict of this worker is on the disk; only then it counts."""
        if pending.saving is not None:
            verdict, saved = pending.saving
            await saved
            pending.saving = None
            self._count(verdict)
        for _ in range(pending.finished):
            self.tally.done += 1
            if self._progress is not None:
                self._progress(self.tally.done, self.tally.total)
        pending.finished = 0

    async def _ask(self, request: JudgeRequest, key: SampleKey, ticket: int) -> Verdict | None:
        @cache  # computed on first use: it takes time, and without a cap it is not needed
        def estimate() -> tuple[int, int]:
            return self._judge.estimate(request)

        await self.budget.room(estimate)  # before the deadline starts: waiting for the budget is not part of it
        deadline = self.clock.now() + self.limits.deadline
        calls = 0

        async def once() -> Verdict:
            nonlocal calls
            calls += 1
            return await self._call(request, key[2], deadline, estimate)

        try:
            verdict = await self._attempts.done(once, deadline, ticket)
        except CallError as error:
            self.tally.retries += max(0, calls - 1)  # none was made if a Retry-After outlasts the deadline
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
            verdict = await self._ask_within(request, sample, deadline)
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

    def _may_continue(self) -> bool:
        return not self.tally.halted

    async def _ask_within(self, request: JudgeRequest, sample: int, deadline: float) -> Verdict:
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
class _Pending:
    """What a worker did that is not yet committed: a verdict being saved, and the requests finished with it."""

    saving: tuple[Verdict, asyncio.Future[None]] | None = None
    finished: int = 0


def _failed(request: JudgeRequest, key: SampleKey, error: CallError, calls: int) -> Verdict:
    """Return the record of a sample to which the endpoint gave no reply."""
    return Verdict(
        *key,
        rubric=f"{request.rubric}@{request.version}",
        unscored="deadline" if error.code == "timeout" else "provider",
        message=f"{error.code}: {error.message}",
        usage=JudgeUsage(attempts=calls),
    )
