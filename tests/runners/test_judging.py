"""The judging driver: what it retries, how many votes it takes, when it stops; time and chance are fakes."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence

import pytest
from msgspec import structs
from tests.runners.test_local import FakeTime
from tests.support.verdicts import JUDGE, request, unscored, verdict

from assay.errors import IncompleteError
from assay.ports import CallError, SampleKey, Turn
from assay.runners.budget import Budget, Caps, Price
from assay.runners.judging import JudgingRunner, Limits, NeedsMore
from assay.verdict import JudgeRequest, JudgeUsage, Verdict

Script = Callable[[int, JudgeRequest, int], Verdict | Exception]
ONE_AT_A_TIME = Limits(concurrency=1)
QUESTIONS = [request(f"q{number}") for number in range(40)]


class Scripted:
    """A judge that does what a function of the call's number, the request and the sample says."""

    identity = JUDGE

    def __init__(self, script: Script | None = None) -> None:
        self.script = script or (lambda _, asked, sample: verdict(asked, sample))
        self.calls: list[tuple[str, int]] = []
        self.active = self.most = 0

    async def ask(self, request: JudgeRequest, sample: int) -> Verdict:
        self.calls.append((str(request.inputs["answer"]), sample))
        number = len(self.calls)
        self.active += 1
        self.most = max(self.most, self.active)
        await asyncio.sleep(0)
        self.active -= 1
        done = self.script(number, request, sample)
        if isinstance(done, Exception):
            raise done
        return done

    def estimate(self, request: JudgeRequest) -> tuple[int, int]:
        return 100, 10

    async def aclose(self) -> None: ...


class Store:
    """A store in memory; `full_at`: the save that fails as on a full disk."""

    def __init__(self, full_at: float = math.inf, busy: int = 0) -> None:
        self.kept: dict[SampleKey, Verdict] = {}
        self.claims: list[SampleKey] = []
        self.open: set[SampleKey] = set()
        self.full_at, self.busy, self.saved = full_at, busy, 0

    def claim(self, keys: Sequence[SampleKey], seconds: float) -> list[Verdict | Turn]:
        found: list[Verdict | Turn] = []
        for key in keys:
            kept = self.kept.get(key)
            if self.busy:
                self.busy -= 1
                found.append(Turn.BUSY)
            elif kept is not None and kept.unscored is None:
                found.append(kept)
            else:
                self.claims.append(key)
                self.open.add(key)
                found.append(Turn.MINE)
        return found

    def save(self, verdicts: Sequence[Verdict]) -> None:
        for each in verdicts:
            self.saved += 1
            if self.saved >= self.full_at:
                raise IncompleteError("book: disk is full")
            key = (each.request, each.judge, each.sample)
            self.kept[key] = each
            self.open.discard(key)

    def release(self, keys: Sequence[SampleKey]) -> None:
        self.open -= set(keys)


def votes(count: int) -> NeedsMore:
    return lambda _, samples: len(samples) < count


def judged(
    judge: Scripted,
    requests: Sequence[JudgeRequest] = QUESTIONS[:1],
    limits: Limits = ONE_AT_A_TIME,
    store: Store | None = None,
    needs_more: NeedsMore | None = None,
    budget: Budget | None = None,
    time: FakeTime | None = None,
    known: Mapping[str, Sequence[Verdict]] | None = None,
) -> JudgingRunner:
    runner = JudgingRunner(judge, store or Store(), needs_more or votes(1), limits, budget, (time or FakeTime()).clock)
    asyncio.run(runner.run(requests, known))
    return runner


def failing_first(code: str, times: int, retry_after: float | None = None) -> Script:
    return lambda call, asked, sample: CallError(code, "no", retry_after) if call <= times else verdict(asked, sample)


# ── what is asked ────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_request_is_asked_once_and_kept() -> None:
    judge, store = Scripted(), Store()
    runner = judged(judge, QUESTIONS, Limits(concurrency=8), store)
    assert [(f"q{number}", 0) for number in range(40)] == sorted(judge.calls, key=lambda call: int(call[0][1:]))
    assert {each.digest: [verdict(each)] for each in QUESTIONS} == runner.verdicts
    assert (40, 40, 40, 0) == (runner.tally.total, runner.tally.done, runner.tally.asked, len(store.open))


def test_identical_requests_are_asked_once() -> None:
    judge = Scripted()
    judged(judge, [QUESTIONS[0], request("q0"), QUESTIONS[0]])
    assert [("q0", 0)] == judge.calls


def test_recorded_verdicts_are_not_asked_for_again_and_unscored_ones_are() -> None:
    judge = Scripted()
    one, two, three = QUESTIONS[:3]
    known = {one.digest: [verdict(one)], two.digest: [unscored(two)], three.digest: [verdict(three, 1)]}
    runner = judged(judge, [one, two, three], known=known, needs_more=votes(2))
    assert [("q0", 1), ("q1", 0), ("q1", 1), ("q2", 0)] == judge.calls
    assert [[0, 1]] * 3 == [[each.sample for each in samples] for samples in runner.verdicts.values()]
    assert 2 == runner.tally.known


def test_no_more_votes_are_taken_than_are_needed() -> None:
    """One vote where it is clear, three where the first is `no`."""
    judge = Scripted(lambda _, asked, sample: verdict(asked, sample, "no" if asked is QUESTIONS[1] else "yes"))

    def needs_more(_: JudgeRequest, samples: Sequence[Verdict]) -> bool:
        return not samples or (samples[0].items[0].label == "no" and len(samples) < 3)

    judged(judge, QUESTIONS[:2], needs_more=needs_more)
    assert [("q0", 0), ("q1", 0), ("q1", 1), ("q1", 2)] == judge.calls


def test_no_more_calls_are_under_way_than_allowed() -> None:
    judge = Scripted()
    judged(judge, QUESTIONS, Limits(concurrency=5))
    assert 5 == judge.most


def test_verdict_that_another_process_makes_is_waited_for() -> None:
    judge, store, time = Scripted(), Store(busy=3), FakeTime()
    store.kept[QUESTIONS[0].digest, JUDGE.digest, 0] = verdict(QUESTIONS[0])
    runner = judged(judge, store=store, time=time)
    assert ([], [0.05] * 3) == (judge.calls, time.slept)
    assert ([verdict(QUESTIONS[0])], 1) == (runner.verdicts[QUESTIONS[0].digest], runner.tally.known)


# ── what fails ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("code", ["rate_limited", "http_503", "http_529", "http_500", "timeout", "connection"])
def test_what_may_pass_is_tried_again_and_only_the_verdict_counts(code: str) -> None:
    judge = Scripted(failing_first(code, 2))
    runner = judged(judge)
    (found,) = runner.verdicts[QUESTIONS[0].digest]
    assert (3, None, 3, 2) == (len(judge.calls), found.unscored, found.usage.attempts, runner.tally.retries)


@pytest.mark.parametrize("code", ["http_400", "http_422", "tls", "protocol", "too_large"])
def test_what_will_not_pass_is_recorded_as_unscored_at_once(code: str) -> None:
    judge, store = Scripted(failing_first(code, 9)), Store()
    judged(judge, store=store)
    (kept,) = store.kept.values()
    assert (1, "provider", f"{code}: no", "support@1") == (len(judge.calls), kept.unscored, kept.message, kept.rubric)


@pytest.mark.parametrize("code", ["quota", "http_401", "http_403", "http_404"])
def test_what_every_call_would_meet_stops_the_judging(code: str) -> None:
    judge = Scripted(failing_first(code, 99))
    runner = judged(judge, QUESTIONS)
    assert (1, code) == (len(judge.calls), runner.tally.halted)


def test_waiting_time_that_the_endpoint_names_is_kept_and_capped() -> None:
    time = FakeTime()
    judged(Scripted(failing_first("rate_limited", 1, 7.0)), time=time)
    assert [7.0] == time.slept
    time = FakeTime()
    judged(Scripted(failing_first("rate_limited", 1, 9999.0)), time=time)
    assert [60.0] == time.slept


def test_waiting_doubles_where_the_endpoint_names_no_time() -> None:
    time = FakeTime()
    judged(Scripted(failing_first("http_500", 4)), time=time)
    assert [0.5, 1.0, 2.0, 4.0] == time.slept


def test_deadline_ends_the_retries() -> None:
    judge, store, time = Scripted(failing_first("http_503", 99, 50.0)), Store(), FakeTime()
    judged(judge, limits=Limits(1, deadline=120.0, attempts=20), store=store, time=time)
    (kept,) = store.kept.values()
    assert (3, [50.0, 50.0], "provider") == (len(judge.calls), time.slept, kept.unscored)


def test_judge_that_never_replies_is_unscored_for_its_deadline() -> None:
    class Silent(Scripted):
        async def ask(self, request: JudgeRequest, sample: int) -> Verdict:
            await asyncio.Event().wait()
            raise AssertionError

    store = Store()
    judged(Silent(), limits=Limits(1, deadline=0.01, attempts=1), store=store)
    assert ["deadline"] == [kept.unscored for kept in store.kept.values()]


def test_overload_halves_the_calls_under_way_and_they_grow_again() -> None:
    judge = Scripted(failing_first("http_429", 8))
    runner = JudgingRunner(judge, Store(), votes(1), Limits(8), None, FakeTime().clock)
    limits = []
    whole = runner._throttle.overloaded

    def overloaded(ticket: int) -> None:
        whole(ticket)
        limits.append(runner._throttle.limit)

    runner._throttle.overloaded = overloaded  # type: ignore[method-assign]
    asyncio.run(runner.run(QUESTIONS))
    assert [4.0] * 8 == limits  # one burst is one sign
    assert 4.0 < runner._throttle.limit <= 8.0
    assert 40 == runner.tally.done


def test_samples_without_a_verdict_in_a_row_end_the_judging() -> None:
    judge = Scripted(lambda _, asked, sample: unscored(asked, sample))
    runner = judged(judge, QUESTIONS, Limits(1, breaker=7))
    assert (7, "breaker", {"judge_parse": 7}) == (len(judge.calls), runner.tally.halted, dict(runner.tally.unscored))


def test_scored_sample_between_others_keeps_the_judging_going() -> None:
    judge = Scripted(lambda call, asked, sample: verdict(asked, sample) if call % 5 == 0 else unscored(asked, sample))
    assert "" == judged(judge, QUESTIONS, Limits(1, breaker=5)).tally.halted


def test_nothing_is_asked_after_a_verdict_could_not_be_kept() -> None:
    judge = Scripted()
    with pytest.raises(IncompleteError, match="disk is full"):
        judged(judge, QUESTIONS, Limits(4), Store(full_at=6))
    assert len(judge.calls) <= 5 + 4


def test_nothing_is_asked_where_no_intent_can_be_written() -> None:
    class Full(Store):
        def claim(self, keys: Sequence[SampleKey], seconds: float) -> list[Verdict | Turn]:
            raise IncompleteError("book: disk is full")

    judge = Scripted()
    with pytest.raises(IncompleteError, match="disk is full"):
        judged(judge, QUESTIONS, Limits(4), Full())
    assert [] == judge.calls


def test_stop_keeps_what_is_under_way_and_begins_nothing_more() -> None:
    store = Store()
    runner: list[JudgingRunner] = []

    def script(call: int, asked: JudgeRequest, sample: int) -> Verdict | Exception:
        if call == 5:
            runner[0].stop()
        return verdict(asked, sample)

    judge = Scripted(script)
    runner.append(JudgingRunner(judge, store, votes(1), Limits(4), None, FakeTime().clock))
    asyncio.run(runner[0].run(QUESTIONS))
    assert "interrupted" == runner[0].tally.halted
    assert 5 <= len(judge.calls) == len(store.kept) == runner[0].tally.done <= 8
    assert set() == store.open


def test_stop_ends_retries_without_a_record() -> None:
    store = Store()
    runner: list[JudgingRunner] = []

    def script(call: int, asked: JudgeRequest, sample: int) -> Verdict | Exception:
        runner[0].stop()
        return CallError("http_503", "no")

    judge = Scripted(script)
    runner.append(JudgingRunner(judge, store, votes(1), Limits(1), None, FakeTime().clock))
    asyncio.run(runner[0].run(QUESTIONS))
    assert (1, {}, set()) == (len(judge.calls), store.kept, store.open)


# ── what it may cost ─────────────────────────────────────────────────────────────────────────────────────────────

PRICE = Price(0.01, 0.1)  # 100 prompt and 10 completion tokens cost 0.001 + 0.001 dollars


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize(
    ("caps", "calls", "reason"),
    [
        (Caps(calls=13), 13, "max_calls"),
        (Caps(tokens=1200), 10, "max_tokens"),
        (Caps(cost=0.0201, price=PRICE), 10, "max_cost"),
        (Caps(calls=0), 0, "max_calls"),
    ],
)
def test_caps_are_never_passed(caps: Caps, calls: int, reason: str, concurrency: int) -> None:
    budget, judge, store = Budget(caps), Scripted(), Store()
    runner = judged(judge, QUESTIONS, Limits(concurrency), store, budget=budget)
    assert (calls, reason) == (len(judge.calls), runner.tally.halted)
    assert (calls, 110 * calls, calls) == (budget.calls, budget.tokens, len(store.kept))
    assert set() == store.open


def test_retries_count_as_calls() -> None:
    budget = Budget(Caps(calls=5))
    judge = Scripted(lambda call, asked, sample: CallError("http_503", "no"))
    runner = judged(judge, QUESTIONS, Limits(1, attempts=3), budget=budget)
    assert (5, "max_calls") == (len(judge.calls), runner.tally.halted)


def test_failed_calls_cost_what_was_estimated_where_the_work_may_have_been_done() -> None:
    for code, tokens in (("timeout", 220), ("connection", 220), ("http_503", 0), ("rate_limited", 0)):
        budget = Budget()
        judged(Scripted(failing_first(code, 2)), budget=budget)
        assert tokens + 110 == budget.tokens, code


def test_estimate_counts_where_the_endpoint_does_not_say() -> None:
    silent = Scripted(lambda _, asked, sample: structs.replace(verdict(asked, sample), usage=JudgeUsage()))
    budget = Budget(Caps(price=PRICE))
    judged(silent, QUESTIONS[:3], budget=budget)
    assert (330, 0.006, True) == (budget.tokens, round(budget.cost, 9), budget.cost_known)


def test_cost_is_unknown_without_a_price() -> None:
    budget = Budget()
    judged(Scripted(), budget=budget)
    assert (False, 0.0) == (budget.cost_known, budget.cost)


class Repairing(Scripted):
    """A judge that sends three times for each verdict, through the meter."""

    def __init__(self, budget: Budget) -> None:
        super().__init__()
        self.sent = 0

        async def send(_: str) -> str:
            self.sent += 1
            return ""

        self.send = budget.metered(send)

    async def ask(self, request: JudgeRequest, sample: int) -> Verdict:
        for _ in range(3):
            await self.send("")
        return structs.replace(verdict(request, sample), usage=JudgeUsage(300, 30, attempts=3))


@pytest.mark.parametrize("concurrency", [1, 8])
def test_questions_asked_again_inside_a_judge_count_and_stop_exactly_at_the_cap(concurrency: int) -> None:
    budget = Budget(Caps(calls=10))
    judge, store = Repairing(budget), Store()
    runner = judged(judge, QUESTIONS, Limits(concurrency), store, budget=budget)
    assert (10, 10, "max_calls") == (judge.sent, budget.calls, runner.tally.halted)
    assert set() == store.open


def test_what_is_set_aside_is_given_back() -> None:
    budget = Budget(Caps(tokens=110 * 41))
    judged(Scripted(failing_first("http_503", 2)), QUESTIONS, Limits(4), budget=budget)
    assert (110 * 40, 42) == (budget.tokens, budget.calls)
    assert None is not budget.reserve(lambda: (100, 10))


def test_counting_happens_only_inside_a_question() -> None:
    budget = Budget(Caps(calls=0))

    async def send(body: str) -> str:
        return body

    assert "probe" == asyncio.run(budget.metered(send)("probe"))  # type: ignore[arg-type]
