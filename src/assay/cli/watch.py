"""Progress of observing: on a terminal, a bar for each target with its rate and remaining time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from assay.report.safe import terminal


class _Rate(ProgressColumn):
    """Column with the number of observations per second."""

    def render(self, task: Task) -> Text:
        """Return the rate; below one observation per second it is given per minute."""
        per_second = task.speed or 0.0
        if per_second and per_second < 1:
            return Text(f"{per_second * 60:.1f}/min")
        return Text(f"{per_second:.1f}/s")


@contextmanager
def watch() -> Iterator[Callable[[str], Callable[[int, int], None] | None]]:
    """Yield a function that starts the bar of a target and returns the function that updates it."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:

        def start(name: str) -> Callable[[int, int], None]:
            task = bars.add_task(escape(terminal(name)), total=None)
            return lambda done, total: bars.update(task, completed=done, total=total)

        yield start
