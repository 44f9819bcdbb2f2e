"""Observing many cases on one machine: bounded concurrency, retries inside a deadline, budgets, a circuit breaker.

Every observation goes to the sink before it counts. Clock, sleep and random numbers are arguments, so that tests need
none of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from msgspec import UNSET, structs

from assay.calls.interfaces import SEARCH_STAGE, CallError, ReplyNotices, Target, TargetCall, TargetOperation
from assay.calls.retry import RETRY_AFTER_CAP_SECONDS, Clock, RetryingCaller, RetryPolicy, Throttle, format_wait
from assay.records.counts import format_count
from assay.records.errors import AssayError
from assay.records.golden_set import Case
from assay.records.observations import FailedAttempt, Observation, TargetError, Usage, add_context_stage
from assay.records.unforeseen import choose_error_code, describe_unforeseen

ObservationSink = Callable[[Observation], Observation]
"""Stores an observation durably and returns it as stored; raises if it cannot be stored."""
ReportProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ObservationTask:
    """One observation to make."""

    case: Case
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class ObservationLimits:
    """Limits of a run: `deadline` and `retry_after_cap` in seconds, `max_calls` in calls with retries, `max_cost` in
    dollars as the target reports them; `breaker` failures in a row end the run. `context` names the stage that is the
    context too, where the target reports none."""

    operations: tuple[TargetOperation, ...]
    k: int = 10
    concurrency: int = 8
    deadline: float = 120.0
    attempts: int = 4
    breaker: int = 10
    retry_after_cap: float = RETRY_AFTER_CAP_SECONDS
    max_calls: int | None = None
    max_cost: float | None = None
    context: str | None = None


@dataclass(slots=True)
class ObservationTally:
    """What a run did: observations kept, those with an error or a null answer, calls made and those of them that failed
    and were repeated, dollars spent, and why it ended early."""

    total: int = 0
    done: int = 0
    failed: int = 0
    null_answers: int = 0
    calls: int = 0
    repeated: int = 0
    cost: float = 0.0
    halted: str = ""
    codes: dict[str, int] = field(default_factory=dict)


class ObservationRunner:
    """Observes the cases of one target; `stop` lets calls in progress finish and starts no more."""

    def __init__(
        self,
        target: Target,
        policy: ObservationLimits,
        sink: ObservationSink,
        clock: Clock | None = None,
        progress: ReportProgress | None = None,
        on_wait: Callable[[float], None] = lambda _: None,
    ) -> None:
        self.target, self.policy, self.sink = target, policy, sink
        self.clock = clock or Clock()
        self.tally = ObservationTally()
        self._progress = progress
        self._throttle = Throttle(policy.concurrency)
        self._attempts = RetryingCaller(
            RetryPolicy(policy.attempts, policy.retry_after_cap, gives_up=True),
            self.clock,
            self._throttle,
            self._may_call,
            lambda: bool(self.tally.halted),
            on_wait,
        )
        self._in_a_row = self._without_answer = 0
        self.notices = ReplyNotices()

    def stop(self, reason: str = "interrupted") -> None:
        """Start no more cases or retries. Calls in progress end by their deadline and are kept."""
        self.tally.halted = self.tally.halted or reason

    async def run(self, work: Iterable[ObservationTask]) -> ObservationTally:
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
        if self._without_answer:
            replies = format_count(self.tally.done - self.tally.failed, "reply", "replies")
            sentence = f"no answer was read from {self._without_answer} of {replies}"
            self.notices.add(f"{sentence} (response: {{answer: PATH}} in its settings)")
        return self.tally

    async def _work(self, queue: Iterator[ObservationTask]) -> None:
        while not self.tally.halted:
            ticket = await self._throttle.acquire_slot()
            try:
                work = None if self.tally.halted else next(queue, None)
                if work is None:
                    return
                observation = await self._observe(work, ticket)
            finally:
                self._throttle.release_slot()
            if observation is not None:
                self._keep(observation)

    def _keep(self, observation: Observation) -> None:
        stored = self.sink(observation)
        tally = self.tally
        tally.done += 1
        if stored.error is None and stored.answer is None:
            tally.null_answers += 1
        if stored.error is not None:
            tally.failed += 1
            tally.codes[stored.error.code] = tally.codes.get(stored.error.code, 0) + 1
            self._in_a_row += 1
            if self._in_a_row >= self.policy.breaker:
                self.stop("breaker")
        else:
            self._in_a_row = 0
            self._without_answer += "ask" in self.policy.operations and stored.answer is UNSET
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

    async def _observe(self, work: ObservationTask, ticket: int) -> Observation | None:
        """Do every operation of one case; None if the run was stopped before there was anything to store."""
        await self._attempts.wait_for_pause()
        deadline = self.clock.now() + self.policy.deadline
        observation = Observation(work.case.id, question=work.case.question)
        attempts: list[FailedAttempt] = []
        for operation in self.policy.operations:
            failures: list[tuple[CallError, FailedAttempt]] = []
            try:
                once = partial(self._call, work.case, operation, deadline, failures)
                reply = await self._attempts.run_with_retries(once, deadline, ticket)
            except CallError as error:
                attempts += [attempt for failure, attempt in failures if failure is not error]
                message = error.message + self._note_long_wait(error)
                message += describe_operations(operation, self.policy.operations)
                observation = structs.replace(observation, error=TargetError(error.code, message))
                break
            if reply is None:
                return None
            attempts += [attempt for _, attempt in failures]
            reply = add_failed_time(reply, [attempt for _, attempt in failures])
            observation = (
                reply if operation == self.policy.operations[0] else join_search_and_answer(observation, reply)
            )
        if self.policy.context is not None:
            observation = add_context_stage(observation, self.policy.context)
        self.tally.repeated += len(attempts)
        return structs.replace(
            observation, config_id=self.target.name, repeat=work.repeat, failed_attempts=tuple(attempts)
        )

    def _note_long_wait(self, error: CallError) -> str:
        """Stop the run if a target asks to wait too long; return what its message then says."""
        if error.retry_after is None or not self._attempts.policy.is_too_long(error):
            return ""
        self.stop("retry_after")
        cap = format_wait(self.policy.retry_after_cap)
        return f"; it asks to wait {format_wait(error.retry_after)} (Retry-After; run.retry_after_cap is {cap})"

    def _may_call(self) -> bool:
        if self.policy.max_calls is not None and self.tally.calls >= self.policy.max_calls:
            self.stop("max_calls")
            return False
        self.tally.calls += 1
        return True

    async def _call(
        self,
        case: Case,
        operation: TargetOperation,
        deadline: float,
        failures: list[tuple[CallError, FailedAttempt]],
    ) -> Observation:
        """Make one call. Raises CallError, which is added to `failures` with its time first."""
        start = self.clock.now()
        try:
            reply = await self._ask_once(case, operation, deadline - start)
        except CallError as error:
            failures.append((error, FailedAttempt(error.code, error.message, self._measure_since(start))))
            raise
        return with_elapsed_time(reply, self._measure_since(start))

    def _measure_since(self, start: float) -> float:
        return round((self.clock.now() - start) * 1000, 3)

    async def _ask_once(self, case: Case, operation: TargetOperation, seconds: float) -> Observation:
        try:
            async with asyncio.timeout(seconds):
                return await self.target.observe(TargetCall(case, operation, seconds, self.policy.k, self.notices))
        except TimeoutError:
            raise CallError("timeout", f"no reply to {operation} within {seconds:.1f} s") from None
        except (AssayError, CallError, OSError, MemoryError):
            raise
        except Exception as error:  # the last barrier: one reply must not end the run
            raise CallError(choose_error_code(error), describe_unforeseen(error)) from error


def describe_operations(failed: TargetOperation, operations: Sequence[TargetOperation]) -> str:
    """Return, for an error message, which of several operations failed and which were not tried after it.

    >>> describe_operations("search", ["search", "ask"]), describe_operations("ask", ["search", "ask"])
    (' (in search; ask was not called after it)', ' (in ask)')
    """
    if len(operations) == 1:
        return ""
    later = operations[operations.index(failed) + 1 :]
    return f" (in {failed}; {', '.join(later)} was not called after it)" if later else f" (in {failed})"


def with_elapsed_time(observation: Observation, milliseconds: float) -> Observation:
    """Return the observation with its measured time in milliseconds, unless the target reported one."""
    usage = observation.usage or Usage()
    if usage.end_to_end_ms is not None:
        return observation
    return structs.replace(observation, usage=structs.replace(usage, end_to_end_ms=milliseconds))


def add_failed_time(observation: Observation, attempts: Sequence[FailedAttempt]) -> Observation:
    """Return the observation with the time of the calls that failed before it: whoever asks waits for them too.

    The pauses between calls are those of Assay and not in it.
    """
    usage = observation.usage
    if not attempts or usage is None or usage.end_to_end_ms is None:
        return observation
    failed_ms = sum(attempt.elapsed_ms or 0.0 for attempt in attempts)
    whole_ms = round(usage.end_to_end_ms + failed_ms, 3)
    return structs.replace(observation, usage=structs.replace(usage, end_to_end_ms=whole_ms))


def join_search_and_answer(searched: Observation, answered: Observation) -> Observation:
    """Return one observation of a search and an answer: the search's ranking first, as the stage `search`.

    If the answer reports no stage of its own, all stages of the search are kept. Time is the answer's; cost is the sum.
    """
    rankings = searched.stages or ()
    if answered.stages is not None:
        candidates = [stage for stage in rankings if stage.name == SEARCH_STAGE]
        if not candidates:
            candidates = [stage for stage in rankings if stage.name != "context"]
        search_stages = [structs.replace(stage, name=SEARCH_STAGE) for stage in candidates[-1:]]
        rankings = (*search_stages, *answered.stages)
    usage, search_usage = answered.usage or Usage(), searched.usage or Usage()
    if usage.cost_usd is not None or search_usage.cost_usd is not None:
        usage = structs.replace(usage, cost_usd=(usage.cost_usd or 0.0) + (search_usage.cost_usd or 0.0))
    return structs.replace(
        answered, stages=tuple(rankings), usage=usage, versions=searched.versions | answered.versions
    )
