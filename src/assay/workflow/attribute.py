"""The use case of attribution: the observations of a scored run read again, and each outcome given its cause."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from weakref import WeakKeyDictionary

import numpy as np

from assay.finding import Attribution
from assay.graders.base import Batch, Joins
from assay.graders.catalog import may_gate, parse
from assay.graders.rows import Rows
from assay.model import SCORED, Corpus, Observation
from assay.scoring.attribution import AttributionSettings, attribute
from assay.scoring.engine import score_batch
from assay.scoring.goodness import JUDGE, Scores, signal_of
from assay.scoring.indexed import IndexView
from assay.scoring.inquiry import CITED, LEAKED
from assay.workflow.garbage import no_collections
from assay.workflow.score import ScoreRun

LARGE = 5000
"""From this number of cases on, a clean pass is attributed from its scores alone, without reading its observation."""
VIEWED = 2000
"""How many observations of a large run are read to learn what its index holds, besides those that are attributed."""

_MUST_BE_ONE = ("context_recall", "behaviour")
_SIGNALS = ("keywords", "exact_match", "number_match", "completeness(by=rules)")

_attributions_by_joins: WeakKeyDictionary[Joins, dict[str, dict[str, Attribution]]] = WeakKeyDictionary()
_index_views: WeakKeyDictionary[Joins, dict[str, IndexView]] = WeakKeyDictionary()


def attributions(run: ScoreRun, config: str) -> dict[str, Attribution]:
    """Return the attribution of each case of one configuration, in golden order; computed once for a run.

    Every case has exactly one. The result is empty when the run keeps no observations to read (TREC pairs).
    """
    by_config = _attributions_by_joins.setdefault(run.joins, {})
    if config not in by_config:
        by_config[config] = _attribute_config(run, config) if run.gathered is not None or run.held else {}
    return by_config[config]


def attribution(run: ScoreRun, config: str, case_id: str) -> Attribution | None:
    """Return the attribution of one case without computing those of the other cases."""
    by_case = _attributions_by_joins.get(run.joins, {}).get(config)
    if by_case is not None:
        return by_case.get(case_id)
    if run.gathered is None and not run.held:
        return None
    return _attribute_case(
        run, config, run.joins.position[case_id], _attribution_settings(run), _index_view(run, config)
    )


def _attribute_config(run: ScoreRun, config: str) -> dict[str, Attribution]:
    settings = _attribution_settings(run)
    decided = _attribute_from_scores(run, config, settings)
    with no_collections():
        view = _index_view(run, config)
        return {
            case.id: decided.get(case.id) or _attribute_case(run, config, position, settings, view)
            for position, case in enumerate(run.golden.cases)
        }


def _attribute_case(
    run: ScoreRun, config: str, position: int, settings: AttributionSettings, view: IndexView
) -> Attribution:
    case = run.joins.case(position)
    observation = run.observation(config, case.case.id)
    scores = {} if observation is None else _scores_of_observation(run, config, position, observation, settings)
    return attribute(case, observation, scores, settings, view)


def _scores_of_observation(
    run: ScoreRun, config: str, position: int, observation: Observation, settings: AttributionSettings
) -> Scores:
    """Return the scores of one observation: those of the table, or of this repeat alone when cases are repeated."""
    table = run.scoring.configs[config].table
    columns = table.columns
    if table.repeats > 1:
        batch = Batch(run.plan.facts)
        batch.add(Rows([run.joins.case(position)], [observation]))
        columns, position = score_batch(run.plan, batch), 0
    needed = {CITED, LEAKED, *settings.metrics}
    return {
        name: (int(column.status[position]), float(column.values[position]), column.reasons[column.reason[position]])
        for name, column in columns.items()
        if name in needed
    }


def _attribution_settings(run: ScoreRun) -> AttributionSettings:
    """Return the settings of attribution; a judge decides first only if it was calibrated against human labels."""
    calibrated = may_gate(parse(JUDGE), run.judging)
    return replace(run.attribution, calibrated=frozenset((JUDGE,) if calibrated else ()))


# ── large runs ───────────────────────────────────────────────────────────────────────────────────────────────────


def _attribute_from_scores(run: ScoreRun, config: str, settings: AttributionSettings) -> dict[str, Attribution]:
    """Return the attributions that the scores of a large run already decide.

    These are cases without a failure or a warning, with all evidence in the context, and with a score of 1 for every
    signal of a good answer that applies. Reading their observations again would only add the evidence trace. The result
    is empty for a run that is not large, and where anything but the answer's own text decides whether it is good.
    """
    table = run.scoring.configs[config].table
    if len(table.case_ids) < LARGE or settings.limit is not None or settings.calibrated or table.repeats > 1:
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
    noted_cases = {checks.case_id for checks in table.checks}
    by_case = {}
    for position in np.flatnonzero(is_clean).tolist():
        case = run.golden.cases[position]
        signal = signal_of(case)
        if signal is not None and case.id not in noted_cases:
            by_case[case.id] = Attribution(case.id, "pass", confidence="high", good=True, reached=True, signal=signal)
    return by_case


def _index_view(run: ScoreRun, config: str) -> IndexView:
    """Return what the traces show of the index.

    All traces are read; of a large run only those of the cases that need attribution, and `VIEWED` others.
    """
    views = _index_views.setdefault(run.joins, {})
    if config not in views:
        decided = _attribute_from_scores(run, config, _attribution_settings(run))
        undecided = [case.id for case in run.golden.cases if case.id not in decided]
        view = views[config] = IndexView(run.corpus or Corpus({}))
        for case_id in (*undecided, *islice(decided, VIEWED)):
            observation = run.observation(config, case_id)
            if observation is not None:
                view.add(observation)
    return views[config]
