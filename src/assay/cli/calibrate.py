"""`assay calibrate`: calibrates scorers (judges, rules, other tools) against human labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.score import Corpus, Format, GoldenFormat, OutputsFormat, parts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.workflow.calibrate import Calibrated

Run = Annotated[str | None, typer.Option(help="Run folder (RUN) or one of its configurations (RUN:CONFIG).")]
Golden = Annotated[str | None, typer.Option(help="Golden set, if no run folder is given.")]
Outputs = Annotated[
    list[str] | None, typer.Option(help="Recorded outputs, if no run folder is given; takes several values.")
]


def calibrate(
    labels: Annotated[list[str], typer.Option(help="Human labels, as JSON lines or CSV; takes several values.")],
    verdicts: Annotated[
        list[str] | None,
        typer.Option(help="Verdict store or its export (default: that of the run); repeat to compare several."),
    ] = None,
    run: Run = None,
    golden: Golden = None,
    outputs: Outputs = None,
    golden_format: GoldenFormat = None,
    outputs_format: OutputsFormat = None,
    corpus: Corpus = None,
    judge: Annotated[
        list[str] | None, typer.Option(help="Judge, by digest or model; repeat to compare several.")
    ] = None,
    rubrics: Annotated[
        list[str] | None,
        typer.Option(help="Folder with other rubrics to compare with those of the run; may be repeated."),
    ] = None,
    metric: Annotated[
        str, typer.Option(help="Metrics to calibrate, comma-separated (default: every metric with human labels).")
    ] = "",
    out: Annotated[
        str | None, typer.Option(help="Write the calibration file, to pass to `assay score --calibration`.")
    ] = None,
    report: Annotated[str | None, typer.Option(help="Write a Markdown report to this file.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the bootstrap intervals.")] = 0,
    format: Annotated[Format, typer.Option(help="Format of the printed results.")] = Format.table,
) -> int:
    """Calibrate judges, rules and other tools against human labels, and decide which of them may gate."""
    from contextlib import nullcontext

    from assay.cli.screen import wrote
    from assay.workflow.answers import Where, answers
    from assay.workflow.calibrate import Calibrating, calibrate
    from assay.workflow.outputs import refuse_overwriting

    refuse_overwriting([out, report], [*labels, *(verdicts or ()), golden, corpus, *(outputs or ())])
    inputs = Where(run, golden, outputs or (), golden_format, outputs_format, corpus)
    request = Calibrating(labels, verdicts or (), judge or (), rubrics or (), parts(metric), seed)
    with answers(inputs) if inputs.given else nullcontext() as scored:
        result = calibrate(scored, request)
    _print_result(result, format)
    wrote(_write_files(result, out, report))
    return 0


def _write_files(result: Calibrated, out: str | None, report: str | None) -> Iterator[tuple[str, Path]]:
    from assay.io.writing import write_whole
    from assay.report.calibration import calibration_markdown
    from assay.workflow.calibrate import write_calibration

    if out is not None:
        yield "calibration", write_calibration(out, result)
    if report is not None:
        yield "report", write_whole(report, [calibration_markdown(result).encode()])


def _print_result(result: Calibrated, format: Format) -> None:
    from assay.cli.screen import show, though_unread
    from assay.report.calibration import calibration_json, calibration_lines, calibration_markdown
    from assay.report.safe import json_for_log

    with though_unread():
        if format is Format.json:
            typer.echo(json_for_log(calibration_json(result)), nl=False)
        elif format is Format.markdown:
            typer.echo(calibration_markdown(result), nl=False)
        else:
            show(calibration_lines(result))
