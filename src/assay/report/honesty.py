"""What a report cannot say: which numbers repeat exactly, how small the set is, what nobody measured."""

from __future__ import annotations

from collections.abc import Iterator

from assay.model import Scoring
from assay.report.figures import JUDGED, Graders, column_of, common_reason, grader_of, instrument, percent, plural
from assay.report.tables import FEW_CASES, slices_by_size

_SMALLEST = 5


def honesty(scoring: Scoring, graders: Graders) -> Iterator[str]:
    """Yield one short paragraph for each limit of this report."""
    yield from _reproducible(scoring, graders)
    yield from _size(scoring)
    yield from _unmeasured(scoring, graders)
    yield from _perfect(scoring, graders)
    yield from _small_slices(scoring)
    if scoring.golden.judgments == "partial":
        yield "Not every chunk was judged, and an unjudged one counts as irrelevant: read judged@k beside the rankings."


def _measured(scoring: Scoring) -> list[str]:
    metrics = {name for result in scoring.configs.values() for name, found in result.summary.items() if found.scored}
    return sorted(metrics)


def _reproducible(scoring: Scoring, graders: Graders) -> Iterator[str]:
    judged = [metric for metric in _measured(scoring) if instrument(metric, graders) == JUDGED]
    yield (
        "Metrics of class D are computed from the files alone: the same files give the same digits. "
        "The answers behind them may differ if the system is asked again."
    )
    if judged:
        yield (
            f"Metrics of class J rest on recorded verdicts of a judge: {', '.join(judged)}. "
            "Scoring the same verdicts again gives the same digits; asking the judge again may not."
        )
    else:
        yield "No judge was asked, and none was paid: there is no metric of class J in this report."
    once = [config for config, result in sorted(scoring.configs.items()) if result.table.repeats <= 1]
    if once:
        yield f"Each question was asked once ({', '.join(once)}): how much answers vary from run to run is unknown."


def _size(scoring: Scoring) -> Iterator[str]:
    cases = scoring.golden.cases
    if cases:
        bound = percent(1 - 0.05 ** (1 / cases))
        yield (
            f"The golden set has {plural(cases, 'case')}. A fault seen in none of them may still strike "
            f"up to {bound} of such questions (one-sided 95% bound). It is a set for this system, not a benchmark."
        )


def _unmeasured(scoring: Scoring, graders: Graders) -> Iterator[str]:
    for config, result in sorted(scoring.configs.items()):
        reasons: dict[str, list[str]] = {}
        for metric, found in sorted(result.summary.items()):
            if found.value is None:
                why = common_reason(column_of(metric, result.table)) or "no case"
                reasons.setdefault(why, []).append(metric)
        if reasons:
            listed = "; ".join(f"{', '.join(metrics)} ({why})" for why, metrics in sorted(reasons.items()))
            yield f"{config}, not measured though asked for: {listed}."
    judging = [metric for metric in _measured(scoring) if instrument(metric, graders) == JUDGED]
    known = {grader.name for metric in judging if (grader := grader_of(metric, graders)) is not None}
    judged = sorted(f"{row.name}(by=judge)" for row in graders.values() if row.rubrics and row.name not in known)
    if judged:
        yield f"Never asked, because it takes a judge's verdicts: {', '.join(judged)}."


def _perfect(scoring: Scoring, graders: Graders) -> Iterator[str]:
    for config, result in sorted(scoring.configs.items()):
        perfect = []
        for metric, found in result.summary.items():
            grader = grader_of(metric, graders)
            best = grader is None or (grader.direction == "higher" and grader.high == 1.0)
            if best and found.scored > 1 and found.value == 1.0:
                perfect.append(metric)
        if perfect:
            yield (
                f"{config} is perfect on {', '.join(perfect)}. A perfect score is a warning: "
                "the questions may be too easy to tell a good system from a better one."
            )


def _small_slices(scoring: Scoring) -> Iterator[str]:
    sizes = {key: size for result in scoring.configs.values() for size, key in slices_by_size(result)}
    small = sorted((size, key) for key, size in sizes.items() if size < FEW_CASES)
    if small:
        listed = ", ".join(f"{key} ({size})" for size, key in small[:_SMALLEST])
        more = f" and {len(small) - _SMALLEST} more" if len(small) > _SMALLEST else ""
        yield f"Slices of fewer than {FEW_CASES} cases describe those cases and prove nothing: {listed}{more}."
