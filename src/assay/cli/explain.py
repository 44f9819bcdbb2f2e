"""`assay explain`: shows why one case of one configuration passed or failed."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.options import (
    RecordedOptions,
    RunOption,
    expand_options,
)
from assay.records.errors import ExitCode
from assay.records.requests import GateOptions, ScoreRequest, ScoringOptions

MAX_TEXT_WIDTH = 100
"""Longer lines of prose are hard to read."""


@expand_options
def explain(
    *,
    case: Annotated[str, typer.Argument(help="Id of the case.")],
    run: RunOption = None,
    recorded: RecordedOptions,
    config: Annotated[str | None, typer.Option(help="Configuration to show, if there are several.")] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Also show what changed since this run (RUN or RUN:CONFIG) or saved baseline.")
    ] = None,
    show_forbidden: Annotated[
        bool, typer.Option("--show-forbidden", help="Print text that the user of the case is not allowed to see.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Also print rankings, context, citations, and all scores with reasons."),
    ] = False,
) -> ExitCode:
    """Print one case in 30 lines: question, expected, answer, verdict, cause and fix, and where the evidence went."""
    from assay.cli.display import get_screen_width, print_notes, print_screen
    from assay.report.explain_case import explain_case, explain_change
    from assay.runs.compare_runs import load_gate_with_baseline
    from assay.runs.rescore_run import complete_request, list_named_configs
    from assay.runs.score_run import open_scored_run

    inputs = recorded.build_inputs(run, ignore_unknown=run is None)
    config = config or next(iter(list_named_configs(inputs)), None)
    request = complete_request(
        ScoreRequest(inputs, gate=GateOptions(baseline=baseline), scoring=ScoringOptions(look_again=True))
    )
    with open_scored_run(request, loaded_gate=load_gate_with_baseline(request)) as scoring:
        width = min(get_screen_width(), MAX_TEXT_WIDTH)
        text = explain_case(scoring, case, config, show_forbidden=show_forbidden, verbose=verbose, width=width)
        typer.echo(text, nl=False)
        if run is None:  # what was read has not been scored before, so nothing has told what was left out
            print_notes(warning for warning in scoring.scoring.warnings if "unknown key" in warning)
        if baseline is not None:
            print_screen(explain_change(scoring, case, config, verbose=verbose))
    return ExitCode.PASS
