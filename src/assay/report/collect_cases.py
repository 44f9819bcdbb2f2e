"""The cases of a result as records and as columns: what was asked, answered and measured, one row for each case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from assay.metrics.catalog import parse_metric
from assay.records.errors import InputError, Problem
from assay.records.golden_set import Case
from assay.records.observations import Observation, describe_target_error
from assay.records.scores import SCORED, ScoreTable
from assay.report.explain_case import explain_case
from assay.scoring.case_outcomes import CaseOutcome, classify_checks
from assay.scoring.column_values import find_column
from assay.scoring.scored_run import ScoredRun

Column = Sequence[str | float | None]


class CaseScores(dict[str, float]):
    """The scores of a case by metric; asking for one that has no number raises KeyError with the reason.

    >>> CaseScores({"behaviour": 1.0}, {"correct_answer": "unknown: no check decides"})["correct_answer"]
    Traceback (most recent call last):
    KeyError: 'correct_answer has no score: unknown: no check decides'
    """

    def __init__(self, scores: Mapping[str, float], reasons: Mapping[str, str]) -> None:
        super().__init__(scores)
        self._reasons = reasons

    def __missing__(self, metric: str) -> float:
        reason = self._reasons.get(metric)
        if reason is None:
            raise KeyError(f"no metric {metric!r} (measured: {', '.join([*self, *self._reasons])})")
        raise KeyError(f"{metric} has no score: {reason}")


@dataclass(frozen=True)
class CaseResult:
    """One case in one configuration. `scores` has the metrics with a number, `reasons` why the others have none.

    `outcome` is unknown where no check failed and nothing tells whether the answer is right.
    """

    case: Case
    config: str
    failed_checks: tuple[str, ...]
    scores: CaseScores
    reasons: dict[str, str]
    outcome: CaseOutcome
    run: ScoredRun = field(repr=False, compare=False)

    @property
    def id(self) -> str:
        """The id of the case."""
        return self.case.id

    @property
    def question(self) -> str:
        """The question of the case."""
        return self.case.question

    @cached_property
    def observation(self) -> Observation | None:
        """What the target did, None for a case without output."""
        return self.run.read_observation(self.config, self.case.id)

    @property
    def answer(self) -> str | None:
        """The answer, None if there is none."""
        observation = self.observation
        return observation.answer if observation is not None and isinstance(observation.answer, str) else None

    @property
    def error(self) -> str | None:
        """The error of the target, None if it did not fail."""
        observation = self.observation
        if observation is None:
            return "no output"
        return describe_target_error(observation.error) if observation.error is not None else None

    @property
    def has_failed(self) -> bool:
        """Whether the case failed a check, or has no output."""
        return bool(self.failed_checks) or self.error is not None

    def explain(self, *, show_forbidden: bool = False, verbose: bool = False) -> str:
        """Return the case as text of at most 30 lines; `verbose` for everything known of it."""
        return explain_case(self.run, self.case.id, self.config, show_forbidden=show_forbidden, verbose=verbose)

    def __repr__(self) -> str:
        state = ", ".join(self.failed_checks) or self.error or self.outcome
        return f"<case {self.case.id} of {self.config}: {state}>"


def list_case_results(run: ScoredRun) -> tuple[CaseResult, ...]:
    """Return every case of every configuration, in golden order."""
    return tuple(
        result
        for config in sorted(run.scoring.configs)
        for result in _iterate_cases(run, run.scoring.configs[config].table)
    )


def _iterate_cases(run: ScoredRun, table: ScoreTable) -> Iterator[CaseResult]:
    checks_by_case = {checks.case_id: checks for checks in table.checks}
    for row, case_id in enumerate(table.case_ids):
        scores: dict[str, float] = {}
        reasons: dict[str, str] = {}
        for metric, column in table.columns.items():
            if column.status[row] == SCORED:
                scores[metric] = float(column.values[row])
            else:
                reasons[metric] = column.reasons[column.reason[row]]
        checks = checks_by_case.get(case_id)
        yield CaseResult(
            run.cases[case_id],
            table.config_id,
            checks.failed if checks is not None else (),
            CaseScores(scores, reasons),
            reasons,
            classify_checks(checks),
            run,
        )


def build_columns(run: ScoredRun) -> dict[str, Column]:
    """Return one row for each configuration and case: texts first, then every metric, None where it has no score."""
    results = list_case_results(run)
    columns: dict[str, Column] = {
        "config": [result.config for result in results],
        "case_id": [result.id for result in results],
        "question": [result.question for result in results],
        "answer": [result.answer for result in results],
        "error": [result.error for result in results],
        "failed_checks": [", ".join(result.failed_checks) for result in results],
    }
    for metric in dict.fromkeys(metric for config in run.scoring.configs.values() for metric in config.table.columns):
        columns[metric] = [result.scores.get(metric) for result in results]
    return columns


def find_metric_name(run: ScoredRun, metric: str) -> str:
    """Return the name under which a metric was measured. Raises InputError, with those that were, if it was not."""
    metric_name = parse_metric(metric)
    for result in run.scoring.configs.values():
        if str(metric_name) in result.summary or find_column(result.table, metric_name) is not None:
            return str(metric_name)
    measured = ", ".join(dict.fromkeys(name for result in run.scoring.configs.values() for name in result.summary))
    message = f"not measured (got {metric!r}; expected one of {measured}, or metrics=[{metric!r}] when scoring)"
    raise InputError([Problem("", None, "metric", message, "E_METRIC")])
