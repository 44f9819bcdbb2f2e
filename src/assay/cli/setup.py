"""`assay init` and `assay doctor`: the first settings file, and what is missing before a measurement counts."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Kind(StrEnum):
    """The kinds of target that a first settings file can be written for."""

    python = "python"
    http = "http"
    mcp = "mcp"
    command = "command"
    recorded = "recorded"
    langchain = "langchain"
    llamaindex = "llamaindex"


def init(
    kind: Annotated[Kind, typer.Option(help="The kind of target.")] = Kind.python,
    file: Annotated[str, typer.Option(help="Where to write it; never over a file that is there.")] = "assay.yaml",
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of settings instead.")] = False,
) -> int:
    """Write a commented settings file for a target, or print the JSON Schema for editors."""
    if schema:
        from assay.config import settings_schema

        typer.echo(settings_schema().decode(), nl=False)
        return 0
    from assay.workflow.setup import write_settings

    path = write_settings(kind.value, file)
    typer.echo(f"settings written to {path}", err=True)
    typer.echo("next: put your golden set and target into it, then: assay doctor", err=True)
    return 0


def doctor(
    settings: Annotated[str | None, typer.Option(help="The settings; assay.yaml where there is one.")] = None,
    allow_exec: Annotated[
        bool, typer.Option("--allow-exec", help="Let the settings file name programs to run.")
    ] = False,
    allow_host: Annotated[list[str] | None, typer.Option(help="A host that the settings file may name anyway.")] = None,
) -> int:
    """Check whether a measurement would count: settings, golden set, corpus, gate, targets asked once."""
    from assay.report.safe import terminal
    from assay.workflow.setup import examine
    from assay.workflow.targets import Trust

    failed = False
    for finding in examine(settings, Trust(allow_exec, tuple(allow_host or ()))):
        failed = failed or finding.state == "fail"
        typer.echo(terminal(f"{finding.state:4}  {finding.what}: {finding.message}"))
        if finding.remedy:
            typer.echo(terminal(f"      {finding.remedy}"))
    return 2 if failed else 0
