"""The Python interface: the same use cases as the command line, on values as well as files.

A golden set is a path, a `GoldenSet`, a list of dictionaries or cases, or a data frame; outputs are a path, or a list
of paths, dictionaries or observations, or a data frame; a corpus is a path, a `Corpus`, a list of dictionaries or
chunks, or a data frame; a target is a function, an object with `ask` and `search`, a LangChain runnable, a LlamaIndex
engine, or a text as after `--target`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import structs

from assay.calls.plugins import enable_plugins
from assay.formats import corpus as corpora
from assay.formats import golden_files as goldens
from assay.formats.convert_files import encode_output_lines
from assay.formats.file_io import write_atomically
from assay.gates.gate_files import load_requested_gate
from assay.gates.release_decision import decide_configs
from assay.judging.load_verdicts import load_requested_verdicts, match_verdicts
from assay.judging.rubric_files import write_rubric_records
from assay.metrics.catalog import DEFAULT_METRICS
from assay.metrics.own_metric import metric
from assay.records.errors import InputError
from assay.records.findings import Comparison
from assay.records.golden_set import Corpus, GoldenSet
from assay.records.observations import Observation
from assay.records.release_gates import Decision
from assay.records.requests import (
    InputOptions,
    ReportFiles,
    ScoreRequest,
    ScoringOptions,
    VerdictOptions,
)
from assay.records.scores import ScoringResult
from assay.records.verdicts import JudgeRubric, Label
from assay.report.cases import explain_case as explaining
from assay.report.collect_cases import CaseResult
from assay.runs.answer_labels import attach_answer_labels, make_answer_label, open_label_files, read_answer_labels
from assay.runs.check_arguments import (
    MetricsLike,
    choose_name,
    list_values,
    read_baseline,
    read_count,
    read_keys,
    read_limits,
    read_metrics,
    read_notices,
)
from assay.runs.compare_runs import load_gate_with_baseline
from assay.runs.count_looks import count_look
from assay.runs.observation_runner import ObservationLimits
from assay.runs.observe_target import ObservedValues, keep_answers, observe_target, run_blocking
from assay.runs.python_values import (
    GateLike,
    PathLike,
    digest_outputs_value,
    find_golden_file,
    load_golden_file,
    make_target_of_value,
    name_arguments,
    name_arguments_in_text,
    read_corpus_value,
    read_day,
    read_gate_value,
    read_golden_value,
    read_output_files,
    read_outputs_value,
    require_path,
    says_arguments,
)
from assay.runs.score_inputs import ScoreInputs
from assay.runs.score_result import ScoreResult, compare_results, list_observations, require_result
from assay.runs.score_run import score_observations, use_lexicons
from assay.runs.value_types import AnswerLabelName, CorpusLike, GoldenLike, LabelsLike, RowsLike, TargetLike
from assay.scoring.slices import find_slices

if TYPE_CHECKING:
    from assay.calibration.review_verdicts import SettledVerdicts, VerdictsInReview
    from assay.calibration.scorer_quality import CalibrationResult
    from assay.judging.collect_questions import JudgingRequest
    from assay.judging.judge_run import JudgeRun

__all__ = [
    "ScoreResult", "calibrate", "compare", "explain", "gate", "judge", "load_corpus", "load_golden",
    "load_observations", "metric", "observe", "observe_async", "report", "review", "run", "run_async", "score",
    "settle",
]  # fmt: skip

enable_plugins()  # like the command line; nothing is looked for until a name is asked for that is not built in


@says_arguments
def load_golden(path: PathLike, format: str | None = None) -> GoldenSet:
    """Load a golden set in any format that Assay reads. Raises InputError listing all problems of the file."""
    return load_golden_file(require_path(path, "golden"), format)


@says_arguments
def load_corpus(path: PathLike) -> Corpus:
    """Load a corpus, the reference for access rules, texts and versions. Raises InputError listing all its problems."""
    return corpora.load_corpus(require_path(path, "corpus"))[0]


@says_arguments
def load_observations(*paths: PathLike | Sequence[PathLike], format: str | None = None) -> list[Observation]:
    """Load recorded outputs from files or glob patterns. Raises InputError listing all problems of the files."""
    return read_output_files([path for listed in paths for path in list_values(listed)], format)


# ── observing ────────────────────────────────────────────────────────────────────────────────────────────────────────


@says_arguments
def observe(
    target: TargetLike,
    golden: GoldenLike,
    *,
    search: Callable[..., Any] | None = None,
    config: str | None = None,
    name: str | None = None,
    context: str | None = None,
    repeat: int = 1,
    concurrency: int = 8,
    deadline: float = 120.0,
    retrieval_only: bool = False,
) -> list[Observation]:
    """Ask a target every question of a golden set and return what it did, in golden order.

    `search` is a second function that returns the chunks of a question, and `config` the name of the configuration in
    reports, as in `score` (`name` is another word for it).
    `context` names the stage that the model was shown, where the target does not report it. At most `concurrency` cases
    are asked at a time, each for `deadline` seconds at most. A case on which the target fails is an observation with an
    error. Works in a notebook too, where an event loop runs already. Raises InputError for what is no target or golden
    set, IncompleteError if nothing could be observed.
    """
    work = observe_async(
        target,
        golden,
        search=search,
        config=config,
        name=name,
        context=context,
        repeat=repeat,
        concurrency=concurrency,
        deadline=deadline,
        retrieval_only=retrieval_only,
    )
    return run_blocking(work)


@says_arguments
async def observe_async(
    target: TargetLike,
    golden: GoldenLike,
    *,
    search: Callable[..., Any] | None = None,
    config: str | None = None,
    name: str | None = None,
    context: str | None = None,
    repeat: int = 1,
    concurrency: int = 8,
    deadline: float = 120.0,
    retrieval_only: bool = False,
) -> list[Observation]:
    """As `observe`, to be awaited."""
    limits = read_limits(concurrency, deadline, context)
    cases = read_golden_value(golden)
    observed = await _observe(target, cases, search, choose_name(config, name), limits, repeat, retrieval_only)
    return list(observed.observations)


async def _observe(
    target: Any,
    golden: GoldenSet,
    search: Callable[..., Any] | None,
    name: str | None,
    limits: ObservationLimits,
    repeat: int,
    retrieval_only: bool,
) -> ObservedValues:
    goldens.refuse_placeholders(golden, "golden")
    made = make_target_of_value(target, name, search)
    if retrieval_only and "search" not in made.operations:
        raise InputError("retrieval_only: the target cannot search (expected search=…, or a target with a search)")
    operations = ("search",) if retrieval_only else made.operations
    return await observe_target(made, golden, replace(limits, operations=operations), read_count(repeat, "repeat"))


@says_arguments
def run(
    target: TargetLike,
    golden: GoldenLike,
    *,
    search: Callable[..., Any] | None = None,
    config: str | None = None,
    name: str | None = None,
    context: str | None = None,
    repeat: int = 1,
    concurrency: int = 8,
    deadline: float = 120.0,
    corpus: CorpusLike = None,
    metrics: MetricsLike = DEFAULT_METRICS,
    by: Sequence[str] | str | None = None,
    gate: GateLike | None = None,
    labels: LabelsLike = (),
) -> ScoreResult:
    """Ask a target every question of a golden set, and score what it did: `observe`, then `score`.

    Works in a notebook too, where an event loop runs already.
    """
    work = run_async(
        target,
        golden,
        search=search,
        config=config,
        name=name,
        context=context,
        repeat=repeat,
        concurrency=concurrency,
        deadline=deadline,
        corpus=corpus,
        metrics=metrics,
        by=by,
        gate=gate,
        labels=labels,
    )
    return run_blocking(work)


@says_arguments
async def run_async(
    target: TargetLike,
    golden: GoldenLike,
    *,
    search: Callable[..., Any] | None = None,
    config: str | None = None,
    name: str | None = None,
    context: str | None = None,
    repeat: int = 1,
    concurrency: int = 8,
    deadline: float = 120.0,
    corpus: CorpusLike = None,
    metrics: MetricsLike = DEFAULT_METRICS,
    by: Sequence[str] | str | None = None,
    gate: GateLike | None = None,
    labels: LabelsLike = (),
) -> ScoreResult:
    """As `run`, to be awaited."""
    notes: dict[str, None] = {}
    cases, label_notes = attach_answer_labels(read_golden_value(golden, notes), read_answer_labels(labels))
    notes.update(dict.fromkeys(label_notes))
    limits = read_limits(concurrency, deadline, context)
    scoring = ScoringOptions(metrics=_name_metrics(metrics), by=read_keys(by))
    inputs = _load_inputs(cases, ScoreRequest(gate=read_gate_value(gate), scoring=scoring), corpus, notes)
    observed = await _observe(target, cases, search, choose_name(config, name), limits, repeat, False)
    with keep_answers(observed.observations):
        inputs = structs.replace(inputs, notices=(*inputs.notices, *observed.notices))
        return _score_rows(inputs, observed.observations, observed.observations, now=None, is_counted=True)


# ── scoring ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@says_arguments
def score(
    golden: GoldenLike,
    observations: RowsLike | ScoreResult,
    *,
    config: str | None = None,
    corpus: CorpusLike = None,
    metrics: MetricsLike = DEFAULT_METRICS,
    by: Sequence[str] | str | None = None,
    gate: GateLike | None = None,
    gate_configs: Sequence[str] | str = (),
    missing_as_zero: bool = False,
    ignore_unknown: bool = False,
    verdicts: PathLike | None = None,
    judge: str | None = None,
    calibration: PathLike | None = None,
    entailment_model: PathLike | None = None,
    labels: LabelsLike = (),
    rubrics: PathLike | JudgeRubric | Sequence[PathLike | JudgeRubric] = (),
    lexicons: PathLike | Sequence[PathLike] = (),
    baseline: PathLike | None = None,
    notices: Sequence[str] | str = (),
    ledger: bool = True,
    now: str | None = None,
) -> ScoreResult:
    """Score observations against a golden set.

    `observations` are those of another result, such as one that was judged since, or rows as `observe` returns them,
    files, dictionaries or a frame. `corpus` is what the index should hold: a path, a Corpus, a frame, or a list of
    dictionaries or chunks with `chunk_id` and `text`.
    `config` names the configuration of rows that name none. `metrics` are names as
    `assay metrics` lists them, import paths of metrics (`module:attr`), or metrics themselves, and `by` the keys of
    slices; each is a list or a comma-separated text. `gate` is a Gate, a gate file or the name of a profile. `verdicts`
    is a verdict store or an export of one, `judge` names the judge whose verdicts count, `calibration` is a file
    written by `assay calibrate`, and `rubrics` are the rubrics that the judge used in addition to the built-in ones, as
    folders or as records, each of which is a metric under its name. `baseline` is a run folder or a saved baseline for
    the regression rules of the gate. `notices` are sentences for the reports. `lexicons` are files or folders with
    lexicons of refusals in addition to the shipped ones, for this process until the next scoring. `entailment_model` is
    the folder of a local model for metrics with `by=entailment`. `labels` are what people decided about answers: files
    of labels, or a list of what `label_answer` returns. Scoring a frozen test split that was loaded from a
    file is a look, which is counted next to the file unless `ledger` is false; `now` is its time, ISO 8601.

    Raises InputError listing all problems of the observations, the names and the verdicts.
    """
    notes: dict[str, None] = {}
    golden = read_golden_value(golden, notes)
    config = choose_name(config, None)
    rows = list_observations(observations) if isinstance(observations, ScoreResult) else []
    rows = rows or read_outputs_value(observations, golden, config, notes, is_unknown_kept=ignore_unknown)
    with write_rubric_records(list_values(rubrics)) as rubric_folders:
        request = ScoreRequest(
            InputOptions(ignore_unknown=ignore_unknown),
            VerdictOptions(
                None if verdicts is None else str(verdicts),
                judge,
                None if calibration is None else str(calibration),
                rubric_folders,
                entailment_model=_to_text(entailment_model),
            ),
            structs.replace(
                read_gate_value(gate, list_values(gate_configs)), baseline=read_baseline(baseline), today=read_day(now)
            ),
            ScoringOptions(
                metrics=_name_metrics(metrics),
                by=read_keys(by),
                missing_as_zero=missing_as_zero,
                lexicons=list(map(str, list_values(lexicons))),
                notices=read_notices(notices),
            ),
        )
        labelled, label_notes = attach_answer_labels(golden, read_answer_labels(labels))
        inputs = _load_inputs(labelled, request, corpus, (*notes, *label_notes))
        return _score_rows(inputs, rows, observations, now=now, is_counted=ledger)


def _name_metrics(metrics: MetricsLike) -> tuple[str, ...] | None:
    """Return the names of metrics, None for the usual ones."""
    names = read_metrics(metrics)
    return None if names == DEFAULT_METRICS else names


def _load_inputs(golden: GoldenSet, request: ScoreRequest, corpus: CorpusLike, notes: Iterable[str]) -> ScoreInputs:
    """Return the inputs of a scoring. Raises InputError for everything that can be told without the answers."""
    goldens.refuse_placeholders(golden, "golden")
    use_lexicons(request.scoring.lexicons)
    digest = goldens.compute_golden_digest(golden)
    recorded, doubts = load_requested_verdicts(request.verdicts)
    judging, unbound = match_verdicts(recorded, digest)
    inputs = ScoreInputs.from_golden(
        golden,
        request,
        corpus=read_corpus_value(corpus),
        loaded_gate=load_gate_with_baseline(request),
        judging=judging,
        notices=(*notes, *doubts, *unbound),
        digest=digest,
    )
    find_slices(inputs.golden.cases, request.scoring.by)
    return inputs


def _score_rows(
    inputs: ScoreInputs, rows: Sequence[Observation], outputs: Any, *, now: str | None, is_counted: bool
) -> ScoreResult:
    """Return the result for rows; `outputs` are what they were read from, by which a look at a test split is known."""
    use_lexicons(inputs.request.scoring.lexicons)
    run = score_observations(inputs, rows)
    at = now or datetime.now(UTC).isoformat(timespec="seconds")
    if inputs.golden.frozen_digest:
        digests = digest_outputs_value(outputs, rows)
        count_look(run, find_golden_file(inputs.golden), at, is_counted=is_counted, digests=digests)
    run.scoring = _name_arguments_of_result(run.scoring)
    return ScoreResult(run)


def _name_arguments_of_result(scoring: ScoringResult) -> ScoringResult:
    configs = {
        config: result if result.decision is None else structs.replace(result, decision=name_arguments(result.decision))
        for config, result in scoring.configs.items()
    }
    return structs.replace(
        scoring,
        decision=name_arguments(scoring.decision),
        configs=configs,
        warnings=tuple(map(name_arguments_in_text, scoring.warnings)),
    )


@says_arguments
def gate(
    result: ScoreResult, rules: GateLike, configs: Sequence[str] | str = (), *, now: str | None = None
) -> Decision:
    """Return the decision of a gate on a result; metrics that were not scored are `unmeasured`.

    `now`, a date or time in ISO 8601, is when waivers are in force; without it none is.
    `rules` are a Gate, the fields of a gate file as a dictionary, the path of one, or the name of a profile. Raises
    InputError for rules that cannot be used.
    """
    require_result(result, "result")
    resolved = load_requested_gate(read_gate_value(rules))
    if resolved is None:
        raise InputError("no gate given")
    tables = {config: config_result.table for config, config_result in result.scoring.configs.items()}
    today = read_day(now)
    return name_arguments(decide_configs(resolved, tables, result.run.golden, list_values(configs), today=today)[0])


@says_arguments
def compare(
    baseline: ScoreResult | PathLike,
    candidate: ScoreResult | PathLike,
    *,
    baseline_config: str | None = None,
    candidate_config: str | None = None,
    gate: GateLike | None = None,
    now: str | None = None,
) -> Comparison:
    """Compare a configuration of one result with one of another, or of the same result: the baseline comes first.

    `assay.compare(before, after)` is `after.compare(before)`. A gain is what the candidate is better by.
    A side may also be the path of a run folder or of a saved baseline. A configuration must be named only if its side
    has several. With a `gate`, `comparison.decision` is its decision on the candidate; `now`, a date or time in ISO
    8601, is when its waivers are in force, and without it none is. Raises InputError for sides that are not comparable.
    """
    return compare_results(
        baseline, candidate, baseline_config=baseline_config, candidate_config=candidate_config, gate=gate, now=now
    )


@says_arguments
def explain(
    result: ScoreResult,
    case: str | int | CaseResult,
    config: str | None = None,
    *,
    show_forbidden: bool = False,
    verbose: bool = False,
) -> str:
    """Return one case as text: question, expected, answer, verdict, cause and fix, and where its evidence went.

    `case` is an id, or one of `result.cases`.
    `verbose` adds graded rankings, context, citations, and every score with its reason. `config` may be left out if
    there is only one. `show_forbidden` prints text that the user of the case must not see. Raises InputError for an
    unknown case or configuration.
    """
    require_result(result, "result")
    if isinstance(case, CaseResult):
        config = config or case.config
        case = case.id
    return explaining.explain_case(result.run, str(case), config, show_forbidden=show_forbidden, verbose=verbose)


# ── judging, calibration, reports ────────────────────────────────────────────────────────────────────────────────────


@says_arguments
def judge(
    answers: ScoreResult | PathLike,
    *,
    store: PathLike | None = None,
    judge: str | None = None,
    settings: PathLike | None = None,
    metrics: Sequence[str] | str = (),
    rubrics: PathLike | JudgeRubric | Sequence[PathLike | JudgeRubric] = (),
    corpus: CorpusLike = None,
    max_calls: int | None = None,
    max_cost: float | None = None,
) -> JudgeRun:
    """Ask a judge about the answers of a result or a run folder; its verdicts are kept in `store`.

    `judge` names one of the judges of the settings file. `rubrics` are folders of rubrics, or rubrics themselves: each
    is a metric under its name, and is asked with the default metrics unless `metrics` are named. Without a `corpus`, a
    result is judged with the one that it was scored with. Pass the same store as `verdicts` to `score`, with the same
    corpus, to use the verdicts. Raises InputError for bad settings, IncompleteError if a verdict cannot
    be saved.
    """
    from assay.formats.settings_file import load_config
    from assay.judging.collect_questions import JudgingRequest

    request = JudgingRequest(
        load_config(None if settings is None else str(settings)),
        judge=judge,
        metrics=list_values(metrics),
        store=None if store is None else str(store),
        max_calls=max_calls,
        max_cost=max_cost,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    with write_rubric_records(list_values(rubrics)) as rubric_folders:
        return _judge_answers(replace(request, rubrics=rubric_folders), answers, corpus)


def _judge_answers(request: JudgingRequest, answers: ScoreResult | PathLike, corpus: CorpusLike) -> JudgeRun:
    from assay.judging.judge_run import judge_run

    if corpus is None and isinstance(answers, ScoreResult):
        corpus = answers.run.corpus  # what scoring reads them with: another corpus makes other requests
    with tempfile.TemporaryDirectory() as folder:
        corpus_file = _write_corpus(corpus, Path(folder, "corpus.jsonl"))
        if not isinstance(answers, ScoreResult):
            return judge_run(replace(request, inputs=InputOptions(run=str(answers), corpus=corpus_file)))
        golden, outputs = Path(folder, "golden.jsonl"), Path(folder, "outputs.jsonl")
        goldens.write_golden(answers.run.golden, golden)
        write_atomically(outputs, encode_output_lines(list_observations(answers)))
        inputs = InputOptions(golden=str(golden), outputs=[str(outputs)], corpus=corpus_file)
        return judge_run(replace(request, inputs=inputs))


def _write_corpus(corpus: CorpusLike, path: Path) -> str | None:
    """Return the path of a corpus, which is written to `path` if it is a value."""
    if corpus is None or isinstance(corpus, (str, Path)):
        return _to_text(corpus)
    chunks = read_corpus_value(corpus)
    assert chunks is not None  # only None has none
    return str(write_atomically(path, corpora.encode_corpus_lines(chunks)))


@says_arguments
def label_answer(
    result: ScoreResult,
    case: str | CaseResult,
    label: AnswerLabelName,
    *,
    rater: str,
    metric: Literal["correct_answer", "behaviour"] = "correct_answer",
    config: str | None = None,
    note: str = "",
    sample: int | None = None,
) -> Label:
    """Return what a person decides about the answer to a case, for `score(…, labels=[…])`.

    `label` is `right`, `wrong` or `unclear`, or with `metric="behaviour"` the behaviour that the answer shows. It
    counts for exactly this answer and for what its case expects now. `sample` is the size of the sample for which it
    was drawn, if it was (`result.draw_passes`). Raises InputError for another label, and for a case without an
    answer.

    >>> import assay
    >>> golden = [{"id": "fee", "question": "What is the fee?", "reference": "There is none for members."}]
    >>> outputs = [{"case_id": "fee", "answer": "Members pay nothing."}]
    >>> before = assay.score(golden, outputs)
    >>> decided = assay.label_answer(before, "fee", "right", rater="Ann")
    >>> after = assay.score(golden, outputs, labels=[decided])
    >>> before.metric("correct_answer").value, after.metric("correct_answer").value
    (None, 1.0)
    """
    require_result(result, "result")
    if isinstance(case, CaseResult):
        config, case = config or case.config, case.id
    case, cases = str(case), result.run.cases
    name = explaining.require_config(result.run, config)
    observation = result.run.read_observation(name, case) if case in cases else None
    if observation is None or not isinstance(observation.answer, str):
        raise InputError(f"no answer to label (got case {case!r} under {name}; expected a case that was answered)")
    return make_answer_label(cases[case], observation.answer, label, rater, metric=metric, note=note, sample=sample)


@says_arguments
def review(
    answers: ScoreResult | PathLike,
    *,
    verdicts: PathLike | None = None,
    judge: str | None = None,
    out: PathLike | None = None,
    language: str = "en",
) -> VerdictsInReview:
    """Return what a judge left to review in the answers of a result or a run folder.

    A result is reviewed with the verdicts that it was scored with, a run folder with its own unless `verdicts` are
    named. `out` is a new folder for the sheet on which people decide. Raises InputError as `assay judge review` does.
    """
    from assay.calibration.review_verdicts import export_reviews, list_reviews
    from assay.runs.rescore_run import open_answers

    with ExitStack() as stack:
        if isinstance(answers, ScoreResult):
            run = answers.run
        else:
            named = VerdictOptions(_to_text(verdicts), judge)
            run = stack.enter_context(open_answers(InputOptions(run=str(answers)), named))
        return list_reviews(run) if out is None else export_reviews(run, Path(out), language)


@says_arguments
def settle(
    sheets: PathLike | Sequence[PathLike],
    *,
    key: PathLike,
    store: PathLike,
    reviewer: str | None = None,
    at: str | None = None,
    replace: bool = False,
) -> SettledVerdicts:
    """Store what people decided on filled review sheets next to the verdicts in `store`; scoring replays it.

    `reviewer` decided where a sheet does not say who did, at the time `at` (ISO 8601). Raises InputError as
    `assay judge settle` does.
    """
    from assay.calibration.review_verdicts import SettleRequest, settle_verdicts

    files = list(map(str, list_values(sheets)))
    return settle_verdicts(SettleRequest(files, str(key), str(store), reviewer, at, replace))


@says_arguments
def calibrate(
    labels: LabelsLike,
    result: ScoreResult | None = None,
    *,
    verdicts: PathLike | Sequence[PathLike] = (),
    metrics: Sequence[str] | str = (),
    out: PathLike | None = None,
) -> CalibrationResult:
    """Compare the scorers of a result with human labels; `out` is the calibration file to write.

    Labels are files, Labels or dictionaries.

    Raises InputError for bad labels, IncompleteError if no item has a label and a score.
    """
    from assay.calibration.calibrate_run import CalibrationRequest, calibrate_run, write_calibration

    stores = list(map(str, list_values(verdicts)))
    with open_label_files(labels) as files:
        request = CalibrationRequest(files, stores, metrics=list_values(metrics))
        calibration = calibrate_run(result.run if result is not None else None, request)
    if out is not None:
        write_calibration(str(out), calibration)
    return calibration


@says_arguments
def report(
    result: ScoreResult,
    *,
    markdown: PathLike | None = None,
    html: PathLike | None = None,
    json: PathLike | None = None,
    junit: PathLike | None = None,
    csv: PathLike | None = None,
    per_case: PathLike | None = None,
    now: str | None = None,
) -> list[Path]:
    """Write the reports that are named, and return their paths. `now` is the time in them, ISO 8601.

    Raises IncompleteError for a file that cannot be written.
    """
    from assay.report.write_reports import write_reports

    files = ReportFiles(
        markdown=_to_text(markdown),
        html=_to_text(html),
        json=_to_text(json),
        junit=_to_text(junit),
        csv=_to_text(csv),
        per_case=_to_text(per_case),
        now=now,
    )
    written = write_reports(require_result(result, "result").run, files)
    if not written:
        raise InputError("report: no file named (expected markdown, html, json, junit, csv or per_case)")
    return [path for _, path in written]


def _to_text(path: PathLike | None) -> str | None:
    return None if path is None else str(path)
