"""Observing many cases on one machine: bounded concurrency, retries inside a deadline, budgets, a circuit breaker.

Every observation goes to the sink before it counts. Clock, sleep and random numbers are arguments, so that tests need
none of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from msgspec import structs

from assay.model import Case, Observation, TargetError, Usage
from assay.ports import SEARCHED, Call, CallError, Operation, Target
from assay.runners.attempts import Attempts, Clock, Patience
from assay.runners.throttle import Throttle

Sink = Callable[[Observation], Observation]
"""Stores an observation durably and returns it as stored; raises if it cannot be stored."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Work:
    """One observation to make."""

    case: Case
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits of a run: `deadline` and `retry_after_cap` in seconds, `max_calls` in calls with retries, `max_cost` in
    dollars as the target reports them; `breaker` failures in a row end the run."""

    operations: tuple[Operation, ...]
    k: int = 10
    concurrency: int = 8
    deadline: float = 120.0
    attempts: int = 4
    breaker: int = 10
    retry_after_cap: float = 60.0
    max_calls: int | None = None
    max_cost: float | None = None


@dataclass(slots=True)
class Tally:
    """What a run did: observations kept, those with an error, calls made, dollars spent, and why it ended early."""

    total: int = 0
    done: int = 0
    failed: int = 0
    calls: int = 0
    cost: float = 0.0
    halted: str = ""
    codes: dict[str, int] = field(default_factory=dict)


class Runner:
    """Observes the cases of one target; `stop` lets calls in progress finish and starts no more."""

    def __init__(
        self, target: Target, policy: Policy, sink: Sink, clock: Clock | None = None, progress: Progress | None = None
    ) -> None:
        self.target, self.policy, self.sink = target, policy, sink
        self.clock = clock or Clock()
        self.tally = Tally()
        self._progress = progress
        self._throttle = Throttle(policy.concurrency)
        patience = Patience(policy.attempts, policy.retry_after_cap)
        self._attempts = Attempts(patience, self.clock, self._throttle, self._may_call, lambda: bool(self.tally.halted))
        self._in_a_row = 0

    def stop(self, reason: str = "interrupted") -> None:
        """Start no more cases or retries. Calls in progress end by their deadline and are kept."""
        self.tally.halted = self.tally.halted or reason

    async def run(self, work: Iterable[Work]) -> Tally:
        """Observe all the work. Raises the errors of the sink; nothing is started after one."""
        items = list(work)
        self.tally.total = len(items)
        queue = iter(items)
        workers = min(self.policy.concurrency, len(items))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._work(queue))
        except BaseExceptionGroup as failures:  # errors of the sink: the first is enough, the others follow from it
            raise failures.exceptions[0] from None
        return self.tally

    async def _work(self, queue: Iterator[Work]) -> None:
        while not self.tally.halted:
            ticket = await self._throttle.enter()
            try:
                work = None if self.tally.halted else next(queue, None)
                if work is None:
                    return
                observation = await self._observe(work, ticket)
            finally:
                self._throttle.leave()
            if observation is not None:
                self._keep(observation)

    def _keep(self, observation: Observation) -> None:
        stored = self.sink(observation)
        tally = self.tally
        tally.done += 1
        if stored.error is not None:
            tally.failed += 1
            tally.codes[stored.error.code] = tally.codes.get(stored.error.code, 0) + 1
            self._in_a_row += 1
            if self._in_a_row >= self.policy.breaker:
                self.stop("breaker")
        else:
            self._in_a_row = 0
            self._spend(stored)
        if self._progress is not None:
            self._progress(tally.done, tally.total)

    def _spend(self, observation: Observation) -> None:
        cost = observation.usage.cost_usd if observation.usage is not None else None
        self.tally.cost += cost or 0.0
        if self.policy.max_cost is None:
            return
        if cost is None:
            self.stop("cost_unknown")
        elif self.tally.cost >= self.policy.max_cost:
            self.stop("max_cost")

    async def _observe(self, work: Work, ticket: int) -> Observation | None:
        """Do every operation of one case; None if the run was stopped before there was anything to store."""
        deadline = self.clock.now() + self.policy.deadline
        observation = Observation(work.case.id, question=work.case.question)
        for operation in self.policy.operations:
            try:
                once = partial(self._call, work.case, operation, deadline)
                reply = await self._attempts.done(once, deadline, ticket)
            except CallError as error:
                observation = structs.replace(observation, error=TargetError(error.code, error.message))
                break
            if reply is None:
                return None
            observation = reply if operation == self.policy.operations[0] else join(observation, reply)
        return structs.replace(observation, config_id=self.target.name, repeat=work.repeat)

    def _may_call(self) -> bool:
        if self.policy.max_calls is not None and self.tally.calls >= self.policy.max_calls:
            self.stop("max_calls")
            return False
        self.tally.calls += 1
        return True

    async def _call(self, case: Case, operation: Operation, deadline: float) -> Observation:
        start = self.clock.now()
        seconds = deadline - start
        try:
            async with asyncio.timeout(seconds):
                reply = await self.target.observe(Call(case, operation, seconds, self.policy.k))
        except TimeoutError:
            raise CallError("timeout", f"no reply to {operation} within {seconds:.1f} s") from None
        return timed(reply, round((self.clock.now() - start) * 1000, 3))


def timed(observation: Observation, milliseconds: float) -> Observation:
    """Return the observation with its measured time in milliseconds, unless the target reported one."""
    usage = observation.usage or Usage()
    if usage.end_to_end_ms is not None:
        return observation
    return structs.replace(observation, usage=structs.replace(usage, end_to_end_ms=milliseconds))


def join(searched: Observation, asked: Observation) -> Observation:
    """Return one observation of a search and an answer: the search's ranking first, as the stage `search`.

    If the answer reports no stage of its own, all stages of the search are kept. Time is the answer's; cost is the sum.
    """
    rankings = searched.stages or ()
    if asked.stages is not None:
        candidates = [stage for stage in rankings if stage.name == SEARCHED]
        if not candidates:
            candidates = [stage for stage in rankings if stage.name != "context"]
        search_stages = [structs.replace(stage, name=SEARCHED) for stage in candidates[-1:]]
        rankings = (*search_stages, *asked.stages)
    usage, search_usage = asked.usage or Usage(), searched.usage or Usage()
    if usage.cost_usd is not None or search_usage.cost_usd is not None:
        usage = structs.replace(usage, cost_usd=(usage.cost_usd or 0.0) + (search_usage.cost_usd or 0.0))
    return structs.replace(asked, stages=tuple(rankings), usage=usage, versions=searched.versions | asked.versions)
