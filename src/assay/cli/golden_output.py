"""How the commands of golden sets and corpora print their results: a table, Markdown, or JSON."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import typer

from assay.cli.options import PrintFormat
from assay.report.exports.markdown import render_table_lines
from assay.report.findings.table import Table
from assay.report.screen.terminal import escape_table


def print_result(result: msgspec.Struct, tables: Sequence[Table], format: PrintFormat) -> None:
    """Print a result: JSON has every member of the record, the other formats its tables."""
    from assay.cli.display import ignore_broken_pipe, print_json, print_table

    with ignore_broken_pipe():
        if format is PrintFormat.json:
            print_json(result)
            return
        for table in tables:
            if format is PrintFormat.markdown:
                typer.echo("\n".join([f"### {table.title}", "", *render_table_lines(table), ""]))
            else:
                print_table(escape_table(table))
