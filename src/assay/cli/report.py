"""`assay report`: writes reports of a run folder, for people and for CI servers."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import (
    GateOption,
    HtmlOptions,
    JsonFileOption,
    MarkdownFileOption,
    NowOption,
    OwnerOption,
    ProfileOption,
    expand_options,
    refuse_other_suffix,
    resolve_timestamp,
)
from assay.records.errors import ExitCode, InputError

if TYPE_CHECKING:
    from assay.scoring.scored_run import ScoredRun


SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
"""Environment variable in which GitHub names the file for the job summary."""


@expand_options
def report(
    *,
    run: Annotated[str, typer.Argument(help="Run folder (RUN) or one of its configurations (RUN:CONFIG).")],
    markdown: MarkdownFileOption = None,
    json: JsonFileOption = None,
    junit: Annotated[
        str | None, typer.Option(help="Write a JUnit XML report to this file, with rules and cases as tests.")
    ] = None,
    csv: Annotated[str | None, typer.Option(help="Write the scores of every case to this CSV file.")] = None,
    raw_csv: Annotated[
        bool, typer.Option("--raw-csv", help="Do not escape CSV cells that a spreadsheet would read as a formula.")
    ] = False,
    page: HtmlOptions,
    github: Annotated[
        bool, typer.Option("--github", help="Print GitHub annotations and append to the job summary of the workflow.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="With --github: report a pass with risk as an error.")
    ] = False,
    gate: GateOption = None,
    profile: ProfileOption = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Baseline to compare with: RUN, RUN:CONFIG or a file written by `assay baseline save`."),
    ] = None,
    owner: OwnerOption = "",
    now: NowOption = None,
) -> ExitCode:
    """Write reports of a run. The exit code does not reflect the gate: it is 0 if the reports were written."""
    from assay.cli.display import print_last_gate, print_notes, print_written_files
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.formats.run_files.run_folder import complete_run_request, list_run_files, parse_run_name
    from assay.records.requests import GateOptions, InputOptions, ReportFiles, ScoreRequest, date_of_time
    from assay.report.write_reports import write_reports
    from assay.runs.compare_runs import find_recorded_baseline, find_recorded_gate, load_gate_with_baseline
    from assay.runs.progress_line import show_progress
    from assay.runs.score_run import open_scored_run

    if not any((markdown, json, junit, csv, page.html, github)):
        raise InputError("nothing to write (expected one of --markdown, --json, --junit, --csv, --html, --github)")
    recorded_baseline = find_recorded_baseline(run, GateOptions(gate, profile, baseline=baseline))
    baseline = baseline or recorded_baseline
    refuse_overwriting([markdown, json, junit, csv, page.html], [gate, *list_run_files(run, baseline)])
    kinds = (("Markdown", markdown, "--markdown"), ("JSON", json, "--json"), ("HTML", page.html, "--html"))
    for kind, path, option in (*kinds, ("JUnit XML", junit, "--junit")):
        refuse_other_suffix(kind, path, option)
    run_name = parse_run_name(run)
    targets = ReportFiles(
        markdown,
        json,
        owner=owner,
        now=resolve_timestamp(now),
        junit=junit,
        csv=csv,
        raw_csv=raw_csv,
        html=page.html,
        detail_mb=page.detail_mb,
        show_forbidden=page.show_forbidden,
        explain=shlex.join(["--run", str(run_name.path)]),
    )
    today = date_of_time(targets.now)
    request = complete_run_request(
        ScoreRequest(
            InputOptions(run=run),
            gate=GateOptions(gate, profile, configs=run_name.configs, baseline=baseline, today=today),
        )
    )
    recorded_gate = find_recorded_gate(request)
    loaded_gate = load_gate_with_baseline(request, recorded_gate)
    with (
        show_progress("scoring") as update_progress,
        open_scored_run(request, update_progress, loaded_gate) as scoring,
    ):
        written = write_reports(scoring, targets)
        if github:
            _write_github_summary(scoring, strict)
        print_written_files(written)
    if recorded_baseline is not None:
        print_notes([f"compared with {recorded_baseline}, as the run was (--baseline: with another)"])
    if recorded_gate is not None:
        decided_by = f"the gate {recorded_gate.name}" if recorded_gate.name else "the gate"
        print_notes([f"decided by {decided_by} of the run (--gate or --profile: by another)"])
    elif gate is None and profile is None:
        print_last_gate(run_name.path, "these reports")
    return ExitCode.PASS


def _write_github_summary(run: ScoredRun, strict: bool) -> None:
    from assay.report.write_reports import render_github_annotations, render_github_summary

    for line in render_github_annotations(run, strict=strict):
        typer.echo(line)
    summary = render_github_summary(run, strict=strict)
    path = os.environ.get(SUMMARY_VARIABLE)
    if path is None:
        typer.echo(summary, nl=False)
        typer.echo(f"{SUMMARY_VARIABLE} is not set: the summary was printed", err=True)
        return
    with open(path, "a", encoding="utf-8") as file:
        file.write(summary)
