"""`assay convert`: golden sets and recorded outputs from one format into another."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="The file or folder to read, or - for standard input.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="The file to write, or - for standard output.")],
    old: Annotated[str, typer.Option("--from", help="The format to read: of golden sets or of outputs.")],
    new: Annotated[
        str, typer.Option("--to", help="assay, rag-golden or trec-qrels for golden sets; assay, rag-trace or trec-run.")
    ],
    config: Annotated[str | None, typer.Option(help="The configuration that a run is made of.")] = None,
) -> int:
    """Write a golden set or recorded outputs in another format; say what was cast and what could not be carried."""
    from assay.cli.screen import said, wrote
    from assay.io.writing import write_whole
    from assay.workflow.convert import converted
    from assay.workflow.outputs import refuse_overwriting

    if target != "-":
        refuse_overwriting([target], [source])
    with converted(source, old, new, config) as (lines, found):
        if target == "-":
            sys.stdout.buffer.writelines(lines)
            sys.stdout.buffer.flush()
        else:
            wrote([(new, write_whole(target, lines))])
        said(found.notes())
    return 0
