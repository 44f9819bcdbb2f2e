"""The self-test of a judge: whether it gives items with a known label the label that they deserve."""

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
from assay.judging.collect_questions import DEFAULT_JUDGED
from assay.judging.control_questions import (
    MIN_SCORED_SHARE,
    AnchorSeparation,
    ControlQuestions,
    build_all_anchors,
    find_failed_anchors,
    measure_separation,
)
from assay.judging.rubric_files import load_anchors
from assay.judging.verdict_store import SqliteVerdictStore
from assay.metrics.catalog import find_metric, parse_metric
from assay.records.counts import format_count
from assay.records.errors import ExitCode, IncompleteError
from assay.records.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """The result of a self-test: how well it separates claims, and which rubrics it cannot use (`failed`).

    `modes` are the reply formats that the endpoint turned out to support.
    """

    judge: str
    separation: AnchorSeparation
    asked: int
    budget: Budget
    tally: JudgingTally
    modes: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    labelled: int = 0

    @property
    def exit_code(self) -> ExitCode:
        """PASS if the judge distinguishes grounded from other claims and can use every rubric, else FAILED."""
        return ExitCode.PASS if self.separation.is_good and not self.failed else ExitCode.FAILED


def check_judge(
    config: Config,
    name: str | None,
    flags: dict[str, Any] | None = None,
    limits: JudgingLimits | None = None,
    max_calls: int | None = None,
    on_interrupt: Callable[[], None] = lambda: None,
) -> JudgeCheck:
    """Ask a judge every anchor of the rubrics that are asked by default, and of own ones, once; store no verdict.

    Raises SettingsError for a judge that cannot be created, IncompleteError if too few anchors got a verdict.
    """
    chosen = choose_judge(config, name, flags or {})
    budget = Budget(choose_caps(chosen, max_calls, None, None))
    limits = limits or JudgingLimits()
    judge = make_judge(chosen, limits.concurrency, limits.deadline, budget)
    anchors = build_all_anchors(load_anchors().anchors, chosen.rubrics)
    names = {name for metric in (*DEFAULT_JUDGED, *chosen.own_metrics) for name in _list_rubrics_of(metric)}
    questions = ControlQuestions({}, {digest: pair for digest, pair in anchors.items() if pair[1].rubric in names})

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
    by_hash = {rubric.hash: rubric for rubric in chosen.rubrics.values()}
    failed = tuple(find_failed_anchors(questions, samples_by_request, by_hash))
    model = f"{judge.identity.model} ({chosen.name}, {judge.identity.digest})"
    return JudgeCheck(
        model, separation, len(questions.anchors), budget, runner.tally, tuple(modes), failed, len(scored)
    )


def _list_rubrics_of(metric: str) -> tuple[str, ...]:
    return find_metric(parse_metric(metric)).rubrics
