"""The use case of attribution: the observations of a scored run read again, and each outcome given its cause."""

from __future__ import annotations

from itertools import islice
from weakref import WeakKeyDictionary

import numpy as np
from msgspec import structs

from assay.attribution.cause_notes import READ_AS
from assay.attribution.index.index_view import IndexView
from assay.attribution.one_case.answer_quality import CaseScores, describe_answer_reading
from assay.attribution.one_case.case_facts import CITATION_METRIC, LEAK_METRIC
from assay.attribution.root_causes import attribute_case
from assay.attribution.whole_run.failed_cases import reconcile_with_checks
from assay.attribution.whole_run.run_consensus import (
    count_sure_causes,
    find_failing_searches,
    find_moved_ids,
    is_open,
    rank_by_run,
)
from assay.metrics.answers.expected_text import find_text_signal
from assay.metrics.case_checks import METRIC_ERROR, WRONG_BEHAVIOUR
from assay.metrics.cases.case_index import CHUNK_ID, GoldenIndex
from assay.metrics.catalog import may_metric_gate, parse_metric
from assay.metrics.leaks.find_leaks import ACCESS_UNKNOWN
from assay.metrics.leaks.withheld_text import WithheldTexts
from assay.metrics.metric import Batch, JoinedRows
from assay.records.findings import Attribution
from assay.records.golden_set import Corpus
from assay.records.observations import Observation
from assay.records.scores import SCORED, CaseChecks
from assay.scoring.attribution_settings import JUDGE_METRIC, AttributionSettings
from assay.scoring.column_values import list_own_failures
from assay.scoring.score_shard import suspend_garbage_collection
from assay.scoring.score_tables import score_batch
from assay.scoring.scored_run import ScoredRun

LARGE_RUN_CASES = 5000
"""From this number of cases on, a clean pass is attributed from its scores alone, without reading its observation."""
INDEX_SAMPLE = 2000
"""How many observations of a large run are read to learn what its index holds, besides those that are attributed."""

_MUST_BE_ONE = ("context_recall", "behaviour")
_SIGNALS = ("keywords", "exact_match", "number_match", "completeness(by=rules)", "correct_answer")

_Attributions = WeakKeyDictionary[GoldenIndex, dict[str, dict[str, Attribution]]]
_attributions_by_joins: _Attributions = WeakKeyDictionary()
_failures_by_joins: _Attributions = WeakKeyDictionary()
_index_views: WeakKeyDictionary[GoldenIndex, dict[str, IndexView]] = WeakKeyDictionary()
_checks: WeakKeyDictionary[GoldenIndex, dict[str, dict[str, CaseChecks]]] = WeakKeyDictionary()


def attribute_run(run: ScoredRun, config: str) -> dict[str, Attribution]:
    """Return the attribution of each case of one configuration, in golden order; computed once for a run.

    Every case has exactly one. The result is empty when the run keeps no observations to read (TREC pairs).
    """
    by_config = _attributions_by_joins.setdefault(run.joins, {})
    if config not in by_config:
        by_config[config] = _attribute_config(run, config, has_doubts=True)
    return by_config[config]


def is_attributed(run: ScoredRun) -> bool:
    """Return whether the attributions of every configuration were computed before."""
    return _attributions_by_joins.get(run.joins, {}).keys() >= run.scoring.configs.keys()


def attribute_failures(run: ScoredRun, config: str) -> dict[str, Attribution]:
    """Return the attributions of one configuration without the doubts of cases that failed no check.

    These cases keep whether the evidence reached the generator, whether the answer is good and the traces, which is all
    that a summary needs of them: the rules that look for doubts take most of the time of attribution.
    """
    by_case = _attributions_by_joins.get(run.joins, {}).get(config)
    if by_case is not None:
        return by_case
    by_config = _failures_by_joins.setdefault(run.joins, {})
    if config not in by_config:
        by_config[config] = _attribute_config(run, config, has_doubts=False)
    return by_config[config]


def attribute_run_case(run: ScoredRun, config: str, case_id: str) -> Attribution | None:
    """Return the attribution of one case; those of the other cases are computed only if it is not sure (ADR 0126)."""
    by_case = _attributions_by_joins.get(run.joins, {}).get(config)
    if by_case is not None:
        return by_case.get(case_id)
    if run.shards is None and not run.observations_in_memory:
        return None
    alone = _attribute_case(
        run, config, run.joins.position[case_id], _attribution_settings(run, config), _index_view(run, config)
    )
    return attribute_run(run, config).get(case_id) if is_open(alone) else alone


def _attribute_config(run: ScoredRun, config: str, *, has_doubts: bool) -> dict[str, Attribution]:
    if run.shards is None and not run.observations_in_memory:
        return {}
    settings = _attribution_settings(run, config)
    decided = _attribute_from_scores(run, config, settings)
    with suspend_garbage_collection():
        view = _index_view(run, config)
        attributions = {
            case.id: decided.get(case.id)
            or _attribute_case(run, config, position, settings, view, has_doubts=has_doubts)
            for position, case in enumerate(run.golden.cases)
        }
    sure_causes, failing = count_sure_causes(attributions), find_failing_searches(attributions.values())
    moved_ids = find_moved_ids(attributions.values())
    return {
        case_id: rank_by_run(attribution, sure_causes, failing, moved_ids)
        for case_id, attribution in attributions.items()
    }


def _attribute_case(
    run: ScoredRun,
    config: str,
    position: int,
    settings: AttributionSettings,
    view: IndexView,
    *,
    has_doubts: bool = True,
) -> Attribution:
    case = run.joins.case_index(position)
    observation = run.read_observation(config, case.case.id)
    scores = {} if observation is None else _scores_of_observation(run, config, position, observation, settings)
    checks = _checks_by_case(run, config).get(case.case.id)
    is_explained = has_doubts or (checks is not None and bool(checks.failed))
    attribution = attribute_case(case, observation, scores, settings, view, is_explained=is_explained)
    unmeasured: tuple[str, ...] = ()
    if checks is not None and METRIC_ERROR in checks.failed:
        failures = list_own_failures(run.scoring.configs[config].table, position)
        unmeasured = tuple(f"{metric}: {text}" for metric, text in failures.items())
    attribution = reconcile_with_checks(attribution, checks, unmeasured)
    if observation is not None and checks is not None and WRONG_BEHAVIOUR in checks.failed:
        reading = f"{READ_AS}{describe_answer_reading(case, observation)}"
        attribution = structs.replace(attribution, evidence=(*attribution.evidence, reading))
    _, leaks, reason = scores.get(LEAK_METRIC, (SCORED, 0.0, ""))
    # A rule may name a chunk that the corpus does not have, whose id may be what the user must not see.
    may_leak = bool(leaks) or reason == ACCESS_UNKNOWN
    if observation is None or not attribution.evidence or not (may_leak or settings.internal_stages):
        return attribution
    reasons = WithheldTexts(case, observation, names_chunks=True).withhold(list(attribution.evidence))
    return structs.replace(attribution, evidence=tuple(reasons))


def _checks_by_case(run: ScoredRun, config: str) -> dict[str, CaseChecks]:
    """Return the checks of a configuration by case; made once for a run."""
    by_config = _checks.setdefault(run.joins, {})
    if config not in by_config:
        by_config[config] = {checks.case_id: checks for checks in run.scoring.configs[config].table.checks}
    return by_config[config]


def _scores_of_observation(
    run: ScoredRun, config: str, position: int, observation: Observation, settings: AttributionSettings
) -> CaseScores:
    """Return the scores of one observation: those of the table, or of this repeat alone when cases are repeated."""
    table = run.scoring.configs[config].table
    columns = table.columns | table.before_leaks
    if table.repeats > 1:
        batch = Batch(run.plan.facts)
        batch.add_rows(JoinedRows([run.joins.case_index(position)], [observation]))
        columns, position = score_batch(run.plan, batch), 0
    needed = {CITATION_METRIC, LEAK_METRIC, *settings.deciding_metrics}
    return {
        name: (int(column.status[position]), float(column.values[position]), column.reasons[column.reason[position]])
        for name, column in columns.items()
        if name in needed
    }


def _attribution_settings(run: ScoredRun, config: str) -> AttributionSettings:
    """Return the settings of attribution; a judge decides first only if it was calibrated against human labels."""
    calibrated = may_metric_gate(parse_metric(JUDGE_METRIC), run.judging)
    return structs.replace(
        run.attribution,
        calibrated=frozenset((JUDGE_METRIC,) if calibrated else ()),
        is_user_sent=run.attribution.sent_users.get(config),
    )


# ── large runs ───────────────────────────────────────────────────────────────────────────────────────────────────


def _attribute_from_scores(run: ScoredRun, config: str, settings: AttributionSettings) -> dict[str, Attribution]:
    """Return the attributions that the scores of a large run already decide.

    These are cases without a failure or a warning, with all evidence in the context, and with a score of 1 for every
    signal of a good answer that applies. Reading their observations again would only add the evidence trace. The result
    is empty for a run that is not large, and where anything but the answer's own text decides whether it is good.
    """
    table = run.scoring.configs[config].table
    if (
        len(table.case_ids) < LARGE_RUN_CASES
        or settings.threshold is not None
        or settings.calibrated
        or table.repeats > 1
    ):
        return {}
    is_clean = np.ones(len(table.case_ids), dtype=np.bool_)
    for name in _MUST_BE_ONE:
        column = table.columns[name]
        is_clean &= (column.status == SCORED) & (column.values == 1)
    for name in _SIGNALS:
        signal_column = table.columns.get(name)
        if signal_column is None:
            return {}
        is_clean &= (signal_column.status != SCORED) | (signal_column.values == 1)
    noted_cases = _checks_by_case(run, config)
    is_clean &= table.columns["correct_answer"].status == SCORED  # where the rules cannot tell, nothing is good
    by_case = {}
    for position in np.flatnonzero(is_clean).tolist():
        case = run.golden.cases[position]
        signal = find_text_signal(case)
        if signal is not None and case.id not in noted_cases:
            by_case[case.id] = Attribution(case.id, "pass", confidence="high", good=True, reached=True, signal=signal)
    return by_case


def _index_view(run: ScoredRun, config: str) -> IndexView:
    """Return what the traces show of the index, those of a run of the same index included.

    All traces are read; of a large run only those of the cases that need attribution, and `INDEX_SAMPLE` others.
    """
    views = _index_views.setdefault(run.joins, {})
    if config not in views:
        decided = _attribute_from_scores(run, config, _attribution_settings(run, config))
        undecided = [case.id for case in run.golden.cases if case.id not in decided]
        view = views[config] = IndexView(run.corpus or Corpus({}))
        for case_id in (*undecided, *islice(decided, INDEX_SAMPLE)):
            _show_trace(view, run, config, case_id)
        for case_id in run.same_index.cases if run.same_index is not None else ():
            _show_trace(view, run.same_index, config, case_id)
    return views[config]


def _show_trace(view: IndexView, run: ScoredRun | None, config: str, case_id: str) -> None:
    observation = run.read_observation(config, case_id) if run is not None else None
    if run is not None and observation is not None:
        case = run.cases[case_id]
        needed = [unit for unit in case.evidence if unit.required and unit.grade > 0]
        selectors = [selector for unit in needed for selector in unit.any_of]
        needed_ids = [str(selector[CHUNK_ID]) for selector in selectors if CHUNK_ID in selector]
        view.add_observation(observation, case.user, needed_ids, case.question)
