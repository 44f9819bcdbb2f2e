"""`assay explain`: one case of one configuration, whole."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.score import Corpus, Golden, GoldenFormat, Outputs, OutputsFormat


def explain(
    case: Annotated[str, typer.Argument(help="The case's id.")],
    golden: Golden,
    outputs: Outputs,
    golden_format: GoldenFormat = None,
    outputs_format: OutputsFormat = None,
    corpus: Corpus = None,
    config: Annotated[str | None, typer.Option(help="The configuration, where there are several.")] = None,
    show_forbidden: Annotated[
        bool, typer.Option("--show-forbidden", help="Print text that the asker must not see.")
    ] = False,
) -> int:
    """Print one case whole: question, rankings with grades, context, answer, citations, each score with its reason."""
    from assay.workflow.explain import explain_case
    from assay.workflow.session import Request, scored

    request = Request(golden, outputs, golden_format, outputs_format, corpus, ignore_unknown=True, look_again=True)
    with scored(request) as run:
        typer.echo(explain_case(run, case, config, show_forbidden=show_forbidden), nl=False)
    return 0
