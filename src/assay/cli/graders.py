"""`assay graders`: lists the catalogue of metrics."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.score import Format


def graders(format: Annotated[Format, typer.Option(help="Format of the printed list.")] = Format.table) -> int:
    """List all metrics with unit, direction, range, scorer and parameters."""
    from assay.cli.screen import show_table
    from assay.workflow.catalogue import catalogue_json, catalogue_markdown, catalogue_table

    if format is Format.json:
        typer.echo(catalogue_json(), nl=False)
    elif format is Format.markdown:
        typer.echo(catalogue_markdown(), nl=False)
    else:
        show_table(catalogue_table())
    return 0
