"""What the HTML report needs of a run: whole cases in order of weight, and how long the steps took."""

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
"""Cases whose steps are timed for each configuration: a sample is enough for a picture."""
EXPLAINED = 500
"""Whole cases for which it is said how each score came about, which takes most of the time that a case takes."""
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
    """Yield the HTML report of a run in pieces; it stays readable only as long as the run's files are.

    `explain` are the words after `assay explain CASE --config CONFIG`, for cases that are beyond `detail_mb`.
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
    """Return the places of all cases in an order that the golden set alone decides: its beginning is a fair sample."""
    seed = run.scoring.golden.digest
    keys = [hashlib.sha256(f"{seed} {case.id}".encode()).digest() for case in run.golden.cases]
    return sorted(range(len(keys)), key=keys.__getitem__)


def whole_cases(run: ScoreRun, order: Sequence[int], comparison: Comparison | None) -> Iterator[CaseDetail]:
    """Yield whole cases: those that leaked, failed, changed, are missing, then a sample that goes on to the last."""
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
    states = [states_of(result) for _, result in sorted(run.scoring.configs.items())]

    def places(state: str) -> list[int]:
        return [place for place in range(len(run.golden.cases)) if any(each[place] == state for each in states)]

    yield from places(LEAKED)
    yield from places(FAILED)
    if comparison is not None:
        place = {case.id: number for number, case in enumerate(run.golden.cases)}
        changed = (each.case_id for each in comparison.cases if each.improved or each.regressed or each.needs_review)
        yield from sorted(place[case_id] for case_id in changed if case_id in place)
    yield from places(MISSING)


def step_times(run: ScoreRun, order: Sequence[int]) -> list[StepTime]:
    """Return the p50 and p95 of every step that was timed, over a sample of the cases, in the order they were seen."""
    found = []
    for config in sorted(run.scoring.configs):
        times: dict[str, list[float]] = {}
        for place in order[:TIMED]:
            seen = run.observation(config, run.golden.cases[place].id)
            for step, taken in _step_durations(seen) if seen is not None else ():
                times.setdefault(step, []).append(taken)
        whole = times.pop(END_TO_END, None)
        for step, taken in [*times.items(), *([(END_TO_END, whole)] if whole else ())]:
            p50, p95 = percentile(taken, 50), percentile(taken, 95)
            if p50 is not None and p95 is not None:
                found.append(StepTime(config, step, round(p50, 3), round(p95, 3), len(taken)))
    return found


def _step_durations(observation: Observation) -> Iterator[tuple[str, float]]:
    for stage in observation.stages or ():
        if stage.latency_ms is not None:
            yield stage.name, stage.latency_ms
    if observation.usage is not None:
        yield from observation.usage.stage_ms.items()
        if observation.usage.end_to_end_ms is not None:
            yield END_TO_END, observation.usage.end_to_end_ms
