"""`assay compare`: compares a candidate with a baseline and decides whether it may ship."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.score import Format, parts, said_time
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.finding import Comparison
    from assay.model import Decision
    from assay.workflow.compare import Asked

_SIDE = "RUN, RUN:CONFIG or a file written by `assay baseline save`."


def compare(
    baseline: Annotated[str | None, typer.Argument(help=_SIDE)] = None,
    candidate: Annotated[str | None, typer.Argument(help=_SIDE)] = None,
    golden: Annotated[str | None, typer.Option(help="Golden set, to compare recorded outputs.")] = None,
    outputs: Annotated[
        list[str] | None, typer.Option(help="Recorded outputs of both configurations; takes several values.")
    ] = None,
    corpus: Annotated[
        str | None, typer.Option(help="Corpus file: every chunk with its correct text, version and access rights.")
    ] = None,
    baseline_config: Annotated[
        str | None, typer.Option(help="With --outputs: the configuration that serves as baseline.")
    ] = None,
    candidate_config: Annotated[
        str | None, typer.Option(help="With --outputs: the configuration to evaluate as candidate.")
    ] = None,
    metrics: Annotated[str, typer.Option(help="Metrics to compare, comma-separated.")] = "",
    by: Annotated[
        str,
        typer.Option(
            help="Slices to report, comma-separated: tag, difficulty, behaviour, language, kind or an attribute."
        ),
    ] = "",
    gate: Annotated[str | None, typer.Option(help="Gate file: the release rules to check.")] = None,
    profile: Annotated[str | None, typer.Option(help="Built-in gate to check; `assay gate show` lists them.")] = None,
    approver: Annotated[str, typer.Option(help="Reviewer of the decision; overrides the one named in the gate.")] = "",
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 also when the decision is a pass with risk.")
    ] = False,
    report: Annotated[str | None, typer.Option(help="Write a Markdown report to this file.")] = None,
    json_report: Annotated[str | None, typer.Option(help="Write a JSON report to this file.")] = None,
    format: Annotated[Format, typer.Option(help="Format of the printed results.")] = Format.table,
    now: Annotated[
        str | None,
        typer.Option(help="Timestamp for the reports and for the expiry of waivers (default: SOURCE_DATE_EPOCH)."),
    ] = None,
) -> int:
    """Compare a candidate with a baseline, case by case, and check the gate if one is given."""
    from assay.cli.screen import wrote
    from assay.workflow.compare import Asked, compare_configs, compare_named, status_of, write_comparison
    from assay.workflow.outputs import expand, refuse_overwriting
    from assay.workflow.runs import files_of
    from assay.workflow.session import Request

    request = Asked(gate, profile, approver, [metrics] if parts(metrics) else (), parts(by) or None, said_time(now))
    refuse_overwriting(
        [report, json_report],
        [golden, corpus, gate, *files_of(baseline, candidate), *(expand(outputs) if outputs else ())],
    )
    if golden is not None and outputs and baseline_config is not None and candidate_config is not None:
        if baseline is not None:
            raise InputError("give either BASELINE and CANDIDATE, or --golden and --outputs, not both")
        inputs = Request(golden, outputs, corpus=corpus, metrics=request.metrics)
        comparison, decision = compare_configs(inputs, baseline_config, candidate_config, request)
    elif baseline is not None and candidate is not None:
        comparison, decision = compare_named(baseline, candidate, request)
    else:
        options = "--golden, --outputs, --baseline-config and --candidate-config"
        raise InputError(f"nothing to compare (expected BASELINE and CANDIDATE, or {options})")
    written = write_comparison(comparison, decision, request, report, json_report)
    _print_comparison(format, comparison, decision, request)
    wrote(written)
    return status_of(decision, strict=strict)


def _print_comparison(format: Format, comparison: Comparison, decision: Decision, request: Asked) -> None:
    from assay.cli.screen import show, though_unread
    from assay.report.comparison import comparison_screen
    from assay.report.safe import json_for_log
    from assay.workflow.compare import json_text, markdown_text

    with though_unread():
        if format is Format.json:
            typer.echo(json_for_log(json_text(comparison, decision, request)), nl=False)
        elif format is Format.markdown:
            typer.echo(markdown_text(comparison, decision, request), nl=False)
        else:
            show(comparison_screen(comparison, decision))
