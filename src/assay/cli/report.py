"""`assay report`: reports of a run folder, for people and for build servers."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.workflow.score import ScoreRun

SUMMARY = "GITHUB_STEP_SUMMARY"
"""GitHub names the file that a step's summary is appended to in this variable of the environment."""


def report(
    run: Annotated[str, typer.Argument(help="A run folder, or RUN:CONFIG for one of its configurations.")],
    markdown: Annotated[str | None, typer.Option(help="Write the report for people, in Markdown.")] = None,
    json: Annotated[str | None, typer.Option(help="Write the report for programs.")] = None,
    junit: Annotated[str | None, typer.Option(help="Write JUnit XML: rules and cases as tests.")] = None,
    csv: Annotated[str | None, typer.Option(help="Write the scores of every case for a spreadsheet.")] = None,
    raw_csv: Annotated[
        bool, typer.Option("--raw-csv", help="Leave cells as they are that a spreadsheet would take for a formula.")
    ] = False,
    html: Annotated[str | None, typer.Option(help="Write the report for people, as one HTML file.")] = None,
    detail_mb: Annotated[float, typer.Option(min=0, help="Megabytes of whole cases in the HTML report.")] = 25.0,
    show_forbidden: Annotated[
        bool, typer.Option("--show-forbidden", help="Put text that the askers must not see into the HTML report.")
    ] = False,
    github: Annotated[
        bool, typer.Option("--github", help="Print annotations, and append to the job summary of a GitHub workflow.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="With --github: a pass with risk is an error.")] = False,
    gate: Annotated[str | None, typer.Option(help="A file of release rules.")] = None,
    profile: Annotated[str | None, typer.Option(help="A built-in gate; `assay gate show` lists them.")] = None,
    baseline: Annotated[str | None, typer.Option(help="What to compare with: RUN, RUN:CONFIG or a baseline.")] = None,
    owner: Annotated[str, typer.Option(help="Who answers for this run.")] = "",
    now: Annotated[str | None, typer.Option(help="The time to print in reports (or SOURCE_DATE_EPOCH).")] = None,
) -> int:
    """Write reports of a run. The exit code says whether they were written, not what the gate decided."""
    from assay.cli.score import said_time
    from assay.cli.screen import progress, wrote
    from assay.workflow.outputs import refuse_overwriting
    from assay.workflow.reports import Targets, write_reports
    from assay.workflow.runs import files_of, opened, split_run
    from assay.workflow.session import day_of

    if not any((markdown, json, junit, csv, html, github)):
        raise InputError("nothing to write (expected one of --markdown, --json, --junit, --csv, --html, --github)")
    refuse_overwriting([markdown, json, junit, csv, html], [gate, *files_of(run, baseline)])
    name = split_run(run)
    targets = Targets(
        markdown,
        json,
        owner=owner,
        now=said_time(now),
        junit=junit,
        csv=csv,
        raw_csv=raw_csv,
        html=html,
        detail_mb=detail_mb,
        show_forbidden=show_forbidden,
        explain=shlex.join(["--run", str(name.path)]),
    )
    configs = name.configs
    rules = {"gate": gate, "profile": profile, "configs": configs, "gate_configs": configs, "baseline": baseline}
    with (
        progress("scoring") as moved,
        opened(name.path, moved, **rules, today=day_of(targets.now)) as scoring,
    ):
        written = write_reports(scoring, targets)
        if github:
            _tell_github(scoring, strict)
        wrote(written)
    return 0


def _tell_github(run: ScoreRun, strict: bool) -> None:
    from assay.workflow.reports import github_annotations, github_summary

    for line in github_annotations(run, strict=strict):
        typer.echo(line)
    summary = github_summary(run, strict=strict)
    path = os.environ.get(SUMMARY)
    if path is None:
        typer.echo(summary, nl=False)
        typer.echo(f"{SUMMARY} is not set: the summary was printed", err=True)
        return
    with open(path, "a", encoding="utf-8") as file:
        file.write(summary)
