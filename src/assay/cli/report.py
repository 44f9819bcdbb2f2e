"""`assay report`: writes reports of a run folder, for people and for CI servers."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from assay.records.errors import ExitCode, InputError

if TYPE_CHECKING:
    from assay.scoring.scored_run import ScoredRun


SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
"""Environment variable in which GitHub names the file for the job summary."""


def report(
    run: Annotated[str, typer.Argument(help="Run folder (RUN) or one of its configurations (RUN:CONFIG).")],
    markdown: Annotated[str | None, typer.Option(help="Write a Markdown report to this file.")] = None,
    json: Annotated[str | None, typer.Option(help="Write a JSON report to this file.")] = None,
    junit: Annotated[
        str | None, typer.Option(help="Write a JUnit XML report to this file, with rules and cases as tests.")
    ] = None,
    csv: Annotated[str | None, typer.Option(help="Write the scores of every case to this CSV file.")] = None,
    raw_csv: Annotated[
        bool, typer.Option("--raw-csv", help="Do not escape CSV cells that a spreadsheet would read as a formula.")
    ] = False,
    html: Annotated[str | None, typer.Option(help="Write a self-contained HTML report to this file.")] = None,
    detail_mb: Annotated[
        float, typer.Option(min=0, help="Size limit for case details in the HTML report, in MB.")
    ] = 25.0,
    show_forbidden: Annotated[
        bool,
        typer.Option(
            "--show-forbidden", help="Include text that the user of a case is not allowed to see in the HTML report."
        ),
    ] = False,
    github: Annotated[
        bool, typer.Option("--github", help="Print GitHub annotations and append to the job summary of the workflow.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="With --github: report a pass with risk as an error.")
    ] = False,
    gate: Annotated[str | None, typer.Option(help="Gate file: the release rules to check.")] = None,
    profile: Annotated[str | None, typer.Option(help="Built-in gate to check; `assay gate show` lists them.")] = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Baseline to compare with: RUN, RUN:CONFIG or a file written by `assay baseline save`."),
    ] = None,
    owner: Annotated[str, typer.Option(help="Owner of this run, as named in the report.")] = "",
    now: Annotated[
        str | None,
        typer.Option(help="Timestamp for the reports, such as 2026-03-01T08:00:00Z (default: SOURCE_DATE_EPOCH)."),
    ] = None,
) -> ExitCode:
    """Write reports of a run. The exit code does not reflect the gate: it is 0 if the reports were written."""
    from assay.cli.display import print_written_files, show_progress
    from assay.cli.score import resolve_timestamp
    from assay.formats.outputs import refuse_overwriting
    from assay.formats.run_folder import build_run_request, list_run_files, parse_run_name
    from assay.gates.gate_files import date_of_time
    from assay.records.requests import ReportFiles
    from assay.report.write_reports import write_reports
    from assay.runs.compare_runs import load_gate_with_baseline
    from assay.runs.rescore_run import rescore_run

    if not any((markdown, json, junit, csv, html, github)):
        raise InputError("nothing to write (expected one of --markdown, --json, --junit, --csv, --html, --github)")
    refuse_overwriting([markdown, json, junit, csv, html], [gate, *list_run_files(run, baseline)])
    run_name = parse_run_name(run)
    targets = ReportFiles(
        markdown,
        json,
        owner=owner,
        now=resolve_timestamp(now),
        junit=junit,
        csv=csv,
        raw_csv=raw_csv,
        html=html,
        detail_mb=detail_mb,
        show_forbidden=show_forbidden,
        explain=shlex.join(["--run", str(run_name.path)]),
    )
    configs = run_name.configs
    request = build_run_request(
        run_name.path,
        gate=gate,
        profile=profile,
        configs=configs,
        gate_configs=configs,
        baseline=baseline,
        today=date_of_time(targets.now),
    )
    loaded_gate = load_gate_with_baseline(request)
    with (
        show_progress("scoring") as update_progress,
        rescore_run(run_name.path, request, update_progress, loaded_gate) as scoring,
    ):
        written = write_reports(scoring, targets)
        if github:
            _write_github_summary(scoring, strict)
        print_written_files(written)
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
