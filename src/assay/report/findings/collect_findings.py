"""What a finished scoring shows beyond its scores: root causes, and changes since the baseline.

The screen needs no more than this; the writers of reports (`write_reports`) are imported only when one is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

from assay.attribution.attribute_run import attribute_failures, attribute_run, is_attributed
from assay.metrics.cases.case_index import GoldenIndex
from assay.records.findings import Attribution, Comparison
from assay.scoring.scored_run import ScoredRun


def attribute_all_configs(run: ScoredRun) -> dict[str, dict[str, Attribution]]:
    """Return the attributions of every configuration that has any; none if the run keeps no observations."""
    by_config = {config: attribute_run(run, config) for config in sorted(run.scoring.configs)}
    return {config: by_case for config, by_case in by_config.items() if by_case}


MAX_CASES_ATTRIBUTED_FOR_SCREEN = 5000
"""Up to this number of cases the screen names causes even if no report does: observations are read again for them,
which takes a quarter as long as scoring did."""


def attribute_small_run(run: ScoredRun) -> dict[str, dict[str, Attribution]]:
    """Return the attributions of a run that is small enough for the screen; of a larger one, those that a report had
    computed."""
    return attribute_all_configs(run) if _is_small(run) else {}


def _is_small(run: ScoredRun) -> bool:
    """Return whether the causes of a run cost little, or nothing any more."""
    return len(run.golden.cases) <= MAX_CASES_ATTRIBUTED_FOR_SCREEN or is_attributed(run)


def attribute_small_failures(run: ScoredRun) -> dict[str, dict[str, Attribution]]:
    """Return the same for a summary, which shows no doubts of cases that failed no check."""
    if not _is_small(run):
        return {}
    by_config = {config: attribute_failures(run, config) for config in sorted(run.scoring.configs)}
    return {config: by_case for config, by_case in by_config.items() if by_case}


_comparisons: WeakKeyDictionary[GoldenIndex, Mapping[str, Comparison]] = WeakKeyDictionary()


def compare_run(run: ScoredRun) -> Mapping[str, Comparison]:
    """Return how each configuration changed since the baseline, computed once for a run; empty without one."""
    if run.baseline is None:
        return {}
    if run.joins not in _comparisons:
        from assay.comparison.compare_scores import compare_with_baseline  # only runs with a baseline need it

        _comparisons[run.joins] = compare_with_baseline(run)
    return _comparisons[run.joins]
