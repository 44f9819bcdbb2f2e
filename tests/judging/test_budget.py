"""Hard caps: what may be spent is never passed, whoever asks again and whatever the endpoint reports."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs
from tests.runs.test_observation_runner import FakeTime
from tests.support.scripted_judge import QUESTIONS, MemoryStore, ScriptedJudge, fail_first, run_scripted_judge
from tests.support.verdicts import make_verdict

from assay.calls.interfaces import CallError
from assay.judging.budget import Budget, BudgetCaps, TokenPrice
from assay.judging.call_scheduler import JudgingLimits
from assay.records.verdicts import JudgeRequest, JudgeUsage, Verdict

PRICE = TokenPrice(0.01, 0.1)  # 100 prompt and 10 completion tokens cost 0.001 + 0.001 dollars


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize(
    ("caps", "calls", "reason"),
    [
        (BudgetCaps(calls=13), 13, "max_calls"),
        (BudgetCaps(tokens=1200), 10, "max_tokens"),
        (BudgetCaps(cost=0.0201, price=PRICE), 10, "max_cost"),
        (BudgetCaps(calls=0), 0, "max_calls"),
    ],
)
def test_caps_are_never_passed(caps: BudgetCaps, calls: int, reason: str, concurrency: int) -> None:
    budget, judge, store = Budget(caps), ScriptedJudge(), MemoryStore()
    runner = run_scripted_judge(judge, QUESTIONS, JudgingLimits(concurrency), store, budget=budget)
    assert (calls, reason) == (len(judge.calls), runner.tally.halted)
    assert (calls, 110 * calls, calls) == (budget.calls, budget.tokens, len(store.kept))
    assert set() == store.open


def test_retries_count_as_calls() -> None:
    budget = Budget(BudgetCaps(calls=5))
    judge = ScriptedJudge(lambda call, asked, sample: CallError("http_503", "no"))
    runner = run_scripted_judge(judge, QUESTIONS, JudgingLimits(1, attempts=3), budget=budget)
    assert (5, "max_calls") == (len(judge.calls), runner.tally.halted)


def test_failed_calls_cost_what_was_estimated_where_the_work_may_have_been_done() -> None:
    for code, tokens in (
        ("timeout", 220),
        ("connection", 220),
        ("unreachable", 0),
        ("http_503", 0),
        ("rate_limited", 0),
    ):
        budget = Budget()
        run_scripted_judge(ScriptedJudge(fail_first(code, 2)), budget=budget)
        assert tokens + 110 == budget.tokens, code


def test_estimate_counts_where_the_endpoint_does_not_say() -> None:
    silent = ScriptedJudge(lambda _, asked, sample: structs.replace(make_verdict(asked, sample), usage=JudgeUsage()))
    budget = Budget(BudgetCaps(price=PRICE))
    run_scripted_judge(silent, QUESTIONS[:3], budget=budget)
    assert (330, 0.006, True) == (budget.tokens, round(budget.cost, 9), budget.cost_known)


def test_cost_is_unknown_without_a_price() -> None:
    budget = Budget()
    run_scripted_judge(ScriptedJudge(), budget=budget)
    assert (False, 0.0) == (budget.cost_known, budget.cost)


class Repairing(ScriptedJudge):
    """A judge that sends three times for each verdict, through the meter."""

    def __init__(self, budget: Budget) -> None:
        super().__init__()
        self.sent = 0

        async def send(_: str) -> str:
            self.sent += 1
            return ""

        self.send = budget.count_calls(send)

    async def ask(self, request: JudgeRequest, sample: int) -> Verdict:
        for _ in range(3):
            await self.send("")
        return structs.replace(make_verdict(request, sample), usage=JudgeUsage(300, 30, attempts=3))


@pytest.mark.parametrize("concurrency", [1, 8])
def test_questions_asked_again_inside_a_judge_count_and_stop_exactly_at_the_cap(concurrency: int) -> None:
    budget = Budget(BudgetCaps(calls=10))
    judge, store = Repairing(budget), MemoryStore()
    runner = run_scripted_judge(judge, QUESTIONS, JudgingLimits(concurrency), store, budget=budget)
    assert (10, 10, "max_calls") == (judge.sent, budget.calls, runner.tally.halted)
    assert set() == store.open


def test_what_is_set_aside_is_given_back() -> None:
    budget = Budget(BudgetCaps(tokens=110 * 41))
    run_scripted_judge(ScriptedJudge(fail_first("http_503", 2)), QUESTIONS, JudgingLimits(4), budget=budget)
    assert (110 * 40, 42) == (budget.tokens, budget.calls)
    assert asyncio.run(budget.reserve(lambda: (100, 10))) is not None


class Frugal(ScriptedJudge):
    """A judge that may take ten times of what it takes."""

    def estimate(self, request: JudgeRequest) -> tuple[int, int]:
        return 1000, 100


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_call_that_does_not_fit_waits_for_those_under_way_instead_of_ending_the_judging(concurrency: int) -> None:
    """Each call sets 1,100 aside and takes 110: under a cap of 3,000 the 18th starts at 1,870 and the 19th cannot.
    Without waiting, the third of eight at once would have ended everything."""
    budget, judge = Budget(BudgetCaps(tokens=3000)), Frugal()
    runner = run_scripted_judge(judge, QUESTIONS, JudgingLimits(concurrency), budget=budget)
    assert (18, 1980, "max_tokens") == (len(judge.calls), budget.tokens, runner.tally.halted)
    assert judge.most <= 2


def test_waiting_for_room_is_no_part_of_the_time_that_a_verdict_may_take() -> None:
    time = FakeTime()

    def slow(_: int, asked: JudgeRequest, sample: int) -> Verdict:
        time.now += 100.0
        return make_verdict(asked, sample)

    runner = run_scripted_judge(
        ScriptedJudge(slow),
        QUESTIONS,
        JudgingLimits(8, deadline=120.0),
        budget=Budget(BudgetCaps(tokens=5000)),
        time=time,
    )
    assert (40, "") == (runner.tally.asked, runner.tally.halted)
    assert {} == dict(runner.tally.unscored)


class Doubting(Repairing):
    """Asks again inside each question, as soon as four are under way."""

    async def ask(self, request: JudgeRequest, sample: int) -> Verdict:
        await self.send("")
        while self.sent < 4:
            await asyncio.sleep(0)
        await self.send("")
        return structs.replace(make_verdict(request, sample), usage=JudgeUsage(200, 20, attempts=2))


def test_questions_that_all_wait_to_ask_again_end_instead_of_waiting_for_each_other() -> None:
    """Four at once hold 440 of 450: nobody can ask again before another ends, and nobody ends."""
    budget = Budget(BudgetCaps(tokens=450))
    judge = Doubting(budget)
    runner = run_scripted_judge(judge, QUESTIONS, JudgingLimits(4), budget=budget)
    assert (4, "max_tokens") == (judge.sent, runner.tally.halted)


def test_counting_happens_only_inside_a_question() -> None:
    budget = Budget(BudgetCaps(calls=0))

    async def send(body: str) -> str:
        return body

    assert "probe" == asyncio.run(budget.count_calls(send)("probe"))  # type: ignore[arg-type]
