"""`assay metrics`: lists the catalogue of metrics."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.options import PrintFormat
from assay.records.errors import ExitCode


def metrics(
    format: Annotated[PrintFormat, typer.Option(help="Format of the printed list.")] = PrintFormat.table,
) -> ExitCode:
    """List all metrics, also those of installed plugins, with unit, direction, range, scorer and parameters."""
    from assay.cli.display import print_json, print_table
    from assay.report.catalog_tables import build_catalog_table, render_catalog_json, render_catalog_markdown
    from assay.runs.load_plugins import load_installed_metrics
    from assay.text.escaping import escape_terminal

    for error in load_installed_metrics():
        typer.echo(f"note: {escape_terminal(str(error))}", err=True)
    if format is PrintFormat.json:
        print_json(render_catalog_json())
    elif format is PrintFormat.markdown:
        typer.echo(render_catalog_markdown(), nl=False)
    else:
        print_table(build_catalog_table())
    return ExitCode.PASS
