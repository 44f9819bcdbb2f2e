"""`assay baseline`: saves the scores that candidates are compared with, as a small file to commit."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.records.errors import ExitCode

app = typer.Typer(
    help="Save and show baselines: the scores of one configuration, in a file to commit.", no_args_is_help=True
)


@app.command("save")
def save(
    run: Annotated[str, typer.Argument(help="Run folder: RUN or RUN:CONFIG.")],
    out: Annotated[str, typer.Option("--out", help="File to write.")],
) -> ExitCode:
    """Write the scores of every case of one configuration, without any question, answer or chunk text."""
    from assay.cli.display import print_written_files
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.formats.run_files.run_folder import list_run_files
    from assay.runs.compare_runs import save_baseline as save_baseline

    refuse_overwriting([out], list_run_files(run))
    print_written_files([("baseline", save_baseline(run, out))], f"assay compare {out} RUN:CONFIG")
    return ExitCode.PASS


@app.command("show")
def show(file: Annotated[str, typer.Argument(help="File written by `assay baseline save`.")]) -> ExitCode:
    """Print the contents of a baseline: its origin and its metrics."""
    from assay.cli.display import ignore_broken_pipe
    from assay.cli.display import print_screen as show_screen
    from assay.runs.compare_runs import describe_baseline

    with ignore_broken_pipe():
        show_screen(describe_baseline(file))
    return ExitCode.PASS


@app.callback()
def _group() -> None:
    pass
