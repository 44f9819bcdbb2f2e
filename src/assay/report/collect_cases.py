"""The cases of a result as records and as columns: what was asked, answered and measured, one row for each case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from assay.attribution.attribute_run import attribute_failures, attribute_run_case
from assay.metrics.case_checks import find_failed_metrics
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

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_values

Column = Sequence[str | float | None]
_UNKNOWN = "unknown: "
"""How the reason begins of a metric that the rules looked at and cannot tell."""


class ShownText(str):
    """A text that a notebook shows with its lines, and not as a string with their signs."""

    __slots__ = ()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


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
            raise KeyError(f"no metric {metric!r} (measured: {', '.join(dict.fromkeys((*self, *self._reasons)))})")
        raise KeyError(f"{metric} has no score: {reason}")


class CaseReasons(dict[str, str]):
    """Why metrics of a case have no score, and what is wrong by those of which it failed a check; asked for another
    metric with a score, it says how that was derived.

    Texts are derived from the answer when they are read, also as `items()` or `dict(reasons)`. `failed` has the
    meaning of the checks that the case failed, by metric; `explain` returns how a score was derived, "" if nothing is
    known of that.

    >>> reasons = CaseReasons(
    ...     {"recall@10": "no evidence to find", "keywords": "unknown: undecided"},
    ...     {"correct_answer": 0.0, "behaviour": 0.0, "rr@10": 0.5},
    ...     lambda name: {"correct_answer": "missing: 9", "keywords": "unknown: 9 or 10"}.get(name, ""),
    ...     {"correct_answer": "not as required", "behaviour": "answered against expectation"},
    ... )
    >>> reasons["recall@10"], reasons["keywords"], reasons["rr@10"]
    ('no evidence to find', 'unknown: 9 or 10', 'scored 0.5')
    >>> [reason for reason in reasons.values()][2:]
    ['missing: 9', 'scored 0: answered against expectation']
    """

    def __init__(
        self,
        reasons: Mapping[str, str],
        scores: Mapping[str, float],
        explain: Callable[[str], str],
        failed: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__({**reasons, **{metric: "" for metric in failed if metric in scores}})
        self._scores, self._explain, self._failed = scores, explain, failed

    def __getitem__(self, metric: str) -> str:
        if metric in self._scores:
            return self._explain(metric) or self._state_score(metric)
        reason: str = super().__getitem__(metric)
        if not reason.startswith(_UNKNOWN):
            return reason
        derived = self._explain(metric)
        return _UNKNOWN + derived.removeprefix(_UNKNOWN) if derived else reason

    def _state_score(self, metric: str) -> str:
        meaning = f": {self._failed[metric]}" if metric in self._failed else ""
        return f"scored {self._scores[metric]:g}{meaning}"

    def __missing__(self, metric: str) -> str:
        raise KeyError(f"no metric {metric!r} (measured: {', '.join(dict.fromkeys((*self._scores, *self)))})")

    def __iter__(self) -> Iterator[str]:
        """Iterate over the metrics without a score and those by which the case failed."""
        return super().__iter__()  # without this method, `dict(reasons)` takes the texts without deriving them

    def items(self) -> dict_items[str, str]:
        """Return the metrics of the iteration with their reasons."""
        return self.derive().items()

    def values(self) -> dict_values[str, str]:
        """Return the reasons of the metrics of the iteration."""
        return self.derive().values()

    def derive(self) -> dict[str, str]:
        """Return the reason of every metric of the iteration as a plain dictionary."""
        return {metric: self[metric] for metric in self}

    def derive_failed(self) -> dict[str, str]:
        """Return the reason of every metric by which the case failed as a plain dictionary."""
        return {metric: self[metric] for metric in self._failed if metric in self._scores or metric in self}

    def get(self, metric: str, default: Any = None) -> Any:
        """Return the reason of a metric that was measured, else the default."""
        return self[metric] if metric in self or metric in self._scores else default


@dataclass(frozen=True)
class CaseResult:
    """One case in one configuration. `scores` has the metrics with a number, `reasons` why the others have none, and
    what is wrong by the metrics of which the case failed a check, such as what a wrong answer lacks.

    Asked for any other metric, `reasons` says how its score was derived.
    `outcome` is unknown where no check failed and nothing tells whether the answer is right.
    """

    case: Case
    config: str
    failed_checks: tuple[str, ...]
    scores: CaseScores
    reasons: CaseReasons
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
    def failures(self) -> dict[str, str]:
        """What is missing or wrong, by the metrics whose checks the case failed; empty for a case that failed none.

        Of a case that the target did not answer, `error` says why.
        """
        return self.reasons.derive_failed()

    @property
    def has_failed(self) -> bool:
        """Whether the case failed a check, has no output, or could not be measured by a metric of one's own."""
        return bool(self.failed_checks) or self.error is not None

    def explain(self, *, show_forbidden: bool = False, verbose: bool = False) -> str:
        """Return the case as text of at most 30 lines; `verbose` for everything known of it."""
        return ShownText(
            explain_case(self.run, self.case.id, self.config, show_forbidden=show_forbidden, verbose=verbose)
        )

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
        explain = partial(explain_score, run, table.config_id, case_id)
        explained = CaseReasons(reasons, scores, explain, find_failed_metrics(checks))
        yield CaseResult(
            run.cases[case_id],
            table.config_id,
            checks.failed if checks is not None else (),
            CaseScores(scores, explained),
            explained,
            classify_checks(checks),
            run,
        )


def build_columns(run: ScoredRun, *, causes: bool = True) -> dict[str, Column]:
    """Return one row for each configuration and case: texts first, then attributes of the cases, then every metric with
    a score of any of them.

    A cell is None where the case has no score of the metric, or nothing to say: an answer, an error, a cause. Without
    `causes` there are no columns `cause` and `fix`, for which the answers of the whole run are read again.
    """
    results = list_case_results(run)
    columns: dict[str, Column] = {
        "config": [result.config for result in results],
        "case_id": [result.id for result in results],
        "question": [result.question for result in results],
        "answer": [result.answer for result in results],
        "outcome": [result.outcome for result in results],
        "error": [result.error for result in results],
        **(_build_causes(run, results) if causes else {}),
        "failed_checks": [", ".join(result.failed_checks) for result in results],
    }
    for name in sorted({name for case in run.cases.values() for name in case.attributes}):
        columns[f"attributes.{name}"] = [result.case.attributes.get(name) for result in results]
    for metric in dict.fromkeys(metric for config in run.scoring.configs.values() for metric in config.table.columns):
        scores = [result.scores.get(metric) for result in results]
        if any(score is not None for score in scores):
            columns[metric] = scores
    return columns


def _build_causes(run: ScoredRun, results: Sequence[CaseResult]) -> dict[str, Column]:
    """Return the causes and fixes of failed cases; a configuration of which none failed is not looked at."""
    failing = sorted({result.config for result in results if result.has_failed})
    attributions = {config: attribute_failures(run, config) for config in failing}
    causes: list[str | None] = []
    fixes: list[str | None] = []
    for result in results:
        attribution = attributions[result.config].get(result.id) if result.has_failed else None
        cause = attribution.cause if attribution is not None else None
        causes.append(cause)
        fixes.append(attribution.fix if attribution is not None and cause is not None else None)
    return {"cause": causes, "fix": fixes}


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
