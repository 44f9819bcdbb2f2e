"""What was measured with what, in one line: who reads several reports sees which one this is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from assay.records.counts import format_count
from assay.records.findings import Comparison
from assay.records.scores import ScoringResult

MAX_CONFIGS_NAMED = 3


def describe_basis(scoring: ScoringResult, comparisons: Mapping[str, Comparison] | None = None) -> str:
    """Return configurations, golden set, gate and baseline of a run as one line."""
    return " · ".join(_iter_parts(scoring, comparisons or {}))


def _iter_parts(scoring: ScoringResult, comparisons: Mapping[str, Comparison]) -> Iterator[str]:
    configs = sorted(scoring.configs)
    yield ", ".join(configs) if len(configs) <= MAX_CONFIGS_NAMED else format_count(len(configs), "configuration")
    golden = scoring.golden
    name = " ".join(filter(None, (golden.name, golden.version))) or "golden set"
    yield f"{name}: {format_count(golden.cases, 'case')}"
    if scoring.gate is not None:
        yield f"gate {scoring.gate.name or 'unnamed'}"
    baselines = dict.fromkeys(map(name_baseline, comparisons.values()))
    if baselines:
        yield f"compared with {', '.join(baselines)}"


def name_baseline(comparison: Comparison) -> str:
    """Return the baseline as people call it: the last part of its path, after its configuration where that is another
    one than the candidate's."""
    baseline = comparison.baseline
    parts = [part for part in re.split(r"[\\/]", baseline.name) if part]
    name = parts[-1] if parts else baseline.name
    if baseline.config_id in (comparison.candidate.config_id, name):
        return name
    return f"{baseline.config_id} ({name})"
