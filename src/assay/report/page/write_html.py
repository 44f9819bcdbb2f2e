"""Writes the HTML report: the packaged page, filled with the data of a run.

Whole cases are included in order of importance, each with the verdicts of judge and rules on its claims and the judge's
recorded votes. `scripts/build_ui.sh` builds the page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from assay.metrics.cases.case_index import CaseIndex
from assay.metrics.grounding.faithfulness import find_grounding_exclusion, judge_claims
from assay.metrics.judged.vote_folding import ItemRuling
from assay.metrics.metric import MetricName
from assay.metrics.parsed_answer import FAITHFULNESS_BY_RULES, CalibratedSupport, ParsedAnswer, calibrate_support
from assay.metrics.scorers import collect_requests
from assay.records.findings import Attribution, Comparison
from assay.records.observations import CONTEXT_STAGE, Observation
from assay.records.scores import CaseChecks, ConfigResult
from assay.records.verdicts import Verdict
from assay.report.cases.explain_case import build_explanation
from assay.report.findings.collect_entities import mark_entities
from assay.report.page.case_data import (
    FAILED,
    LEAKED,
    MISSING,
    CaseDetail,
    CaseView,
    ClaimLabel,
    ClaimView,
    HtmlData,
    StepTime,
    classify_cases,
)
from assay.report.page.html_page import render_html_report
from assay.report.wording.pipeline_order import order_steps
from assay.scoring.scored_run import ScoredRun
from assay.stats.intervals import compute_percentile
from assay.text.claims.source_support import SourceSupport
from assay.text.normalisation import normalise_nfc


def read_html_asset() -> str:
    """Return the page, with no data in it."""
    return Path(__file__).with_name("assets").joinpath("report.html").read_text(encoding="utf-8")


RULES, JUDGE, PERSON = "rules", "judge", "person"
_STATES: dict[str | None, ClaimLabel] = {
    "supported": "supported",
    "contradicted": "contradicted",
    "not_found": "unsupported",
}


def collect_claims(case: CaseIndex, observation: Observation) -> tuple[ClaimView, ...]:
    """Return the claims of an answer with their support by the context, as found by the judge, else by the rules.

    Empty if the answer has no claims to check: for a refusal, no answer, or a context without texts.
    """
    reading = ParsedAnswer(case, observation)
    if (
        observation.error is not None
        or not isinstance(observation.answer, str)
        or find_grounding_exclusion(reading, CONTEXT_STAGE) is not None
    ):
        return ()
    ruled_items, calibrated = _rule_claims(reading), calibrate_support(reading, FAITHFULNESS_BY_RULES[CONTEXT_STAGE])
    texts = reading.source_texts(CONTEXT_STAGE)
    assert isinstance(texts, dict)
    return tuple(
        _claim_by_judge(observation.answer[claim.start : claim.end], ruled_items[claim.id])
        if claim.id in ruled_items
        else _claim_by_rules(
            observation.answer[claim.start : claim.end], support, _label_by_rules(calibrated, support), texts
        )
        for claim, support in zip(reading.claims, reading.claim_supports(CONTEXT_STAGE), strict=True)
    )


def collect_verdicts(case: CaseIndex, observation: Observation, names: Sequence[MetricName]) -> tuple[Verdict, ...]:
    """Return every recorded vote on the questions that the judged metrics among these ask about an observation."""
    judging = case.golden_index.judging
    if judging is None or not judging.verdicts:
        return ()
    requests = collect_requests(case, observation, names, judging.rubrics)
    return tuple(chain.from_iterable(judging.verdicts.get(request.digest, ()) for request in requests))


def _rule_claims(reading: ParsedAnswer) -> dict[str, ItemRuling]:
    """Return the folded votes of the judge by claim; empty without recorded verdicts."""
    judging = reading.case.golden_index.judging
    if judging is None or not judging.verdicts:
        return {}
    asking = judge_claims(reading, judging.rubrics)
    rulings = map(reading.find_ruling, next(asking, ()))
    asking.close()
    return {item.id: item for ruling in rulings if ruling is not None for item in ruling.items}


def _claim_by_judge(text: str, ruled: ItemRuling) -> ClaimView:
    item_verdict = ruled.first_vote
    state = _STATES.get(ruled.label, "unknown")
    if item_verdict is None:
        return ClaimView(text, state, JUDGE, ruled.unscored or "")
    by = f"{PERSON}: {', '.join(ruled.reviewers)}" if ruled.reviewers else JUDGE
    return ClaimView(text, state, by, item_verdict.reasoning, item_verdict.quote, item_verdict.source)


def _label_by_rules(calibrated: CalibratedSupport, support: SourceSupport) -> str:
    """Return the verdict of the rules; uncalibrated, "not found" is unknown."""
    verdict = calibrated.label_support(support)
    return "unknown" if verdict == "not_found" and not calibrated.is_unsupported(support) else verdict


def _claim_by_rules(text: str, support: SourceSupport, verdict: str, texts: dict[str, str]) -> ClaimView:
    missing = support.describe_missing()
    reasons = [*support.contradictions, *([f"in no source: {', '.join(missing)}"] if missing else ())]
    quote = normalise_nfc(texts[support.source])[support.start : support.end] if support.source is not None else None
    return ClaimView(text, _STATES.get(verdict, "unknown"), RULES, "; ".join(reasons), quote, support.source)


TIMED_CASES = 1000
"""Number of cases per configuration from which step durations are computed: a sample is enough."""
EXPLAINED_CASES = 500
"""Number of whole cases with the derivation of each score, which takes most of the time spent on a case."""
END_TO_END = "end_to_end"


def build_html_report(
    run: ScoredRun,
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
    order = shuffle_cases(run)
    data = HtmlData(
        run.scoring,
        run.golden.cases,
        iterate_case_details(run, order, comparison),
        attributions or {},
        comparison,
        measure_step_times(run, order),
        date,
        owner or run.golden.owner,
        explain,
        detail_mb,
        show_forbidden,
    )
    return render_html_report(data, read_html_asset())


def shuffle_cases(run: ScoredRun) -> list[int]:
    """Return the positions of all cases in a random order seeded by the golden set: its beginning is a fair sample."""
    seed = run.scoring.golden.digest
    keys = [hashlib.sha256(f"{seed} {case.id}".encode()).digest() for case in run.golden.cases]
    return sorted(range(len(keys)), key=keys.__getitem__)


def iterate_case_details(run: ScoredRun, order: Sequence[int], comparison: Comparison | None) -> Iterator[CaseDetail]:
    """Yield whole cases: those that leaked, failed, changed or are missing, then all others in random order."""
    checks_by_config = {
        config: {checks_by_case.case_id: checks_by_case for checks_by_case in result.table.checks}
        for config, result in run.scoring.configs.items()
    }
    for number, position in enumerate(dict.fromkeys([*_important_cases(run, comparison), *order])):
        case_id, scores = run.golden.cases[position].id, number < EXPLAINED_CASES
        views = {
            config: _case_view(run, position, config, checks_by_case.get(case_id), scores)
            for config, checks_by_case in checks_by_config.items()
        }
        yield CaseDetail(position, views)


def _case_view(run: ScoredRun, position: int, config: str, checks: CaseChecks | None, scores: bool) -> CaseView:
    case_explanation = build_explanation(run, run.joins, position, config, checks, scores=scores)
    if case_explanation.observation is None:
        return CaseView(case_explanation)
    case = run.joins.case_index(position)
    return CaseView(
        case_explanation,
        collect_claims(case, case_explanation.observation),
        collect_verdicts(case, case_explanation.observation, run.plan.requested),
        mark_entities(case, case_explanation.observation),
    )


def _important_cases(run: ScoredRun, comparison: Comparison | None) -> Iterator[int]:
    """Yield the positions of cases that leaked, failed, changed or are missing, in this order; some more than once.

    Those of the configurations that the gate decides about come first.
    """
    results = [result for _, result in sorted(run.scoring.configs.items())]
    gated = [result for result in results if result.decision is not None]

    def positions_with(state: str, results: Sequence[ConfigResult]) -> list[int]:
        states = [classify_cases(result) for result in results]
        positions = range(len(run.golden.cases))
        return [position for position in positions if any(of_config[position] == state for of_config in states)]

    for chosen in (gated, results):
        yield from positions_with(LEAKED, chosen)
        yield from positions_with(FAILED, chosen)
    if comparison is not None:
        position_by_id = {case.id: position for position, case in enumerate(run.golden.cases)}
        changed = [case.case_id for case in comparison.cases if case.improved or case.regressed or case.needs_review]
        yield from sorted(position_by_id[case_id] for case_id in changed if case_id in position_by_id)
    yield from positions_with(MISSING, results)


def measure_step_times(run: ScoredRun, order: Sequence[int]) -> list[StepTime]:
    """Return the p50 and p95 in milliseconds of each timed step over a sample of the cases, in the pipeline's order."""
    times_of_steps = []
    for config in sorted(run.scoring.configs):
        durations: dict[str, list[float]] = {}
        for position in order[:TIMED_CASES]:
            observation = run.read_observation(config, run.golden.cases[position].id)
            if observation is not None:
                for step, duration in _step_durations(observation):
                    durations.setdefault(step, []).append(duration)
        steps = order_steps(step for step in durations if step != END_TO_END)
        if END_TO_END in durations:
            steps.append(END_TO_END)  # after the steps that it is made of
        for step in steps:
            step_durations = durations[step]
            p50, p95 = compute_percentile(step_durations, 50), compute_percentile(step_durations, 95)
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
