"""A scripted judge, a verdict store in memory, and a runner between them, on a clock that never waits."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from tests.runs.test_observation_runner import FakeTime
from tests.support.verdicts import JUDGE, make_request, make_verdict

from assay.calls.interfaces import CallError, ClaimState, SampleKey
from assay.judging.budget import Budget
from assay.judging.call_scheduler import JudgingLimits, JudgingRunner, NeedsMoreVotes
from assay.records.errors import IncompleteError
from assay.records.verdicts import JudgeRequest, Verdict

Script = Callable[[int, JudgeRequest, int], Verdict | Exception]
ONE_AT_A_TIME = JudgingLimits(concurrency=1)
QUESTIONS = [make_request(f"q{number}") for number in range(40)]


class ScriptedJudge:
    """A judge that replies with the result of a function of the call number, the request and the sample number."""

    identity = JUDGE

    def __init__(self, script: Script | None = None) -> None:
        self.script = script or (lambda _, request, sample: make_verdict(request, sample))
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


class MemoryStore:
    """A verdict store in memory; the save number `full_at` fails as on a full disk."""

    def __init__(self, full_at: float = math.inf, busy: int = 0) -> None:
        self.kept: dict[SampleKey, Verdict] = {}
        self.claims: list[SampleKey] = []
        self.open: set[SampleKey] = set()
        self.full_at, self.busy, self.saved = full_at, busy, 0

    @contextmanager
    def transaction(self) -> Iterator[None]:
        yield

    def claim(self, keys: Sequence[SampleKey], seconds: float) -> list[Verdict | ClaimState]:
        results: list[Verdict | ClaimState] = []
        for key in keys:
            recorded = self.kept.get(key)
            if self.busy:
                self.busy -= 1
                results.append(ClaimState.BUSY)
            elif recorded is not None and recorded.unscored is None:
                results.append(recorded)
            else:
                self.claims.append(key)
                self.open.add(key)
                results.append(ClaimState.CLAIMED)
        return results

    def save(self, verdicts: Sequence[Verdict]) -> None:
        for sample in verdicts:
            self.saved += 1
            if self.saved >= self.full_at:
                raise IncompleteError("store: disk is full")
            key = (sample.request, sample.judge, sample.sample)
            self.kept[key] = sample
            self.open.discard(key)

    def release(self, keys: Sequence[SampleKey]) -> None:
        self.open -= set(keys)


def need_votes(count: int) -> NeedsMoreVotes:
    return lambda _, samples: len(samples) < count


def run_scripted_judge(
    judge: ScriptedJudge,
    requests: Sequence[JudgeRequest] = QUESTIONS[:1],
    limits: JudgingLimits = ONE_AT_A_TIME,
    store: MemoryStore | None = None,
    needs_more: NeedsMoreVotes | None = None,
    budget: Budget | None = None,
    time: FakeTime | None = None,
    known: Mapping[str, Sequence[Verdict]] | None = None,
    *,
    retry_errors: bool = False,
) -> JudgingRunner:
    runner = JudgingRunner(
        judge,
        store or MemoryStore(),
        needs_more or need_votes(1),
        limits,
        budget,
        (time or FakeTime()).clock,
        retry_errors=retry_errors,
    )
    asyncio.run(runner.run(requests, known))
    return runner


def fail_first(code: str, times: int, retry_after: float | None = None) -> Script:
    return lambda call, asked, sample: (
        CallError(code, "no", retry_after) if call <= times else make_verdict(asked, sample)
    )
