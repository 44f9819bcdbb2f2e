"""Scores of recorded outputs and what follows from them: the decision of a gate, comparisons, single cases."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from assay.gates.gate_files import load_requested_gate
from assay.gates.release_decision import decide_configs
from assay.gates.set_changes import collect_set_changes
from assay.judging.rubric_files import write_rubric_records
from assay.metrics.catalog import DEFAULT_METRICS
from assay.records.errors import InputError
from assay.records.findings import Comparison
from assay.records.release_gates import Decision
from assay.records.requests import InputOptions, ScoreRequest, ScoringOptions, VerdictOptions
from assay.records.verdicts import JudgeRubric
from assay.report.cases import explain_case as explaining
from assay.report.collect_cases import CaseResult, ShownText
from assay.runs.answer_labels import attach_answer_labels, read_answer_labels
from assay.runs.check_arguments import (
    MetricsLike,
    choose_name,
    list_values,
    read_baseline,
    read_keys,
    read_notices,
    read_path,
)
from assay.runs.progress_line import show_progress
from assay.runs.python_values import (
    GateLike,
    PathLike,
    name_arguments,
    read_day,
    read_gate_value,
    read_golden_value,
    read_outputs_value,
    says_arguments,
)
from assay.runs.score_result import ScoreResult, compare_results, list_observations, require_result
from assay.runs.score_values import load_value_inputs, name_metrics, score_rows
from assay.runs.value_types import CorpusLike, GoldenLike, LabelsLike, RowsLike


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
    progress: bool = True,
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
    What takes longer than two seconds shows its `progress` in a terminal or a notebook.

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
                read_path(verdicts),
                judge,
                read_path(calibration),
                rubric_folders,
                entailment_model=read_path(entailment_model),
            ),
            structs.replace(
                read_gate_value(gate, list_values(gate_configs)), baseline=read_baseline(baseline), today=read_day(now)
            ),
            ScoringOptions(
                metrics=name_metrics(metrics),
                by=read_keys(by),
                missing_as_zero=missing_as_zero,
                lexicons=list(map(str, list_values(lexicons))),
                notices=read_notices(notices),
            ),
        )
        labelled, label_notes = attach_answer_labels(golden, read_answer_labels(labels))
        inputs = load_value_inputs(labelled, request, corpus, (*notes, *label_notes))
        with show_progress("scoring", is_shown=progress) as update:
            return score_rows(inputs, rows, observations, now=now, is_counted=ledger, progress=update)


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
    changes, chosen = collect_set_changes(result.scoring.golden, None, has_baseline=False), list_values(configs)
    return name_arguments(decide_configs(resolved, tables, result.run.golden, chosen, today=today, changes=changes)[0])


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
    return ShownText(
        explaining.explain_case(result.run, str(case), config, show_forbidden=show_forbidden, verbose=verbose)
    )
