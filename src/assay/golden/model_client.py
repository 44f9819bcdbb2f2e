"""A model that drafts and tries candidates: what it is asked goes through the scheduler and the store of the judges.

What was asked once is not asked, nor paid for, again; a killed command continues where it was.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from assay.calls.interruption import handle_interrupts
from assay.calls.retry import Clock
from assay.formats.settings_file import Config
from assay.golden.drafting_prompts import FORMS
from assay.golden.model_effort import ModelEffort
from assay.judging.budget import Budget
from assay.judging.call_scheduler import JudgingLimits, JudgingRunner, ReportProgress, is_settled
from assay.judging.choose_judge import choose_caps, choose_judge, make_judge
from assay.judging.collect_votes import MAX_CALLS_PER_VOTE
from assay.judging.rubric_files import Rubrics
from assay.judging.verdict_store import SqliteVerdictStore, read_store
from assay.records.verdicts import JudgeRequest, Verdict

DEFAULT_STORE = "draft.sqlite"


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Which model to ask, by its name in the settings or by `flags`, where its replies are kept, and its limits."""

    config: Config
    judge: str | None = None
    flags: Mapping[str, Any] = field(default_factory=dict)
    store: str = DEFAULT_STORE
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    limits: JudgingLimits = field(default_factory=JudgingLimits)
    retry_errors: bool = False


class ModelClient:
    """One model for one command; its budget covers everything that the command asks."""

    def __init__(
        self,
        options: ModelOptions,
        progress: ReportProgress | None = None,
        on_interrupt: Callable[[], None] = lambda: None,
        clock: Clock | None = None,
    ) -> None:
        """Raises SettingsError for a model that cannot be asked."""
        self._options, self._progress, self._clock = options, progress, clock
        self._stopping = on_interrupt
        self._chosen = choose_judge(options.config, options.judge, options.flags)
        caps = choose_caps(self._chosen, options.max_calls, options.max_tokens, options.max_cost)
        self._budget = Budget(caps)
        self._store: SqliteVerdictStore | None = None
        limits = options.limits
        self._judge = make_judge(
            self._chosen, limits.concurrency, limits.deadline, self._budget, self._keep_bytes, FORMS
        )
        self._requests = self._reused = 0
        self._unscored = Counter[str]()
        self._halted = ""

    @property
    def name(self) -> str:
        """The model with the digest of everything that can change its replies."""
        return f"{self._judge.identity.model} ({self._judge.identity.digest})"

    @property
    def rubrics(self) -> Rubrics:
        """The rubrics that the model can be asked with."""
        return self._chosen.rubrics

    @property
    def effort(self) -> ModelEffort:
        """What was asked so far."""
        budget, has_price = self._budget, self._chosen.price is not None
        has_silent_calls = budget.unreported.calls > 0
        return ModelEffort(
            self.name,
            self._requests,
            self._reused,
            budget.calls,
            budget.reported.tokens,
            budget.reported.cost if budget.reported.cost_known and has_price else None,
            max_tokens=budget.tokens if has_silent_calls else 0,
            max_cost_usd=budget.cost if has_silent_calls and budget.cost_known and has_price else None,
            unscored=dict(sorted(self._unscored.items())),
            halted=self._halted,
        )

    def estimate_effort(self, requests: Iterable[JudgeRequest]) -> ModelEffort:
        """Return what some requests would cost, without asking; those that the store has cost nothing."""
        by_digest = {request.digest: request for request in requests}
        recorded = self._load_settled()
        missing = [request for name, request in by_digest.items() if name not in recorded]
        likely, most = [0, 0], [0, 0]
        for request in missing:
            for total, tokens in (
                (likely, self._judge.estimate_likely(request)),
                (most, self._judge.estimate(request)),
            ):
                total[0] += tokens[0]
                total[1] += tokens[1]
        price = self._chosen.price
        example = msgspec.json.format(msgspec.json.encode(self._judge.build_body(missing[0]))) if missing else b""
        return ModelEffort(
            self.name,
            len(by_digest),
            len(by_digest) - len(missing),
            len(missing),
            sum(likely),
            price.compute_cost(*likely) if price is not None else None,
            len(missing) * MAX_CALLS_PER_VOTE,
            sum(most) * MAX_CALLS_PER_VOTE,
            price.compute_cost(*most) * MAX_CALLS_PER_VOTE if price is not None else None,
            example=example.decode(),
        )

    def ask_all(self, requests: Iterable[JudgeRequest]) -> dict[str, Verdict]:
        """Return the recorded and the new replies by the digest of their request; some are missing once it is halted.

        Raises IncompleteError if a reply cannot be saved, KeyboardInterrupt at the second Ctrl-C.
        """
        by_digest = {request.digest: request for request in requests}
        self._requests += len(by_digest)
        if not by_digest or self._halted:
            return {}
        try:
            with closing(SqliteVerdictStore(self._options.store, retry_errors=self._options.retry_errors)) as store:
                self._store = store
                store.register_judge(self._judge.identity)
                samples = asyncio.run(self._run(store, list(by_digest.values())))
        except asyncio.CancelledError:  # a second Ctrl-C
            raise KeyboardInterrupt from None
        finally:
            self._store = None
        return {name: rows[0] for name, rows in samples.items() if rows}

    async def _run(self, store: SqliteVerdictStore, requests: list[JudgeRequest]) -> dict[str, list[Verdict]]:
        runner = JudgingRunner(
            self._judge,
            store,
            lambda _, samples: not samples,
            self._options.limits,
            self._budget,
            self._clock,
            self._progress,
            retry_errors=self._options.retry_errors,
        )
        try:
            with handle_interrupts(runner, self._stopping):
                return await runner.run(requests)
        finally:
            self._reused += runner.tally.reused
            self._unscored += runner.tally.unscored
            self._halted = runner.tally.halted
            await self._judge.aclose()

    def _load_settled(self) -> set[str]:
        if not Path(self._options.store).exists():
            return set()
        recorded = read_store(self._options.store).verdicts.get(self._judge.identity.digest, {})
        retry_errors = self._options.retry_errors
        return {
            name for name, rows in recorded.items() if any(is_settled(row, retry_errors=retry_errors) for row in rows)
        }

    def _keep_bytes(self, name: str, body: bytes) -> None:
        if self._store is not None:
            self._store.keep_rendered(name, body)
