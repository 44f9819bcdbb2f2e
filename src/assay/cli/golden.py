"""`assay golden`: checks golden sets."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.records.errors import ExitCode

app = typer.Typer(help="Check golden sets.", no_args_is_help=True)


@app.command("check")
def check(
    file: Annotated[str, typer.Argument(help="Golden set: a file, a BEIR folder, or - for standard input.")],
    golden_format: Annotated[
        str | None, typer.Option(help="Format of the golden set (default: detected from its content).")
    ] = None,
) -> ExitCode:
    """Read a golden set as strictly as scoring does; print its contents, its digest and any doubtful entries."""
    from assay.cli.display import print_table
    from assay.runs.check_setup import describe_golden_set

    loaded, table = describe_golden_set(file, golden_format)
    for warning in loaded.warnings:
        typer.echo(f"warning: {warning}", err=True)
    print_table(table)
    return ExitCode.PASS


@app.callback()
def _group() -> None:
    pass
