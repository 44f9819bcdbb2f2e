"""The one retry rule: what a reply says about waiting is read in one place, and only that place waits."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contracts.loopback import Request, as_json, serving
from tests.support.source_files import dotted_name, iter_nodes

from assay.calls.interfaces import CallError, TargetCall
from assay.calls.retry import read_retry_after
from assay.judging.provider import HttpReply, call_error_of_reply
from assay.records.golden_set import Case
from assay.records.settings import HttpTargetSettings, McpTargetSettings
from assay.targets.http import HttpTarget
from assay.targets.mcp import McpTarget

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "assay"
MAY_SLEEP = {
    "audit/answer_log_file.py": "polls until a queue is written, when the application ends",
    "calls/retry.py": "delays between attempts",
    "judging/call_scheduler.py": "polls for a lease, never retries",
    "runs/observe_target.py": "tells the progress of a slow target, never retries",
    "targets/process_group.py": "polls until a process group has ended",
}
HEADER_NAMES = ("retry-after", "retry-after-ms")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e400"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:16:50 GMT"}, 10.0),  # 1,010 seconds after the epoch; it is 1,000
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, None),  # gone by
        ({"retry-after": "Thu, 01 Jan 99999 00:00:01 GMT"}, None),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "3"}, None),
    ],
)
def test_the_time_to_wait_is_read_or_unknown(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds == read_retry_after(headers, now=lambda: 1_000.0)


async def _observe(target: HttpTarget | McpTarget) -> None:
    try:
        await target.observe(TargetCall(Case("c", "question"), "ask", 10.0))
    finally:
        await target.aclose()


@pytest.mark.slow
@pytest.mark.parametrize("header", [{"retry-after": "2"}, {"retry-after-ms": "2000"}, {"Retry-After": "2"}])
@pytest.mark.parametrize("kind", ["http", "mcp"])
def test_targets_and_judges_read_the_same_headers(kind: str, header: dict[str, str]) -> None:
    async def refuse(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(as_json({"detail": "slow down"}, 429, header))

    with serving(refuse) as server, pytest.raises(CallError) as failure:
        if kind == "http":
            asyncio.run(_observe(HttpTarget("t", HttpTargetSettings(server.url), 1, typed=True)))
        else:
            asyncio.run(_observe(McpTarget("t", McpTargetSettings(url=f"{server.url}/mcp"), typed=True)))
    lower_case = {name.lower(): value for name, value in header.items()}
    of_judge = call_error_of_reply(HttpReply(429, lower_case, b"", 1.0), "slow down")
    assert 2.0 == failure.value.retry_after == of_judge.retry_after


def _second_rules(path: Path) -> Iterator[str]:
    name = path.relative_to(PACKAGE).as_posix()
    for node in iter_nodes(path, (*HEADER_NAMES, "sleep")):
        if isinstance(node, ast.Constant) and node.value in HEADER_NAMES:
            yield f"{name}:{node.lineno}: reads {node.value} (expected calls/retry.py to read it)"
        if isinstance(node, ast.Call) and dotted_name(node.func).endswith(".sleep") and name not in MAY_SLEEP:
            yield f"{name}:{node.lineno}: sleeps (expected RetryingCaller to wait)"


@pytest.mark.slow
def test_no_other_file_waits_or_reads_when_to_retry() -> None:
    problems = [problem for path in sorted(PACKAGE.rglob("*.py")) for problem in _second_rules(path)]
    assert {"calls/retry.py"} == {problem.partition(":")[0] for problem in problems}
