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
"""From how many cases on a clean pass is told from the scores alone: reading it again would change nothing."""
VIEWED = 2000
"""How many observations of a large run show what its index holds, beside those that are attributed."""

_MUST_BE_ONE = ("context_recall", "behaviour")
_SIGNALS = ("keywords", "exact_match", "number_match", "completeness(by=rules)")

_found: WeakKeyDictionary[Joins, dict[str, dict[str, Attribution]]] = WeakKeyDictionary()
_views: WeakKeyDictionary[Joins, dict[str, IndexView]] = WeakKeyDictionary()


def attributions(run: ScoreRun, config: str) -> dict[str, Attribution]:
    """Return whose fault each case's outcome was, in golden order; found once for a run.

    Every case has exactly one; nothing is returned where the run keeps no observations to look at (TREC pairs).
    """
    known = _found.setdefault(run.joins, {})
    if config not in known:
        known[config] = _attributed(run, config) if run.gathered is not None or run.held else {}
    return known[config]


def attribution(run: ScoreRun, config: str, case_id: str) -> Attribution | None:
    """Return the attribution of one case without making all the others'."""
    known = _found.get(run.joins, {}).get(config)
    if known is not None:
        return known.get(case_id)
    if run.gathered is None and not run.held:
        return None
    return _one(run, config, run.joins.position[case_id], _settings(run), _view(run, config))


def _attributed(run: ScoreRun, config: str) -> dict[str, Attribution]:
    settings = _settings(run)
    clean = _clean(run, config, settings)
    with no_collections():
        view = _view(run, config)
        return {
            case.id: clean.get(case.id) or _one(run, config, place, settings, view)
            for place, case in enumerate(run.golden.cases)
        }


def _one(run: ScoreRun, config: str, place: int, settings: AttributionSettings, view: IndexView) -> Attribution:
    case = run.joins.case(place)
    seen = run.observation(config, case.case.id)
    scores = {} if seen is None else _scores(run, config, place, seen, settings)
    return attribute(case, seen, scores, settings, view)


def _scores(run: ScoreRun, config: str, place: int, seen: Observation, settings: AttributionSettings) -> Scores:
    """Return the scores of the observation that is looked at: the table's, but of a repeated one its own alone."""
    table = run.scoring.configs[config].table
    columns = table.columns
    if table.repeats > 1:
        batch = Batch(run.plan.facts)
        batch.add(Rows([run.joins.case(place)], [seen]))
        columns, place = score_batch(run.plan, batch), 0
    wanted = {CITED, LEAKED, *settings.metrics}
    return {
        name: (int(column.status[place]), float(column.values[place]), column.reasons[column.reason[place]])
        for name, column in columns.items()
        if name in wanted
    }


def _settings(run: ScoreRun) -> AttributionSettings:
    """Return the settings of attribution; a judge decides first only where it was held against people."""
    calibrated = may_gate(parse(JUDGE), run.judging)
    return replace(run.attribution, calibrated=frozenset((JUDGE,) if calibrated else ()))


# ── large runs ───────────────────────────────────────────────────────────────────────────────────────────────────


def _clean(run: ScoreRun, config: str, settings: AttributionSettings) -> dict[str, Attribution]:
    """Return the attributions that the scores of a large run already decide: nothing failed, nothing was warned of, all
    evidence was in the context and every signal of a good answer that applies is 1.

    Reading such a case again would only add the walk of its evidence. A run that is not large, or where something else
    than the answer's own text decides, has none of these.
    """
    table = run.scoring.configs[config].table
    if len(table.case_ids) < LARGE or settings.limit is not None or settings.calibrated or table.repeats > 1:
        return {}
    fine = np.ones(len(table.case_ids), dtype=np.bool_)
    for name in _MUST_BE_ONE:
        column = table.columns[name]
        fine &= (column.status == SCORED) & (column.values == 1)
    for name in _SIGNALS:
        signal = table.columns.get(name)
        if signal is None:
            return {}
        fine &= (signal.status != SCORED) | (signal.values == 1)
    noted = {checks.case_id for checks in table.checks}
    found = {}
    for place in np.flatnonzero(fine).tolist():
        case = run.golden.cases[place]
        decides = signal_of(case)
        if decides is not None and case.id not in noted:
            found[case.id] = Attribution(case.id, "pass", confidence="high", good=True, reached=True, signal=decides)
    return found


def _view(run: ScoreRun, config: str) -> IndexView:
    """Return what the traces show of the index: all of them, of a large run those that are read again and some more."""
    views = _views.setdefault(run.joins, {})
    if config not in views:
        clean = _clean(run, config, _settings(run))
        others = [case.id for case in run.golden.cases if case.id not in clean]
        view = views[config] = IndexView(run.corpus or Corpus({}))
        for case_id in (*others, *islice(clean, VIEWED)):
            seen = run.observation(config, case_id)
            if seen is not None:
                view.add(seen)
    return views[config]
