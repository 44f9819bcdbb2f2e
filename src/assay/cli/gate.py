"""`assay gate`: the built-in profiles."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(help="Release gates.", no_args_is_help=True)


@app.command("show")
def show(
    profile: Annotated[str | None, typer.Argument(help="A profile's name; without one, all are listed.")] = None,
) -> int:
    """Print a built-in gate as the file that it is, to copy and change."""
    from assay.io.gates import profile_names, profile_text

    if profile is None:
        for name in profile_names():
            typer.echo(name)
    else:
        typer.echo(profile_text(profile), nl=False)
    return 0


@app.callback()
def _group() -> None:
    pass
