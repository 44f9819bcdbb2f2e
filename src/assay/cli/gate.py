"""`assay gate`: the built-in profiles, and a gate held against what a run recorded."""

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


@app.command("check")
def check(
    run: Annotated[str, typer.Argument(help="RUN, RUN:CONFIG or a file of `assay baseline save`.")],
    gate: Annotated[str | None, typer.Option(help="A file of release rules.")] = None,
    profile: Annotated[str | None, typer.Option(help="A built-in gate.")] = None,
    baseline: Annotated[str | None, typer.Option(help="What regression rules are held against.")] = None,
    approver: Annotated[str, typer.Option(help="Who reviews the decision, instead of whom the gate names.")] = "",
    strict: Annotated[bool, typer.Option("--strict", help="A pass with risk exits with 1.")] = False,
    now: Annotated[str | None, typer.Option(help="The time by which waivers expire (or SOURCE_DATE_EPOCH).")] = None,
) -> int:
    """Decide by exit code whether a recorded run may ship; nothing is written."""
    from assay.cli.score import said_time
    from assay.cli.screen import show, though_unread
    from assay.workflow.compare import Asked, gate_check, gate_screen, status_of

    asked = Asked(gate, profile, approver, now=said_time(now))
    decision, decisions = gate_check(run, asked, baseline)
    with though_unread():
        show(gate_screen(decisions, asked))
    return status_of(decision, strict=strict)


@app.callback()
def _group() -> None:
    pass
