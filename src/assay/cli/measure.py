"""`assay run` and `assay observe`: a living system to observations, and on to scores, reports and an exit code."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.score import Format, parts, said_time
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.workflow.observe import Measurement, Observed
    from assay.workflow.reports import Targets
    from assay.workflow.run import Deciding

INTERRUPTED = 130
SHOWN = 20

# Flags that set a field of the settings.
FIELDS = {
    "golden": "golden",
    "corpus": "corpus",
    "run_dir": "run_dir",
    "concurrency": "run.concurrency",
    "deadline": "run.deadline",
    "attempts": "run.attempts",
    "repeat": "run.repeat",
    "max_calls": "run.max_calls",
    "max_cost": "run.max_cost",
    "seed": "run.seed",
    "production_k": "scoring.production_k",
    "report": "report.markdown",
    "json_report": "report.json",
    "per_case": "report.per_case",
    "html": "report.html",
}


def measure(
    context: typer.Context,
    settings: Annotated[str | None, typer.Option(help="The settings; assay.yaml where there is one.")] = None,
    golden: Annotated[str | None, typer.Option(help="The golden set.")] = None,
    corpus: Annotated[str | None, typer.Option(help="The chunks as they should be: truth for access and text.")] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="A name of the settings, or [NAME=] and URL, mcp:URL, module:attr or a file; several may follow."
        ),
    ] = None,
    run_dir: Annotated[
        str | None, typer.Option(help="The run folder; the same one goes on with an unfinished run.")
    ] = None,
    retrieval_only: Annotated[bool, typer.Option("--retrieval-only", help="Only search; nothing is answered.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N cases; never gated.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only cases with tag:NAME or case:ID; never gated.")] = None,
    repeat: Annotated[int | None, typer.Option(help="Ask every case so many times.")] = None,
    concurrency: Annotated[int | None, typer.Option(help="Cases under way at once.")] = None,
    deadline: Annotated[float | None, typer.Option(help="Seconds for one case, retries included.")] = None,
    attempts: Annotated[int | None, typer.Option(help="Calls for one case while errors may pass.")] = None,
    max_calls: Annotated[int | None, typer.Option(help="Stop after so many calls, retries included.")] = None,
    max_cost: Annotated[
        float | None, typer.Option(help="Stop after so many dollars, as the target reports them.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of the waiting times.")] = None,
    production_k: Annotated[int | None, typer.Option(help="How many chunks the system shows its model.")] = None,
    retry_errors: Annotated[bool, typer.Option("--retry-errors", help="Observe cases with an error again.")] = False,
    allow_exec: Annotated[
        bool, typer.Option("--allow-exec", help="Let the settings file name programs to run.")
    ] = False,
    allow_host: Annotated[list[str] | None, typer.Option(help="A host that the settings file may name anyway.")] = None,
    gate: Annotated[str | None, typer.Option(help="A file of release rules.")] = None,
    profile: Annotated[str | None, typer.Option(help="A built-in gate; `assay gate show` lists them.")] = None,
    gate_config: Annotated[str, typer.Option(help="The configurations that decide, comma-separated.")] = "",
    baseline: Annotated[
        str | None, typer.Option(help="What regression rules are held against: RUN, RUN:CONFIG or a saved baseline.")
    ] = None,
    approver: Annotated[str, typer.Option(help="Who reviews the decision, instead of whom the gate names.")] = "",
    strict: Annotated[bool, typer.Option("--strict", help="A pass with risk exits with 1.")] = False,
    metrics: Annotated[str | None, typer.Option(help="Metrics, comma-separated.")] = None,
    by: Annotated[str | None, typer.Option(help="Slices, comma-separated.")] = None,
    report: Annotated[str | None, typer.Option(help="Write the report for people, in Markdown.")] = None,
    json_report: Annotated[str | None, typer.Option(help="Write the report for programs.")] = None,
    per_case: Annotated[str | None, typer.Option(help="Write every score of every case, as JSON lines.")] = None,
    html: Annotated[str | None, typer.Option(help="Write the report for people, as one HTML file.")] = None,
    detail_mb: Annotated[float, typer.Option(min=0, help="Megabytes of whole cases in the HTML report.")] = 25.0,
    show_forbidden: Annotated[
        bool, typer.Option("--show-forbidden", help="Put text that the askers must not see into the HTML report.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, help="Processes that score.")] = 1,
    owner: Annotated[str, typer.Option(help="Who answers for this run, for the report.")] = "",
    now: Annotated[str | None, typer.Option(help="The time to print in reports (or SOURCE_DATE_EPOCH).")] = None,
    format: Annotated[Format, typer.Option(help="What to print.")] = Format.table,
    probe_identities: Annotated[
        bool, typer.Option("--probe-identities", help="Then ask every question as every other user: what leaks?")
    ] = False,
    show_settings: Annotated[bool, typer.Option("--show-settings", help="Print every setting and its origin.")] = False,
) -> int:
    given = dict(locals())
    from assay.config import load_config, settings_lines
    from assay.workflow.observe import Measurement
    from assay.workflow.reports import Targets
    from assay.workflow.run import Deciding
    from assay.workflow.targets import Trust

    config = load_config(settings, _flags(given))
    if show_settings:
        for line in settings_lines(config):
            typer.echo(line)
        return 0
    if gate is not None and profile is not None:
        raise InputError("--gate and --profile: give one of them (a gate file can name a profile as its base)")
    measurement = Measurement(
        config,
        target or (),
        retrieval_only,
        limit,
        only or (),
        retry_errors,
        Trust(allow_exec, tuple(allow_host or ())),
        said_time(now) or datetime.now(UTC).isoformat(timespec="seconds"),
    )
    deciding = Deciding(gate, profile, parts(gate_config), workers, baseline, approver)
    if context.info_name == "observe":
        return _observe(measurement)
    said = Targets(owner=owner, now=said_time(now), detail_mb=detail_mb, show_forbidden=show_forbidden)
    status, folder = _run(measurement, deciding, format, said, strict=strict)
    if probe_identities and status != INTERRUPTED:
        return _probe(replace(measurement, probes_of=folder), status)
    return status


def _flags(given: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    """Return the settings that flags give, by field."""
    flags = {
        field: (f"--{name.replace('_', '-')}", given[name]) for name, field in FIELDS.items() if given[name] is not None
    }
    for name in ("metrics", "by"):
        if given[name] is not None:
            flags[f"scoring.{name}"] = (f"--{name}", parts(given[name]))
    return flags


def _observed(measurement: Measurement) -> Observed:
    from assay.cli.watch import watch
    from assay.workflow.observe import observe

    def stopping() -> None:
        typer.echo("stopping: what is under way is finished and kept; Ctrl-C again ends at once", err=True)

    with watch() as watching:
        return observe(measurement, watching, stopping)


def _observe(measurement: Measurement) -> int:
    observed = _observed(measurement)
    _tell(observed)
    return observed.status


def _run(
    measurement: Measurement, deciding: Deciding, format: Format, said: Targets, *, strict: bool
) -> tuple[int, Path]:
    from assay.cli.score import show_run
    from assay.cli.screen import progress, wrote
    from assay.workflow.reports import write_reports
    from assay.workflow.run import report_targets, scored_run
    from assay.workflow.session import status_of

    observed = _observed(measurement)
    _tell(observed)
    if observed.interrupted:
        return INTERRUPTED, observed.folder
    targets = report_targets(measurement.config, observed.folder, said)
    with progress("scoring") as moved, scored_run(measurement, observed, deciding, moved) as run:
        written = write_reports(run, targets)
        show_run(format, run, targets, list(measurement.config.settings.scoring.by))
        wrote(written)
        return status_of(run, strict=strict), observed.folder


def _probe(measurement: Measurement, status: int) -> int:
    """Ask as everybody else; a leak fails whatever passed before, and what cannot be judged leaves it incomplete."""
    from assay.report.safe import terminal
    from assay.workflow.probing import judged, leaks
    from assay.workflow.run import Deciding, scored_run

    observed = _observed(measurement)
    _tell(observed)
    if observed.interrupted:
        return INTERRUPTED
    with scored_run(measurement, observed, Deciding()) as run:
        found, known = leaks(run), judged(run)
    asked = sum(len(result.table.case_ids) for result in run.scoring.configs.values())
    typer.echo(f"probes: {asked} asked, {known} judged, {len(found)} with a leak")
    for leak in found[:SHOWN]:
        typer.echo(terminal(f"  {leak.config}: {leak.case} was shown {leak.count} chunks it may not see"))
    if found:
        return 1
    return status if status or known == asked else 3


def _tell(observed: Observed) -> None:
    """Say what was observed, where it is, and how to go on with what is missing."""
    from assay.report.safe import terminal

    for name, tally in observed.tallies.items():
        errors = f", {tally.failed} with an error" if tally.failed else ""
        typer.echo(f"{terminal(name)}: {tally.done} observed{errors}, {tally.calls} calls", err=True)
    for notice in observed.notices:
        typer.echo(f"note: {terminal(notice)}", err=True)
    typer.echo(f"observations written to {terminal(str(observed.folder))}", err=True)
    if observed.interrupted or observed.missing:
        typer.echo(f"{observed.missing} observations are missing; go on with: {_again(observed)}", err=True)
    elif observed.failed:
        typer.echo(f"{observed.failed} observations have an error; again: {_again(observed)} --retry-errors", err=True)


def _again(observed: Observed) -> str:
    arguments = sys.argv[1:]
    named = any(each == "--run-dir" or each.startswith("--run-dir=") for each in arguments)
    return shlex.join(["assay", *arguments, *(() if named else ("--run-dir", str(observed.folder)))])
