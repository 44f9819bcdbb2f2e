"""The self-test of a judge: whether it distinguishes grounded claims from others on items with a known label."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.config import Config
from assay.errors import IncompleteError
from assay.judges.book import Book
from assay.runners.budget import Budget
from assay.runners.judging import JudgingRunner, JudgingTally, Limits
from assay.verdict import Verdict
from assay.workflow.controls import Known, Separation, anchor_requests, separated
from assay.workflow.judges import caps_of, choose_judge, make_judge
from assay.workflow.stopping import interruptible

LEAST_SCORED = 0.8
"""The share of anchors that must have a verdict for the test to be valid."""


@dataclass(frozen=True, slots=True)
class Selftest:
    """The result of a self-test; `modes` are the reply formats that the endpoint turned out to support."""

    judge: str
    separation: Separation
    asked: int
    budget: Budget
    tally: JudgingTally
    modes: tuple[str, ...] = ()

    @property
    def status(self) -> int:
        """The exit code: 0 if the judge distinguishes grounded from other claims, else 1."""
        return 0 if self.separation.is_good else 1


def selftest(
    config: Config,
    name: str | None,
    flags: dict[str, Any] | None = None,
    limits: Limits | None = None,
    max_calls: int | None = None,
    stopping: Callable[[], None] = lambda: None,
) -> Selftest:
    """Ask a judge every anchor once, without storing the verdicts.

    Raises SettingsError for a judge that cannot be created, IncompleteError if too few anchors got a verdict.
    """
    chosen = choose_judge(config, name, flags or {})
    budget = Budget(caps_of(chosen, max_calls, None, None))
    limits = limits or Limits()
    judge = make_judge(chosen, limits.concurrency, limits.deadline, budget)
    questions = Known({}, anchor_requests(chosen.rubrics))

    async def ask(book: Book) -> tuple[JudgingRunner, dict[str, list[Verdict]]]:
        runner = JudgingRunner(judge, book, lambda _, samples: not samples, limits, budget)
        try:
            with interruptible(runner, stopping):
                return runner, await runner.run(questions.requests())
        finally:
            await judge.aclose()

    with tempfile.TemporaryDirectory(prefix="assay-") as folder, closing(Book(Path(folder) / "book.sqlite")) as book:
        runner, samples_by_request = asyncio.run(ask(book))
    scored = [sample for samples in samples_by_request.values() for sample in samples if sample.unscored is None]
    if runner.tally.halted == "interrupted":
        raise KeyboardInterrupt
    if len(scored) < LEAST_SCORED * len(questions.anchors):
        first_message = next(
            (sample.message for samples in samples_by_request.values() for sample in samples if sample.message), ""
        )
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(runner.tally.unscored.items()))
        reason = "; ".join(filter(None, (reasons, runner.tally.halted, first_message)))
        raise IncompleteError(
            f"judge {chosen.name}: {len(scored)} of {len(questions.anchors)} anchors got a verdict ({reason})"
        )
    modes = sorted(
        {flag.removeprefix("mode:") for sample in scored for flag in sample.flags if flag.startswith("mode:")}
    )
    separation = separated(questions, samples_by_request, chosen.rubrics)
    model = f"{judge.identity.model} ({chosen.name}, {judge.identity.digest})"
    return Selftest(model, separation, len(questions.anchors), budget, runner.tally, tuple(modes))
