"""`assay run` and `assay observe`: calls the targets, records their outputs, scores them and writes reports."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.options import (
    ApproverOption,
    BaselineOption,
    ByOption,
    CorpusOption,
    GateConfigOption,
    GateOption,
    HtmlOptions,
    JsonReportOption,
    LimitOption,
    MarkdownReportOption,
    MetricsOption,
    NoHistoryOption,
    NoLedgerOption,
    NowOption,
    OwnerOption,
    PerCaseOption,
    PermissionOptions,
    PrintFormat,
    PrintFormatOption,
    ProductionKOption,
    ProfileOption,
    SettingsOption,
    StrictOption,
    VerboseOption,
    expand_options,
    parse_metric_list,
    parse_name_list,
    resolve_timestamp,
)
from assay.records.counts import format_count
from assay.records.errors import ExitCode, InputError
from assay.records.requests import GateOptions, ReportFiles

if TYPE_CHECKING:
    from assay.runs.observe_run import ObservationRequest, ObservedRun
    from assay.scoring.scored_run import ScoredRun


MAX_LEAKS_SHOWN = 20

SETTINGS_OF_OPTIONS = {
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
SCORING_ONLY_OPTIONS = (
    *(
        "gate",
        "profile",
        "gate_config",
        "baseline",
        "approver",
        "strict",
        "probe_identities",
        "no_history",
        "no_ledger",
    ),
    *("metrics", "by", "workers", "format", "verbose"),
    *("report", "json_report", "per_case", "html", "detail_mb", "show_forbidden", "owner"),
)


@expand_options
def measure(
    *,
    context: typer.Context,
    settings: SettingsOption = None,
    golden: Annotated[str | None, typer.Option(help="Golden set.")] = None,
    corpus: CorpusOption = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="Target: a name from the settings, or [NAME=] followed by a URL, mcp:URL, module:attr or a file; "
            "takes several values."
        ),
    ] = None,
    run_dir: Annotated[
        str | None, typer.Option(help="Run folder; naming the folder of an unfinished run continues it.")
    ] = None,
    retrieval_only: Annotated[
        bool, typer.Option("--retrieval-only", help="Retrieve only; generate no answers.")
    ] = False,
    limit: LimitOption = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Use only cases that match tag:NAME or case:ID; takes several values; a partial run is never gated."
        ),
    ] = None,
    repeat: Annotated[int | None, typer.Option(help="Number of times to ask each case.")] = None,
    concurrency: Annotated[int | None, typer.Option(help="Maximum number of cases in progress at once.")] = None,
    deadline: Annotated[
        float | None, typer.Option(help="Time limit for one case in seconds, including retries.")
    ] = None,
    attempts: Annotated[
        int | None, typer.Option(help="Maximum number of calls for one case when errors are temporary.")
    ] = None,
    max_calls: Annotated[int | None, typer.Option(help="Stop after this number of calls, including retries.")] = None,
    max_cost: Annotated[
        float | None, typer.Option(help="Stop after this cost in US dollars, as reported by the target.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed of the waiting times between retries.")] = None,
    production_k: ProductionKOption = None,
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Repeat cases that ended with an error.")
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="Ask every selected case again; its answers in the run folder move to replaced.jsonl."
        ),
    ] = False,
    permissions: PermissionOptions,
    gate: GateOption = None,
    profile: ProfileOption = None,
    gate_config: GateConfigOption = "",
    baseline: BaselineOption = None,
    approver: ApproverOption = "",
    strict: StrictOption = False,
    metrics: MetricsOption = None,
    by: ByOption = None,
    report: MarkdownReportOption = None,
    json_report: JsonReportOption = None,
    per_case: PerCaseOption = None,
    page: HtmlOptions,
    workers: Annotated[
        int, typer.Option(min=1, help="Number of worker processes for scoring; it does not change the results.")
    ] = 1,
    owner: OwnerOption = "",
    now: NowOption = None,
    no_history: NoHistoryOption = False,
    no_ledger: NoLedgerOption = False,
    format: PrintFormatOption = PrintFormat.table,
    verbose: VerboseOption = False,
    probe_identities: Annotated[
        bool,
        typer.Option(
            "--probe-identities", help="Afterwards, ask every question as every other user to find access leaks."
        ),
    ] = False,
    show_settings: Annotated[
        bool, typer.Option("--show-settings", help="Print every setting and where it comes from, and exit.")
    ] = False,
) -> ExitCode:
    options = {**locals(), "html": page.html}
    from assay.formats.settings_file import format_settings_lines, load_config
    from assay.runs.observe_run import ObservationRequest, check_probes
    from assay.targets.choose_target import TargetPermissions

    config = load_config(settings, _settings_from_options(options))
    if show_settings:
        for line in format_settings_lines(config):
            typer.echo(line)
        return ExitCode.PASS
    if gate is not None and profile is not None:
        raise InputError("give either --gate or --profile, not both (a gate file can name a profile as its base)")
    measurement = ObservationRequest(
        config,
        target or (),
        retrieval_only,
        limit,
        only or (),
        retry_errors,
        TargetPermissions(permissions.allow_exec, tuple(permissions.allow_host or ())),
        resolve_timestamp(now) or datetime.now(UTC).isoformat(timespec="seconds"),
        fresh=fresh,
    )
    gate_request = GateOptions(gate, profile, parse_name_list(gate_config), baseline, approver)
    if context.info_name == "observe":
        _refuse_scoring_options(context)
        return _observe(measurement)
    reports = ReportFiles(
        owner=owner, now=resolve_timestamp(now), detail_mb=page.detail_mb, show_forbidden=page.show_forbidden
    )
    if probe_identities:
        check_probes(measurement)
    status, folder = _run(
        measurement, gate_request, workers, format, reports, strict=strict, verbose=verbose, named=metrics is not None
    )
    if probe_identities and status != ExitCode.INTERRUPTED:
        return _probe(replace(measurement, probes_of=folder), status)
    return status


def _settings_from_options(options: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    """Return the settings that options override: field → (name of the option, value)."""
    overrides: dict[str, tuple[str, Any]] = {}
    for name, field in SETTINGS_OF_OPTIONS.items():
        if options[name] is not None:
            overrides[field] = (f"--{name.replace('_', '-')}", options[name])
    for name, parse in (("metrics", parse_metric_list), ("by", parse_name_list)):
        if options[name] is not None:
            overrides[f"scoring.{name}"] = (f"--{name}", parse(options[name]))
    for name, setting in (("no_history", "history"), ("no_ledger", "ledger")):
        if options[name]:
            overrides[setting] = (f"--{name.replace('_', '-')}", False)
    return overrides


def _observe_targets(measurement: ObservationRequest) -> ObservedRun:
    from assay.calls.retry import format_wait
    from assay.runs.observe_run import observe_run
    from assay.runs.progress_line import show_tasks
    from assay.text.escaping import escape_terminal

    def print_stopping() -> None:
        typer.echo("stopping: cases in progress are finished and saved; press Ctrl-C again to exit at once", err=True)

    def print_waiting(target: str, seconds: float) -> None:
        wait = format_wait(seconds)
        typer.echo(f"target {escape_terminal(target)} asks to wait (Retry-After): going on in {wait}", err=True)

    with show_tasks() as start_bar:
        return observe_run(measurement, start_bar, print_stopping, on_wait=print_waiting)


def _refuse_scoring_options(context: typer.Context) -> None:
    """Raise InputError for options that `assay observe` would ignore, because it scores nothing."""
    refused = [
        f"--{name.replace('_', '-')}"
        for name in SCORING_ONLY_OPTIONS
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    ]
    if refused:
        raise InputError(
            f"{', '.join(refused)}: observing scores nothing (expected `assay run`, or `assay score` later)"
        )


def _observe(measurement: ObservationRequest) -> ExitCode:
    observed = _observe_targets(measurement)
    _print_observed(observed)
    return observed.exit_code


def _run(
    measurement: ObservationRequest,
    gate_request: GateOptions,
    workers: int,
    format: PrintFormat,
    reports: ReportFiles,
    *,
    strict: bool,
    verbose: bool,
    named: bool,
) -> tuple[ExitCode, Path]:
    from assay.cli.display import print_written_files
    from assay.cli.score import ScreenContent, print_run, register_in_history
    from assay.gates.decision_weight import find_exit_code
    from assay.report.write_reports import write_reports
    from assay.runs.load_plugins import load_metric_paths
    from assay.runs.observe_and_score import (
        load_gate_of_run,
        refuse_overwritten_inputs,
        resolve_report_files,
        score_observed_run,
    )
    from assay.runs.progress_line import show_progress

    refuse_overwritten_inputs(measurement.config, gate_request, reports)
    gate = load_gate_of_run(measurement, gate_request)
    observed = _observe_targets(measurement)
    _print_observed(observed, is_screen_next=format == PrintFormat.table and not observed.is_interrupted)
    if observed.is_interrupted:
        return ExitCode.INTERRUPTED, observed.folder
    refuse_overwritten_inputs(measurement.config, gate_request, reports, observed.folder)
    targets = resolve_report_files(measurement.config, observed.folder, reports)
    with (
        show_progress("scoring") as update_progress,
        score_observed_run(measurement, observed, gate, workers, update_progress) as run,
    ):
        if measurement.config.settings.history:
            register_in_history(observed.folder, measurement.started_at)
        written = write_reports(run, targets)
        scoring = measurement.config.settings.scoring
        metrics = load_metric_paths(scoring.metrics) if named else ()
        print_run(format, run, targets, ScreenContent(scoring.by, metrics, verbose))
        print_written_files(written, _suggest_next_step(run, measurement, observed.folder))
        return find_exit_code(run.scoring.decision, strict=strict), observed.folder


def _suggest_next_step(run: ScoredRun, measurement: ObservationRequest, folder: Path) -> str | None:
    """Return the command that explains the first failed case, or that tries a target which answered nothing."""
    from assay.cli.score import suggest_next_step

    if run.scoring.decision.unanswered:
        return shlex.join(["assay", "doctor", *_list_doctor_options(measurement)])
    return suggest_next_step(run, shlex.join(["--run", str(folder)]))


def _list_doctor_options(measurement: ObservationRequest) -> list[str]:
    """Return the options with which `assay doctor` looks at what a run was told: those given here, and its settings."""
    config = measurement.config
    options = ["--settings", config.path] if config.path is not None else []
    golden = config.golden_settings
    given = {"golden": golden.path if golden is not None else None, "corpus": config.settings.corpus}
    for name, value in given.items():
        if value is not None and config.origins.get(name) == f"--{name}":
            options += [f"--{name}", value]
    for target in measurement.targets:
        options += ["--target", target]
    return options


def _probe(measurement: ObservationRequest, status: ExitCode) -> ExitCode:
    """Ask every question as the other users and return the exit code.

    A leak is a failure even if the gate passed (`status`); probes that cannot be judged make a pass incomplete. A
    golden set that asks every question as every user itself leaves nothing to ask, so that its run is complete.
    """
    from assay.formats.run_files.run_folder import OBSERVATIONS_FILE
    from assay.runs.access_probes import count_checked_probes, describe_probes, explain_probe, find_leaking_probes
    from assay.runs.observe_and_score import score_observed_run
    from assay.text.escaping import escape_terminal

    observed = _observe_targets(measurement)
    _print_observed(observed)
    if observed.is_interrupted:
        return ExitCode.INTERRUPTED
    if not observed.golden.golden.cases:
        typer.echo("probes: none to ask: every question was asked as every user")
        return status
    with score_observed_run(measurement, observed) as run:
        leaky_probes, judged_count = find_leaking_probes(run), count_checked_probes(run)
        shown_probes = [explain_probe(run, leak) for leak in leaky_probes[:MAX_LEAKS_SHOWN]]
    probe_count = sum(len(result.table.case_ids) for result in run.scoring.configs.values())
    typer.echo(
        f"probes: {probe_count} asked ({describe_probes(observed.golden.golden.cases)}), {judged_count} judged, "
        f"{len(leaky_probes)} with a leak"
    )
    for leak in shown_probes:
        chunks, why = format_count(leak.count, "chunk"), f": {'; '.join(leak.reasons)}" if leak.reasons else ""
        typer.echo(escape_terminal(f"  {leak.config}: {leak.case} was shown {chunks} it may not see{why}"))
    if len(leaky_probes) > MAX_LEAKS_SHOWN:
        file = escape_terminal(str(observed.folder / OBSERVATIONS_FILE))
        typer.echo(f"  and {len(leaky_probes) - MAX_LEAKS_SHOWN} more with a leak; all answers are in {file}")
    if leaky_probes:
        return ExitCode.FAILED
    is_complete = judged_count == probe_count
    return status if status or is_complete else ExitCode.INCOMPLETE


def _print_observed(observed: ObservedRun, *, is_screen_next: bool = False) -> None:
    """Print what was observed, where it is stored, and how to complete what is missing.

    What the screen of the scores says among its doubts is left to it, if that is printed next.
    """
    from assay.report.findings.doubts import is_listed_as_doubt
    from assay.text.escaping import escape_terminal

    for name, tally in observed.tallies.items():
        parts = [f"{tally.failed} with an error"] if tally.failed else []
        parts += [f"{tally.null_answers} with a null answer"] if tally.null_answers else []
        of_them = f" ({', '.join(parts)})" if parts else ""
        if not tally.total and name in observed.earlier:
            age = f", begun {observed.earlier_age} ago" if observed.earlier_age else ""
            count = format_count(observed.earlier[name].count, "answer")
            typer.echo(f"{escape_terminal(name)}: not asked, {count} from an earlier run{age}", err=True)
            continue
        left = tally.total - tally.done
        observed_count = f"{tally.done} of {tally.total} observed" if left else f"{tally.done} observed"
        not_asked = f", {left} not asked" if left else ""
        calls = format_count(tally.calls, "call")
        calls += f", of which {tally.repeated} failed and had to be repeated" if tally.repeated else ""
        typer.echo(f"{escape_terminal(name)}: {observed_count}{of_them}{not_asked}, {calls}", err=True)
    for notice in observed.notices:
        if is_screen_next and is_listed_as_doubt(notice):
            continue
        typer.echo(f"note: {escape_terminal(notice)}", err=True)
    typer.echo(f"observations written to {escape_terminal(str(observed.folder))}", err=True)
    if observed.missing and observed.failed:
        typer.echo(
            f"{format_count(observed.missing, 'observation is', 'observations are')} missing and {observed.failed} "
            f"{'has' if observed.failed == 1 else 'have'} an error; once the target works, continue with: "
            f"{_command_again(observed, '--retry-errors')}",
            err=True,
        )
    elif observed.is_interrupted or observed.missing:
        typer.echo(
            f"{format_count(observed.missing, 'observation is', 'observations are')} missing; continue with: "
            f"{_command_again(observed)}",
            err=True,
        )
    elif observed.failed:
        typer.echo(
            f"{format_count(observed.failed, 'observation has', 'observations have')} an error; once the target "
            f"works, repeat them with: {_command_again(observed, '--retry-errors')} (if its code or settings change, "
            "--fresh asks all cases again)",
            err=True,
        )


def _command_again(observed: ObservedRun, *options: str) -> str:
    """Return the command of this process, with the run folder to continue and some options, each of them once."""
    command = ["assay", *(argument for argument in sys.argv[1:] if argument != "--fresh")]
    command += [option for option in options if option not in command]
    has_folder = any(argument == "--run-dir" or argument.startswith("--run-dir=") for argument in command)
    if not has_folder:
        command += ["--run-dir", str(observed.folder)]
    return shlex.join(command)
