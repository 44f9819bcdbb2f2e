"""`assay init` and `assay doctor`: write a first settings file, and check that everything is ready for a run."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Kind(StrEnum):
    """Kinds of target that a settings file can be written for."""

    python = "python"
    http = "http"
    mcp = "mcp"
    command = "command"
    recorded = "recorded"
    langchain = "langchain"
    llamaindex = "llamaindex"


def init(
    kind: Annotated[Kind, typer.Option(help="Kind of target.")] = Kind.python,
    file: Annotated[str, typer.Option(help="File to write; an existing file is never overwritten.")] = "assay.yaml",
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of the settings instead.")] = False,
) -> int:
    """Write a commented settings file for a target, or print its JSON Schema for editors."""
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
    settings: Annotated[str | None, typer.Option(help="Settings file (default: assay.yaml, if it exists).")] = None,
    allow_exec: Annotated[
        bool, typer.Option("--allow-exec", help="Allow the settings file to name programs to run.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="Host that the settings file may name although it is not allowed by default; may be repeated."
        ),
    ] = None,
) -> int:
    """Check settings, golden set, corpus and gate, and call each target once."""
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
