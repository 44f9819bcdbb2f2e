"""`assay convert`: converts golden sets and recorded outputs between formats."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from assay.records.errors import ExitCode


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="File or folder to read, or - for standard input.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="File to write, or - for standard output.")],
    old: Annotated[str, typer.Option("--from", help="Format of the input: any golden-set or outputs format.")],
    new: Annotated[
        str,
        typer.Option(
            "--to",
            help="Format to write: assay, rag-golden or trec-qrels (golden sets); assay, "
            "rag-trace or trec-run (outputs).",
        ),
    ],
    config: Annotated[
        str | None, typer.Option(help="Configuration to write as a TREC run, if the outputs have several.")
    ] = None,
) -> ExitCode:
    """Convert a golden set or recorded outputs; report values that were converted or could not be represented."""
    from assay.cli.display import print_notes, print_written_files
    from assay.formats.convert_files import convert_file
    from assay.formats.file_io import write_atomically
    from assay.formats.run_files.overwriting import refuse_overwriting

    if target != "-":
        refuse_overwriting([target], [source])
    with convert_file(source, old, new, config) as (lines, conversion):
        if target == "-":
            sys.stdout.buffer.writelines(lines)
            sys.stdout.buffer.flush()
        else:
            print_written_files([(new, write_atomically(target, lines))])
        print_notes(conversion.iterate_notes())
    return ExitCode.PASS
