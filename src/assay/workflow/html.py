"""The data of a run for the HTML report: whole cases in order of importance, and the durations of the steps."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from assay.finding import Attribution, Comparison
from assay.io.assets import html_asset
from assay.metrics.percentiles import percentile
from assay.model import CaseChecks, Observation
from assay.report.html import to_html
from assay.report.html_data import CaseDetail, CaseView, HtmlData, StepTime
from assay.report.html_rows import FAILED, LEAKED, MISSING, states_of
from assay.workflow.explain import explanation
from assay.workflow.html_claims import claims_of, verdicts_of
from assay.workflow.score import ScoreRun

TIMED = 1000
"""Number of cases per configuration from which step durations are computed: a sample is enough."""
EXPLAINED = 500
"""Number of whole cases with the derivation of each score, which takes most of the time spent on a case."""
END_TO_END = "end_to_end"


def html_report(
    run: ScoreRun,
    *,
    comparison: Comparison | None = None,
    attributions: Mapping[str, Mapping[str, Attribution]] | None = None,
    explain: str = "",
    date: str = "",
    owner: str = "",
    detail_mb: float,
    show_forbidden: bool = False,
) -> Iterator[bytes]:
    """Yield the HTML report of a run in pieces; the run's files must exist until the last piece.

    `explain` holds the arguments after `assay explain CASE --config CONFIG`, shown for cases beyond `detail_mb`.
    """
    order = seeded(run)
    data = HtmlData(
        run.scoring,
        run.golden.cases,
        whole_cases(run, order, comparison),
        attributions or {},
        comparison,
        step_times(run, order),
        date,
        owner or run.golden.owner,
        explain,
        detail_mb,
        show_forbidden,
    )
    return to_html(data, html_asset())


def seeded(run: ScoreRun) -> list[int]:
    """Return the positions of all cases in a random order seeded by the golden set: its beginning is a fair sample."""
    seed = run.scoring.golden.digest
    keys = [hashlib.sha256(f"{seed} {case.id}".encode()).digest() for case in run.golden.cases]
    return sorted(range(len(keys)), key=keys.__getitem__)


def whole_cases(run: ScoreRun, order: Sequence[int], comparison: Comparison | None) -> Iterator[CaseDetail]:
    """Yield whole cases: those that leaked, failed, changed or are missing, then all others in random order."""
    checks_by_config = {
        config: {checks_by_case.case_id: checks_by_case for checks_by_case in result.table.checks}
        for config, result in run.scoring.configs.items()
    }
    for number, position in enumerate(dict.fromkeys([*_important_cases(run, comparison), *order])):
        case_id, scores = run.golden.cases[position].id, number < EXPLAINED
        views = {
            config: _case_view(run, position, config, checks_by_case.get(case_id), scores)
            for config, checks_by_case in checks_by_config.items()
        }
        yield CaseDetail(position, views)


def _case_view(run: ScoreRun, position: int, config: str, checks: CaseChecks | None, scores: bool) -> CaseView:
    case_explanation = explanation(run, run.joins, position, config, checks, scores=scores)
    if case_explanation.observation is None:
        return CaseView(case_explanation)
    case = run.joins.case(position)
    return CaseView(
        case_explanation,
        claims_of(case, case_explanation.observation),
        verdicts_of(case, case_explanation.observation, run.plan.names),
    )


def _important_cases(run: ScoreRun, comparison: Comparison | None) -> Iterator[int]:
    """Yield the positions of cases that leaked, failed, changed or are missing, in this order; some more than once."""
    states = [states_of(result) for _, result in sorted(run.scoring.configs.items())]

    def positions_with(state: str) -> list[int]:
        positions = range(len(run.golden.cases))
        return [position for position in positions if any(of_config[position] == state for of_config in states)]

    yield from positions_with(LEAKED)
    yield from positions_with(FAILED)
    if comparison is not None:
        position_by_id = {case.id: position for position, case in enumerate(run.golden.cases)}
        changed = [case.case_id for case in comparison.cases if case.improved or case.regressed or case.needs_review]
        yield from sorted(position_by_id[case_id] for case_id in changed if case_id in position_by_id)
    yield from positions_with(MISSING)


def step_times(run: ScoreRun, order: Sequence[int]) -> list[StepTime]:
    """Return the p50 and p95 in milliseconds of every timed step over a sample of the cases, in order of appearance."""
    times_of_steps = []
    for config in sorted(run.scoring.configs):
        durations: dict[str, list[float]] = {}
        for position in order[:TIMED]:
            observation = run.observation(config, run.golden.cases[position].id)
            if observation is not None:
                for step, duration in _step_durations(observation):
                    durations.setdefault(step, []).append(duration)
        if END_TO_END in durations:  # last, after the steps that it is made of
            durations[END_TO_END] = durations.pop(END_TO_END)
        for step, step_durations in durations.items():
            p50, p95 = percentile(step_durations, 50), percentile(step_durations, 95)
            if p50 is not None and p95 is not None:
                times_of_steps.append(StepTime(config, step, round(p50, 3), round(p95, 3), len(step_durations)))
    return times_of_steps


def _step_durations(observation: Observation) -> Iterator[tuple[str, float]]:
    for stage in observation.stages or ():
        if stage.latency_ms is not None:
            yield stage.name, stage.latency_ms
    if observation.usage is not None:
        yield from observation.usage.stage_ms.items()
        if observation.usage.end_to_end_ms is not None:
            yield END_TO_END, observation.usage.end_to_end_ms
