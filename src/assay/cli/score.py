"""`assay score`: scores recorded outputs, writes reports and returns the exit code of the gate."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.records.errors import ExitCode, InputError

if TYPE_CHECKING:
    from assay.records.requests import ReportFiles
    from assay.scoring.scored_run import ScoredRun


GoldenOption = Annotated[str | None, typer.Option(help="Golden set: a file, a BEIR folder, or - for standard input.")]
GoldenFormatOption = Annotated[
    str | None, typer.Option(help="Format of the golden set (default: detected from its content).")
]
OutputsOption = Annotated[
    list[str] | None,
    typer.Option(help="Recorded outputs: files, glob patterns, or - for standard input; takes several values."),
]
OutputsFormatOption = Annotated[
    str | None, typer.Option(help="Format of the outputs (default: detected from their content).")
]
CorpusOption = Annotated[
    str | None, typer.Option(help="Corpus file: every chunk with its correct text, version and access rights.")
]


class PrintFormat(StrEnum):
    """Formats of printed results."""

    table = "table"
    json = "json"
    markdown = "markdown"


class MissingPolicy(StrEnum):
    """Ways to count a golden case without output."""

    error = "error"
    zero = "zero"


def score(
    run: Annotated[
        str | None,
        typer.Argument(
            help="Run folder (RUN) or one of its configurations (RUN:CONFIG), instead of --golden and --outputs."
        ),
    ] = None,
    golden: GoldenOption = None,
    outputs: OutputsOption = None,
    golden_format: GoldenFormatOption = None,
    outputs_format: OutputsFormatOption = None,
    corpus: CorpusOption = None,
    metrics: Annotated[str, typer.Option(help="Metrics to compute, comma-separated; `assay metrics` lists them.")] = "",
    by: Annotated[
        str,
        typer.Option(
            help="Slices to report, comma-separated: tag, difficulty, behaviour, language, kind or an attribute."
        ),
    ] = "",
    gate: Annotated[str | None, typer.Option(help="Gate file: the release rules to check.")] = None,
    profile: Annotated[str | None, typer.Option(help="Built-in gate to check; `assay gate show` lists them.")] = None,
    gate_config: Annotated[str, typer.Option(help="Configurations that the gate checks, comma-separated.")] = "",
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 also when the decision is a pass with risk.")
    ] = False,
    missing: Annotated[
        MissingPolicy, typer.Option(help="How to count a case without output: as an error, or with a score of zero.")
    ] = MissingPolicy.error,
    report: Annotated[str | None, typer.Option(help="Write a Markdown report to this file.")] = None,
    json_report: Annotated[str | None, typer.Option(help="Write a JSON report to this file.")] = None,
    per_case: Annotated[
        str | None, typer.Option(help="Write the scores of every case to this file, as JSON lines.")
    ] = None,
    legacy_json_report: Annotated[
        str | None, typer.Option(help="Write a JSON report with the keys of the `rag-trace` runner to this file.")
    ] = None,
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
    run_dir: Annotated[
        str | None, typer.Option(help="Save the golden set, outputs and scores in this run folder.")
    ] = None,
    format: Annotated[PrintFormat, typer.Option(help="Format of the printed results.")] = PrintFormat.table,
    workers: Annotated[
        int, typer.Option(min=1, help="Number of worker processes; it does not change the results.")
    ] = 1,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Use only the first N cases; a partial run is never gated.")
    ] = None,
    ignore_unknown: Annotated[
        bool, typer.Option("--ignore-unknown", help="Skip and count outputs of unknown cases instead of refusing them.")
    ] = False,
    allow_torn_tail: Annotated[
        bool,
        typer.Option("--allow-torn-tail", help="Accept a truncated last line, as a crash leaves it, and report it."),
    ] = False,
    strict_outputs: Annotated[
        bool,
        typer.Option("--strict-outputs", help="Refuse outputs with duplicate keys, unknown keys or repeated chunks."),
    ] = False,
    baseline: Annotated[
        str | None,
        typer.Option(help="Baseline for regression rules: RUN, RUN:CONFIG or a file written by `assay baseline save`."),
    ] = None,
    approver: Annotated[str, typer.Option(help="Reviewer of the decision; overrides the one named in the gate.")] = "",
    verdicts: Annotated[
        str | None, typer.Option(help="Recorded verdicts of a judge: a verdict store, or its export as JSON lines.")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="Judge whose verdicts are used, by digest or model.")] = None,
    calibration: Annotated[
        str | None,
        typer.Option(help="Calibration file written by `assay calibrate`; it says which judges and rules may gate."),
    ] = None,
    lexicons: Annotated[
        list[str] | None,
        typer.Option(help="File or folder with lexicons of refusals for further languages; may be repeated."),
    ] = None,
    rubrics: Annotated[
        list[str] | None, typer.Option(help="Folder with the rubrics that the judge was asked with; may be repeated.")
    ] = None,
    good: Annotated[
        str | None, typer.Option(help="Criterion for a good answer: auto (the default) or METRIC>=VALUE.")
    ] = None,
    production_k: Annotated[
        int | None, typer.Option(min=1, help="Number of chunks that the production system passes to its model.")
    ] = None,
    owner: Annotated[str, typer.Option(help="Owner of this run, as named in the report.")] = "",
    now: Annotated[
        str | None,
        typer.Option(help="Timestamp for the reports, such as 2026-03-01T08:00:00Z (default: SOURCE_DATE_EPOCH)."),
    ] = None,
) -> ExitCode:
    """Score recorded outputs or an existing run folder, write reports and check the gate."""
    from assay.cli.display import print_written_files, show_progress
    from assay.formats.outputs import expand_patterns, refuse_overwriting
    from assay.formats.run_folder import list_run_files
    from assay.gates.gate_files import date_of_time
    from assay.gates.release_decision import find_exit_code
    from assay.records.requests import ReportFiles
    from assay.report.write_reports import write_reports
    from assay.runs.compare_runs import load_gate_with_baseline
    from assay.runs.rescore_run import AnswerSource
    from assay.runs.save_run import save_run

    time = resolve_timestamp(now)
    inputs = AnswerSource(run, golden, outputs or (), golden_format, outputs_format, corpus)
    # A run folder remembers these; only those that are given here override it.
    overrides: dict[str, Any] = {
        "metrics": [metrics] if parse_name_list(metrics) else None,
        "good": good,
        "verdicts": verdicts,
        "judge": judge,
        "calibration": calibration,
        "rubrics": rubrics,
        "lexicons": lexicons,
        "production_k": production_k,
    }
    request = inputs.build_request(
        **{name: value for name, value in overrides.items() if value is not None},
        by=parse_name_list(by),
        gate=gate,
        profile=profile,
        gate_configs=parse_name_list(gate_config) or inputs.configs,
        missing_as_zero=missing is MissingPolicy.zero,
        ignore_unknown=ignore_unknown,
        allow_torn_tail=allow_torn_tail,
        limit=limit,
        workers=workers,
        strict_outputs=strict_outputs,
        look_again=any((run, report, html, legacy_json_report, run_dir, format is PrintFormat.markdown)),
        baseline=baseline,
        today=date_of_time(time),
        approver=approver,
    )
    targets = ReportFiles(report, json_report, per_case, legacy_json_report, run_dir, owner, time)
    targets = replace(targets, verdicts=request.verdicts, calibration=request.calibration, rubrics=request.rubrics)
    targets = replace(
        targets, html=html, detail_mb=detail_mb, show_forbidden=show_forbidden, explain=inputs.command_arguments
    )
    input_files = [request.golden, request.corpus, gate, request.verdicts, request.calibration]
    refuse_overwriting(
        [report, html, json_report, per_case, legacy_json_report],
        [*input_files, *list_run_files(run, baseline), *expand_patterns(request.outputs)],
    )
    inputs.refuse_overwriting(run_dir)
    loaded_gate = load_gate_with_baseline(request)
    with (
        show_progress("scoring") as update_progress,
        inputs.open_scored(request, update_progress, loaded_gate) as scoring,
    ):
        written: list[tuple[str, Path]] = []
        if run_dir is not None:
            written.append(("run folder", save_run(scoring, targets, Path(run_dir))))
        written += write_reports(scoring, targets)
        print_run(format, scoring, targets, parse_name_list(by))
        print_written_files(written, _suggest_explain(scoring, inputs.command_arguments))
        return find_exit_code(scoring.scoring.decision, strict=strict)


def parse_name_list(text: str) -> list[str]:
    """Split a comma-separated list of names. Raises InputError for a text that contains no name."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    if text and not names:
        raise InputError(f"the list contains no name (got {text!r}; expected comma-separated names)")
    return names


def resolve_timestamp(now: str | None) -> str | None:
    """Return the timestamp for reports: `now`, else that of SOURCE_DATE_EPOCH, else None.

    Raises InputError if either is not a valid time.
    """
    if now is None:
        return read_source_date_epoch()
    try:
        datetime.fromisoformat(now)
    except ValueError:
        raise InputError(f"--now: not a time (got {now!r}; expected one such as 2026-03-01T08:00:00Z)") from None
    return now


def read_source_date_epoch() -> str | None:
    """Return the time in SOURCE_DATE_EPOCH as ISO 8601 text, None if it is not set. Raises InputError if invalid."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(int(seconds), UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        message = f"SOURCE_DATE_EPOCH: not a number of seconds (got {seconds!r}; expected one such as 1767225600)"
        raise InputError(message) from None


def print_run(format: PrintFormat, run: ScoredRun, targets: ReportFiles, by: list[str]) -> None:
    """Print the results in the requested format."""
    from assay.cli.display import ignore_broken_pipe, print_screen
    from assay.report.terminal import render_score_screen
    from assay.report.write_reports import render_json, render_markdown
    from assay.text.escaping import escape_json_for_log

    with ignore_broken_pipe():
        if format is PrintFormat.json:
            typer.echo(escape_json_for_log(render_json(run, targets.now)), nl=False)
        elif format is PrintFormat.markdown:
            typer.echo(render_markdown(run, targets), nl=False)
        else:
            print_screen(render_score_screen(run.scoring, by))


def _suggest_explain(run: ScoredRun, inputs: str) -> str | None:
    """Return the command that explains the first failed case; None if no case failed."""
    for config, result in run.scoring.configs.items():
        for checks in result.table.checks:
            if checks.failed:
                command = shlex.join(["assay", "explain", checks.case_id, "--config", config])
                return f"{command} {inputs}"
    return None
