"""`assay init` and `assay doctor`: write a first settings file, and check that everything is ready for a run."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from assay.records.errors import ExitCode


class TargetKind(StrEnum):
    """Kinds of target that a settings file can be written for."""

    python = "python"
    http = "http"
    mcp = "mcp"
    command = "command"
    recorded = "recorded"
    langchain = "langchain"
    llamaindex = "llamaindex"


def init(
    kind: Annotated[TargetKind, typer.Option(help="Kind of target.")] = TargetKind.python,
    file: Annotated[str, typer.Option(help="File to write; an existing file is never overwritten.")] = "assay.yaml",
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of the settings instead.")] = False,
) -> ExitCode:
    """Write a commented settings file for a target, or print its JSON Schema for editors."""
    if schema:
        from assay.formats.settings_file import build_settings_schema

        typer.echo(build_settings_schema().decode(), nl=False)
        return ExitCode.PASS
    from assay.runs.check_setup import write_settings_template

    path = write_settings_template(kind.value, file)
    typer.echo(f"settings written to {path}", err=True)
    typer.echo("next: put your golden set and target into it, then: assay doctor", err=True)
    return ExitCode.PASS


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
) -> ExitCode:
    """Check settings, golden set, corpus and gate, and call each target once."""
    from assay.runs.check_setup import check_setup
    from assay.targets.choose_target import TargetPermissions
    from assay.text.escaping import escape_terminal

    failed = False
    for finding in check_setup(settings, TargetPermissions(allow_exec, tuple(allow_host or ()))):
        failed = failed or finding.state == "fail"
        typer.echo(escape_terminal(f"{finding.state:4}  {finding.subject}: {finding.message}"))
        if finding.remedy:
            typer.echo(escape_terminal(f"      {finding.remedy}"))
    return ExitCode.BAD_INPUT if failed else ExitCode.PASS
