"""`assay plan`: how many cases a comparison needs, before a run is paid for."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.options import PrintFormat
from assay.records.errors import ExitCode


def plan(
    pilots: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PILOT]...",
            help="Runs of both systems on a few cases, or of one: RUN, RUN:CONFIG or a saved baseline.",
        ),
    ] = None,
    *,
    difference: Annotated[float, typer.Option(help="The true difference that the comparison should be able to show.")],
    metric: Annotated[str, typer.Option(help="The metric that is compared.")] = "correct_answer",
    rate: Annotated[
        float | None, typer.Option(help="Without a pilot: the share of cases on which both systems succeed.")
    ] = None,
    changed: Annotated[
        float | None,
        typer.Option(help="Without a pilot: the share of cases on which exactly one of the systems succeeds."),
    ] = None,
    sd: Annotated[
        float | None, typer.Option(help="Without a pilot: the standard deviation of the differences, case by case.")
    ] = None,
    correlation: Annotated[
        float | None,
        typer.Option(
            help="With --rate or a pilot of one system: the correlation of the scores of the two systems (0.5)."
        ),
    ] = None,
    power: Annotated[float, typer.Option(help="Power: the probability that the difference is significant.")] = 0.8,
    level: Annotated[float, typer.Option(help="Significance level of all two-sided tests together.")] = 0.05,
    tests: Annotated[int, typer.Option(help="How many tests share the level: metrics, or pairs of systems.")] = 1,
    format: Annotated[PrintFormat, typer.Option(help="Format of the printed plan.")] = PrintFormat.table,
) -> ExitCode:
    """Estimate how many cases a comparison needs to show a difference, from a pilot or from assumptions."""
    from assay.cli.display import print_json
    from assay.comparison.case_plan import PlanAims, describe_plan
    from assay.runs.plan_comparison import PlanRequest, plan_comparison, render_result_json
    from assay.text.escaping import escape_terminal

    aims = PlanAims(metric, difference, power, level, tests)
    planned = plan_comparison(PlanRequest(aims, rate, changed, sd, correlation), pilots or ())
    if format is PrintFormat.json:
        print_json(render_result_json(planned))
        return ExitCode.PASS
    for line in describe_plan(planned):
        typer.echo(escape_terminal(line))
    return ExitCode.PASS
