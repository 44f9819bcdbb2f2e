"""Progress of observing: a bar for each target with rate and time left, on a terminal only."""

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
    """How many observations are made in a second."""

    def render(self, task: Task) -> Text:
        """Draw the rate; a slow target's is given per minute."""
        speed = task.speed or 0.0
        return Text(f"{speed:.1f}/s" if speed >= 1 or not speed else f"{speed * 60:.1f}/min")


@contextmanager
def watch() -> Iterator[Callable[[str], Callable[[int, int], None] | None]]:
    """Yield a function that gives each target its bar."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:

        def start(name: str) -> Callable[[int, int], None]:
            task = bars.add_task(escape(terminal(name)), total=None)
            return lambda done, total: bars.update(task, completed=done, total=total)

        yield start
