"""Mapping a function over shards on one process or several, with results in the order of the shards.

Scoring recorded outputs against a golden set: score tables, summaries and the gate's decision.

Scoring a request of the command line: loads the inputs, scores them, and keeps temporary files until it is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from assay.formats.corpus import find_stale_evidence, load_corpus
from assay.formats.golden_files import load_golden
from assay.formats.outputs import (
    TREC_RUN_FORMAT,
    OutputFile,
    check_observation,
    cut_shards,
    open_output_files,
    prepare_decodable,
)
from assay.formats.outputs_checks import normalise_names
from assay.gates.gate_files import load_gate_or_profile
from assay.gates.release_decision import summarise_run
from assay.judging.load_verdicts import load_verdicts, match_verdicts, metrics_with_verdicts, warn_of_self_judging
from assay.metrics.catalog import DEFAULT_METRICS
from assay.records.errors import IncompleteError, InputError, Problem, SettingsError
from assay.records.findings import ComparisonSide
from assay.records.observations import Observation
from assay.records.requests import ScoreRequest
from assay.records.scores import ScoreTable
from assay.runs.score_inputs import LoadedGate, ScoreJob, ScoreOptions
from assay.runs.score_trec_run import TREC_METRICS, is_trec_pair, score_trec_pair
from assay.scoring.attribution_settings import AttributionSettings
from assay.scoring.paired_scores import (
    check_comparable,
    compute_definition_digest,
    identify_judge,
    list_regression_metrics,
)
from assay.scoring.score_shard import CollectedRows, ObservationCollector, score_shard, suspend_garbage_collection
from assay.scoring.score_tables import build_score_table, score_unobserved
from assay.scoring.scored_run import MergedShards, ScoredRun, check_inputs, merge_shards
from assay.scoring.slices import describe_selection
from assay.text.refusal_lexicon import LexiconError
from assay.text.refusals import select_lexicons, selected_lexicons

S = TypeVar("S")
R = TypeVar("R")

_work: Callable[[Any], Any] | None = None


def _set_work(work: Callable[[Any], Any], lexicons: tuple[str, ...]) -> None:
    global _work  # set once per worker process, so that the golden set is not sent with every shard
    _work = work
    select_lexicons(lexicons)


def _call_work(shard: Any) -> Any:
    assert _work is not None
    return _work(shard)


def _start_method() -> str:
    """Return `fork` where it is safe (Linux, one thread), because it shares the golden set; else `spawn`."""
    try:
        single = len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208  # threads of libraries count too
    except OSError:
        single = False
    return "fork" if single else "spawn"


def run_shards(work: Callable[[S], R], shards: Sequence[S], workers: int = 1) -> Iterator[R]:
    """Yield `work(shard)` for each shard, in order, on as many processes as asked for.

    Raises IncompleteError if a worker process dies, and the exceptions of `work` unchanged.
    """
    if workers <= 1 or len(shards) <= 1:
        yield from map(work, shards)
        return
    import multiprocessing  # not needed, and slow to import, with one process
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context(_start_method())
    try:
        with ProcessPoolExecutor(min(workers, len(shards)), context, _set_work, (work, selected_lexicons())) as pool:
            yield from pool.map(_call_work, shards)
    except BrokenProcessPool as died:
        raise IncompleteError("a worker process died before it finished (out of memory, or killed)") from died


Progress = Callable[[int, int], None]


def score_files(job: ScoreJob, files: Sequence[OutputFile], progress: Progress | None = None) -> ScoredRun:
    """Score recorded outputs. Raises InputError listing their problems, IncompleteError when a worker process dies."""
    shards = cut_shards(files, torn_tail=job.options.allow_torn_tail, strict=job.options.strict_outputs)
    work = partial(score_shard, joins=job.joins(), plan=job.plan)
    results = []
    with suspend_garbage_collection():
        for done, result in enumerate(run_shards(work, shards, job.options.workers), 1):
            results.append(result)
            if progress is not None:
                progress(done, len(shards))
        return _finish_run(job, files, results)


def score_observations(job: ScoreJob, observations: Iterable[Observation]) -> ScoredRun:
    """Score observations in memory; the result is the same as for a file that holds them."""
    collector = ObservationCollector(job.joins(), job.plan, "observations", strict=job.options.strict_outputs)
    held: dict[tuple[str, str], Observation] = {}
    for number, row in enumerate(observations, 1):
        try:
            observation = check_observation(row)
        except InputError as error:
            for problem in error.problems:
                collector.add_problem(replace(problem, path=collector.source, line=number))
            continue
        collector.add(observation, number)
        observation, _ = normalise_names(observation)
        key = observation.config_id, observation.case_id
        if key not in held or observation.repeat < held[key].repeat:
            held[key] = observation
    run = _finish_run(job, [OutputFile("", "observations", "assay", 0)], [collector.finish()])
    run.observations_in_memory = held
    return run


def _finish_run(job: ScoreJob, files: Sequence[OutputFile], results: list[CollectedRows]) -> ScoredRun:
    _check_baseline(job)
    gathered = merge_shards(results)
    notices = check_inputs(gathered, job.golden, files, job.excluded_cases, ignore_unknown=job.options.ignore_unknown)
    selection = describe_selection(job.options.limit, job.options.only)
    if selection:
        notices = (*notices, selection)
    tables = _build_tables(job, gathered)
    scoring = summarise_run(
        job.golden,
        job.info,
        tables,
        job.plan.requested,
        None if selection else job.options.gate,
        job.options.gate_configs,
        by=job.options.by,
        inputs=gathered.describe_inputs(files),
        stages={config: stage for config, stage in gathered.stages.items() if config in tables},
        warnings=(*job.options.notices, *notices),
        missing_scored=job.options.missing_as_zero,
        baseline=job.options.baseline.table if job.options.baseline is not None else None,
        today=job.options.today,
        not_gated=f"the gate was not applied: {selection}" if selection and job.options.gate is not None else "",
    )
    return ScoredRun(
        scoring,
        job.golden,
        job.corpus,
        job.plan,
        files,
        gathered,
        baseline=job.options.baseline,
        judging=job.options.judging,
        whole_golden=job.whole_golden,
        attribution=job.options.attribution,
    )


def _check_baseline(job: ScoreJob) -> None:
    """Raise InputError if the baseline is not comparable for the metrics of the gate's regression rules."""
    baseline, gate, judging = job.options.baseline, job.options.gate, job.options.judging
    if baseline is not None:
        metrics = list_regression_metrics(gate) if gate is not None else []
        judge, rubrics = identify_judge(judging)
        side = ComparisonSide("the candidate", "", job.digest, len(job.golden.cases), judge=judge, rubrics=rubrics)
        check_comparable(baseline, side, {metric: compute_definition_digest(metric) for metric in metrics}, metrics)


def _build_tables(job: ScoreJob, gathered: MergedShards) -> dict[str, ScoreTable]:
    joins = job.joins()
    unknown = sorted(set(job.options.configs) - set(gathered.configs))
    if unknown:
        expected = ", ".join(sorted(gathered.configs))
        message = f"no such configuration (got {', '.join(map(repr, unknown))}; expected one of {expected})"
        raise InputError([Problem("", None, "config", message, "E_CONFIG")])
    case_ids = [case.id for case in joins.golden.cases]
    return {
        config: build_score_table(
            config,
            gathered.block,
            np.flatnonzero(gathered.block.config == code),
            case_ids,
            partial(score_unobserved, job.plan, joins),
            missing_as_zero=job.options.missing_as_zero,
            judging=joins.judging,
            versions=gathered.versions.get(config),
            notes=warn_of_self_judging(job.options.judging, gathered.versions.get(config)),
        )
        for code, config in enumerate(gathered.configs)
        if not job.options.configs or config in job.options.configs
    }


@contextmanager
def open_scored_run(
    request: ScoreRequest, progress: Progress | None = None, loaded_gate: LoadedGate | None = None
) -> Iterator[ScoredRun]:
    """Yield the finished scoring; single observations can be read again within the block.

    `loaded_gate` is the request's gate with its baseline, as `load_gate_with_baseline` returns them; only a request
    that names no baseline may leave it out.
    """
    _use_lexicons(request.lexicons)
    if [request.golden, request.corpus, *request.outputs].count("-") > 1:
        raise InputError("-: standard input can be read only once (got it for several of golden, outputs and corpus)")
    with open_output_files(request.outputs, request.outputs_format) as files:
        options = _options(request, files, loaded_gate or load_gate(request))
        golden_and_corpus = request.golden, request.golden_format, request.corpus
        if _are_trec(files) and not request.look_again and is_trec_pair(*golden_and_corpus, files, options):
            yield score_trec_pair(request.golden, files, options)
            return
        loaded = load_golden(request.golden, request.golden_format)
        corpus, doubts = load_corpus(request.corpus) if request.corpus is not None else (None, ())
        stale = find_stale_evidence(loaded.golden, corpus, request.golden) if corpus is not None else ()
        judging, unbound = match_verdicts(options.judging, loaded.digest)
        noticed = (*options.notices, *unbound, *map(str, loaded.warnings), *map(str, doubts), *map(str, stale))
        options = replace(options, notices=noticed, judging=judging)
        job = ScoreJob.from_golden(loaded.golden, options, corpus, loaded.format, loaded.digest)
        job = replace(job, name=request.golden_name or _stem(request.golden))
        with prepare_decodable(files) as ready:
            yield score_files(job, ready, progress)


def _use_lexicons(paths: Sequence[str]) -> None:
    try:
        select_lexicons(paths)
    except LexiconError as error:
        problems = [
            Problem(wrong.path, wrong.line, wrong.field, wrong.message, "E_LEXICON") for wrong in error.problems
        ]
        raise SettingsError(problems) from None


def _stem(golden: str) -> str:
    """Return the name for a golden set that does not state one."""
    return "" if golden == "-" else Path(golden).stem


def _are_trec(files: Sequence[OutputFile]) -> bool:
    return all(file.format == TREC_RUN_FORMAT for file in files)


def _default_metrics(files: Sequence[OutputFile]) -> tuple[str, ...]:
    if not _are_trec(files):
        return DEFAULT_METRICS

    return TREC_METRICS


def _options(request: ScoreRequest, files: Sequence[OutputFile], loaded_gate: LoadedGate) -> ScoreOptions:
    judging, doubts = load_verdicts(request.verdicts, request.judge, request.calibration, request.rubrics)
    metrics = tuple(request.metrics) or _default_metrics(files)
    if request.judged or not request.metrics:
        metrics += metrics_with_verdicts(judging)
    return ScoreOptions(
        metrics=metrics,
        by=tuple(request.by) or None,
        gate=loaded_gate.gate,
        baseline=loaded_gate.baseline,
        today=request.today,
        gate_configs=tuple(request.gate_configs),
        missing_as_zero=request.missing_as_zero,
        ignore_unknown=request.ignore_unknown,
        allow_torn_tail=request.allow_torn_tail,
        strict_outputs=request.strict_outputs,
        limit=request.limit,
        only=tuple(request.only),
        configs=tuple(request.configs),
        workers=request.workers,
        notices=(*request.notices, *doubts),
        judging=judging,
        attribution=AttributionSettings(request.good, request.production_k),
    )


def load_gate(request: ScoreRequest) -> LoadedGate:
    """Return the gate of a request that names no baseline. Raises ValueError for one that does."""
    if request.baseline is not None:
        raise ValueError("the baseline must be loaded before the run is scored (load_gate_with_baseline)")
    return LoadedGate(load_gate_or_profile(request.gate, request.profile, request.approver))
