"""Hard caps: what may be spent is never passed, whoever asks again and whatever the endpoint reports."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs
from tests.runners.test_local import FakeTime
from tests.support.scripted_judge import QUESTIONS, Scripted, Store, failing_first, judged
from tests.support.verdicts import verdict

from assay.ports import CallError
from assay.runners.budget import Budget, Caps, Price
from assay.runners.judging import Limits
from assay.verdict import JudgeRequest, JudgeUsage, Verdict

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
    assert asyncio.run(budget.reserve(lambda: (100, 10))) is not None


class Frugal(Scripted):
    """A judge that may take ten times of what it takes."""

    def estimate(self, request: JudgeRequest) -> tuple[int, int]:
        return 1000, 100


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_call_that_does_not_fit_waits_for_those_under_way_instead_of_ending_the_judging(concurrency: int) -> None:
    """Each call sets 1,100 aside and takes 110: under a cap of 3,000 the 18th starts at 1,870 and the 19th cannot.
    Without waiting, the third of eight at once would have ended everything."""
    budget, judge = Budget(Caps(tokens=3000)), Frugal()
    runner = judged(judge, QUESTIONS, Limits(concurrency), budget=budget)
    assert (18, 1980, "max_tokens") == (len(judge.calls), budget.tokens, runner.tally.halted)
    assert judge.most <= 2


def test_waiting_for_room_is_no_part_of_the_time_that_a_verdict_may_take() -> None:
    time = FakeTime()

    def slow(_: int, asked: JudgeRequest, sample: int) -> Verdict:
        time.now += 100.0
        return verdict(asked, sample)

    runner = judged(Scripted(slow), QUESTIONS, Limits(8, deadline=120.0), budget=Budget(Caps(tokens=5000)), time=time)
    assert (40, "") == (runner.tally.asked, runner.tally.halted)
    assert {} == dict(runner.tally.unscored)


class Doubting(Repairing):
    """Asks again inside each question, as soon as four are under way."""

    async def ask(self, request: JudgeRequest, sample: int) -> Verdict:
        await self.send("")
        while self.sent < 4:
            await asyncio.sleep(0)
        await self.send("")
        return structs.replace(verdict(request, sample), usage=JudgeUsage(200, 20, attempts=2))


def test_questions_that_all_wait_to_ask_again_end_instead_of_waiting_for_each_other() -> None:
    """Four at once hold 440 of 450: nobody can ask again before another ends, and nobody ends."""
    budget = Budget(Caps(tokens=450))
    judge = Doubting(budget)
    runner = judged(judge, QUESTIONS, Limits(4), budget=budget)
    assert (4, "max_tokens") == (judge.sent, runner.tally.halted)


def test_counting_happens_only_inside_a_question() -> None:
    budget = Budget(Caps(calls=0))

    async def send(body: str) -> str:
        return body

    assert "probe" == asyncio.run(budget.metered(send)("probe"))  # type: ignore[arg-type]
