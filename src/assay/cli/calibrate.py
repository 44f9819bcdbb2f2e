"""`assay calibrate`: calibrates scorers (judges, rules, other tools) against human labels."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import (
    EntailmentModelOption,
    MarkdownReportOption,
    PrintFormat,
    PrintFormatOption,
    RecordedOptions,
    RunOption,
    expand_options,
    parse_metric_list,
)
from assay.records.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.calibration.scorer_quality import CalibrationResult


@expand_options
def calibrate(
    *,
    labels: Annotated[list[str], typer.Option(help="Human labels, as JSON lines or CSV; takes several values.")],
    verdicts: Annotated[
        list[str] | None,
        typer.Option(help="Verdict store or its export (default: that of the run); repeat to compare several."),
    ] = None,
    run: RunOption = None,
    recorded: RecordedOptions,
    judge: Annotated[
        list[str] | None, typer.Option(help="Judge, by digest or model; repeat to compare several.")
    ] = None,
    rubrics: Annotated[
        list[str] | None,
        typer.Option(help="Folder with other rubrics to compare with those of the run; may be repeated."),
    ] = None,
    entailment_model: EntailmentModelOption = None,
    metrics: Annotated[
        str,
        typer.Option(
            "--metrics",
            "--metric",
            help="Metrics to calibrate, comma-separated (default: every metric with human labels).",
        ),
    ] = "",
    precision: Annotated[
        float, typer.Option(help="Least share of right verdicts on either side of the unknown ones.", min=0.5, max=1.0)
    ] = 0.9,
    costs: Annotated[
        str | None,
        typer.Option(help="What passing a wrong item and failing a right one cost, such as 5:1 (default: balanced)."),
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Write the calibration file, to pass to `assay score --calibration`.")
    ] = None,
    report: MarkdownReportOption = None,
    seed: Annotated[int, typer.Option(help="Random seed of the bootstrap intervals.")] = 0,
    format: PrintFormatOption = PrintFormat.table,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print also the tables: accuracy, cuts, agreement, differences.")
    ] = False,
) -> ExitCode:
    """Calibrate judges, rules and other tools against human labels, and decide which of them may gate."""
    from assay.calibration.calibrate_run import CalibrationRequest, calibrate_run
    from assay.calibration.verdict_cuts import parse_costs
    from assay.cli.display import print_written_files
    from assay.formats.outputs import expand_patterns
    from assay.formats.run_files.overwriting import list_rubric_files, refuse_overwriting
    from assay.formats.run_files.run_folder import list_run_files
    from assay.runs.rescore_run import names_answers, open_answers

    inputs = recorded.build_inputs(run)
    outputs = expand_patterns(inputs.outputs) if inputs.outputs else ()
    input_files = [*labels, *(verdicts or ()), recorded.golden, recorded.corpus, *outputs]
    input_files += list_rubric_files(rubrics or ())
    refuse_overwriting([out, report], [*input_files, *list_run_files(run)])
    request = CalibrationRequest(
        labels,
        verdicts or (),
        judge or (),
        rubrics or (),
        parse_metric_list(metrics),
        seed,
        precision,
        parse_costs(costs) if costs is not None else None,
        entailment_model,
    )
    with open_answers(inputs) if names_answers(inputs) else nullcontext() as scored:
        result = calibrate_run(scored, request)
    _print_result(result, format, is_verbose=verbose)
    print_written_files(_write_files(result, out, report))
    return ExitCode.PASS


def _write_files(result: CalibrationResult, out: str | None, report: str | None) -> Iterator[tuple[str, Path]]:
    from assay.calibration.calibrate_run import write_calibration
    from assay.formats.file_io import write_atomically
    from assay.report.calibration_report import render_calibration_markdown

    if out is not None:
        yield "calibration", write_calibration(out, result)
    if report is not None:
        yield "report", write_atomically(report, [render_calibration_markdown(result).encode()])


def _print_result(result: CalibrationResult, format: PrintFormat, *, is_verbose: bool) -> None:
    from assay.cli.display import ignore_broken_pipe, print_json, print_screen
    from assay.report.calibration_report import (
        render_calibration_json,
        render_calibration_markdown,
        render_calibration_screen,
    )

    with ignore_broken_pipe():
        if format is PrintFormat.json:
            print_json(render_calibration_json(result))
        elif format is PrintFormat.markdown:
            typer.echo(render_calibration_markdown(result), nl=False)
        else:
            print_screen(render_calibration_screen(result, is_verbose=is_verbose))
