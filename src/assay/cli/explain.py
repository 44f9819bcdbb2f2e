"""`assay explain`: one case of one configuration, whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from assay.cli.score import Corpus, GoldenFormat, OutputsFormat
from assay.errors import InputError


def explain(
    case: Annotated[str, typer.Argument(help="The case's id.")],
    run: Annotated[str | None, typer.Option(help="A run folder, RUN or RUN:CONFIG, instead of the next two.")] = None,
    golden: Annotated[str | None, typer.Option(help="The golden set.")] = None,
    outputs: Annotated[list[str] | None, typer.Option(help="Recorded outputs; several may follow.")] = None,
    golden_format: GoldenFormat = None,
    outputs_format: OutputsFormat = None,
    corpus: Corpus = None,
    config: Annotated[str | None, typer.Option(help="The configuration, where there are several.")] = None,
    baseline: Annotated[str | None, typer.Option(help="Also what changed against a run or a saved baseline.")] = None,
    show_forbidden: Annotated[
        bool, typer.Option("--show-forbidden", help="Print text that the asker must not see.")
    ] = False,
) -> int:
    """Print one case whole: question, rankings with grades, context, answer, citations, each score with its reason."""
    from assay.cli.screen import show
    from assay.workflow.explain import change_of_case, explain_case
    from assay.workflow.runs import request_of, split_run
    from assay.workflow.session import Request, scored

    if run is not None and golden is None and not outputs:
        name = split_run(run)
        config = config or name.config
        request = request_of(name.path, baseline=baseline)
    elif run is None and golden is not None and outputs:
        request = Request(golden, outputs, golden_format, outputs_format, corpus, ignore_unknown=True, look_again=True)
        request = replace(request, baseline=baseline)
    else:
        raise InputError("which outputs? (expected --run, or --golden with --outputs)")
    with scored(request) as scoring:
        typer.echo(explain_case(scoring, case, config, show_forbidden=show_forbidden), nl=False)
        if baseline is not None:
            show(change_of_case(scoring, case, config))
    return 0
