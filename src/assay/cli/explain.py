"""`assay explain`: shows why one case of one configuration passed or failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import (
    MeasurementOptions,
    NoLedgerOption,
    NowRecordedOption,
    RecordedOptions,
    RunOption,
    expand_options,
    resolve_clock,
)
from assay.records.errors import ExitCode
from assay.records.requests import GateOptions, ScoreRequest

if TYPE_CHECKING:
    from assay.report.screen.terminal import Screen
    from assay.scoring.scored_run import ScoredRun

MAX_TEXT_WIDTH = 100
"""Longer lines of prose are hard to read."""


@expand_options
def explain(
    *,
    case: Annotated[str, typer.Argument(help="Id of the case.")],
    run: RunOption = None,
    recorded: RecordedOptions,
    measured: MeasurementOptions,
    config: Annotated[str | None, typer.Option(help="Configuration to show, if there are several.")] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Also show what changed since this run (RUN or RUN:CONFIG) or saved baseline.")
    ] = None,
    show_forbidden: Annotated[
        bool, typer.Option("--show-forbidden", help="Print text that the user of the case is not allowed to see.")
    ] = False,
    no_ledger: NoLedgerOption = False,
    now: NowRecordedOption = None,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Also print rankings, context, citations, and all scores with reasons."),
    ] = False,
) -> ExitCode:
    """Print one case in 30 lines: question, expected, answer, verdict, cause and fix, and where the evidence went."""
    from assay.cli.display import get_screen_width, print_notes, print_screen
    from assay.runs.compare_runs import load_gate_with_baseline
    from assay.runs.count_looks import count_look
    from assay.runs.rescore_run import complete_request, list_named_configs
    from assay.runs.score_run import open_scored_run

    inputs = recorded.build_inputs(run, ignore_unknown=run is None, allow_torn_tail=measured.allow_torn_tail)
    config = config or next(iter(list_named_configs(inputs)), None)
    request = complete_request(
        ScoreRequest(
            inputs,
            measured.build_verdicts(),
            GateOptions(baseline=baseline),
            measured.build_scoring(look_again=True),
        )
    )
    with open_scored_run(request, loaded_gate=load_gate_with_baseline(request)) as scoring:
        if run is None:
            count_look(scoring, request.inputs.golden, resolve_clock(now), is_counted=not no_ledger)
        width = min(get_screen_width(), MAX_TEXT_WIDTH)
        text, change = _explain_with_baseline(
            scoring, case, config, baseline, width, show_forbidden=show_forbidden, verbose=verbose
        )
        typer.echo(text, nl=False)
        if run is None:  # what was read has not been scored before, so nothing has told what was left out
            print_notes(warning for warning in scoring.scoring.warnings if "unknown key" in warning)
        if scoring.scoring.looks is not None:
            typer.echo(f"note: {scoring.scoring.looks.describe()}")
        if baseline is not None and case not in scoring.cases:
            typer.echo("Variants are not compared with a baseline case by case: explain the case itself", err=True)
        elif change is not None:
            print_screen(change)
    return ExitCode.PASS


def _explain_with_baseline(
    run: ScoredRun,
    case: str,
    config: str | None,
    baseline: str | None,
    width: int,
    *,
    show_forbidden: bool,
    verbose: bool,
) -> tuple[str, Screen | None]:
    """Return the explanation of a case and what changed against a baseline, together of 30 lines unless `verbose`.

    Where the whole does not fit, or something of the case is cut, scores and moved evidence have one line each.
    """
    from assay.report.cases.explain_case import explain_case, explain_change
    from assay.report.cases.short_case import MOST_LINES

    change, text = None, ""
    for most_lines in (2, 1):
        if baseline is not None and case in run.cases:
            change = explain_change(run, case, config, verbose=verbose, width=width, most_lines=most_lines)
        reserved = len(change.lines) if change is not None else 0
        text = explain_case(
            run,
            case,
            config,
            show_forbidden=show_forbidden,
            verbose=verbose,
            width=width,
            verbose_name="--verbose",
            reserved_lines=reserved,
        )
        is_cut = any(line.endswith(" …") for line in text.splitlines())
        if verbose or (reserved + len(text.splitlines()) <= MOST_LINES and not is_cut):
            break
    return text, change
