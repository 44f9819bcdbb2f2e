"""`assay compare`: a candidate against a baseline, and whether it may ship."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.score import Format, parts, said_time
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.finding import Comparison
    from assay.model import Decision
    from assay.workflow.compare import Asked

_SIDE = "RUN, RUN:CONFIG or a file of `assay baseline save`"


def compare(
    baseline: Annotated[str | None, typer.Argument(help=_SIDE)] = None,
    candidate: Annotated[str | None, typer.Argument(help=_SIDE)] = None,
    golden: Annotated[str | None, typer.Option(help="The golden set, to compare recorded outputs.")] = None,
    outputs: Annotated[list[str] | None, typer.Option(help="Recorded outputs of both configurations.")] = None,
    corpus: Annotated[str | None, typer.Option(help="The chunks as they should be.")] = None,
    baseline_config: Annotated[
        str | None, typer.Option(help="With --outputs: the configuration to hold against.")
    ] = None,
    candidate_config: Annotated[
        str | None, typer.Option(help="With --outputs: the configuration that decides.")
    ] = None,
    metrics: Annotated[str, typer.Option(help="Only these metrics, comma-separated.")] = "",
    by: Annotated[str, typer.Option(help="Slices: tag, difficulty, behaviour, language, kind or an attribute.")] = "",
    gate: Annotated[str | None, typer.Option(help="A file of release rules.")] = None,
    profile: Annotated[str | None, typer.Option(help="A built-in gate; `assay gate show` lists them.")] = None,
    approver: Annotated[str, typer.Option(help="Who reviews the decision, instead of whom the gate names.")] = "",
    strict: Annotated[bool, typer.Option("--strict", help="A pass with risk exits with 1.")] = False,
    report: Annotated[str | None, typer.Option(help="Write the report for people, in Markdown.")] = None,
    json_report: Annotated[str | None, typer.Option(help="Write the report for programs.")] = None,
    format: Annotated[Format, typer.Option(help="What to print.")] = Format.table,
    now: Annotated[str | None, typer.Option(help="The time for reports and waivers (or SOURCE_DATE_EPOCH).")] = None,
) -> int:
    """Hold a candidate against a baseline, case by case; with a gate, decide the release by exit code."""
    from assay.cli.screen import wrote
    from assay.workflow.compare import Asked, compare_configs, compare_named, status_of, write_comparison
    from assay.workflow.outputs import expand, refuse_overwriting
    from assay.workflow.runs import files_of
    from assay.workflow.session import Request

    asked = Asked(gate, profile, approver, [metrics] if parts(metrics) else (), parts(by) or None, said_time(now))
    refuse_overwriting(
        [report, json_report],
        [golden, corpus, gate, *files_of(baseline, candidate), *(expand(outputs) if outputs else ())],
    )
    if golden is not None and outputs and baseline_config is not None and candidate_config is not None:
        if baseline is not None:
            raise InputError("BASELINE and CANDIDATE, or --golden and --outputs: give one of them")
        request = Request(golden, outputs, corpus=corpus, metrics=asked.metrics)
        found, decision = compare_configs(request, baseline_config, candidate_config, asked)
    elif baseline is not None and candidate is not None:
        found, decision = compare_named(baseline, candidate, asked)
    else:
        options = "--golden, --outputs, --baseline-config and --candidate-config"
        raise InputError(f"nothing to compare (expected BASELINE and CANDIDATE, or {options})")
    written = write_comparison(found, decision, asked, report, json_report)
    _show(format, found, decision, asked)
    wrote(written)
    return status_of(decision, strict=strict)


def _show(format: Format, found: Comparison, decision: Decision, asked: Asked) -> None:
    from assay.cli.screen import show, though_unread
    from assay.report.comparison import comparison_screen
    from assay.report.safe import json_for_log
    from assay.workflow.compare import json_text, markdown_text

    with though_unread():
        if format is Format.json:
            typer.echo(json_for_log(json_text(found, decision, asked)), nl=False)
        elif format is Format.markdown:
            typer.echo(markdown_text(found, decision, asked), nl=False)
        else:
            show(comparison_screen(found, decision))
