"""`assay labels`: a blind sample for people, and what they and other tools said, brought back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.calibrate import Golden, Outputs, Run
from assay.cli.score import Corpus, GoldenFormat, OutputsFormat, parts

Rubrics = Annotated[
    list[str] | None, typer.Option(help="A folder of rubrics that people are asked with; those of the run without it.")
]
AskedWith = Annotated[
    list[str] | None, typer.Option("--rubrics", help="The folder of rubrics that people were asked with.")
]

app = typer.Typer(help="Labels of people: a blind sample out, their labels in.", no_args_is_help=True)


@app.command("export")
def export(
    out: Annotated[str, typer.Option(help="A new folder for sheets (CSV, JSON lines, a page) and their key.")],
    run: Run = None,
    golden: Golden = None,
    outputs: Outputs = None,
    golden_format: GoldenFormat = None,
    outputs_format: OutputsFormat = None,
    corpus: Corpus = None,
    metric: Annotated[str, typer.Option(help="What to label, comma-separated.")] = "faithfulness,correctness",
    sample: Annotated[int, typer.Option(min=1, help="How many items of each metric.")] = 100,
    overlap: Annotated[int, typer.Option(min=0, help="How many of them a second person labels too.")] = 30,
    verdicts: Annotated[
        str | None, typer.Option(help="A book of verdicts: the sample has its share of each verdict.")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="Whose verdicts: the judge's digest or model.")] = None,
    rubrics: Rubrics = None,
    language: Annotated[str, typer.Option(help="The language of the page: en or vi.")] = "en",
    seed: Annotated[int, typer.Option(help="The seed of the sample.")] = 0,
) -> int:
    """Draw a blind, stratified sample of answers and claims for people to label."""
    from assay.cli.screen import said, wrote
    from assay.workflow.answers import Where, answers
    from assay.workflow.labels import Drawing, bands_of, export_labels

    where = Where(run, golden, outputs or (), golden_format, outputs_format, corpus)
    drawing = Drawing(parts(metric), sample, overlap, seed, language, rubrics or ())
    with answers(where) as scored:
        bands = bands_of(scored, drawing, verdicts, judge) if verdicts is not None else {}
        drawn = export_labels(scored, Path(out), drawing, bands)
    for name, count in drawn.rows.items():
        typer.echo(f"{name}: {count} rows to label")
    said(drawn.notes)
    wrote(drawn.files, f"assay labels import {out}/FILLED… --key {out}/key.json --out labels.jsonl")
    return 0


@app.command("import")
def bring(
    files: Annotated[list[str], typer.Argument(help="Filled sheets, labels, graded run logs, or results of a tool.")],
    out: Annotated[str, typer.Option(help="Where to write the labels: .jsonl or .csv.")],
    key: Annotated[str | None, typer.Option(help="The key.json of the sheets.")] = None,
    format: Annotated[
        str, typer.Option(help="sheet (also files of labels), graded, ragas, deepeval or trulens.")
    ] = "sheet",
    rater: Annotated[str | None, typer.Option(help="Who labelled, where the file does not say.")] = None,
    golden: Annotated[str | None, typer.Option(help="The golden set, to tell cases by their questions.")] = None,
    config: Annotated[str | None, typer.Option(help="The configuration that a tool's results are of.")] = None,
    rubrics: AskedWith = None,
) -> int:
    """Bring labels back: several raters and second opinions in one file."""
    from assay.cli.screen import said, wrote
    from assay.workflow.labels import Bringing, import_labels
    from assay.workflow.outputs import refuse_overwriting

    refuse_overwriting([out], [*files, key, golden])
    brought = import_labels(Bringing(files, format, key, rater, golden, config, rubrics or ()), out)
    said(brought.notes)
    for line in brought.counts:
        typer.echo(line)
    wrote([("labels", brought.path)], f"assay calibrate --labels {out} --run DIR --verdicts BOOK")
    return 0


@app.command("graded")
def graded(
    runlog: Annotated[str, typer.Argument(help="The run log to write grades beside.")],
    labels: Annotated[list[str], typer.Option(help="Labels with the metric `grade`, and `failure_label`.")],
    rater: Annotated[str | None, typer.Option(help="Whose grades, where there are several.")] = None,
    out: Annotated[str | None, typer.Option(help="Where to write; NAME-graded.jsonl without it.")] = None,
    rubrics: AskedWith = None,
) -> int:
    """Write a run log with grades, `*-graded.jsonl`; the run log itself is kept."""
    from assay.cli.screen import said, wrote
    from assay.workflow.graded import write_graded

    written = write_graded(runlog, labels, rater, out, rubrics or ())
    said(written.notes)
    typer.echo(f"{written.graded} of {written.rows} rows have a grade")
    wrote([("graded run log", written.path)])
    return 0


@app.callback()
def _group() -> None:
    pass
