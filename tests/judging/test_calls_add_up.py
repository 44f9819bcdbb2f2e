"""What a judging says of its samples and calls adds up, whatever the endpoint does and wherever it stops."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging.asking import RUBRICS, relevance_request, sending
from tests.judging.asking import judge as make_judge
from tests.runs.test_observation_runner import FakeTime
from tests.support.examples import try_examples
from tests.support.judge_server import JudgeServer
from tests.support.scripted_judge import MemoryStore, need_votes

from assay.cli.judging_summary import describe_calls, describe_samples, describe_stop
from assay.judging.budget import Budget, BudgetCaps, Reservation, TokenPrice
from assay.judging.call_scheduler import JudgingLimits, JudgingRunner, JudgingTally
from assay.judging.llm_judge import LLMJudge
from assay.records.verdicts import JudgeUsage

REQUESTS = [relevance_request(f"It takes {number} days.") for number in range(12)]
STEPS: list[dict[str, Any]] = [
    {},
    {"status": 500},
    {"status": 429},
    {"status": 429, "headers": {"retry-after": "2"}},
    {"status": 429, "headers": {"retry-after": "900"}},
    {"status": 503, "headers": {"retry-after": "1"}},
    {"status": 401},
    {"status": 400, "error": "response_format json_schema is not supported"},
    {"content": "I would say that it is relevant."},
    {"content": '{"items": [], "echo": ""}'},
    {"content": '{"items": [{"id": "answer", "reasoning": "", "label": "splendid"}], "echo": ""}'},
    {"content": '{"items": []} {"items": []}'},
    {"body": "<html>Bad gateway</html>"},
    {"finish": "length"},
    {"refusal": "I cannot help with that."},
]


def run_plan(
    plan: list[dict[str, Any]], votes: int, max_calls: int | None, concurrency: int, breaker: int
) -> tuple[JudgingTally, Budget, JudgeServer]:
    """Ask twelve requests, four of them controls, behind a server that follows a plan and then answers."""
    server, budget = JudgeServer(plan=deque(plan)), Budget(BudgetCaps(calls=max_calls))
    judge = make_judge(server)
    counted = LLMJudge(
        judge.identity, RUBRICS, budget.count_calls(sending(server)), base_url="http://judge.test", api_key=""
    )
    runner = JudgingRunner(
        counted,
        MemoryStore(),
        need_votes(votes),
        JudgingLimits(concurrency, 60.0, 4, breaker),
        budget,
        FakeTime().clock,
    )
    runner.controls = frozenset(request.digest for request in REQUESTS[:4])
    asyncio.run(runner.run(REQUESTS))
    return runner.tally, budget, server


def read_numbers(pattern: str, text: str) -> tuple[int, ...]:
    """Return the numbers of the groups of a pattern, 0 for a part that the text leaves out."""
    found = re.search(pattern, text)
    assert found is not None, text
    return tuple(int(number or 0) for number in found.groups())


@try_examples(200)
@given(
    st.lists(st.sampled_from(STEPS), max_size=30),
    st.integers(1, 3),
    st.none() | st.integers(1, 40),
    st.integers(1, 6),
    st.integers(2, 20),
)
def test_calls_and_samples_add_up_whatever_the_endpoint_does(
    plan: list[dict[str, Any]], votes: int, max_calls: int | None, concurrency: int, breaker: int
) -> None:
    tally, budget, server = run_plan(plan, votes, max_calls, concurrency, breaker)
    assert len(server.requests) == budget.calls == tally.first_calls + tally.retries + budget.repeats
    assert tally.first_calls == tally.asked - tally.uncalled + tally.given_up
    assert min(tally.uncalled, tally.given_up, tally.retries, tally.asked_controls) >= 0
    asked, *reused = describe_samples(tally)
    total, answers, controls, labelled, failed = read_numbers(
        r"^asked: (\d+) samples?(?: \((\d+) about answers, (\d+) to check the judge\))?"
        r"(?:: (\d+) with labels, (\d+) without)?",
        asked,
    )
    assert ([], total) == (reused, labelled + failed)
    assert controls == 0 or total == answers + controls
    printed = describe_calls(tally, budget)
    calls, first, retries, repeats = read_numbers(
        r"^calls: (\d+)(?: \((\d+) first calls?(?: \+ (\d+) retr(?:y|ies) after errors)?(?: \+ (\d+) repeats? for)?)?",
        printed,
    )
    assert "(" not in printed or calls == first + retries + repeats
    assert len(server.requests) == calls


def test_each_part_of_the_sum_is_named_where_it_occurs() -> None:
    """The first call fails and is retried; the second reply is of no use and asked for again; three controls stay."""
    plan: list[dict[str, Any]] = [{"status": 500}, {"content": "Relevant."}]
    tally, budget, server = run_plan(plan, 1, None, 1, 20)
    assert ["asked: 12 samples (8 about answers, 4 to check the judge): 12 with labels, 0 without"] == (
        describe_samples(tally)
    )
    assert 14 == len(server.requests)
    expected = "calls: 14 (12 first calls + 1 retry after errors + 1 repeat for a reply of the right form); tokens: "
    assert describe_calls(tally, budget).startswith(expected)


def test_samples_that_are_given_up_at_a_limit_are_part_of_the_sum() -> None:
    tally, budget, _ = run_plan([{}, {}, {"status": 500}], 1, 3, 1, 20)
    assert ["asked: 2 samples (0 about answers, 2 to check the judge): 2 with labels, 0 without"] == (
        describe_samples(tally)
    )
    sentence = describe_calls(tally, budget)
    assert sentence.startswith("calls: 3 (3 first calls; 1 sample was given up when it stopped); ")


def test_what_was_stored_before_is_said_with_its_controls() -> None:
    tally = JudgingTally(reused=131, reused_controls=17)
    assert [
        "asked: 0 samples",
        "taken from the store: 131 samples (114 about answers, 17 to check the judge)",
    ] == describe_samples(tally)
    assert (
        "taken from the store: 114 samples; 17 controls of earlier runs count too"
        == describe_samples(JudgingTally(reused=114), 17)[1]
    )


@pytest.mark.parametrize(
    ("step", "remedy"),
    [
        ({"status": 401}, "stopped: http_401; the endpoint refuses the key: check the variable that api_key_env names"),
        ({"status": 404}, "check model and the variable that base_url_env names"),
        ({"status": 429, "body": '{"error": {"code": "insufficient_quota", "message": "no"}}'}, "raise its quota"),
        ({"content": "I like it."}, "gave no verdict; the model does not keep to the form of the reply: name another"),
        ({"finish": "length"}, "its replies are cut off: raise max_tokens of the judge"),
        ({"body": "<html>Log in</html>"}, "see above what the endpoint says, and check its address"),
    ],
)
def test_a_judging_that_stopped_names_what_to_do_before_it_is_repeated(step: dict[str, Any], remedy: str) -> None:
    tally, _, _ = run_plan([step] * 60, 1, None, 1, 5)
    sentence = describe_stop(tally)
    assert remedy in sentence
    assert sentence.endswith(", then run the same command again to continue")


async def reserve_call(budget: Budget) -> Reservation:
    """Reserve a call of at most 300 prompt and 50 completion tokens."""
    reserved = await budget.reserve(lambda: (300, 50))
    assert reserved is not None
    return reserved


def test_an_endpoint_that_reports_no_usage_costs_the_maximum() -> None:
    """A reply without usage counted as many tokens as it may take, and no money."""
    price = TokenPrice(1.0, 2.0)
    budget = Budget(BudgetCaps(price=price))

    async def settle(usage: JudgeUsage) -> None:
        budget.settle_reservation(await reserve_call(budget), usage)

    asyncio.run(settle(JudgeUsage(cost_usd=0.0)))
    assert (350, price.compute_cost(300, 50)) == (budget.tokens, budget.cost)
    asyncio.run(settle(JudgeUsage(10, 5, cost_usd=0.0)))
    assert (365, price.compute_cost(300, 50)) == (budget.tokens, budget.cost)


@pytest.mark.parametrize(
    ("usages", "failures", "expected"),
    [
        ([JudgeUsage(10, 5), JudgeUsage(20, 5)], [], "tokens: 40; cost: $0.0500"),
        (
            [JudgeUsage(10, 5)],
            ["timeout"],
            "tokens: 15; cost: $0.0200; besides at most 350 tokens, $0.4000, for 1 call without a reported usage",
        ),
        (
            [],
            ["connection", "timeout", "http_503"],
            "tokens: 0; cost: $0.0000; besides at most 700 tokens, $0.8000, for 2 calls without a reported usage",
        ),
        (
            [JudgeUsage()],
            [],
            "tokens: 0; cost: $0.0000; besides at most 350 tokens, $0.4000, for 1 call without a reported usage",
        ),
        ([JudgeUsage(10, 5)], ["unreachable", "rate_limited"], "tokens: 15; cost: $0.0200"),
    ],
)
def test_what_was_reported_and_what_may_have_been_billed_besides_are_told_apart(
    usages: list[JudgeUsage], failures: list[str], expected: str
) -> None:
    budget = Budget(BudgetCaps(price=TokenPrice(1.0, 2.0)))

    async def settle() -> None:
        for usage in usages:
            budget.settle_reservation(await reserve_call(budget), usage)
        for code in failures:
            budget.settle_failure(await reserve_call(budget), code)

    asyncio.run(settle())
    assert describe_calls(JudgingTally(), budget) == f"calls: {len(usages) + len(failures)}; {expected}"


def test_without_a_price_the_tokens_that_may_have_been_billed_are_told() -> None:
    budget = Budget()

    async def settle() -> None:
        budget.settle_failure(await reserve_call(budget), "timeout")

    asyncio.run(settle())
    expected = (
        "tokens: 0; cost: $0.0000; besides at most 350 tokens, price unknown, for 1 call without a reported usage"
    )
    assert describe_calls(JudgingTally(), budget) == f"calls: 1; {expected}"
