"""`assay score`: recorded outputs to scores, reports and an exit code."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.workflow.reports import Targets
    from assay.workflow.score import ScoreRun

Golden = Annotated[str | None, typer.Option(help="The golden set: a file, a BEIR folder, or - for standard input.")]
GoldenFormat = Annotated[str | None, typer.Option(help="Its format, where it should not be told from the content.")]
Outputs = Annotated[list[str] | None, typer.Option(help="Recorded outputs: files, patterns or -; several may follow.")]
OutputsFormat = Annotated[str | None, typer.Option(help="Their format, where it should not be told from the content.")]
Corpus = Annotated[str | None, typer.Option(help="The chunks as they should be: truth for access, text and versions.")]


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    json = "json"
    markdown = "markdown"


class Missing(StrEnum):
    """What a golden case without output counts as."""

    error = "error"
    zero = "zero"


def score(
    run: Annotated[str | None, typer.Argument(help="RUN or RUN:CONFIG, instead of golden set and outputs.")] = None,
    golden: Golden = None,
    outputs: Outputs = None,
    golden_format: GoldenFormat = None,
    outputs_format: OutputsFormat = None,
    corpus: Corpus = None,
    metrics: Annotated[str, typer.Option(help="Metrics, comma-separated; `assay graders` lists them.")] = "",
    by: Annotated[str, typer.Option(help="Slices: tag, difficulty, behaviour, language, kind or an attribute.")] = "",
    gate: Annotated[str | None, typer.Option(help="A file of release rules.")] = None,
    profile: Annotated[str | None, typer.Option(help="A built-in gate; `assay gate show` lists them.")] = None,
    gate_config: Annotated[str, typer.Option(help="The configurations that decide, comma-separated.")] = "",
    strict: Annotated[bool, typer.Option("--strict", help="A pass with risk exits with 1.")] = False,
    missing: Annotated[Missing, typer.Option(help="What a case without output counts as.")] = Missing.error,
    report: Annotated[str | None, typer.Option(help="Write the report for people, in Markdown.")] = None,
    json_report: Annotated[str | None, typer.Option(help="Write the report for programs.")] = None,
    per_case: Annotated[str | None, typer.Option(help="Write every score of every case, as JSON lines.")] = None,
    legacy_json_report: Annotated[str | None, typer.Option(help="Write the shape of the brief's own runner.")] = None,
    html: Annotated[str | None, typer.Option(help="Write the report for people, as one HTML file.")] = None,
    detail_mb: Annotated[float, typer.Option(min=0, help="Megabytes of whole cases in the HTML report.")] = 25.0,
    show_forbidden: Annotated[
        bool, typer.Option("--show-forbidden", help="Put text that the askers must not see into the HTML report.")
    ] = False,
    run_dir: Annotated[str | None, typer.Option(help="Keep golden set, outputs and scores in a run folder.")] = None,
    format: Annotated[Format, typer.Option(help="What to print.")] = Format.table,
    workers: Annotated[int, typer.Option(min=1, help="Processes; the result is the same for any number.")] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N cases; never gated.")] = None,
    ignore_unknown: Annotated[
        bool, typer.Option("--ignore-unknown", help="Count outputs of unknown cases instead of refusing them.")
    ] = False,
    allow_torn_tail: Annotated[
        bool, typer.Option("--allow-torn-tail", help="Accept a last line that a crash cut off, and report it.")
    ] = False,
    strict_outputs: Annotated[
        bool, typer.Option("--strict-outputs", help="Refuse keys given twice, unknown keys and repeated chunks.")
    ] = False,
    baseline: Annotated[
        str | None, typer.Option(help="What regression rules are held against: RUN, RUN:CONFIG or a saved baseline.")
    ] = None,
    approver: Annotated[str, typer.Option(help="Who reviews the decision, instead of whom the gate names.")] = "",
    verdicts: Annotated[str | None, typer.Option(help="Recorded verdicts: a book, or an export as JSON lines.")] = None,
    judge: Annotated[str | None, typer.Option(help="Whose verdicts: the judge's digest or model.")] = None,
    calibration: Annotated[
        str | None, typer.Option(help="What assay calibrate wrote: lets judge or rules gate where it allows.")
    ] = None,
    rubrics: Annotated[
        list[str] | None, typer.Option(help="A folder of rubrics that the judge was asked with; several may follow.")
    ] = None,
    good: Annotated[
        str | None, typer.Option(help="What makes an answer good: auto (as without it), or METRIC>=VALUE.")
    ] = None,
    production_k: Annotated[int | None, typer.Option(min=1, help="How many chunks the system shows its model.")] = None,
    owner: Annotated[str, typer.Option(help="Who answers for this run, for the report.")] = "",
    now: Annotated[str | None, typer.Option(help="The time to print in reports (or SOURCE_DATE_EPOCH).")] = None,
) -> int:
    """Score recorded outputs, or a run folder again; write reports, and decide the release by exit code."""
    from assay.cli.screen import progress, wrote
    from assay.workflow.answers import Where
    from assay.workflow.outputs import expand, refuse_overwriting
    from assay.workflow.reports import Targets, write_reports
    from assay.workflow.runs import files_of
    from assay.workflow.session import day_of, status_of

    time = said_time(now)
    where = Where(run, golden, outputs or (), golden_format, outputs_format, corpus)
    asked: dict[str, Any] = {"metrics": [metrics] if parts(metrics) else None, "good": good}
    asked |= {"verdicts": verdicts, "judge": judge, "calibration": calibration, "rubrics": rubrics}
    asked |= {"production_k": production_k}
    request = where.request(
        **{name: value for name, value in asked.items() if value is not None},
        by=parts(by),
        gate=gate,
        profile=profile,
        gate_configs=parts(gate_config) or where.configs,
        missing_as_zero=missing is Missing.zero,
        ignore_unknown=ignore_unknown,
        allow_torn_tail=allow_torn_tail,
        limit=limit,
        workers=workers,
        strict_outputs=strict_outputs,
        look_again=any((run, report, html, legacy_json_report, run_dir, format is Format.markdown)),
        baseline=baseline,
        today=day_of(time),
        approver=approver,
    )
    targets = Targets(report, json_report, per_case, legacy_json_report, run_dir, owner, time)
    targets = replace(targets, verdicts=request.verdicts, calibration=request.calibration, rubrics=request.rubrics)
    targets = replace(targets, html=html, detail_mb=detail_mb, show_forbidden=show_forbidden, explain=where.words)
    read = [request.golden, request.corpus, gate, request.verdicts, request.calibration]
    refuse_overwriting(
        [report, html, json_report, per_case, legacy_json_report],
        [*read, *files_of(run, baseline), *expand(request.outputs)],
    )
    where.refuse(run_dir)
    with progress("scoring") as moved, where.scored(request, moved) as scoring:
        written = write_reports(scoring, targets)
        show_run(format, scoring, targets, parts(by))
        wrote(written, _next(scoring, where.words))
        return status_of(scoring, strict=strict)


def parts(text: str) -> list[str]:
    """Split a comma-separated list. Raises InputError for one that was given and names nothing."""
    found = [part.strip() for part in text.split(",") if part.strip()]
    if text and not found:
        raise InputError(f"a list that names nothing (got {text!r}; expected names, comma-separated)")
    return found


def said_time(now: str | None) -> str | None:
    """Return the time that reports shall print: the one given, else what SOURCE_DATE_EPOCH says, else none."""
    if now is None:
        return epoch()
    try:
        datetime.fromisoformat(now)
    except ValueError:
        raise InputError(f"--now: not a time (got {now!r}; expected one such as 2026-03-01T08:00:00Z)") from None
    return now


def epoch() -> str | None:
    """Return the time that SOURCE_DATE_EPOCH says, as ISO text."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(int(seconds), UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        message = f"SOURCE_DATE_EPOCH: not a number of seconds (got {seconds!r}; expected one such as 1767225600)"
        raise InputError(message) from None


def show_run(format: Format, run: ScoreRun, targets: Targets, by: list[str]) -> None:
    """Print the results in the form asked for."""
    from assay.cli.screen import show, though_unread
    from assay.report.safe import json_for_log
    from assay.report.terminal import summary_lines
    from assay.workflow.reports import json_report, markdown

    with though_unread():
        if format is Format.json:
            typer.echo(json_for_log(json_report(run, targets.now)), nl=False)
        elif format is Format.markdown:
            typer.echo(markdown(run, targets), nl=False)
        else:
            show(summary_lines(run.scoring, by))


def _next(run: ScoreRun, inputs: str) -> str | None:
    """Name the command that explains the first failed case."""
    for config, result in run.scoring.configs.items():
        for checks in result.table.checks:
            if checks.failed:
                command = shlex.join(["assay", "explain", checks.case_id, "--config", config])
                return f"{command} {inputs}"
    return None
