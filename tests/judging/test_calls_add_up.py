"""What a judging says of its samples and calls adds up, whatever the endpoint does and wherever it stops."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.judging.asking import RUBRICS, relevance_request, sending
from tests.judging.asking import judge as make_judge
from tests.runs.test_observation_runner import FakeTime
from tests.support.examples import try_examples
from tests.support.judge_server import JudgeServer
from tests.support.scripted_judge import MemoryStore, need_votes

from assay.cli.judging_summary import describe_calls, describe_samples
from assay.judging.budget import Budget, BudgetCaps
from assay.judging.call_scheduler import JudgingLimits, JudgingRunner, JudgingTally
from assay.judging.llm_judge import LLMJudge

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
    told = describe_calls(tally, budget)
    assert told.startswith("calls: 3 (3 first calls; 1 sample was given up when it stopped); ")


def test_what_was_stored_before_is_said_with_its_controls() -> None:
    tally = JudgingTally(reused=131, reused_controls=17)
    assert [
        "asked: 0 samples",
        "stored before: 131 samples (114 about answers, 17 to check the judge)",
    ] == describe_samples(tally)
    assert (
        "stored before: 114 samples; 17 controls of earlier runs count too"
        == describe_samples(JudgingTally(reused=114), 17)[1]
    )
