"""The cases of a result as records and as columns: what was asked, answered and measured, one row for each case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, partial
from typing import Any

from assay.attribution.attribute_run import attribute_failures, attribute_run_case
from assay.metrics.answers.correctness import UNKNOWN_REASON
from assay.metrics.catalog import parse_metric
from assay.records.errors import InputError, Problem
from assay.records.findings import Attribution
from assay.records.golden_set import Case
from assay.records.observations import Observation, describe_target_error
from assay.records.scores import SCORED, ScoreTable
from assay.report.cases.explain_case import explain_case, explain_score
from assay.scoring.case_outcomes import CaseOutcome, classify_checks
from assay.scoring.column_values import find_column, list_own_failures
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


class CaseReasons(dict[str, str]):
    """Why metrics of a case have no score; asked for a metric with a score, it says how that was derived, and of an
    answer that is unknown what is open.

    >>> reasons = CaseReasons({"recall@10": "no evidence to find"}, {"correct_answer": 0.0}, lambda name: "missing: 9")
    >>> reasons["recall@10"], reasons["correct_answer"], reasons.get("correct_answer"), list(reasons)
    ('no evidence to find', 'missing: 9', 'missing: 9', ['recall@10'])
    """

    def __init__(self, reasons: Mapping[str, str], scores: Mapping[str, float], explain: Callable[[str], str]) -> None:
        super().__init__(reasons)
        self._scores, self._explain = scores, explain

    def __getitem__(self, metric: str) -> str:
        reason: str = super().__getitem__(metric)
        if reason != UNKNOWN_REASON:
            return reason
        derived = self._explain(metric)
        return f"unknown: {derived}" if derived else reason

    def __missing__(self, metric: str) -> str:
        if metric not in self._scores:
            raise KeyError(f"no metric {metric!r} (measured: {', '.join([*self._scores, *self])})")
        return self._explain(metric) or f"scored {self._scores[metric]:g}"

    def get(self, metric: str, default: Any = None) -> Any:
        """Return the reason of a metric that was measured, else the default."""
        return self[metric] if metric in self or metric in self._scores else default


@dataclass(frozen=True)
class CaseResult:
    """One case in one configuration. `scores` has the metrics with a number, `reasons` why the others have none.

    `reasons` also says how a score was derived, such as what a wrong answer lacks, if it is asked for that metric.
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

    @cached_property
    def attribution(self) -> Attribution | None:
        """Which part of the system caused the outcome, with its evidence; None where no observation was kept."""
        return attribute_run_case(self.run, self.config, self.id)

    @property
    def cause(self) -> str | None:
        """The root cause of a failed case, such as `generator`; None for a case that failed nothing."""
        return self.attribution.cause if self.has_failed and self.attribution is not None else None

    @property
    def fix(self) -> str | None:
        """What to try first against the cause, None without one."""
        return self.attribution.fix if self.cause is not None and self.attribution is not None else None

    @cached_property
    def metric_errors(self) -> dict[str, str]:
        """Why each metric of one's own that could not measure the case has no score of it."""
        return list_own_failures(self.run.scoring.configs[self.config].table, self.run.joins.position[self.id])

    @property
    def has_failed(self) -> bool:
        """Whether the case failed a check, has no output, or could not be measured by a metric of one's own."""
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
        explained = CaseReasons(reasons, scores, partial(explain_score, run, table.config_id, case_id))
        yield CaseResult(
            run.cases[case_id],
            table.config_id,
            checks.failed if checks is not None else (),
            CaseScores(scores, explained),
            explained,
            classify_checks(checks),
            run,
        )


def build_columns(run: ScoredRun) -> dict[str, Column]:
    """Return one row for each configuration and case: texts first, then every metric with a score of any of them.

    A cell is None where the case has no score of the metric, or nothing to say: an answer, an error, a cause.
    """
    results = list_case_results(run)
    attributions = {config: attribute_failures(run, config) for config in run.scoring.configs}
    causes = [attributions[result.config].get(result.id) if result.has_failed else None for result in results]
    columns: dict[str, Column] = {
        "config": [result.config for result in results],
        "case_id": [result.id for result in results],
        "question": [result.question for result in results],
        "answer": [result.answer for result in results],
        "outcome": [result.outcome for result in results],
        "error": [result.error for result in results],
        "cause": [found.cause if found is not None else None for found in causes],
        "fix": [found.fix if found is not None and found.cause is not None else None for found in causes],
        "failed_checks": [", ".join(result.failed_checks) for result in results],
    }
    for metric in dict.fromkeys(metric for config in run.scoring.configs.values() for metric in config.table.columns):
        scores = [result.scores.get(metric) for result in results]
        if any(score is not None for score in scores):
            columns[metric] = scores
    return columns


def find_metric_name(run: ScoredRun, metric: str) -> str:
    """Return the name under which a metric was measured. Raises InputError, with those that were, if it was not."""
    metric_name = parse_metric(metric)
    for result in run.scoring.configs.values():
        if str(metric_name) in result.summary or find_column(result.table, metric_name) is not None:
            return str(metric_name)
    measured = list(dict.fromkeys(name for result in run.scoring.configs.values() for name in result.summary))
    base = metric_name.base
    near = [name for name in measured if parse_metric(name).base == base] or get_close_matches(metric, measured, n=3)
    remedy = f"score with metrics=[{str(metric_name)!r}]"
    if metric_name.key_value("by", "rules") != "rules":
        remedy = "give the verdicts of a judge when scoring: assay.judge, or verdicts="
    measured_near = f", or one of {', '.join(near[:_MOST_NEAR_NAMES])}" if near else ""
    message = f"not measured: {remedy} (got {metric!r}; expected a metric of result.summary(config){measured_near})"
    raise InputError([Problem("", None, "metric", message, "E_METRIC")])


_MOST_NEAR_NAMES = 5
