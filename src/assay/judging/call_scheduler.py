"""Schedules the requests to a judge: bounded concurrency, retries inside a deadline, votes on demand, hard caps.

A verdict is stored durably before it counts, and nothing is started once one cannot be stored. Concurrent changes to
the verdict store are committed in one transaction, outside the event loop. Clock, sleep and random numbers are
arguments, so that tests need none of them.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from queue import SimpleQueue
from threading import Thread
from typing import Any, Literal

from msgspec import structs

from assay.calls.interfaces import CallError, ClaimState, Judge, SampleKey, VerdictStore
from assay.calls.retry import Clock, RetryingCaller, RetryPolicy, Throttle
from assay.judging.billing import may_have_been_billed
from assay.judging.budget import CURRENT_RESERVATION, Budget, Reservation
from assay.records.errors import AssayError
from assay.records.unforeseen import choose_error_code, describe_unforeseen
from assay.records.verdicts import JudgeRequest, JudgeUsage, Verdict

GATHER_SECONDS = 0.001
"""Seconds in which operations join a group: each group costs a commit and two thread switches."""
StoreOperation = Literal["claim", "save", "release"]
QueuedOperation = tuple[StoreOperation, Any, "asyncio.Future[Any]"]


class GroupCommitter:
    """A front end to a store whose commits wait for the disk; a call returns when its group is committed."""

    def __init__(self, store: VerdictStore, lease: float) -> None:
        """`lease` is the number of seconds for which other processes honour a claim."""
        self._store, self._lease = store, lease
        self._waiting: list[QueuedOperation] = []
        self._writing: asyncio.Future[None] | None = None
        self._groups: SimpleQueue[list[QueuedOperation] | None] = SimpleQueue()

    async def __aenter__(self) -> GroupCommitter:
        self._thread = Thread(target=self._serve, args=(asyncio.get_running_loop(),), daemon=True)
        self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Wait for what is being written."""
        if self._writing is not None:
            await asyncio.wait([self._writing])
        self._groups.put(None)
        self._thread.join()

    async def claim(self, key: SampleKey) -> Verdict | ClaimState:
        """Return the recorded verdict, or who asks for it."""
        recorded: Verdict | ClaimState = await self._enqueue("claim", key)
        return recorded

    def save(self, verdict: Verdict) -> asyncio.Future[None]:
        """Begin to save a verdict; it is saved when the future is done. Later claims are not committed before it."""
        return self._enqueue("save", verdict)

    async def release(self, key: SampleKey) -> None:
        """Release a claim."""
        await self._enqueue("release", key)

    def _enqueue(self, act: StoreOperation, item: Any) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._waiting.append((act, item, future))
        if self._writing is None:
            self._writing = loop.create_future()
            loop.call_later(GATHER_SECONDS, self._write)
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

    def _deliver(self, group: list[QueuedOperation], results: list[Any], failure: Exception | None) -> None:
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

    def _apply(self, group: list[QueuedOperation]) -> list[Any]:
        """Apply a group in one transaction. Returns the results in the group's order."""
        items: dict[StoreOperation, list[Any]] = {"save": [], "release": [], "claim": []}
        for act, item, _ in group:
            items[act].append(item)
        try:
            with self._store.transaction():
                if items["save"]:
                    self._store.save(items["save"])
                if items["release"]:
                    self._store.release(items["release"])
                claimed = iter(self._store.claim(items["claim"], self._lease) if items["claim"] else ())
        except Exception:  # whatever the store raises
            if items["save"] and items["claim"]:  # save what was paid for even if the claims cannot be stored
                self._store.save(items["save"])
            raise
        return [next(claimed) if act == "claim" else None for act, _, _ in group]


ReportProgress = Callable[[int, int], None]
NeedsMoreVotes = Callable[[JudgeRequest, Sequence[Verdict]], bool]
"""Whether a request needs one more sample, given those that it has."""
BUSY_POLL_SECONDS = 0.05
"""Seconds until the store is checked again for a verdict that another process asks for."""
START_INTERVAL_SECONDS = 0.001
"""Seconds between the first calls: replies to simultaneous calls arrive together and then wait for each other."""
LEASE_MARGIN_SECONDS = 60.0
PERMANENT_FAILURES = frozenset({"quota", "http_401", "http_402", "http_403", "http_404"})
"""Failures that every further call would have too."""


@dataclass(frozen=True, slots=True)
class JudgingLimits:
    """`deadline`, in seconds, covers a sample with its retries; `breaker` unscored samples in a row end the judging."""

    concurrency: int = 16
    deadline: float = 120.0
    attempts: int = 6
    breaker: int = 20


@dataclass(slots=True)
class JudgingTally:
    """What a judging did: requests done, samples newly `asked` for and, by reason, those without a verdict (with the
    first message of each reason), samples `reused` from the store (also from other processes), why it ended early.

    Of both, `asked_controls` and `reused_controls` are controls and anchors. `first_calls` are the first calls for a
    sample and `retries` the further ones after an error; with the repetitions that the budget counts they add up to its
    calls. `given_up` samples were called for and have no outcome, because the judging was stopped.
    """

    total: int = 0
    done: int = 0
    asked: int = 0
    asked_controls: int = 0
    unscored: Counter[str] = field(default_factory=Counter)
    messages: dict[str, str] = field(default_factory=dict)
    reused: int = 0
    reused_controls: int = 0
    first_calls: int = 0
    retries: int = 0
    given_up: int = 0
    halted: str = ""

    @property
    def uncalled(self) -> int:
        """Samples with an outcome for which no call was made, such as those that a pause would have made too late."""
        return self.asked + self.given_up - self.first_calls


class JudgingRunner:
    """Asks one judge; `stop` lets calls in progress finish and starts no more."""

    def __init__(
        self,
        judge: Judge,
        store: VerdictStore,
        needs_more: NeedsMoreVotes,
        limits: JudgingLimits | None = None,
        budget: Budget | None = None,
        clock: Clock | None = None,
        progress: ReportProgress | None = None,
        *,
        retry_errors: bool = False,
    ) -> None:
        """`retry_errors`: samples that were paid for and gave no verdict are asked for, and paid for, again."""
        self.limits = limits or JudgingLimits()
        self.budget = budget or Budget()
        self.clock = clock or Clock()
        self.tally = JudgingTally()
        self.controls: frozenset[str] = frozenset()
        self.verdicts: dict[str, list[Verdict]] = {}
        self._judge, self._needs_more, self._progress = judge, needs_more, progress
        self._judge_digest = judge.identity.digest
        self._store, self._retry_errors = store, retry_errors
        self._throttle = Throttle(self.limits.concurrency)
        self._attempts = RetryingCaller(
            RetryPolicy(self.limits.attempts),
            self.clock,
            self._throttle,
            self._may_continue,
            lambda: not self._may_continue(),
        )
        self._in_a_row = 0
        self._failed_before: set[tuple[str, int]] = set()

    def stop(self, reason: str = "interrupted") -> None:
        """Start no more samples or retries. Calls in progress end by their deadline and are kept."""
        self.tally.halted = self.tally.halted or reason

    async def run(
        self, requests: Iterable[JudgeRequest], recorded_verdicts: Mapping[str, Sequence[Verdict]] | None = None
    ) -> dict[str, list[Verdict]]:
        """Return the samples of each request by its digest, in order; identical requests are asked once.

        A recorded sample that gave no verdict although it was paid for counts as it is, unless errors are retried.
        Requests with samples that are asked for again come last and, because it is known that they fail, do not count
        towards the breaker: otherwise it could stop each run before the new requests.

        `recorded_verdicts` are recorded samples by request. Raises the errors of the store; nothing is started after
        one.
        """
        by_digest = {request.digest: request for request in requests}
        self.tally.total += len(by_digest)
        self.verdicts = {name: [] for name in by_digest}
        settled: dict[tuple[str, int], Verdict] = {}
        for samples in (recorded_verdicts or {}).values():
            for sample in samples:
                if is_settled(sample, retry_errors=self._retry_errors):
                    settled[sample.request, sample.sample] = sample
                else:
                    self._failed_before.add((sample.request, sample.sample))
        failed_requests = {name for name, _ in self._failed_before}
        queue = deque(sorted(by_digest.items(), key=lambda item: item[0] in failed_requests))
        try:
            async with (
                GroupCommitter(self._store, self.limits.deadline + LEASE_MARGIN_SECONDS) as groups,
                asyncio.TaskGroup() as tasks,
            ):
                for worker in range(min(self.limits.concurrency, len(queue))):
                    if worker:
                        await self.clock.sleep(START_INTERVAL_SECONDS)
                    tasks.create_task(self._work(queue, settled, groups))
        except BaseExceptionGroup as failures:  # errors of the store: the first is enough, the others follow from it
            raise failures.exceptions[0] from None
        return self.verdicts

    async def _work(
        self,
        queue: deque[tuple[str, JudgeRequest]],
        recorded: Mapping[tuple[str, int], Verdict],
        groups: GroupCommitter,
    ) -> None:
        pending = _Pending()
        while queue and not self.tally.halted:
            name, request = queue.popleft()
            outcome = await self._take_samples(name, request, recorded, groups, pending)
            if outcome is ClaimState.BUSY:  # another process asks: continue with the other requests first
                queue.append((name, request))
                await self._wait_committed(pending)
                await self.clock.sleep(BUSY_POLL_SECONDS)
        await self._wait_committed(pending)

    async def _take_samples(
        self,
        name: str,
        request: JudgeRequest,
        recorded: Mapping[tuple[str, int], Verdict],
        groups: GroupCommitter,
        pending: _Pending,
    ) -> Verdict | ClaimState | None:
        """Take samples of one request while more are needed; returns the last one, or why there is none."""
        samples = self.verdicts[name]
        outcome: Verdict | ClaimState | None = None
        while self._needs_more(request, samples):
            outcome = recorded.get((name, len(samples)))
            if outcome is None:
                outcome = await self._take_sample(name, request, len(samples), groups, pending)
            else:
                self._count_reused(name)
            if not isinstance(outcome, Verdict):
                return outcome
            samples.append(outcome)
        pending.finished += 1
        if pending.saving is None:
            await self._wait_committed(pending)
        return outcome

    async def _take_sample(
        self, name: str, request: JudgeRequest, sample: int, groups: GroupCommitter, pending: _Pending
    ) -> Verdict | ClaimState | None:
        """Return one sample, BUSY if another process asks for it, None if the judging was stopped.

        Its verdict is committed together with the next claim of this worker, before the call of that claim.
        """
        ticket = await self._throttle.acquire_slot()
        try:
            if self.tally.halted:
                return None
            key: SampleKey = (name, self._judge_digest, sample)
            claimed = await groups.claim(key)
            await self._wait_committed(pending)
            if isinstance(claimed, Verdict):
                self._count_reused(name)
                return claimed
            if claimed is ClaimState.BUSY:
                return ClaimState.BUSY
            verdict = await self._ask_or_report(request, key, ticket)
            if verdict is None:
                await groups.release(key)
                return None
            pending.saving = verdict, groups.save(verdict)
        finally:
            self._throttle.release_slot()
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

    async def _ask_or_report(self, request: JudgeRequest, key: SampleKey, ticket: int) -> Verdict | None:
        """Ask for one sample; an exception that nobody foresaw becomes the error of this sample alone."""
        try:
            return await self._ask(request, key, ticket)
        except (AssayError, OSError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001  # the last barrier: one request must not end the judging
            return _failed(request, key, CallError(choose_error_code(error), describe_unforeseen(error)), 0)

    async def _ask(self, request: JudgeRequest, key: SampleKey, ticket: int) -> Verdict | None:
        @cache  # computed on first use: it takes time, and without a cap it is not needed
        def estimate() -> tuple[int, int]:
            return self._judge.estimate(request)

        await self.budget.wait_for_room(
            estimate
        )  # before the deadline starts: waiting for the budget is not part of it
        await self._attempts.wait_for_pause()
        deadline = self.clock.now() + self.limits.deadline
        calls = 0

        async def once() -> Verdict:
            nonlocal calls
            reserved = await self._reserve(estimate, is_retry=calls > 0)
            calls += 1
            return await self._call(request, key[2], deadline, reserved)

        try:
            verdict = await self._attempts.run_with_retries(once, deadline, ticket)
        except CallError as error:
            if error.code == "budget":
                self.tally.given_up += calls > 0
                self.stop(self.budget.reached_cap)
                return None
            if error.code in PERMANENT_FAILURES:
                self.stop(error.code)
            return _failed(request, key, error, calls)
        if verdict is None:
            self.tally.given_up += calls > 0
        if verdict is None or calls == 1:
            return verdict
        usage = structs.replace(verdict.usage, attempts=verdict.usage.attempts + calls - 1)
        return structs.replace(verdict, usage=usage)

    async def _reserve(self, estimate: Callable[[], tuple[int, int]], *, is_retry: bool) -> Reservation:
        """Return the reservation of one call, and count it; raises CallError, code budget, if it exceeds a cap."""
        reserved = await self.budget.reserve(estimate)
        if reserved is None:
            raise CallError("budget", f"{self.budget.reached_cap} is reached")
        self.tally.retries += is_retry
        self.tally.first_calls += not is_retry
        return reserved

    async def _call(self, request: JudgeRequest, sample: int, deadline: float, reserved: Reservation) -> Verdict:
        token = CURRENT_RESERVATION.set(reserved)
        try:
            verdict = await self._ask_within(request, sample, deadline)
        except CallError as error:
            self.budget.settle_failure(reserved, error.code)
            raise
        except BaseException:  # also when it is cancelled: the reservation must not stay open
            self.budget.settle_failure(reserved, "timeout")
            raise
        finally:
            CURRENT_RESERVATION.reset(token)
        self.budget.settle_reservation(reserved, verdict.usage)
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
        except (AssayError, CallError, OSError, MemoryError):
            raise
        except Exception as error:  # the last barrier: one reply must not end the judging
            raise CallError(choose_error_code(error), describe_unforeseen(error)) from error

    def _count_reused(self, request: str) -> None:
        self.tally.reused += 1
        self.tally.reused_controls += request in self.controls

    def _count(self, verdict: Verdict) -> None:
        self.tally.asked += 1
        self.tally.asked_controls += verdict.request in self.controls
        if verdict.unscored is None:
            self._in_a_row = 0
            return
        self.tally.unscored[verdict.unscored] += 1
        self.tally.messages.setdefault(verdict.unscored, verdict.message)
        if (verdict.request, verdict.sample) in self._failed_before:
            return
        self._in_a_row += 1
        if self._in_a_row >= self.limits.breaker:
            self.stop("breaker")


def is_settled(sample: Verdict, *, retry_errors: bool) -> bool:
    """Return whether a recorded sample is not asked for again: it has labels, or it was paid for and may not be again.

    Samples that the endpoint refused without doing the work (a wrong key, an exhausted quota) are never settled.
    """
    return sample.unscored is None or (not retry_errors and may_have_been_billed(sample))


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
