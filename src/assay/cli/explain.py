"""`assay explain`: one case of one configuration, whole."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.score import Corpus, GoldenFormat, OutputsFormat


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
    from assay.workflow.answers import Where
    from assay.workflow.explain import change_of_case, explain_case

    where = Where(run, golden, outputs or (), golden_format, outputs_format, corpus)
    config = config or next(iter(where.configs), None)
    request = where.request(ignore_unknown=run is None, look_again=True, baseline=baseline)
    with where.scored(request) as scoring:
        typer.echo(explain_case(scoring, case, config, show_forbidden=show_forbidden), nl=False)
        if baseline is not None:
            show(change_of_case(scoring, case, config))
    return 0
