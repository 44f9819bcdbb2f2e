"""Scores recorded outputs against a golden set: score tables, summaries and the gate's decision.

Shards of the outputs are scored on one process or several, with results in the order of the shards. A request of the
command line is scored with its inputs loaded; temporary files are kept until the result is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from msgspec import structs

from assay.formats.corpus import find_stale_evidence, load_corpus
from assay.formats.file_io import count_lines
from assay.formats.golden_builder import REPEATED_QUESTION
from assay.formats.golden_files import load_golden, refuse_placeholders
from assay.formats.outputs import (
    TREC_RUN_FORMAT,
    OutputFile,
    OutputShard,
    check_observation,
    cut_shards,
    open_output_files,
    prepare_decodable,
)
from assay.formats.recorded_outputs.line_checks import normalise_names
from assay.formats.run_files.manifest import read_made_with
from assay.formats.run_files.run_folder import parse_run_name, read_manifest, refuse_other_golden
from assay.gates.gate_files import load_requested_gate
from assay.gates.summarise_run import NO_BASELINE, GateBaseline, summarise_run
from assay.judging.load_verdicts import describe_judge, load_requested_verdicts, match_verdicts, warn_of_self_judging
from assay.metrics.cases.case_index import has_own_secrets
from assay.metrics.cases.hidden_evidence import find_hidden_evidence
from assay.metrics.catalog import CATALOG, DEFAULT_METRICS, add_rubric_metrics, list_own_rubrics
from assay.metrics.judged.judge_requests import RecordedVerdicts
from assay.metrics.retrieval.evidence_fields import OTHER_NAME_REMEDY, OtherName, describe_other_names, leave_out_known
from assay.records.counts import format_count
from assay.records.errors import AssayError, IncompleteError, InputError, Problem, SettingsError
from assay.records.findings import ComparisonSide
from assay.records.observations import Observation
from assay.records.requests import ScoreRequest
from assay.records.scores import ScoreTable, ScoringResult, TwinResult
from assay.records.verdicts import JudgeRubric
from assay.runs.answer_labels import attach_answer_labels, describe_unmatched_labels, load_answer_labels
from assay.runs.count_looks import add_recorded_looks
from assay.runs.earlier_answers import recall_earlier_answers
from assay.runs.find_own_baseline import find_own_config
from assay.runs.load_plugins import (
    can_be_imported,
    enable_plugins_in_worker,
    list_metric_paths,
    load_remembered_metrics,
)
from assay.runs.score_inputs import LoadedGate, ScoreInputs
from assay.runs.score_passes import add_false_passes, measure_pass_samples
from assay.runs.score_twins import ScoredRows, add_variant_metrics, make_variant_run, measure_variants
from assay.scoring.case_clusters import describe_same_questions
from assay.scoring.column_values import describe_leaked_scores
from assay.scoring.paired_scores import (
    ScoreSnapshot,
    check_comparable,
    compute_definition_digest,
    identify_judge,
    list_regression_metrics,
)
from assay.scoring.score_shard import CollectedRows, ObservationCollector, score_shard, suspend_garbage_collection
from assay.scoring.score_tables import build_score_table, score_unobserved
from assay.scoring.scored_run import MergedShards, ScoredRun, check_inputs, merge_shards
from assay.scoring.slices import describe_selection
from assay.scoring.unlabelled_scores import describe_value_of_labels, mark_unaccepted_nuggets
from assay.scoring.version_match import VersionMatch, match_versions, select_shared_rows
from assay.text.refusals.behaviour import select_lexicons
from assay.text.refusals.lexicons_in_use import selected_lexicons
from assay.text.refusals.refusal_lexicon import LexiconError

S = TypeVar("S")
R = TypeVar("R")

_work: Callable[[Any], Any] | None = None


def _set_work(
    work: Callable[[Any], Any], metric_paths: Mapping[str, str], lexicons: tuple[str, ...], rubrics: list[JudgeRubric]
) -> None:
    global _work  # set once per worker process, so that the golden set is not sent with every shard
    enable_plugins_in_worker(metric_paths)
    add_rubric_metrics(rubrics)
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

    Forks know the metrics of their parent. A new process imports them; if one cannot be imported, because
    a script or a function defines it, this process does all the work. Raises IncompleteError if a worker process dies,
    and the exceptions of `work` unchanged.
    """
    method = _start_method()
    metric_paths = {} if method == "fork" else list_metric_paths(CATALOG)
    if workers <= 1 or len(shards) <= 1 or not all(map(can_be_imported, metric_paths.values())):
        yield from map(work, shards)
        return
    import multiprocessing  # not needed, and slow to import, with one process
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context(method)
    try:
        worker_arguments = (work, metric_paths, selected_lexicons(), list_own_rubrics())
        with ProcessPoolExecutor(min(workers, len(shards)), context, _set_work, worker_arguments) as pool:
            yield from pool.map(_call_work, shards)
    except BrokenProcessPool as died:
        raise IncompleteError("a worker process died before it finished (out of memory, or killed)") from died


Progress = Callable[[int, int], None]


def score_files(inputs: ScoreInputs, files: Sequence[OutputFile], progress: Progress | None = None) -> ScoredRun:
    """Score recorded outputs. Raises InputError listing their problems, IncompleteError when a worker process dies.

    `progress` is told after each line how many of how many are read, or with several workers after each shard.
    """
    named, workers = inputs.request.inputs, inputs.request.scoring.workers
    shards = cut_shards(files, torn_tail=named.allow_torn_tail, strict=named.strict_outputs)
    score = partial(score_shard, joins=inputs.joins(), plan=inputs.plan)
    tells_lines = progress is not None and (workers <= 1 or len(shards) <= 1)
    work = _ToldWork(score, progress, shards) if progress is not None and tells_lines else score
    results = []
    with suspend_garbage_collection():
        for done, result in enumerate(run_shards(work, shards, workers), 1):
            results.append(result)
            if progress is not None and not tells_lines:
                progress(done, len(shards))
        return _finish_run(inputs, files, results, partial(_score_variants_of_files, inputs, files, shards))


class _ToldWork:
    """Scores shards one after another and tells after each line how many of all lines are read."""

    def __init__(self, score: Callable[..., CollectedRows], progress: Progress, shards: Sequence[OutputShard]) -> None:
        self._score, self._progress = score, progress
        self._line_count = sum([count_lines(shard.path, shard.start, shard.end) for shard in shards])
        self._earlier_lines = 0

    def __call__(self, shard: OutputShard) -> CollectedRows:
        result = self._score(shard, tell_lines=self._report_progress)
        self._earlier_lines += result.lines
        return result

    def _report_progress(self, number: int) -> None:
        self._progress(self._earlier_lines + number, self._line_count)


IN_MEMORY = OutputFile("", "observations", "assay", 0)
"""The place of observations that are in no file."""
ScoreVariants = Callable[[], ScoredRows]
"""Scores the variants of the cases, once the rows of the cases are known to be good."""


def _score_variants_of_files(
    inputs: ScoreInputs, files: Sequence[OutputFile], shards: Sequence[OutputShard]
) -> ScoredRows:
    variant_inputs = inputs.for_variants()
    work = partial(score_shard, joins=variant_inputs.joins(), plan=inputs.plan)
    gathered = merge_shards(list(run_shards(work, shards, inputs.request.scoring.workers)))
    return ScoredRows(variant_inputs, files, gathered)


def _score_variants_in_memory(inputs: ScoreInputs, rows: Sequence[Observation]) -> ScoredRows:
    variant_inputs = inputs.for_variants()
    collected, held = _collect_observations(variant_inputs, rows)
    return ScoredRows(variant_inputs, [IN_MEMORY], merge_shards([collected]), held)


def score_observations(
    inputs: ScoreInputs, observations: Iterable[Observation], progress: Progress | None = None
) -> ScoredRun:
    """Score observations in memory; the result is the same as for a file that holds them.

    `progress` is told after each observation how many of how many are taken.
    """
    rows = list(observations)
    try:
        collected, held = _collect_observations(inputs, rows, progress)
    except (AssayError, MemoryError):
        raise
    except Exception:  # noqa: BLE001  # a bug, which the second pass reports with its row
        collected, held = _collect_observations(inputs, rows, is_careful=True)
    return _finish_run(inputs, [IN_MEMORY], [collected], partial(_score_variants_in_memory, inputs, rows), held)


def _collect_observations(
    inputs: ScoreInputs,
    observations: Sequence[Observation],
    progress: Progress | None = None,
    *,
    is_careful: bool = False,
) -> tuple[CollectedRows, dict[tuple[str, str], list[Observation]]]:
    """Return the scored rows, and the repeats of each case, in their order, by configuration and case."""
    collector = ObservationCollector(
        inputs.joins(),
        inputs.plan,
        "observations",
        strict=inputs.request.inputs.strict_outputs,
        is_careful=is_careful,
    )
    held: dict[tuple[str, str], list[Observation]] = {}
    for number, row in enumerate(observations, 1):
        if progress is not None:
            progress(number, len(observations))
        try:
            observation = check_observation(row)
        except InputError as error:
            for problem in error.problems:
                collector.add_problem(structs.replace(problem, path=collector.source, line=number))
            continue
        collector.add(observation, number)
        observation, _ = normalise_names(observation)
        held.setdefault((observation.config_id, observation.case_id), []).append(observation)
    for samples in held.values():
        samples.sort(key=lambda observation: observation.repeat)
    return collector.finish(), held


def _finish_run(
    inputs: ScoreInputs,
    files: Sequence[OutputFile],
    results: list[CollectedRows],
    score_variants: ScoreVariants,
    in_memory: Mapping[tuple[str, str], Sequence[Observation]] | None = None,
) -> ScoredRun:
    match = _check_baseline(inputs)
    gathered = merge_shards(results)
    variant_ids = {case.id for case in inputs.variants}
    gathered.unknown_cases = [row for row in gathered.unknown_cases if row[0] not in variant_ids]
    ignore_unknown = inputs.request.inputs.ignore_unknown
    notices = check_inputs(gathered, inputs.golden, files, inputs.excluded_cases, ignore_unknown=ignore_unknown)
    _check_configs(inputs, gathered)
    other_names = leave_out_known(gathered.other_names, gathered.shown_names, inputs.corpus)
    gathered.leave_out_renamed(other_names, inputs.golden)
    tables = mark_unaccepted_nuggets(_build_tables(inputs, gathered), inputs.golden.cases)
    twins: dict[str, TwinResult] = {}
    variant_tables: dict[str, ScoreTable] = {}
    if inputs.variants:
        variant_rows = score_variants()
        variant_tables = _build_tables(variant_rows.inputs, variant_rows.shards)
        rows = ScoredRows(inputs, files, gathered, in_memory or {})
        twins = measure_variants(rows, tables, variant_rows, variant_tables)
    tables = add_variant_metrics(inputs, tables, twins, variant_tables)
    passes = measure_pass_samples(inputs, gathered, tables)
    tables = add_false_passes(inputs, gathered, tables)
    warnings = _list_warnings(inputs, match, other_names, notices, tables)
    scoring = _summarise(inputs, files, gathered, tables, match, warnings)
    run = ScoredRun(
        structs.replace(scoring, twins=twins, passes=passes),
        inputs.golden,
        inputs.corpus,
        inputs.plan,
        files,
        gathered,
        observations_in_memory=in_memory or {},
        baseline=inputs.loaded_gate.baseline,
        judging=inputs.judging,
        whole_golden=inputs.whole_golden,
        attribution=inputs.attribution,
        given_golden=inputs.given_golden,
    )
    if inputs.variants:
        run.variants = make_variant_run(run, variant_rows, variant_tables)
    return run


def _list_warnings(
    inputs: ScoreInputs,
    match: VersionMatch | None,
    other_names: Mapping[OtherName, int],
    notices: Iterable[str],
    tables: Mapping[str, ScoreTable],
) -> tuple[str, ...]:
    """Return the warnings of a run in the order of reports; `notices` are those on what was read."""
    cases = inputs.golden.cases
    selection = describe_selection(inputs.request.inputs.limit, inputs.request.inputs.only)
    return (
        *([match.describe()] if match is not None else ()),
        *_list_name_notices(other_names),
        *_list_access_notices(inputs),
        *describe_same_questions(cases),
        *inputs.notices,
        *notices,
        *([selection] if selection else ()),
        *describe_unmatched_labels(cases, tables),
        *describe_value_of_labels(tables, cases),
        *_list_leak_notices(tables),
    )


def _summarise(
    inputs: ScoreInputs,
    files: Sequence[OutputFile],
    gathered: MergedShards,
    tables: Mapping[str, ScoreTable],
    match: VersionMatch | None,
    warnings: tuple[str, ...],
) -> ScoringResult:
    """Return the summaries and decisions of the tables of a run."""
    request, baseline = inputs.request, inputs.loaded_gate.baseline
    case_ids = [case.id for case in inputs.golden.cases]
    files_read = gathered.describe_inputs(files)
    gate_baseline = NO_BASELINE
    if baseline is not None:
        shared_rows = select_shared_rows(baseline.table, match)
        gate_baseline = GateBaseline(shared_rows, find_own_config(baseline.side, files_read), match)
    names, gate = inputs.plan.requested, inputs.loaded_gate.gate
    scoring = summarise_run(inputs.golden, inputs.info, tables, names, request, gate, gate_baseline)
    return structs.replace(
        scoring,
        inputs=files_read,
        stages={config: stage for config, stage in gathered.stages.items() if config in tables},
        failures={config: gathered.list_failures(config, case_ids) for config in tables if config in gathered.failures},
        repeated={config: gathered.list_repeated(config, case_ids) for config in tables if config in gathered.repeated},
        warnings=(*warnings, *scoring.warnings),
    )


def _check_baseline(inputs: ScoreInputs) -> VersionMatch | None:
    """Return what the baseline shares with the golden set if it is of another version of it.

    Raises InputError if it is not comparable for the metrics of the gate's regression rules.
    """
    baseline, gate, judging = inputs.loaded_gate.baseline, inputs.loaded_gate.gate, inputs.judging
    if baseline is None:
        return None
    metrics = list_regression_metrics(gate) if gate is not None else []
    judge, rubrics = identify_judge(judging)
    cases = inputs.golden.cases
    models = judging.answering_models if judging is not None else ()
    side = ComparisonSide(
        "the candidate", "", inputs.digest, len(cases), judge=judge, rubrics=rubrics, judge_models=models
    )
    table = ScoreTable("", tuple(case.id for case in cases), {}, (), ())
    match = match_versions(baseline, ScoreSnapshot(side, table, cases, (), {}, golden=inputs.info))
    check_comparable(baseline, side, {metric: compute_definition_digest(metric) for metric in metrics}, metrics)
    return match


def _list_leak_notices(tables: Mapping[str, ScoreTable]) -> Iterator[str]:
    """Yield for each configuration in which scores leaks count, and not the answers."""
    for config, table in tables.items():
        yield from (f"{config}: {notice}" for notice in describe_leaked_scores(table))


def _list_name_notices(names: Mapping[OtherName, int]) -> Iterator[str]:
    """Yield that quotes of the evidence were found under other names than the golden set says."""
    if names:
        yield f"{describe_other_names(names)}: {OTHER_NAME_REMEDY}"


def _list_access_notices(inputs: ScoreInputs) -> Iterator[str]:
    """Yield that no leak is looked for in cases that name no user, where the corpus says who may see what.

    Those that forbid something themselves are checked for that, and are among the checked cases of a leak.
    """
    if inputs.corpus is None:
        return
    restricted = inputs.corpus.count_restricted()
    nameless = [case for case in inputs.golden.cases if case.user is None]
    if not restricted or not nameless:
        return
    guarded = sum(map(has_own_secrets, nameless))
    total = format_count(len(inputs.golden.cases), "case")
    if guarded == len(nameless):
        unchecked = f"{guarded} of {total}, except for what they forbid"
    else:
        own = f", and on {guarded} only for what they forbid" if guarded else ""
        unchecked = f"{len(nameless) - guarded} of {total}{own}"
    yield (
        f"access is not checked on {unchecked}: no user is named there, and "
        f"{format_count(restricted, 'chunk is', 'chunks are')} restricted "
        '(add "user": {} to check such a case as a stranger)'
    )


def _check_configs(inputs: ScoreInputs, gathered: MergedShards) -> None:
    unknown = sorted(set(inputs.request.inputs.configs) - set(gathered.configs))
    if unknown:
        expected = ", ".join(sorted(gathered.configs))
        message = f"no such configuration (got {', '.join(map(repr, unknown))}; expected one of {expected})"
        raise InputError([Problem("", None, "config", message, "E_CONFIG")])


def _build_tables(inputs: ScoreInputs, gathered: MergedShards) -> dict[str, ScoreTable]:
    joins = inputs.joins()
    case_ids = [case.id for case in joins.golden.cases]
    return {
        config: build_score_table(
            config,
            gathered.block,
            np.flatnonzero(gathered.block.config == code),
            case_ids,
            partial(score_unobserved, inputs.plan, joins),
            missing_as_zero=bool(inputs.request.scoring.missing_as_zero),
            judging=joins.judging,
            versions=gathered.versions.get(config),
            notes=(
                *warn_of_self_judging(inputs.judging, gathered.versions.get(config)),
                *describe_judge(inputs.judging),
            ),
            good=inputs.attribution.threshold,
        )
        for code, config in enumerate(gathered.configs)
        if not inputs.request.inputs.configs or config in inputs.request.inputs.configs
    }


@contextmanager
def open_scored_run(
    request: ScoreRequest, progress: Progress | None = None, loaded_gate: LoadedGate | None = None
) -> Iterator[ScoredRun]:
    """Yield the finished scoring; single observations can be read again within the block.

    A request that names a run folder must be complete (`complete_run_request`). Raises InputError if the golden set of
    the run was edited since.

    `loaded_gate` is the request's gate with its baseline, as `load_gate_with_baseline` returns them; only a request
    that names no baseline may leave it out.
    """
    use_lexicons(request.scoring.lexicons)
    named = request.inputs
    if [named.golden, named.corpus, *named.outputs].count("-") > 1:
        raise InputError("-: standard input can be read only once (got it for several of golden, outputs and corpus)")
    load_remembered_metrics(request)
    with open_output_files(named.outputs, named.outputs_format) as files:
        if named.run is not None:
            request = recall_earlier_answers(request, read_manifest(parse_run_name(named.run).path))
        judging, doubts = load_requested_verdicts(request.verdicts)
        gate = loaded_gate or load_gate(request)
        default_metrics = DEFAULT_METRICS
        if all(file.format == TREC_RUN_FORMAT for file in files):
            from assay.runs import score_trec_run  # most runs read no TREC files

            if not request.scoring.look_again and score_trec_run.is_trec_pair(request, files, gate, judging):
                yield score_trec_run.score_trec_pair(request, files, gate, judging, doubts)
                return
            default_metrics = score_trec_run.TREC_METRICS
        inputs = _load_inputs(request, default_metrics, gate, judging, doubts)
        cases = (inputs.whole_golden or inputs.golden).cases
        with prepare_decodable(files, cases, keep_unknown=named.ignore_unknown) as ready:
            run = score_files(inputs, ready, progress)
            if named.run is not None:
                folder = parse_run_name(named.run).path
                run.scoring = add_recorded_looks(run.scoring, run.golden, folder)
                manifest = read_manifest(folder)
                run.made_with = {config: read_made_with(manifest, config) for config in run.scoring.configs}
            yield run


def _load_inputs(
    request: ScoreRequest,
    default_metrics: Sequence[str],
    gate: LoadedGate,
    judging: RecordedVerdicts | None,
    notices: tuple[str, ...],
) -> ScoreInputs:
    """Load golden set and corpus. Raises InputError listing the problems of the first that has any."""
    named = request.inputs
    loaded = load_golden(named.golden, named.golden_format)
    if named.run is not None:
        refuse_other_golden(parse_run_name(named.run).path, loaded.digest)
    refuse_placeholders(loaded.golden, named.golden, loaded.lines)
    golden, label_notes = attach_answer_labels(loaded.golden, load_answer_labels(request.scoring.labels))
    corpus, doubts = load_corpus(named.corpus) if named.corpus is not None else (None, ())
    stale = find_stale_evidence(loaded.golden, corpus, named.golden) if corpus is not None else ()
    hidden = find_hidden_evidence(loaded.golden, corpus, named.golden) if corpus is not None else ()
    judging, unbound = match_verdicts(judging, loaded.digest)
    doubtful = [doubt for doubt in loaded.warnings if doubt.code != REPEATED_QUESTION]
    warnings = map(str, (*doubtful, *doubts, *stale))
    return ScoreInputs.from_golden(
        golden,
        request,
        corpus=corpus,
        loaded_gate=gate,
        judging=judging,
        notices=(*map(str, hidden), *notices, *unbound, *label_notes, *warnings),
        default_metrics=default_metrics,
        format=loaded.format,
        digest=loaded.digest,
        name=named.golden_name or _stem(named.golden),
    )


def use_lexicons(paths: Sequence[str]) -> None:
    """Use the user's lexicons, files or folders, in addition to the shipped ones, from here on in this process.

    Raises SettingsError with everything that is wrong with them; then nothing changes.
    """
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


def load_gate(request: ScoreRequest) -> LoadedGate:
    """Return the gate of a request that names no baseline. Raises ValueError for one that does."""
    if request.gate.baseline is not None:
        raise ValueError("the baseline must be loaded before the run is scored (load_gate_with_baseline)")
    return LoadedGate(load_requested_gate(request.gate))
