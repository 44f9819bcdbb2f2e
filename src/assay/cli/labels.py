"""`assay labels`: exports a blind sample for raters and imports their labels and the scores of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import (
    JudgeNameOption,
    PageLanguageOption,
    PrintFormat,
    PrintFormatOption,
    RecordedOptions,
    RunOption,
    expand_options,
    parse_metric_list,
)
from assay.records.counts import format_count
from assay.records.errors import ExitCode, InputError

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
@expand_options
def export(
    *,
    out: Annotated[
        str, typer.Option(help="New folder for the sheets (CSV, JSON lines and an HTML page) and their key.")
    ],
    run: RunOption = None,
    recorded: RecordedOptions,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Export every answer that a person should read, instead of a sample: ambiguous (undecided by the "
            "rules), failed (by the rules), tag:NAME or case:ID; takes several values. passed: a random sample of the "
            "answers that the rules passed."
        ),
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(help="With --only: labels that people made already (default: those of the run); may be repeated."),
    ] = None,
    metrics: Annotated[
        str, typer.Option("--metrics", "--metric", help="Metrics to label, comma-separated.")
    ] = "faithfulness,correctness",
    sample: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of items per metric (default: 100), or of answers for --only passed (default: 30)."
        ),
    ] = None,
    overlap: Annotated[int, typer.Option(min=0, help="Number of those items that a second rater labels too.")] = 30,
    verdicts: Annotated[
        str | None, typer.Option(help="Verdict store; the sample is stratified by its verdicts.")
    ] = None,
    judge: JudgeNameOption = None,
    rubrics: Rubrics = None,
    language: PageLanguageOption = "en",
    seed: Annotated[int, typer.Option(help="Random seed of the sample.")] = 0,
) -> ExitCode:
    """Export a blind, stratified sample of answers and claims to label, or with --only the answers that are open."""
    from assay.calibration.exchange_labels import LabelSampleRequest, export_labels, judge_bands
    from assay.calibration.export_answers import DEFAULT_PASSES, PASSED, export_answers_to_read
    from assay.cli.display import print_notes, print_written_files
    from assay.runs.rescore_run import open_answers, open_unscored_answers

    inputs = recorded.build_inputs(run)
    if labels and not only:
        raise InputError("--labels: read only with --only, which says which answers to export")
    request = LabelSampleRequest(
        parse_metric_list(metrics), 100 if sample is None else sample, overlap, seed, language, rubrics or ()
    )
    opened = open_unscored_answers if only == [PASSED] else open_answers
    with opened(inputs, labels=labels or ()) as scored:
        if only:
            size = DEFAULT_PASSES if sample is None else sample
            label_sample = export_answers_to_read(scored, Path(out), only, language, size)
        else:
            bands = judge_bands(scored, request, verdicts, judge) if verdicts is not None else {}
            label_sample = export_labels(scored, Path(out), request, bands)
    for name, count in label_sample.rows.items():
        typer.echo(f"{name}: {format_count(count, 'row')} to label")
    print_notes(label_sample.notes)
    # A sample of passes is a file of its own: next to the answers that were read before, it is not written over them.
    name = "passes.jsonl" if only == [PASSED] else "answers.jsonl" if only else "labels.jsonl"
    print_written_files(label_sample.files, f"assay labels import {out}/FILLED… --key {out}/key.json --out {name}")
    return ExitCode.PASS


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
) -> ExitCode:
    """Import the labels of raters and the scores of other tools into one file."""
    from assay.calibration.exchange_labels import LabelImportRequest, import_labels
    from assay.cli.display import print_notes, print_written_files
    from assay.formats.run_files.overwriting import refuse_overwriting

    refuse_overwriting([out], [*files, key, golden])
    imported = import_labels(LabelImportRequest(files, format, key, rater, golden, config, rubrics or ()), out)
    print_notes(imported.notes)
    for line in imported.counts:
        typer.echo(line)
    next_command = f"assay calibrate --labels {out} --run DIR"
    if imported.are_of_answers:
        next_command = f"assay score DIR --labels {out}"
    print_written_files([("labels", imported.path)], next_command)
    return ExitCode.PASS


@app.command("graded")
def graded(
    runlog: Annotated[str, typer.Argument(help="Run log to add grades to.")],
    labels: Annotated[
        list[str], typer.Option(help="Labels for the metrics `grade` and `failure_label`; takes several values.")
    ],
    rater: Annotated[str | None, typer.Option(help="Rater whose grades are written, if there are several.")] = None,
    out: Annotated[str | None, typer.Option(help="File to write (default: NAME-graded.jsonl).")] = None,
    rubrics: RatersRubrics = None,
) -> ExitCode:
    """Write a copy of a run log with grades, `*-graded.jsonl`."""
    from assay.calibration.exchange_labels import write_graded
    from assay.cli.display import print_notes, print_written_files

    graded_log = write_graded(runlog, labels, rater, out, rubrics or ())
    print_notes(graded_log.notes)
    typer.echo(f"{graded_log.graded} of {format_count(graded_log.rows, 'row')} have a grade")
    print_written_files([("graded run log", graded_log.path)])
    return ExitCode.PASS


@app.command("grades")
def grades(
    files: Annotated[list[str], typer.Argument(help="Graded run logs, `*-graded.jsonl`, by people or by models.")],
    review_below: Annotated[
        float, typer.Option(min=0, max=1, help="Confidence below which a model's grade is listed for review.")
    ] = 0.7,
    rater: Annotated[str | None, typer.Option(help="Name of the rater, if a file does not name one.")] = None,
    rubrics: RatersRubrics = None,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Summarise and compare the grades of run logs, and list the answers that a person should look at."""
    from assay.calibration.compare_grades import GradedRequest, format_graded, summarise_graded
    from assay.cli.display import ignore_broken_pipe, print_json, print_notes
    from assay.text.escaping import escape_terminal

    graded_answers = summarise_graded(GradedRequest(files, review_below, rater, rubrics or ()))
    with ignore_broken_pipe():
        if format is PrintFormat.json:
            print_json(graded_answers)
        else:
            for line in format_graded(graded_answers):
                typer.echo(escape_terminal(line))
    print_notes(graded_answers.notes)
    return ExitCode.PASS


@app.callback()
def _group() -> None:
    pass
