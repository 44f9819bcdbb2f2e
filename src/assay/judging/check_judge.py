"""The self-test of a judge: whether it distinguishes grounded claims from others on items with a known label."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.calls.interruption import handle_interrupts
from assay.formats.settings_file import Config
from assay.judging.budget import Budget
from assay.judging.call_scheduler import JudgingLimits, JudgingRunner, JudgingTally
from assay.judging.choose_judge import choose_caps, choose_judge, make_judge
from assay.judging.control_questions import (
    MIN_SCORED_SHARE,
    AnchorSeparation,
    ControlQuestions,
    build_anchor_requests,
    measure_separation,
)
from assay.judging.rubric_files import load_anchors
from assay.judging.verdict_store import SqliteVerdictStore
from assay.records.counts import format_count
from assay.records.errors import ExitCode, IncompleteError
from assay.records.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """The result of a self-test; `modes` are the reply formats that the endpoint turned out to support."""

    judge: str
    separation: AnchorSeparation
    asked: int
    budget: Budget
    tally: JudgingTally
    modes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """PASS if the judge distinguishes grounded from other claims, else FAILED."""
        return ExitCode.PASS if self.separation.is_good else ExitCode.FAILED


def check_judge(
    config: Config,
    name: str | None,
    flags: dict[str, Any] | None = None,
    limits: JudgingLimits | None = None,
    max_calls: int | None = None,
    on_interrupt: Callable[[], None] = lambda: None,
) -> JudgeCheck:
    """Ask a judge every anchor once, without storing the verdicts.

    Raises SettingsError for a judge that cannot be created, IncompleteError if too few anchors got a verdict.
    """
    chosen = choose_judge(config, name, flags or {})
    budget = Budget(choose_caps(chosen, max_calls, None, None))
    limits = limits or JudgingLimits()
    judge = make_judge(chosen, limits.concurrency, limits.deadline, budget)
    questions = ControlQuestions({}, build_anchor_requests(load_anchors().anchors, chosen.rubrics))

    async def ask(store: SqliteVerdictStore) -> tuple[JudgingRunner, dict[str, list[Verdict]]]:
        runner = JudgingRunner(judge, store, lambda _, samples: not samples, limits, budget)
        try:
            with handle_interrupts(runner, on_interrupt):
                return runner, await runner.run(questions.all_requests())
        finally:
            await judge.aclose()

    with (
        tempfile.TemporaryDirectory(prefix="assay-") as folder,
        closing(SqliteVerdictStore(Path(folder) / "verdicts.sqlite")) as store,
    ):
        runner, samples_by_request = asyncio.run(ask(store))
    scored = [sample for samples in samples_by_request.values() for sample in samples if sample.unscored is None]
    if runner.tally.halted == "interrupted":
        raise KeyboardInterrupt
    if len(scored) < MIN_SCORED_SHARE * len(questions.anchors):
        first_message = next(
            (sample.message for samples in samples_by_request.values() for sample in samples if sample.message), ""
        )
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(runner.tally.unscored.items()))
        reason = "; ".join(filter(None, (reasons, runner.tally.halted, first_message)))
        raise IncompleteError(
            f"judge {chosen.name}: {len(scored)} of {format_count(len(questions.anchors), 'anchor')} got a verdict "
            f"({reason})"
        )
    modes = sorted(
        {flag.removeprefix("mode:") for sample in scored for flag in sample.flags if flag.startswith("mode:")}
    )
    separation = measure_separation(questions, samples_by_request, chosen.rubrics)
    model = f"{judge.identity.model} ({chosen.name}, {judge.identity.digest})"
    return JudgeCheck(model, separation, len(questions.anchors), budget, runner.tally, tuple(modes))
