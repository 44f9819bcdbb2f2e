"""The progress line: quiet for two seconds, then one line that is overwritten and removed."""

from __future__ import annotations

import io

import pytest

from assay.runs.progress_line import ProgressLine, show_tasks


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_work_of_two_seconds_shows_nothing() -> None:
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(stream, clock)
    update = line.start_task("scoring")
    for done in range(1, 20):
        clock.now += 0.1
        update(done, 20)
    line.clear()
    assert stream.getvalue() == ""


def test_longer_work_shows_count_rate_and_time_left_and_leaves_no_line() -> None:
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(stream, clock)
    update = line.start_task("hybrid")
    clock.now += 4
    update(1, 41)
    clock.now += 4
    update(9, 41)
    drawn = stream.getvalue().split("\r")
    assert drawn[-1].rstrip() == "hybrid 9/41, 1.1/s, 0:28 left"
    line.clear()
    assert stream.getvalue().endswith("\r" + " " * len(drawn[-1].rstrip()) + "\r")


def test_several_targets_share_the_line_and_slow_ones_are_counted_by_the_minute() -> None:
    clock = Clock()
    line = ProgressLine(io.StringIO(), clock)
    first, second = line.start_task("a"), line.start_task("b")
    first(1, 10)
    second(1, 10)
    assert line.describe(clock.now + 60) == "a 1/10, b 1/10, 2.0/min, 9:00 left"


def test_cases_of_an_earlier_run_do_not_count_for_the_rate() -> None:
    clock = Clock()
    line = ProgressLine(io.StringIO(), clock)
    line.start_task("a")(31, 41)
    assert line.describe(clock.now + 1) == "a 31/41, 1.0/s, 0:10 left"


def test_names_cannot_command_the_terminal() -> None:
    line = ProgressLine(io.StringIO(), Clock())
    line.start_task("a\x1b[2J")(1, 2)
    assert "\x1b" not in line.describe(101.0)


def test_a_pipe_gets_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with show_tasks() as start_task:
        assert start_task("a") is None
