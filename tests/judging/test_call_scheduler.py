"""The judging driver: what it retries, how many votes it takes, when it stops; time and chance are fakes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from tests.runs.test_observation_runner import FakeTime
from tests.support.scripted_judge import (
    QUESTIONS,
    MemoryStore,
    ScriptedJudge,
    fail_first,
    need_votes,
    run_scripted_judge,
)
from tests.support.verdicts import JUDGE, make_request, make_unscored, make_verdict

from assay.calls.interfaces import CallError, ClaimState, SampleKey
from assay.judging.budget import Budget, BudgetCaps
from assay.judging.call_scheduler import JudgingLimits, JudgingRunner
from assay.records.errors import IncompleteError
from assay.records.verdicts import JudgeRequest, Verdict

# ── what is asked ────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_request_is_asked_once_and_kept() -> None:
    judge, store = ScriptedJudge(), MemoryStore()
    runner = run_scripted_judge(judge, QUESTIONS, JudgingLimits(concurrency=8), store)
    assert [(f"q{number}", 0) for number in range(40)] == sorted(judge.calls, key=lambda call: int(call[0][1:]))
    assert {each.digest: [make_verdict(each)] for each in QUESTIONS} == runner.verdicts
    assert (40, 40, 40, 0) == (runner.tally.total, runner.tally.done, runner.tally.asked, len(store.open))


def test_identical_requests_are_asked_once() -> None:
    judge = ScriptedJudge()
    run_scripted_judge(judge, [QUESTIONS[0], make_request("q0"), QUESTIONS[0]])
    assert [("q0", 0)] == judge.calls


@pytest.mark.parametrize(
    ("retry_errors", "calls", "reused"),
    [
        (False, [("q0", 1), ("q1", 1), ("q2", 0)], 3),
        (True, [("q0", 1), ("q2", 0), ("q1", 0), ("q1", 1)], 2),  # what failed before comes last
    ],
)
def test_nothing_is_paid_for_twice_unless_errors_are_retried(
    retry_errors: bool, calls: list[tuple[str, int]], reused: int
) -> None:
    judge = ScriptedJudge()
    one, two, three = QUESTIONS[:3]
    recorded = {
        one.digest: [make_verdict(one)],
        two.digest: [make_unscored(two)],
        three.digest: [make_verdict(three, 1)],
    }
    runner = run_scripted_judge(
        judge, [one, two, three], known=recorded, needs_more=need_votes(2), retry_errors=retry_errors
    )
    assert calls == judge.calls
    assert [[0, 1]] * 3 == [[each.sample for each in samples] for samples in runner.verdicts.values()]
    assert reused == runner.tally.reused


@pytest.mark.parametrize(
    ("reason", "message", "is_asked_again"),
    [
        ("provider", "http_401: no such key", True),
        ("provider", "rate_limited: too many calls", True),
        ("provider", "connection: closed in the middle of the reply", False),
        ("deadline", "timeout: no verdict within 120 s", False),
        ("canary", "the judge did what the data told it to do", False),
    ],
)
def test_only_failures_that_cost_nothing_are_asked_again_unbidden(
    reason: str, message: str, is_asked_again: bool
) -> None:
    judge = ScriptedJudge()
    failed = replace(make_unscored(QUESTIONS[0], reason=reason), message=message)
    run_scripted_judge(judge, QUESTIONS[:1], known={QUESTIONS[0].digest: [failed]})
    assert is_asked_again == bool(judge.calls)


@pytest.mark.provokes_bug
def test_exception_that_nobody_foresaw_is_the_error_of_one_request() -> None:
    class Odd(ScriptedJudge):
        def estimate(self, request: JudgeRequest) -> tuple[int, int]:
            return super().estimate(request) if request is not QUESTIONS[1] else (1, dict[str, int]()["tokens"])

    runner = run_scripted_judge(Odd(), QUESTIONS[:3], budget=Budget(BudgetCaps(tokens=10_000)))
    samples = [runner.verdicts[request.digest][0] for request in QUESTIONS[:3]]
    assert [None, "provider", None] == [sample.unscored for sample in samples]
    assert samples[1].message.startswith("assay_bug: KeyError")
    assert "please report this line" in samples[1].message


def test_no_more_votes_are_taken_than_are_needed() -> None:
    """One vote where it is clear, three where the first is `no`."""
    judge = ScriptedJudge(
        lambda _, asked, sample: make_verdict(asked, sample, "no" if asked is QUESTIONS[1] else "yes")
    )

    def needs_more(_: JudgeRequest, samples: Sequence[Verdict]) -> bool:
        return not samples or (samples[0].items[0].label == "no" and len(samples) < 3)

    run_scripted_judge(judge, QUESTIONS[:2], needs_more=needs_more)
    assert [("q0", 0), ("q1", 0), ("q1", 1), ("q1", 2)] == judge.calls


def test_no_more_calls_are_under_way_than_allowed() -> None:
    judge = ScriptedJudge()
    run_scripted_judge(judge, QUESTIONS, JudgingLimits(concurrency=5))
    assert 5 == judge.most


def test_verdict_that_another_process_makes_is_waited_for() -> None:
    judge, store, time = ScriptedJudge(), MemoryStore(busy=3), FakeTime()
    store.kept[QUESTIONS[0].digest, JUDGE.digest, 0] = make_verdict(QUESTIONS[0])
    runner = run_scripted_judge(judge, store=store, time=time)
    assert ([], [0.05] * 3) == (judge.calls, time.slept)
    assert ([make_verdict(QUESTIONS[0])], 1) == (runner.verdicts[QUESTIONS[0].digest], runner.tally.reused)


# ── what fails ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("code", ["rate_limited", "http_503", "http_529", "http_500", "timeout", "connection"])
def test_what_may_pass_is_tried_again_and_only_the_verdict_counts(code: str) -> None:
    judge = ScriptedJudge(fail_first(code, 2))
    runner = run_scripted_judge(judge)
    (found,) = runner.verdicts[QUESTIONS[0].digest]
    assert (3, None, 3, 2) == (len(judge.calls), found.unscored, found.usage.attempts, runner.tally.retries)


@pytest.mark.parametrize("code", ["http_400", "http_422", "tls", "protocol", "too_large"])
def test_what_will_not_pass_is_recorded_as_unscored_at_once(code: str) -> None:
    judge, store = ScriptedJudge(fail_first(code, 9)), MemoryStore()
    run_scripted_judge(judge, store=store)
    (kept,) = store.kept.values()
    assert (1, "provider", f"{code}: no", "support@1") == (len(judge.calls), kept.unscored, kept.message, kept.rubric)


@pytest.mark.parametrize("code", ["quota", "http_401", "http_403", "http_404"])
def test_what_every_call_would_meet_stops_the_judging(code: str) -> None:
    judge = ScriptedJudge(fail_first(code, 99))
    runner = run_scripted_judge(judge, QUESTIONS)
    assert (1, code) == (len(judge.calls), runner.tally.halted)


def test_waiting_time_that_the_endpoint_names_is_kept_and_capped() -> None:
    time = FakeTime()
    run_scripted_judge(ScriptedJudge(fail_first("rate_limited", 1, 7.0)), time=time)
    assert [7.0] == time.slept
    time = FakeTime()
    run_scripted_judge(ScriptedJudge(fail_first("rate_limited", 1, 9999.0)), time=time)
    assert [60.0] == time.slept


def test_waiting_doubles_where_the_endpoint_names_no_time() -> None:
    time = FakeTime()
    run_scripted_judge(ScriptedJudge(fail_first("http_500", 4)), time=time)
    assert [0.5, 1.0, 2.0, 4.0] == time.slept


def test_deadline_ends_the_retries() -> None:
    judge, store, time = ScriptedJudge(fail_first("http_503", 99, 50.0)), MemoryStore(), FakeTime()
    run_scripted_judge(judge, limits=JudgingLimits(1, deadline=120.0, attempts=20), store=store, time=time)
    (kept,) = store.kept.values()
    assert (3, [50.0, 50.0], "provider") == (len(judge.calls), time.slept, kept.unscored)


def test_judge_that_never_replies_is_unscored_for_its_deadline() -> None:
    class Silent(ScriptedJudge):
        async def ask(self, request: JudgeRequest, sample: int) -> Verdict:
            await asyncio.Event().wait()
            raise AssertionError

    store = MemoryStore()
    run_scripted_judge(Silent(), limits=JudgingLimits(1, deadline=0.01, attempts=1), store=store)
    assert ["deadline"] == [kept.unscored for kept in store.kept.values()]


def test_overload_halves_the_calls_under_way_and_they_grow_again() -> None:
    judge = ScriptedJudge(fail_first("http_429", 8))
    runner = JudgingRunner(judge, MemoryStore(), need_votes(1), JudgingLimits(8), None, FakeTime().clock)
    limits = []
    whole = runner._throttle.record_overload

    def overloaded(ticket: int) -> None:
        whole(ticket)
        limits.append(runner._throttle.allowed_slots)

    runner._throttle.record_overload = overloaded  # type: ignore[method-assign]
    asyncio.run(runner.run(QUESTIONS))
    assert [4.0] * 8 == limits  # one burst is one sign
    assert 4.0 < runner._throttle.allowed_slots <= 8.0
    assert 40 == runner.tally.done


def test_samples_without_a_verdict_in_a_row_end_the_judging() -> None:
    judge = ScriptedJudge(lambda _, asked, sample: make_unscored(asked, sample))
    runner = run_scripted_judge(judge, QUESTIONS, JudgingLimits(1, breaker=7))
    assert (7, "breaker", {"judge_parse": 7}) == (len(judge.calls), runner.tally.halted, dict(runner.tally.unscored))


def test_scored_sample_between_others_keeps_the_judging_going() -> None:
    judge = ScriptedJudge(
        lambda call, asked, sample: make_verdict(asked, sample) if call % 5 == 0 else make_unscored(asked, sample)
    )
    assert "" == run_scripted_judge(judge, QUESTIONS, JudgingLimits(1, breaker=5)).tally.halted


def test_nothing_is_asked_after_a_verdict_could_not_be_kept() -> None:
    judge = ScriptedJudge()
    with pytest.raises(IncompleteError, match="disk is full"):
        run_scripted_judge(judge, QUESTIONS, JudgingLimits(4), MemoryStore(full_at=6))
    assert len(judge.calls) <= 5 + 4


def test_nothing_is_asked_where_no_intent_can_be_written() -> None:
    class Full(MemoryStore):
        def claim(self, keys: Sequence[SampleKey], seconds: float) -> list[Verdict | ClaimState]:
            raise IncompleteError("store: disk is full")

    judge = ScriptedJudge()
    with pytest.raises(IncompleteError, match="disk is full"):
        run_scripted_judge(judge, QUESTIONS, JudgingLimits(4), Full())
    assert [] == judge.calls


def test_stop_keeps_what_is_under_way_and_begins_nothing_more() -> None:
    store = MemoryStore()
    runner: list[JudgingRunner] = []

    def script(call: int, asked: JudgeRequest, sample: int) -> Verdict | Exception:
        if call == 5:
            runner[0].stop()
        return make_verdict(asked, sample)

    judge = ScriptedJudge(script)
    runner.append(JudgingRunner(judge, store, need_votes(1), JudgingLimits(4), None, FakeTime().clock))
    asyncio.run(runner[0].run(QUESTIONS))
    assert "interrupted" == runner[0].tally.halted
    assert 5 <= len(judge.calls) == len(store.kept) == runner[0].tally.done <= 8
    assert set() == store.open


def test_stop_ends_retries_without_a_record() -> None:
    store = MemoryStore()
    runner: list[JudgingRunner] = []

    def script(call: int, asked: JudgeRequest, sample: int) -> Verdict | Exception:
        runner[0].stop()
        return CallError("http_503", "no")

    judge = ScriptedJudge(script)
    runner.append(JudgingRunner(judge, store, need_votes(1), JudgingLimits(1), None, FakeTime().clock))
    asyncio.run(runner[0].run(QUESTIONS))
    assert (1, {}, set()) == (len(judge.calls), store.kept, store.open)


def test_requests_that_failed_before_come_last_and_do_not_trip_the_breaker() -> None:
    """Thirty of forty requests fail for ever; an interrupted run knows of 25 of them."""
    hopeless = {request.digest for request in QUESTIONS[:30]}

    def script(_: int, asked: JudgeRequest, sample: int) -> Verdict:
        return make_unscored(asked) if asked.digest in hopeless else make_verdict(asked, sample)

    judge = ScriptedJudge(script)
    recorded = {request.digest: [make_unscored(request)] for request in QUESTIONS[:25]}
    limits = JudgingLimits(1, breaker=20)
    runner = run_scripted_judge(judge, QUESTIONS, limits, known=recorded, retry_errors=True)
    assert "" == runner.tally.halted
    order = [name for name, _ in judge.calls]
    assert {f"q{number}" for number in range(25, 40)} == set(order[:15])
    assert all(runner.verdicts[request.digest][0].unscored is None for request in QUESTIONS[30:])


def test_a_pause_longer_than_the_deadline_does_not_end_the_judging() -> None:
    judge = ScriptedJudge(fail_first("http_429", 1, 50.0))
    runner = run_scripted_judge(judge, QUESTIONS, JudgingLimits(1, deadline=10.0, breaker=3))
    assert ("", 40) == (runner.tally.halted, runner.tally.asked)
    assert {"provider": 1} == dict(runner.tally.unscored)
