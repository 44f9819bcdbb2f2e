"""`assay calibrate`: is the judge worth what it says? Instruments held against labels of people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.score import Corpus, Format, GoldenFormat, OutputsFormat, parts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.workflow.calibrate import Calibrated

Run = Annotated[str | None, typer.Option(help="A run folder, or DIR:CONFIG for one of its configurations.")]
Golden = Annotated[str | None, typer.Option(help="The golden set, where there is no run folder.")]
Outputs = Annotated[list[str] | None, typer.Option(help="Recorded outputs, where there is no run folder.")]


def calibrate(
    labels: Annotated[list[str], typer.Option(help="Labels: JSON lines or CSV; several may be given.")],
    verdicts: Annotated[
        list[str] | None,
        typer.Option(help="A book of verdicts or an export, else that of the run; several are compared."),
    ] = None,
    run: Run = None,
    golden: Golden = None,
    outputs: Outputs = None,
    golden_format: GoldenFormat = None,
    outputs_format: OutputsFormat = None,
    corpus: Corpus = None,
    judge: Annotated[list[str] | None, typer.Option(help="A judge by digest or model; several are compared.")] = None,
    rubrics: Annotated[
        list[str] | None, typer.Option(help="A folder of other rubrics, compared with those of the run.")
    ] = None,
    metric: Annotated[str, typer.Option(help="Metrics, comma-separated; all that people labelled without it.")] = "",
    out: Annotated[str | None, typer.Option(help="Write the calibration that scoring reads.")] = None,
    report: Annotated[str | None, typer.Option(help="Write the report in Markdown.")] = None,
    seed: Annotated[int, typer.Option(help="The seed of the bootstrap intervals.")] = 0,
    format: Annotated[Format, typer.Option(help="What to print.")] = Format.table,
) -> int:
    """Hold judge, rules and other tools against labels of people: agreement, bias, corrected shares, may it gate."""
    from contextlib import nullcontext

    from assay.cli.screen import wrote
    from assay.workflow.answers import Where, answers
    from assay.workflow.calibrate import Calibrating, calibrate
    from assay.workflow.outputs import refuse_overwriting

    refuse_overwriting([out, report], [*labels, *(verdicts or ()), golden, corpus, *(outputs or ())])
    where = Where(run, golden, outputs or (), golden_format, outputs_format, corpus)
    wanted = Calibrating(labels, verdicts or (), judge or (), rubrics or (), parts(metric), seed)
    with answers(where) if where.given else nullcontext() as scored:
        found = calibrate(scored, wanted)
    _show(found, format)
    wrote(_written(found, out, report))
    return 0


def _written(found: Calibrated, out: str | None, report: str | None) -> Iterator[tuple[str, Path]]:
    from assay.io.writing import write_whole
    from assay.report.calibration import calibration_markdown
    from assay.workflow.calibrate import write_calibration

    if out is not None:
        yield "calibration", write_calibration(out, found)
    if report is not None:
        yield "report", write_whole(report, [calibration_markdown(found).encode()])


def _show(found: Calibrated, format: Format) -> None:
    from assay.cli.screen import show, though_unread
    from assay.report.calibration import calibration_json, calibration_lines, calibration_markdown
    from assay.report.safe import json_for_log

    with though_unread():
        if format is Format.json:
            typer.echo(json_for_log(calibration_json(found)), nl=False)
        elif format is Format.markdown:
            typer.echo(calibration_markdown(found), nl=False)
        else:
            show(calibration_lines(found))
