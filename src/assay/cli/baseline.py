"""`assay baseline`: what a candidate is held against, as a small file to commit."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(help="Baselines: scores of every case of one configuration, to commit.", no_args_is_help=True)


@app.command("save")
def save(
    run: Annotated[str, typer.Argument(help="A run folder, RUN or RUN:CONFIG.")],
    out: Annotated[str, typer.Option("--out", help="Where to write it.")],
) -> int:
    """Write the scores of every case of one configuration; no question, answer or text of a chunk is in it."""
    from assay.cli.screen import wrote
    from assay.workflow.baseline import save as save_baseline
    from assay.workflow.outputs import refuse_overwriting
    from assay.workflow.runs import files_of

    refuse_overwriting([out], files_of(run))
    wrote([("baseline", save_baseline(run, out))], f"assay compare {out} RUN:CONFIG")
    return 0


@app.command("show")
def show(file: Annotated[str, typer.Argument(help="A file of `assay baseline save`.")]) -> int:
    """Print what a baseline holds: where it comes from, and its metrics."""
    from assay.cli.screen import show as show_screen
    from assay.cli.screen import though_unread
    from assay.workflow.baseline import described

    with though_unread():
        show_screen(described(file))
    return 0


@app.callback()
def _group() -> None:
    pass
