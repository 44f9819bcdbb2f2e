"""The runner: what it retries, how long it waits, when it stops; time and chance are fakes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from assay.calls.interfaces import CallError, TargetCall, TargetOperation
from assay.calls.retry import TRANSIENT_CODES, Clock
from assay.records.errors import IncompleteError
from assay.records.golden_set import Case
from assay.records.observations import Chunk, Observation, Stage, Usage
from assay.runs.observation_runner import (
    ObservationLimits,
    ObservationRunner,
    ObservationSink,
    ObservationTally,
    ObservationTask,
    join_search_and_answer,
)

ASK = ObservationLimits(("ask",), concurrency=1)


class FakeTime:
    """A clock that moves only when somebody sleeps, and remembers for how long."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds
        await asyncio.sleep(0)

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.now, self.sleep, lambda: 1.0)


class Scripted:
    """A target that does what a function of the call's number and case says."""

    operations: tuple[TargetOperation, ...] = ("ask",)

    def __init__(self, script: Callable[[int, TargetCall], Observation | Exception]) -> None:
        self.name = "system"
        self.script = script
        self.calls: list[TargetCall] = []
        self.active = self.most = 0

    async def identity(self) -> dict[str, Any]:
        return {}

    async def observe(self, call: TargetCall) -> Observation:
        self.calls.append(call)
        self.active += 1
        self.most = max(self.most, self.active)
        await asyncio.sleep(0)
        self.active -= 1
        done = self.script(len(self.calls), call)
        if isinstance(done, Exception):
            raise done
        return done

    async def aclose(self) -> None: ...


def good(call: TargetCall, **fields: Any) -> Observation:
    return Observation(call.case.id, answer="yes", usage=Usage(end_to_end_ms=1.0, **fields))


def into(kept: list[Observation]) -> ObservationSink:
    def sink(observation: Observation) -> Observation:
        kept.append(observation)
        return observation

    return sink


def run(
    script: Callable[[int, TargetCall], Observation | Exception],
    cases: int = 1,
    policy: ObservationLimits = ASK,
    time: FakeTime | None = None,
) -> tuple[list[Observation], ObservationTally, Scripted]:
    observations: list[Observation] = []
    target = Scripted(script)
    runner = ObservationRunner(target, policy, into(observations), (time or FakeTime()).clock)
    tally = asyncio.run(runner.run([ObservationTask(Case(f"c{number}", "q")) for number in range(cases)]))
    return observations, tally, target


CODES = {
    **dict.fromkeys(sorted(TRANSIENT_CODES), 4),
    **dict.fromkeys(["http_400", "http_401", "http_404", "http_501", "quota", "tls", "schema", "protocol"], 1),
    **dict.fromkeys(["too_large", "id_mismatch", "tool_error", "exception", "redirect"], 1),
}


@pytest.mark.parametrize(("code", "calls"), CODES.items())
def test_only_errors_that_may_pass_are_tried_again(code: str, calls: int) -> None:
    kept, tally, target = run(lambda number, call: CallError(code, "no"))
    assert calls == len(target.calls) == tally.calls
    assert kept[0].error is not None
    assert (code, 1, 1) == (kept[0].error.code, tally.done, tally.failed)


def test_waits_double_and_success_ends_them() -> None:
    time = FakeTime()
    kept, _, _ = run(lambda n, call: CallError("http_500", "") if n < 4 else good(call), time=time)
    assert [0.5, 1.0, 2.0] == time.slept  # the jitter of 1 leaves the whole of each
    assert None is kept[0].error


@pytest.mark.parametrize(
    ("said", "waits"),
    [(7.0, [7.0]), (1e9, []), (0.0, [0.0]), (None, [0.5])],
    ids=["a time", "an absurd time: beyond the deadline", "at once", "none"],
)
def test_target_says_when_to_come_back(said: float | None, waits: list[float]) -> None:
    time = FakeTime()
    policy = ObservationLimits(("ask",), concurrency=1, retry_after_cap=200.0)
    run(lambda n, call: CallError("http_429", "", said) if n == 1 else good(call), policy=policy, time=time)
    assert waits == time.slept


@pytest.mark.parametrize(("asked", "told"), [(5400.0, "1.5 h"), (61.0, "61 s"), (86400.0, "24 h")])
def test_a_time_to_come_back_beyond_the_cap_stops_the_run_at_once_and_is_named(asked: float, told: str) -> None:
    time = FakeTime()
    policy = ObservationLimits(("ask",), concurrency=1, deadline=7200.0)
    kept, tally, target = run(lambda n, call: CallError("http_429", "slow down", asked), 5, policy, time)
    assert ([], 1, "retry_after") == (time.slept, len(target.calls), tally.halted)
    assert kept[0].error is not None
    expected = f"slow down; it asks to wait {told} (Retry-After; run.retry_after_cap is 60 s)"
    assert ("http_429", expected) == (kept[0].error.code, kept[0].error.message)


@pytest.mark.parametrize(("asked", "expected"), [(20.0, [20.0]), (0.5, [])])
def test_a_pause_is_told_when_it_begins_unless_it_is_short(asked: float, expected: list[float]) -> None:
    pauses: list[float] = []
    target = Scripted(lambda n, call: CallError("http_429", "", asked) if n == 1 else good(call))
    limits = ObservationLimits(("ask",), concurrency=1)
    runner = ObservationRunner(target, limits, into([]), FakeTime().clock, on_wait=pauses.append)
    asyncio.run(runner.run([ObservationTask(Case(f"c{n}", "q")) for n in range(3)]))
    assert expected == pauses


def test_everybody_waits_when_one_is_told_to() -> None:
    time = FakeTime()
    policy = ObservationLimits(("ask",), concurrency=2)
    kept, _, target = run(lambda n, call: CallError("http_429", "", 10.0) if n <= 2 else good(call), 3, policy, time)
    assert {10.0} == set(time.slept)
    assert 5 == len(target.calls)
    assert [None] * 3 == [observation.error for observation in kept]


def test_deadline_covers_a_case_with_all_its_retries() -> None:
    policy = ObservationLimits(("ask",), concurrency=1, deadline=2.0, attempts=20)
    time = FakeTime()
    kept, _, target = run(lambda n, call: CallError("http_503", ""), policy=policy, time=time)
    assert [0.5, 1.0] == time.slept  # a third wait of 2 s would end after the deadline
    assert [2.0, 1.5, 0.5] == [call.seconds for call in target.calls]
    assert kept[0].error is not None


def test_call_that_hangs_is_given_up_at_the_deadline() -> None:
    class Hanging(Scripted):
        async def observe(self, call: TargetCall) -> Observation:
            await asyncio.sleep(30)
            raise AssertionError

    observations: list[Observation] = []
    target = Hanging(lambda n, call: good(call))
    runner = ObservationRunner(target, ObservationLimits(("ask",), deadline=0.05), into(observations))
    asyncio.run(runner.run([ObservationTask(Case("c", "q"))]))
    assert observations[0].error is not None
    assert "timeout" == observations[0].error.code


def test_breaker_ends_the_run_after_failures_in_a_row_and_a_success_resets_it() -> None:
    policy = ObservationLimits(("ask",), concurrency=1, breaker=3)
    kept, tally, _ = run(lambda n, call: good(call) if n == 3 else CallError("schema", ""), 20, policy)
    assert (6, "breaker", {"schema": 5}) == (len(kept), tally.halted, tally.codes)


def test_number_of_calls_is_never_exceeded_retries_included() -> None:
    policy = ObservationLimits(("ask",), concurrency=4, max_calls=10)
    _, tally, target = run(lambda n, call: CallError("http_500", "") if n % 2 else good(call), 50, policy)
    assert (10, 10, "max_calls") == (len(target.calls), tally.calls, tally.halted)


def test_spending_ends_the_run_once_the_sum_is_reached() -> None:
    policy = ObservationLimits(("ask",), concurrency=1, max_cost=1.0)
    kept, tally, _ = run(lambda n, call: good(call, cost_usd=0.4), 50, policy)
    assert (3, "max_cost") == (len(kept), tally.halted)


def test_spending_limit_without_reported_costs_ends_the_run_at_once() -> None:
    kept, tally, _ = run(lambda n, call: good(call), 50, ObservationLimits(("ask",), concurrency=1, max_cost=1.0))
    assert (1, "cost_unknown") == (len(kept), tally.halted)


def test_calls_under_way_stay_within_the_limit_and_fall_on_overload() -> None:
    policy = ObservationLimits(("ask",), concurrency=8)
    _, _, target = run(lambda n, call: good(call), 100, policy)
    assert 8 == target.most
    runner = ObservationRunner(target, policy, lambda seen: seen)
    ticket = 0

    async def overload() -> float:
        nonlocal ticket
        tickets = [await runner._throttle.acquire_slot() for _ in range(8)]
        for each in tickets:  # one burst: eight signs of the same overload
            runner._throttle.record_overload(each)
        return runner._throttle.allowed_slots

    assert 4.0 == asyncio.run(overload())


def test_stop_lets_what_is_under_way_finish_and_begins_nothing_more() -> None:
    observations: list[Observation] = []

    def script(number: int, call: TargetCall) -> Observation:
        if number == 3:
            runner.stop()
        return good(call)

    target = Scripted(script)
    runner = ObservationRunner(target, ObservationLimits(("ask",), concurrency=3), into(observations), FakeTime().clock)
    tally = asyncio.run(runner.run([ObservationTask(Case(f"c{number}", "q")) for number in range(50)]))
    assert ("interrupted", len(target.calls)) == (tally.halted, len(observations))
    assert len(observations) <= 5


def test_stop_ends_retries_without_keeping_the_error() -> None:
    def script(number: int, call: TargetCall) -> Exception:
        runner.stop()
        return CallError("http_500", "")

    observations: list[Observation] = []
    runner = ObservationRunner(Scripted(script), ASK, into(observations), FakeTime().clock)
    asyncio.run(runner.run([ObservationTask(Case("c", "q"))]))
    assert [] == observations


def test_no_call_follows_a_failure_to_keep() -> None:
    def sink(observation: Observation) -> Observation:
        raise IncompleteError("disk full")

    target = Scripted(lambda n, call: good(call))
    runner = ObservationRunner(target, ASK, sink, FakeTime().clock)
    with pytest.raises(IncompleteError, match="disk full"):
        asyncio.run(runner.run([ObservationTask(Case(f"c{number}", "q")) for number in range(5)]))
    assert 1 == len(target.calls)


def ranking(name: str, *ids: str) -> Stage:
    return Stage(name, tuple(Chunk(each) for each in ids))


def test_search_is_the_first_stage_beside_those_of_the_answer() -> None:
    searched = Observation("c", stages=(ranking("dense", "x"), ranking("search", "a"), ranking("context", "a")))
    asked = Observation("c", answer="yes", stages=(ranking("retrieved", "b"), ranking("context", "b")))
    stages = join_search_and_answer(searched, asked).stages or ()
    assert ["search", "retrieved", "context"] == [stage.name for stage in stages]
    assert "a" == stages[0].chunks[0].chunk_id


def test_stages_of_the_search_stand_for_an_answer_without_any() -> None:
    searched = Observation("c", stages=(ranking("search", "a"),), usage=Usage(cost_usd=0.25))
    joined = join_search_and_answer(searched, Observation("c", answer="yes", usage=Usage(cost_usd=0.5)))
    assert (searched.stages, "yes", 0.75) == (joined.stages, joined.answer, (joined.usage or Usage()).cost_usd)


def test_answer_that_fails_keeps_the_ranking_of_the_search() -> None:
    class Both(Scripted):
        async def observe(self, call: TargetCall) -> Observation:
            if call.operation == "ask":
                raise CallError("http_400", "no")
            return Observation(call.case.id, stages=(ranking("search", "a"),))

    observations: list[Observation] = []
    target = Both(lambda n, call: good(call))
    runner = ObservationRunner(target, ObservationLimits(("search", "ask")), into(observations), FakeTime().clock)
    asyncio.run(runner.run([ObservationTask(Case("c", "q"))]))
    assert observations[0].error is not None
    assert ("http_400", (ranking("search", "a"),)) == (observations[0].error.code, observations[0].stages)


def test_a_pause_longer_than_the_deadline_fails_one_case_and_not_the_run() -> None:
    limits = ObservationLimits(("ask",), concurrency=1, deadline=10.0, retry_after_cap=60.0, breaker=3)

    def overloaded_once(number: int, call: TargetCall) -> Observation | Exception:
        return CallError("http_429", "slow down", 60.0) if number == 1 else good(call)

    kept, tally, target = run(overloaded_once, cases=12, policy=limits)
    assert ["http_429"] == [observation.error.code for observation in kept if observation.error is not None]
    assert (12, 12, "") == (len(kept), len(target.calls), tally.halted)


@pytest.mark.provokes_bug
def test_an_unforeseen_exception_is_the_error_of_its_case() -> None:
    kept, tally, _ = run(lambda number, call: KeyError("odd") if number == 2 else good(call), cases=4)
    errors = [observation.error for observation in kept if observation.error is not None]
    assert ["assay_bug"] == [error.code for error in errors]
    assert "KeyError" in errors[0].message
    assert "please report this line" in errors[0].message
    assert (4, "") == (len(kept), tally.halted)
