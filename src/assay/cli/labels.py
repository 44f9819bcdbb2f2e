"""`assay labels`: exports a blind sample for raters and imports their labels and the scores of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.calibrate import Golden, Outputs, Run
from assay.cli.score import Corpus, GoldenFormat, OutputsFormat, parts

Rubrics = Annotated[
    list[str] | None,
    typer.Option(help="Folder with the rubrics shown to the raters (default: those of the run); may be repeated."),
]
RatersRubrics = Annotated[
    list[str] | None,
    typer.Option("--rubrics", help="Folder with the rubrics that were shown to the raters; may be repeated."),
]

app = typer.Typer(help="Collect human labels: export a blind sample, import the filled sheets.", no_args_is_help=True)


@app.command("export")
def export(
    out: Annotated[
        str, typer.Option(help="New folder for the sheets (CSV, JSON lines and an HTML page) and their key.")
    ],
    run: Run = None,
    golden: Golden = None,
    outputs: Outputs = None,
    golden_format: GoldenFormat = None,
    outputs_format: OutputsFormat = None,
    corpus: Corpus = None,
    metric: Annotated[str, typer.Option(help="Metrics to label, comma-separated.")] = "faithfulness,correctness",
    sample: Annotated[int, typer.Option(min=1, help="Number of items per metric.")] = 100,
    overlap: Annotated[int, typer.Option(min=0, help="Number of those items that a second rater labels too.")] = 30,
    verdicts: Annotated[
        str | None, typer.Option(help="Verdict store; the sample is stratified by its verdicts.")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="Judge whose verdicts are used, by digest or model.")] = None,
    rubrics: Rubrics = None,
    language: Annotated[str, typer.Option(help="Language of the page: en or vi.")] = "en",
    seed: Annotated[int, typer.Option(help="Random seed of the sample.")] = 0,
) -> int:
    """Export a blind, stratified sample of answers and claims for raters to label."""
    from assay.cli.screen import said, wrote
    from assay.workflow.answers import Where, answers
    from assay.workflow.labels import Drawing, bands_of, export_labels

    inputs = Where(run, golden, outputs or (), golden_format, outputs_format, corpus)
    request = Drawing(parts(metric), sample, overlap, seed, language, rubrics or ())
    with answers(inputs) as scored:
        bands = bands_of(scored, request, verdicts, judge) if verdicts is not None else {}
        label_sample = export_labels(scored, Path(out), request, bands)
    for name, count in label_sample.rows.items():
        typer.echo(f"{name}: {count} rows to label")
    said(label_sample.notes)
    wrote(label_sample.files, f"assay labels import {out}/FILLED… --key {out}/key.json --out labels.jsonl")
    return 0


@app.command("import")
def import_(
    files: Annotated[
        list[str], typer.Argument(help="Filled sheets, label files, graded run logs, or results of another tool.")
    ],
    out: Annotated[str, typer.Option(help="File for the labels: .jsonl or .csv.")],
    key: Annotated[str | None, typer.Option(help="The key.json that was exported with the sheets.")] = None,
    format: Annotated[
        str, typer.Option(help="Format of the input: sheet (also for label files), graded, ragas, deepeval or trulens.")
    ] = "sheet",
    rater: Annotated[str | None, typer.Option(help="Name of the rater, if the file does not name one.")] = None,
    golden: Annotated[str | None, typer.Option(help="Golden set, to find cases by their questions.")] = None,
    config: Annotated[str | None, typer.Option(help="Configuration that the results of a tool belong to.")] = None,
    rubrics: RatersRubrics = None,
) -> int:
    """Import the labels of raters and the scores of other tools into one file."""
    from assay.cli.screen import said, wrote
    from assay.workflow.labels import Bringing, import_labels
    from assay.workflow.outputs import refuse_overwriting

    refuse_overwriting([out], [*files, key, golden])
    imported = import_labels(Bringing(files, format, key, rater, golden, config, rubrics or ()), out)
    said(imported.notes)
    for line in imported.counts:
        typer.echo(line)
    wrote([("labels", imported.path)], f"assay calibrate --labels {out} --run DIR --verdicts BOOK")
    return 0


@app.command("graded")
def graded(
    runlog: Annotated[str, typer.Argument(help="Run log to add grades to.")],
    labels: Annotated[
        list[str], typer.Option(help="Labels for the metrics `grade` and `failure_label`; takes several values.")
    ],
    rater: Annotated[str | None, typer.Option(help="Rater whose grades are written, if there are several.")] = None,
    out: Annotated[str | None, typer.Option(help="File to write (default: NAME-graded.jsonl).")] = None,
    rubrics: RatersRubrics = None,
) -> int:
    """Write a copy of a run log with grades, `*-graded.jsonl`."""
    from assay.cli.screen import said, wrote
    from assay.workflow.graded import write_graded

    graded_log = write_graded(runlog, labels, rater, out, rubrics or ())
    said(graded_log.notes)
    typer.echo(f"{graded_log.graded} of {graded_log.rows} rows have a grade")
    wrote([("graded run log", graded_log.path)])
    return 0


@app.callback()
def _group() -> None:
    pass
