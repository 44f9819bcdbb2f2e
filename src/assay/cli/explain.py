"""`assay explain`: shows one case of one configuration in full."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.score import CorpusOption, GoldenFormatOption, OutputsFormatOption
from assay.records.errors import ExitCode


def explain(
    case: Annotated[str, typer.Argument(help="Id of the case.")],
    run: Annotated[
        str | None, typer.Option(help="Run folder (RUN or RUN:CONFIG), instead of --golden and --outputs.")
    ] = None,
    golden: Annotated[str | None, typer.Option(help="Golden set.")] = None,
    outputs: Annotated[list[str] | None, typer.Option(help="Recorded outputs; takes several values.")] = None,
    golden_format: GoldenFormatOption = None,
    outputs_format: OutputsFormatOption = None,
    corpus: CorpusOption = None,
    config: Annotated[str | None, typer.Option(help="Configuration to show, if there are several.")] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Also show what changed since this run (RUN or RUN:CONFIG) or saved baseline.")
    ] = None,
    show_forbidden: Annotated[
        bool, typer.Option("--show-forbidden", help="Print text that the user of the case is not allowed to see.")
    ] = False,
) -> ExitCode:
    """Print one case in full: question, graded rankings, context, answer, citations, and every score with reason."""
    from assay.cli.display import print_screen
    from assay.report.explain_case import explain_case, explain_change
    from assay.runs.compare_runs import load_gate_with_baseline
    from assay.runs.rescore_run import AnswerSource

    inputs = AnswerSource(run, golden, outputs or (), golden_format, outputs_format, corpus)
    config = config or next(iter(inputs.configs), None)
    request = inputs.build_request(ignore_unknown=run is None, look_again=True, baseline=baseline)
    with inputs.open_scored(request, loaded_gate=load_gate_with_baseline(request)) as scoring:
        typer.echo(explain_case(scoring, case, config, show_forbidden=show_forbidden), nl=False)
        if baseline is not None:
            print_screen(explain_change(scoring, case, config))
    return ExitCode.PASS
