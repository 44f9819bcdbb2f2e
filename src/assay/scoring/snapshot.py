"""One side of a comparison, from a run or from a committed baseline, and what makes two sides incomparable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.digest import digest
from assay.errors import InputError, Problem
from assay.finding import Attribution, Side
from assay.graders.catalog import grader_of, parse
from assay.graders.judging import Judging
from assay.model import Case, Gate, GoldenInfo, ScoreTable


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that is compared of one configuration. `cases` are those of the table's rows, in its order.

    `definitions` identify the meaning of each metric. `made_with` describes how it was produced, in addition to the
    versions that its observations report. `at` is the ISO time of the run, if it has one.
    """

    side: Side
    table: ScoreTable
    cases: Sequence[Case]
    metrics: tuple[str, ...]
    definitions: Mapping[str, str]
    attributions: Mapping[str, Attribution] = field(default_factory=dict)
    made_with: Mapping[str, str] = field(default_factory=dict)
    golden: GoldenInfo | None = None
    at: str | None = None


def definition_of(metric: str) -> str:
    """Return the identity of what a metric means: its row of the catalogue but for the words around it.

    >>> definition_of("recall@5") == definition_of("recall@10"), definition_of("recall@5") == definition_of("hit@5")
    (True, False)
    """
    row = grader_of(parse(metric))
    keys = {key: [spec.default, *spec.values] for key, spec in row.keys.items()}
    range_ = [repr(row.low), repr(row.high)]
    return digest([row.name, row.unit, row.direction, range_, row.statistic, row.instrument, list(row.parts), keys])


def refuse_incomparable(
    baseline: Snapshot, candidate: Side, definitions: Mapping[str, str], metrics: Sequence[str]
) -> None:
    """Raise InputError with everything that makes a candidate and its `definitions` a measurement of something else."""
    _refuse_other_golden(baseline.side, candidate.golden_digest)
    problems = list(_of_metrics(baseline, candidate, definitions, metrics))
    if any(is_judged(metric) for metric in metrics):
        problems += _of_judges(baseline.side, candidate)
    if problems:
        raise InputError(problems)


def _refuse_other_golden(baseline: Side, golden_digest: str) -> None:
    if baseline.golden_digest != golden_digest:
        got = f"{baseline.name} has {baseline.golden_digest[:19]}…, the candidate {golden_digest[:19]}…"
        message = f"another golden set ({got}; expected the same: score both against the same cases)"
        raise InputError([Problem("", None, "baseline", message, "E_COMPARE_GOLDEN")])


def regressions(gate: Gate) -> list[str]:
    """Return the metrics that a gate with usable rules compares with a baseline."""
    return list(dict.fromkeys(str(parse(rule.metric)) for rule in gate.rules if rule.max_regression is not None))


def judged_by(judging: Judging | None) -> tuple[str | None, dict[str, str]]:
    """Return the digest of the judge whose verdicts were used, with that of a second one, and the hashes of the rubrics
    they are recorded for."""
    if judging is None:
        return None, {}
    known = sorted(judging.rubrics.items())
    judge = f"{judging.judge} with {judging.second}" if judging.second else judging.judge
    return judge, {f"{name} ({lang})": each.hash for (name, lang), each in known if name in judging.held}


def is_judged(metric: str) -> bool:
    """Return whether a metric rests on the verdicts of a judge."""
    return parse(metric).key("by", "rules") == "judge"


def _of_metrics(
    baseline: Snapshot, candidate: Side, definitions: Mapping[str, str], metrics: Sequence[str]
) -> Iterator[Problem]:
    for metric in metrics:
        if metric not in baseline.definitions or metric not in definitions:
            continue  # measured on one side only: nothing to contradict
        if baseline.definitions[metric] != definitions[metric]:
            versions = f"assay {baseline.side.assay_version or '?'} and {candidate.assay_version or 'this one'}"
            message = f"{metric} is defined otherwise on either side ({versions}; expected a baseline saved again)"
            yield Problem("", None, "metric", message, "E_COMPARE_METRIC")


def _of_judges(baseline: Side, candidate: Side) -> Iterator[Problem]:
    hint = "both must be judged again with the same, or compare only --metrics that no judge decides"
    if baseline.judge != candidate.judge:
        message = f"the judges differ (got {baseline.judge} and {candidate.judge}; {hint})"
        yield Problem("", None, "judge", message, "E_COMPARE_JUDGE")
    for rubric in sorted({*baseline.rubrics, *candidate.rubrics}):
        before, after = baseline.rubrics.get(rubric), candidate.rubrics.get(rubric)
        if before != after:
            message = f"rubric {rubric} differs (got {before} and {after}; {hint})"
            yield Problem("", None, "rubric", message, "E_COMPARE_RUBRIC")
