"""Scoring recorded outputs against a golden set: score tables, summaries and the gate's decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from msgspec import structs

from assay.errors import InputError, Problem
from assay.finding import Side
from assay.graders.base import Joins
from assay.graders.catalog import DEFAULT_METRICS, judged_beside, parse_all
from assay.graders.judging import Judging
from assay.io.observations import BOM, FORMATS
from assay.io.outputs.native import checked
from assay.io.outputs.nfc import in_nfc
from assay.model import Case, Corpus, Gate, GoldenInfo, GoldenSet, Observation, ScoreTable, Scoring
from assay.runners.pool import run_shards
from assay.scoring.engine import Plan, plan, table
from assay.scoring.gate import metrics_needed
from assay.scoring.goodness import AttributionSettings
from assay.scoring.snapshot import Snapshot, definition_of, judged_by, refuse_incomparable, regressions
from assay.workflow.collect import Collected, Collector
from assay.workflow.conclude import conclude
from assay.workflow.garbage import no_collections
from assay.workflow.gather import Gathered, check, gather
from assay.workflow.outputs import OutputFile, cut
from assay.workflow.replay import self_judged
from assay.workflow.select import chosen, selection_note
from assay.workflow.shard import score_shard

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Options:
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
    baseline: Snapshot | None = None
    today: str | None = None
    judging: Judging | None = None
    attribution: AttributionSettings = field(default_factory=AttributionSettings)


@dataclass
class ScoreRun:
    """A finished scoring, with the location of each observation so that single cases can be read again."""

    scoring: Scoring
    golden: GoldenSet
    corpus: Corpus | None
    plan: Plan
    files: Sequence[OutputFile]
    gathered: Gathered | None = None
    held: Mapping[tuple[str, str], Observation] = field(default_factory=dict)
    baseline: Snapshot | None = None
    judging: Judging | None = None
    whole: GoldenSet | None = None
    attribution: AttributionSettings = field(default_factory=AttributionSettings)

    @cached_property
    def joins(self) -> Joins:
        """The golden set joined with corpus and verdicts, with which single cases are scored again."""
        return Joins(self.golden, self.corpus, self.judging, self.whole)

    @cached_property
    def cases(self) -> dict[str, Case]:
        """The golden cases by id."""
        return {case.id: case for case in self.golden.cases}

    @cached_property
    def _position(self) -> dict[str, int]:
        return {case_id: position for position, case_id in enumerate(self.cases)}

    def observation(self, config_id: str, case_id: str) -> Observation | None:
        """Return the first recorded observation of a case, read again from its file; None if there is none."""
        if (config_id, case_id) in self.held:
            return self.held[config_id, case_id]
        if self.gathered is None:
            return None
        location = self.gathered.locate(config_id, self._position.get(case_id, -1))
        if location is None or not self.files[location.file].path:
            return None
        file = self.files[location.file]
        with open(file.path, "rb") as lines:
            lines.seek(location.start)
            line = lines.readline()
        return in_nfc(FORMATS[file.decoded_as].decode(line.removeprefix(BOM)))[0]


@dataclass(frozen=True, slots=True)
class Job:
    """The inputs of one scoring: the golden set (the selected cases of `whole`), the corpus, the plan and options."""

    golden: GoldenSet
    options: Options
    plan: Plan
    corpus: Corpus | None = None
    format: str = ""
    digest: str = ""
    beyond_limit: frozenset[str] = frozenset()
    whole: GoldenSet | None = None
    name: str = ""

    @classmethod
    def of(cls, golden: GoldenSet, options: Options, corpus: Corpus | None, format: str = "", digest: str = "") -> Job:
        """Return the job for a whole golden set."""
        cases = chosen(golden, options.limit, options.only)
        beyond = frozenset(case.id for case in golden.cases) - {case.id for case in cases}
        selected = structs.replace(golden, cases=cases) if beyond else golden
        metric_plan = the_plan(options, partial=golden.judgments == "partial")
        return cls(selected, options, metric_plan, corpus, format, digest, beyond, golden)

    def joins(self) -> Joins:
        """Return the golden set joined with corpus and verdicts."""
        return Joins(self.golden, self.corpus, self.options.judging, self.whole)

    @property
    def info(self) -> GoldenInfo:
        """The description of the golden set in reports."""
        golden = self.golden
        count = len(golden.cases)
        return GoldenInfo(golden.name or self.name, golden.version, self.digest, count, self.format, golden.judgments)


def the_plan(options: Options, *, partial: bool = False) -> Plan:
    """Return the metrics to compute: those requested, those of the gate's rules, and the one that says an answer is
    good.

    If the golden set judges chunks only in part, `judged` is computed with every ranking metric (ADR 0027).
    """
    needed = metrics_needed(options.gate) if options.gate is not None else ()
    signal_limit = options.attribution.limit
    names = parse_all((*options.metrics, *needed, *((signal_limit.metric,) if signal_limit is not None else ())))
    recorded = options.judging.held if options.judging is not None else ()
    return plan((*names, *judged_beside(names)) if partial else names, recorded)


def score_files(job: Job, files: Sequence[OutputFile], progress: Progress | None = None) -> ScoreRun:
    """Score recorded outputs. Raises InputError listing their problems, IncompleteError when a worker process dies."""
    shards = cut(files, torn_tail=job.options.allow_torn_tail, strict=job.options.strict_outputs)
    work = partial(score_shard, joins=job.joins(), the_plan=job.plan)
    results = []
    with no_collections():
        for done, result in enumerate(run_shards(work, shards, job.options.workers), 1):
            results.append(result)
            if progress is not None:
                progress(done, len(shards))
        return _finish_run(job, files, results)


def score_observations(job: Job, observations: Iterable[Observation]) -> ScoreRun:
    """Score observations in memory; the result is the same as for a file that holds them."""
    collector = Collector(job.joins(), job.plan, "observations", strict=job.options.strict_outputs)
    held: dict[tuple[str, str], Observation] = {}
    for number, row in enumerate(observations, 1):
        try:
            observation = checked(row)
        except InputError as error:
            for problem in error.problems:
                collector.problem(replace(problem, path=collector.source, line=number))
            continue
        collector.take(observation, number)
        observation, _ = in_nfc(observation)
        key = observation.config_id, observation.case_id
        if key not in held or observation.repeat < held[key].repeat:
            held[key] = observation
    run = _finish_run(job, [OutputFile("", "observations", "assay", 0)], [collector.finish()])
    run.held = held
    return run


def _finish_run(job: Job, files: Sequence[OutputFile], results: list[Collected]) -> ScoreRun:
    _check_baseline(job)
    gathered = gather(results)
    notices = check(gathered, job.golden, files, job.beyond_limit, ignore_unknown=job.options.ignore_unknown)
    selection = selection_note(job.options.limit, job.options.only)
    if selection:
        notices = (*notices, selection)
    tables = _build_tables(job, gathered)
    scoring = conclude(
        job.golden,
        job.info,
        tables,
        job.plan.names,
        None if selection else job.options.gate,
        job.options.gate_configs,
        by=job.options.by,
        inputs=gathered.inputs(files),
        stages={config: stage for config, stage in gathered.stages.items() if config in tables},
        warnings=(*job.options.notices, *notices),
        missing_scored=job.options.missing_as_zero,
        baseline=job.options.baseline.table if job.options.baseline is not None else None,
        today=job.options.today,
        not_gated=f"the gate was not applied: {selection}" if selection and job.options.gate is not None else "",
    )
    return ScoreRun(
        scoring,
        job.golden,
        job.corpus,
        job.plan,
        files,
        gathered,
        baseline=job.options.baseline,
        judging=job.options.judging,
        whole=job.whole,
        attribution=job.options.attribution,
    )


def _check_baseline(job: Job) -> None:
    """Raise InputError if the baseline is not comparable for the metrics of the gate's regression rules."""
    baseline, gate, judging = job.options.baseline, job.options.gate, job.options.judging
    if baseline is not None:
        metrics = regressions(gate) if gate is not None else []
        judge, rubrics = judged_by(judging)
        side = Side("the candidate", "", job.digest, len(job.golden.cases), judge=judge, rubrics=rubrics)
        refuse_incomparable(baseline, side, {metric: definition_of(metric) for metric in metrics}, metrics)


def _build_tables(job: Job, gathered: Gathered) -> dict[str, ScoreTable]:
    joins = job.joins()
    unknown = sorted(set(job.options.configs) - set(gathered.configs))
    if unknown:
        expected = ", ".join(sorted(gathered.configs))
        message = f"no such configuration (got {', '.join(map(repr, unknown))}; expected one of {expected})"
        raise InputError([Problem("", None, "config", message, "E_CONFIG")])
    return {
        config: table(
            config,
            gathered.rows,
            np.flatnonzero(gathered.rows.config == code),
            job.plan,
            joins,
            missing_as_zero=job.options.missing_as_zero,
            versions=gathered.versions.get(config),
            notes=self_judged(job.options.judging, gathered.versions.get(config)),
        )
        for code, config in enumerate(gathered.configs)
        if not job.options.configs or config in job.options.configs
    }
