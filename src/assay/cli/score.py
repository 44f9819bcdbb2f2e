"""`assay score`: scores recorded outputs, writes reports and returns the exit code of the gate."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from assay.cli.options import (
    ApproverOption,
    BaselineOption,
    ByOption,
    GateConfigOption,
    GateOption,
    HtmlOptions,
    JsonReportOption,
    LimitOption,
    MarkdownReportOption,
    MeasurementOptions,
    MetricsOption,
    MissingOption,
    NoHistoryOption,
    NoLedgerOption,
    NowOption,
    OwnerOption,
    PerCaseOption,
    PrintFormat,
    PrintFormatOption,
    ProfileOption,
    RecordedOptions,
    StrictOption,
    VerboseOption,
    counts_as_zero,
    expand_options,
    parse_name_list,
    refuse_other_suffix,
    resolve_clock,
    resolve_timestamp,
)
from assay.records.errors import AssayError, ExitCode
from assay.records.requests import GateOptions, ReportFiles, ScoreRequest, date_of_time

if TYPE_CHECKING:
    from assay.runs.score_inputs import LoadedGate
    from assay.scoring.scored_run import ScoredRun


STANDARD_INPUT = "-"
_NOT_IN_A_RUN_FOLDER = ("lexicons", "entailment_model")
"""Options of a scoring that its run folder does not remember."""


@expand_options
def score(
    *,
    run: Annotated[
        str | None,
        typer.Argument(
            help="Run folder (RUN) or one of its configurations (RUN:CONFIG), instead of --golden and --outputs."
        ),
    ] = None,
    recorded: RecordedOptions,
    metrics: MetricsOption = None,
    by: ByOption = None,
    gate: GateOption = None,
    profile: ProfileOption = None,
    gate_config: GateConfigOption = "",
    strict: StrictOption = False,
    missing: MissingOption = None,
    report: MarkdownReportOption = None,
    json_report: JsonReportOption = None,
    per_case: PerCaseOption = None,
    legacy_json_report: Annotated[
        str | None, typer.Option(help="Write a JSON report with the keys of the `rag-trace` runner to this file.")
    ] = None,
    page: HtmlOptions,
    run_dir: Annotated[
        str | None, typer.Option(help="Save the golden set, outputs and scores in this run folder.")
    ] = None,
    no_history: NoHistoryOption = False,
    no_ledger: NoLedgerOption = False,
    format: PrintFormatOption = PrintFormat.table,
    verbose: VerboseOption = False,
    workers: Annotated[
        int, typer.Option(min=1, help="Number of worker processes; it does not change the results.")
    ] = 1,
    limit: LimitOption = None,
    with_variants: Annotated[
        bool,
        typer.Option(
            "--with-variants", help="Count variants of cases like other cases, in every number and in the gate."
        ),
    ] = False,
    ignore_unknown: Annotated[
        bool, typer.Option("--ignore-unknown", help="Skip and count outputs of unknown cases instead of refusing them.")
    ] = False,
    strict_outputs: Annotated[
        bool,
        typer.Option("--strict-outputs", help="Refuse outputs with duplicate keys, unknown keys or repeated chunks."),
    ] = False,
    baseline: BaselineOption = None,
    approver: ApproverOption = "",
    measured: MeasurementOptions,
    owner: OwnerOption = "",
    now: NowOption = None,
) -> ExitCode:
    """Score recorded outputs or an existing run folder, write reports and check the gate."""
    from assay.cli.display import print_last_gate, print_notes, print_written_files
    from assay.formats.run_files.run_folder import parse_run_name
    from assay.gates.decision_weight import find_exit_code
    from assay.runs.count_looks import count_look
    from assay.runs.load_plugins import load_metric_paths
    from assay.runs.progress_line import show_progress
    from assay.runs.rescore_run import complete_request, format_input_arguments, list_named_configs, refuse_own_folder
    from assay.runs.score_run import open_scored_run

    time = resolve_timestamp(now)
    inputs = recorded.build_inputs(
        run,
        limit=limit,
        ignore_unknown=ignore_unknown,
        allow_torn_tail=measured.allow_torn_tail,
        strict_outputs=strict_outputs,
    )
    gate_configs = parse_name_list(gate_config) or list_named_configs(inputs)
    request = complete_request(
        ScoreRequest(
            inputs,
            measured.build_verdicts(),
            GateOptions(gate, profile, gate_configs, baseline, approver, date_of_time(time)),
            measured.build_scoring(
                metrics=load_metric_paths([metrics]) if metrics and parse_name_list(metrics) else None,
                by=parse_name_list(by) or None,
                missing_as_zero=counts_as_zero(missing),
                workers=workers,
                with_variants=with_variants,
                look_again=any((report, page.html, legacy_json_report, run_dir, format is PrintFormat.markdown)),
            ),
        )
    )
    named, asked = format_input_arguments(inputs), measured.format_arguments()
    if run_dir is not None:
        named, asked = shlex.join(["--run", run_dir]), measured.format_arguments(_NOT_IN_A_RUN_FOLDER)
    explain_arguments = f"{named} {asked}".rstrip()
    targets = ReportFiles(
        report,
        json_report,
        per_case,
        legacy_json_report,
        owner,
        time,
        html=page.html,
        detail_mb=page.detail_mb,
        show_forbidden=page.show_forbidden,
        explain=explain_arguments,
    )
    _refuse_overwriting(request, gate, run, targets)
    refuse_other_suffix("Markdown", report, "--report")
    refuse_other_suffix("JSON", json_report, "--json-report")
    refuse_other_suffix("HTML", page.html, "--html")
    refuse_own_folder(inputs, run_dir)
    loaded_gate = _load_gate(request)
    with (
        show_progress("scoring") as update_progress,
        open_scored_run(request, update_progress, loaded_gate) as scoring,
    ):
        if run is None:
            count_look(scoring, request.inputs.golden, resolve_clock(now), is_counted=not no_ledger)
        written: list[tuple[str, Path]] = []
        if run_dir is not None:
            from assay.runs.save_run import save_run

            written.append(("run folder", save_run(scoring, Path(run_dir), request, targets)))
            if not no_history:
                register_in_history(Path(run_dir), now)
        if targets.has_any():
            from assay.report.write_reports import write_reports

            written += write_reports(scoring, targets)
        named_metrics = request.scoring.metrics if metrics and request.scoring.metrics else ()
        print_run(format, scoring, targets, ScreenContent(parse_name_list(by), named_metrics, verbose))
        if run is not None and run_dir is None and measured.labels:
            print_notes([f"labels are not kept in {run}: --run-dir DIR keeps them for report, compare and gate check"])
        print_written_files(written, suggest_next_step(scoring, explain_arguments))
        if run is not None and gate is None and profile is None:
            print_last_gate(parse_run_name(run).path, "these scores")
        return find_exit_code(scoring.scoring.decision, strict=strict)


def _refuse_overwriting(request: ScoreRequest, gate: str | None, run: str | None, reports: ReportFiles) -> None:
    """Raise InputError for a report that would be written over a file that is read."""
    from assay.formats.outputs import expand_patterns
    from assay.formats.run_files.overwriting import list_rubric_files, refuse_overwriting
    from assay.formats.run_files.run_folder import list_run_files

    files = [request.inputs.golden, request.inputs.corpus, gate, request.verdicts.store, request.verdicts.calibration]
    files += [*list_rubric_files(request.verdicts.rubrics), *request.scoring.lexicons, *request.scoring.labels]
    files += [*list_run_files(run, request.gate.baseline), *expand_patterns(request.inputs.outputs)]
    written = [reports.markdown, reports.html, reports.json, reports.per_case, reports.legacy_json]
    refuse_overwriting(written, files)


def _load_gate(request: ScoreRequest) -> LoadedGate:
    from assay.runs.load_plugins import load_gate
    from assay.runs.score_inputs import LoadedGate

    if request.gate.baseline is None:
        return LoadedGate(load_gate(request))
    from assay.runs.compare_runs import load_gate_with_baseline  # a comparison loads half as much again

    return load_gate_with_baseline(request)


class ScreenContent(Struct, frozen=True):
    """What the screen shows: the slices by these keys, the metrics named (the headline if none), or everything."""

    by: Sequence[str] = ()
    metrics: Sequence[str] = ()
    verbose: bool = False


def print_run(format: PrintFormat, run: ScoredRun, targets: ReportFiles, content: ScreenContent) -> None:
    """Print the results in the requested format."""
    from assay.cli.display import get_screen_width, ignore_broken_pipe, print_json, print_screen
    from assay.report.findings.collect_findings import attribute_small_failures, attribute_small_run, compare_run
    from assay.report.screen.run_summary import render_run_summary
    from assay.report.screen.terminal import render_score_screen

    with ignore_broken_pipe():
        if format is PrintFormat.json:
            from assay.report.exports.export_scores import render_json

            print_json(render_json(run, targets.now))
        elif format is PrintFormat.markdown:
            from assay.report.write_reports import render_markdown

            typer.echo(render_markdown(run, targets), nl=False)
        elif content.verbose:
            screen = render_score_screen(
                run.scoring, content.by, attributions=attribute_small_run(run), comparisons=compare_run(run)
            )
            print_screen(screen)
        else:
            summary = render_run_summary(
                run.scoring,
                attribute_small_failures(run),
                compare_run(run),
                get_screen_width(),
                content.metrics,
                content.by,
            )
            print_screen(summary)


def register_in_history(folder: Path, now: str | None) -> None:
    """Add a run to the registry next to its folder; a registry that cannot be written costs a note, not the run."""
    from assay.runs.register_run import register_run
    from assay.text.escaping import escape_terminal

    try:
        register_run(folder, resolve_clock(now))
    except AssayError as error:
        typer.echo(f"note: not in the history: {escape_terminal(str(error))}", err=True)


_NAMING_ANSWERS = ("--run", "--golden", "--golden-format", "--corpus", "--outputs", "--outputs-format")


def _suggest_reading(run: ScoredRun, inputs: str) -> str | None:
    """Return the command that lets a person read the open answers, or a sample of those that passed.

    None if there are none, and where people read a sample already.
    """
    from assay.report.screen.next_step import has_open_answers, has_passed_answers  # only where there is a run

    if not _names_answers_alone(inputs):
        return None
    if has_open_answers(run.scoring):
        return f"assay labels export {inputs} --only ambiguous --out sheet"
    if run.scoring.passes or not has_passed_answers(run.scoring):
        return None
    return f"assay labels export {inputs} --only passed --out sheet"


def _names_answers_alone(inputs: str) -> bool:
    """Return whether these arguments are those of any command that reads answers."""
    options = [argument for argument in shlex.split(inputs) if argument.startswith("--")]
    return all(option in _NAMING_ANSWERS for option in options)


def suggest_next_step(run: ScoredRun, inputs: str) -> str | None:
    """Return the command that explains the first failed case, or where none failed lets a person read what is open,
    and where nothing is, a sample of what passed. Where only verdicts are missing for a decision, it asks the judge.

    None if there is none that could be run as printed. A leak comes before all else, as on the screen above.
    Answers from standard input cannot be read a second time. Where the target answered nothing, no case explains why.
    """
    if STANDARD_INPUT in shlex.split(inputs):
        return None
    from assay.report.findings.collect_findings import compare_run
    from assay.report.screen.next_step import find_case_to_explain, lacks_verdicts  # only where there is a run

    if lacks_verdicts(run.scoring) and _names_answers_alone(inputs):
        return f"assay judge {inputs}"
    failed_case = find_case_to_explain(run.scoring, compare_run(run))
    if failed_case is None:
        return _suggest_reading(run, inputs)
    config, case_id = failed_case
    command = shlex.join(["assay", "explain", case_id, "--config", config])
    return f"{command} {inputs}"
