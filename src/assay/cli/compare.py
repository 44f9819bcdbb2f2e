"""`assay compare`: compares one or more candidates with a baseline and decides whether they may ship."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import (
    ApproverOption,
    ByOption,
    CorpusOption,
    GateOption,
    JsonReportOption,
    MarkdownReportOption,
    MissingOption,
    NoLedgerOption,
    PrintFormat,
    PrintFormatOption,
    ProfileOption,
    StrictOption,
    VerboseOption,
    counts_as_zero,
    parse_name_list,
    refuse_other_suffix,
    resolve_clock,
    resolve_timestamp,
)
from assay.records.counts import format_count
from assay.records.errors import ExitCode, InputError

if TYPE_CHECKING:
    from assay.records.requests import InputOptions
    from assay.runs.compare_runs import ComparedCandidate, ComparisonRequest


MAX_WIDTH = 100
"""Longer lines of prose are hard to read."""
_SIDE = "RUN, RUN:CONFIG or a file written by `assay baseline save`."


def compare(
    baseline: Annotated[str | None, typer.Argument(help=_SIDE)] = None,
    candidates: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CANDIDATE]...", help=f"{_SIDE} Several are each compared with the baseline."),
    ] = None,
    golden: Annotated[str | None, typer.Option(help="Golden set, to compare recorded outputs.")] = None,
    outputs: Annotated[
        list[str] | None, typer.Option(help="Recorded outputs of both configurations; takes several values.")
    ] = None,
    corpus: CorpusOption = None,
    baseline_config: Annotated[
        str | None, typer.Option(help="The configuration that serves as baseline, of --outputs or of the run BASELINE.")
    ] = None,
    candidate_config: Annotated[
        list[str] | None,
        typer.Option(
            help="The configuration to evaluate as candidate, of --outputs or of the run CANDIDATE; takes several "
            "values."
        ),
    ] = None,
    all_pairs: Annotated[
        bool,
        typer.Option(
            "--all-pairs",
            help="Compare every system with every other one by --metrics (default: the first headline), with all tests "
            "as one family; nothing is decided.",
        ),
    ] = False,
    metrics: Annotated[str, typer.Option(help="Metrics to compare, comma-separated.")] = "",
    by: ByOption = None,
    gate: GateOption = None,
    profile: ProfileOption = None,
    approver: ApproverOption = "",
    strict: StrictOption = False,
    missing: MissingOption = None,
    report: MarkdownReportOption = None,
    json_report: JsonReportOption = None,
    no_ledger: NoLedgerOption = False,
    format: PrintFormatOption = PrintFormat.table,
    verbose: VerboseOption = False,
    now: Annotated[
        str | None,
        typer.Option(help="Timestamp for the reports and for the expiry of waivers (default: SOURCE_DATE_EPOCH)."),
    ] = None,
) -> ExitCode:
    """Compare candidates with a baseline, case by case, and check the gate if one is given."""
    from assay.cli.display import print_written_files
    from assay.formats.outputs import expand_patterns
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.formats.run_files.run_folder import list_run_files
    from assay.gates.decision_weight import find_exit_code
    from assay.records.requests import GateOptions, InputOptions, ScoreRequest, ScoringOptions
    from assay.runs.compare_runs import (
        ComparisonRequest,
        combine_candidates,
        compare_configs,
        compare_named,
        write_comparison,
    )
    from assay.runs.load_plugins import load_metric_paths

    if all_pairs:
        refused = {
            "--gate": gate,
            "--profile": profile,
            "--report": report,
            "--json-report": json_report,
            "--by": by,
            "--baseline-config": baseline_config,
            "--candidate-config": candidate_config,
        }
        return _compare_all_pairs([baseline, *(candidates or ())], metrics, format, outputs, refused)
    request = ComparisonRequest(
        GateOptions(gate, profile, approver=approver),
        load_metric_paths([metrics]) if parse_name_list(metrics) else (),
        parse_name_list(by) or None,
        resolve_timestamp(now),
        missing_as_zero=counts_as_zero(missing),
    )
    if not outputs:
        baseline, candidates = _choose_configs(baseline, candidates, baseline_config, candidate_config)
    run_files = list_run_files(baseline, *(candidates or ()))
    output_files = expand_patterns(outputs) if outputs else ()
    refuse_overwriting([report, json_report], [golden, corpus, gate, *run_files, *output_files])
    refuse_other_suffix("Markdown", report, "--report")
    refuse_other_suffix("JSON", json_report, "--json-report")
    inputs: InputOptions | None = None
    if golden is not None and outputs and baseline_config is not None and candidate_config:
        if baseline is not None:
            raise InputError("give either BASELINE and CANDIDATE, or --golden and --outputs, not both")
        inputs = InputOptions(golden=golden, outputs=outputs, corpus=corpus)
        scored = ScoreRequest(inputs, scoring=ScoringOptions(metrics=request.metrics or None))
        at = resolve_clock(now)
        compared = compare_configs(scored, baseline_config, candidate_config, request, at, is_counted=not no_ledger)
    elif baseline is not None and candidates:
        compared = compare_named(baseline, candidates, request)
    else:
        options = "--golden, --outputs, --baseline-config and --candidate-config"
        raise InputError(f"nothing to compare (expected BASELINE and CANDIDATE, or {options})")
    written = write_comparison(compared, request, report, json_report)
    _print_comparison(format, compared, request, verbose=verbose)
    print_written_files(written, _suggest_explain(compared, baseline, inputs))
    return find_exit_code(combine_candidates(compared), strict=strict)


def _choose_configs(
    baseline: str | None, candidates: list[str] | None, baseline_config: str | None, candidate_configs: list[str] | None
) -> tuple[str | None, list[str] | None]:
    """Return both sides as RUN:CONFIG where an option names the configuration of a run.

    Raises:
        InputError: Several candidates, or a side that names its configuration itself.
    """
    if baseline is not None and baseline_config is not None:
        baseline = _name_config(baseline, baseline_config, "--baseline-config")
    if candidates and candidate_configs:
        if len(candidates) > 1:
            given = format_count(len(candidates), "candidate")
            raise InputError(f"--candidate-config: {given} (expected one run, or RUN:CONFIG for each of them)")
        candidates = [_name_config(candidates[0], config, "--candidate-config") for config in candidate_configs]
    return baseline, candidates


def _name_config(side: str, config: str, option: str) -> str:
    from assay.formats.run_files.run_folder import parse_run_name

    if Path(side).is_file():
        raise InputError(f"{option}: {side} is the file of one configuration (expected a run)")
    if parse_run_name(side).config is not None:
        raise InputError(f"{option}: {side} names a configuration already (expected a run without one)")
    return f"{side}:{config}"


def _compare_all_pairs(
    sides: list[str | None],
    metrics: str,
    format: PrintFormat,
    outputs: list[str] | None,
    refused: Mapping[str, str | list[str] | None],
) -> ExitCode:
    """Print every pair of several systems, and decide nothing. Raises InputError for options that decide or report."""
    from assay.cli.display import print_json
    from assay.comparison.all_pairs import describe_pairs
    from assay.runs.load_plugins import load_metric_paths
    from assay.runs.plan_comparison import compare_systems, render_result_json
    from assay.text.escaping import escape_terminal

    misplaced = [option for option, value in {**refused, "--outputs": outputs}.items() if value]
    if misplaced:
        raise InputError(
            f"--all-pairs: not with {', '.join(misplaced)} (expected run folders or saved baselines, and --metrics)"
        )
    chosen = load_metric_paths([metrics]) if parse_name_list(metrics) else ()
    compared = compare_systems([side for side in sides if side is not None], chosen)
    if format is PrintFormat.json:
        print_json(render_result_json(compared))
        return ExitCode.PASS
    for line in describe_pairs(compared):
        typer.echo(escape_terminal(line))
    return ExitCode.PASS


def _suggest_explain(
    compared: list[ComparedCandidate], baseline: str | None, inputs: InputOptions | None
) -> str | None:
    """Return the command that explains the first case that fails now; None if there is none, or nothing to read."""
    from assay.report.findings.flipped_cases import list_flipped_cases
    from assay.runs.rescore_run import format_input_arguments

    for item in compared:
        side, cases = item.comparison.candidate, list_flipped_cases(item.comparison).fail_now
        if not cases:
            continue
        if inputs is not None:
            command = shlex.join(["assay", "explain", cases[0], "--config", side.config_id])
            return f"{command} {format_input_arguments(inputs)}"
        if not Path(side.name).is_file():  # a saved baseline holds no answers
            return shlex.join(["assay", "explain", cases[0], "--run", side.name, "--baseline", str(baseline)])
    return None


def _print_comparison(
    format: PrintFormat, compared: list[ComparedCandidate], request: ComparisonRequest, *, verbose: bool
) -> None:
    from assay.cli.display import get_screen_width, ignore_broken_pipe, print_json, print_screen
    from assay.report.screen.candidates_screen import JudgedCandidate, render_candidates
    from assay.report.screen.comparison_screen import render_comparison_screen, render_short_comparison
    from assay.runs.compare_runs import comparison_as_json, comparison_as_markdown

    with ignore_broken_pipe():
        if format is PrintFormat.json:
            print_json(comparison_as_json(compared, request))
        elif format is PrintFormat.markdown:
            typer.echo(comparison_as_markdown(compared, request), nl=False)
        elif verbose:
            for item in compared:
                print_screen(render_comparison_screen(item.comparison, item.decision))
        else:
            width = min(get_screen_width(), MAX_WIDTH)
            if len(compared) > 1:
                candidates = [JudgedCandidate(item.comparison, item.decision) for item in compared]
                print_screen(render_candidates(candidates, width))
            else:
                print_screen(render_short_comparison(compared[0].comparison, compared[0].decision, width))
