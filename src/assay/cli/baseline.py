"""`assay baseline`: saves the scores that candidates are compared with, as a small file to commit."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    help="Save and show baselines: the scores of one configuration, in a file to commit.", no_args_is_help=True
)


@app.command("save")
def save(
    run: Annotated[str, typer.Argument(help="Run folder: RUN or RUN:CONFIG.")],
    out: Annotated[str, typer.Option("--out", help="File to write.")],
) -> int:
    """Write the scores of every case of one configuration, without any question, answer or chunk text."""
    from assay.cli.screen import wrote
    from assay.workflow.baseline import save as save_baseline
    from assay.workflow.outputs import refuse_overwriting
    from assay.workflow.runs import files_of

    refuse_overwriting([out], files_of(run))
    wrote([("baseline", save_baseline(run, out))], f"assay compare {out} RUN:CONFIG")
    return 0


@app.command("show")
def show(file: Annotated[str, typer.Argument(help="File written by `assay baseline save`.")]) -> int:
    """Print the contents of a baseline: its origin and its metrics."""
    from assay.cli.screen import show as show_screen
    from assay.cli.screen import though_unread
    from assay.workflow.baseline import described

    with though_unread():
        show_screen(described(file))
    return 0


@app.callback()
def _group() -> None:
    pass
