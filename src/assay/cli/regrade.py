"""`assay regrade`: scores recorded outputs again with another judge, rubric or version of the rules."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.options import PrintFormat, PrintFormatOption, parse_metric_list
from assay.records.errors import ExitCode


def regrade(
    *,
    run: Annotated[str, typer.Argument(help="Run folder, RUN or RUN:CONFIG.")],
    changes: Annotated[
        list[str],
        typer.Option(
            "--with",
            help="What differs the second time: verdicts=FILE, judge=NAME, rubrics=DIR (or shipped), calibration=FILE, "
            "labels=FILE, lexicons=FILE, or rules=current (against the scores saved with the run); may be repeated.",
        ),
    ],
    metrics: Annotated[str, typer.Option(help="Metrics to score, comma-separated (default: those of the run).")] = "",
    by: Annotated[str, typer.Option(help="Keys of the categories by which flips are counted, comma-separated.")] = "",
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Score a run a second time and list the cases that flip, by category. The target is not asked again."""
    from assay.cli.display import ignore_broken_pipe, print_json
    from assay.runs.regrade_run import RegradeRequest, format_regrade, regrade_run
    from assay.text.escaping import escape_terminal

    keys = [key.strip() for key in by.split(",") if key.strip()]
    result = regrade_run(RegradeRequest(run, changes, parse_metric_list(metrics) or None, keys or None))
    with ignore_broken_pipe():
        if format is PrintFormat.json:
            print_json(result)
        else:
            for line in format_regrade(result):
                typer.echo(escape_terminal(line))
    return ExitCode.PASS
