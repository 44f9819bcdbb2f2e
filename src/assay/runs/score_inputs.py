"""Scoring recorded outputs against a golden set: score tables, summaries and the gate's decision."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import structs

from assay.gates.correctness_rules import JUDGED_CORRECTNESS
from assay.gates.release_decision import list_gate_metrics
from assay.gates.uncalibrated_rules import refuse_uncalibrated_rules
from assay.metrics.case_index import GoldenIndex
from assay.metrics.catalog import (
    DEFAULT_METRICS,
    is_metric_measurable,
    judged_counterparts,
    may_metric_gate,
    parse_metric,
    parse_metrics,
)
from assay.metrics.judge_requests import RecordedVerdicts
from assay.records.golden_set import Corpus, GoldenSet
from assay.records.release_gates import Gate
from assay.records.scores import GoldenInfo
from assay.scoring.attribution_settings import AttributionSettings
from assay.scoring.paired_scores import ScoreSnapshot
from assay.scoring.score_tables import MetricPlan, plan_columns
from assay.scoring.slices import select_cases


@dataclass(frozen=True, slots=True)
class LoadedGate:
    """The gate that decides about a run, and the baseline of its regression rules; None where there is none.

    Both are read once, because a gate file may be a pipe and a baseline may have to be scored first.
    """

    gate: Gate | None = None
    baseline: ScoreSnapshot | None = None


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """How to score: all options that change the result, and the number of worker processes, which does not.

    `configs` are the configurations to score; all of them if it is empty.
    """

    metrics: tuple[str, ...] = DEFAULT_METRICS
    by: tuple[str, ...] | None = None
    gate: Gate | None = None
    gate_configs: tuple[str, ...] = ()
    missing_as_zero: bool = False
    ignore_unknown: bool = False
    allow_torn_tail: bool = False
    strict_outputs: bool = False
    limit: int | None = None
    only: tuple[str, ...] = ()
    configs: tuple[str, ...] = ()
    workers: int = 1
    notices: tuple[str, ...] = ()
    baseline: ScoreSnapshot | None = None
    today: str | None = None
    judging: RecordedVerdicts | None = None
    attribution: AttributionSettings = field(default_factory=AttributionSettings)


@dataclass(frozen=True, slots=True)
class ScoreJob:
    """The inputs of one scoring: the golden set (the selected cases of `whole_golden`), the corpus, the plan and
    options.
    """

    golden: GoldenSet
    options: ScoreOptions
    plan: MetricPlan
    corpus: Corpus | None = None
    format: str = ""
    digest: str = ""
    excluded_cases: frozenset[str] = frozenset()
    whole_golden: GoldenSet | None = None
    name: str = ""

    @classmethod
    def from_golden(
        cls, golden: GoldenSet, options: ScoreOptions, corpus: Corpus | None, format: str = "", digest: str = ""
    ) -> ScoreJob:
        """Return the job for a whole golden set."""
        cases = select_cases(golden, options.limit, options.only)
        beyond = frozenset(case.id for case in golden.cases) - {case.id for case in cases}
        selected = structs.replace(golden, cases=cases) if beyond else golden
        metric_plan = plan_metrics(options, partial=golden.judgments == "partial")
        return cls(selected, options, metric_plan, corpus, format, digest, beyond, golden)

    def joins(self) -> GoldenIndex:
        """Return the golden set joined with corpus and verdicts."""
        return GoldenIndex(self.golden, self.corpus, self.options.judging, self.whole_golden)

    @property
    def info(self) -> GoldenInfo:
        """The description of the golden set in reports."""
        golden = self.golden
        count = len(golden.cases)
        return GoldenInfo(golden.name or self.name, golden.version, self.digest, count, self.format, golden.judgments)


def plan_metrics(options: ScoreOptions, *, partial: bool = False) -> MetricPlan:
    """Return the metrics to compute: those requested, those of the gate's rules, and the one that says an answer is
    good.

    If the golden set judges chunks only in part, `judged` is computed with every ranking metric (ADR 0027). Raises
    SettingsError for a rule on uncalibrated scores by rules that does not say what they may do.
    """
    needed = list_gate_metrics(options.gate) if options.gate is not None else ()
    recorded = options.judging.rubrics_with_verdicts if options.judging is not None else ()
    if options.gate is not None:
        refuse_uncalibrated_rules(options.gate, lambda name: not may_metric_gate(name, options.judging))
        if options.gate.correctness is not None and is_metric_measurable(parse_metric(JUDGED_CORRECTNESS), recorded):
            needed += (JUDGED_CORRECTNESS,)
    signal_limit = options.attribution.threshold
    names = parse_metrics((*options.metrics, *needed, *((signal_limit.metric,) if signal_limit is not None else ())))
    return plan_columns((*names, *judged_counterparts(names)) if partial else names, recorded)
