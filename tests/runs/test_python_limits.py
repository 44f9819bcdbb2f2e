"""What Python sets as a settings file does: attempts, breaker, budgets; and the progress of a long run."""

from __future__ import annotations

import asyncio
import io
import sys
from types import SimpleNamespace
from typing import Any

import pytest

import assay
from assay.calls.interfaces import CallError
from assay.records.errors import InputError
from assay.runs import progress_line

CASES = [{"id": f"c{number}", "question": f"Which gate {number}?", "must_have": ["B"]} for number in range(6)]


class Terminal(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


class Notebook:
    """What IPython has of a notebook: a shell with a kernel, and `display`."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.display = SimpleNamespace(display=self._show)

    def get_ipython(self) -> Any:
        return SimpleNamespace(kernel=object())

    def _show(self, shown: dict[str, str], *, raw: bool, display_id: bool = False) -> Any:
        assert raw
        self.lines.append(shown["text/plain"])
        return SimpleNamespace(update=self._show)


@pytest.fixture
def no_quiet_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_line, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progress_line, "_REDRAW_SECONDS", 0.0)


def answer(question: str) -> str:
    return "Gate B."


@pytest.mark.usefixtures("no_quiet_time")
def test_a_run_shows_its_progress_on_a_terminal_and_leaves_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assay.run(answer, CASES, name="desk", concurrency=1)
    drawn = [line.rstrip() for line in terminal.getvalue().split("\r")]
    assert any(line.startswith("desk 3/6, ") and line.endswith(" left") for line in drawn)
    assert "" == drawn[-1]


@pytest.mark.usefixtures("no_quiet_time")
@pytest.mark.parametrize("is_terminal", [True, False])
def test_nothing_is_shown_where_it_is_not_wanted_or_nobody_watches(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    assay.run(answer, CASES, progress=not is_terminal)
    assay.observe(answer, CASES, progress=not is_terminal)
    assert "" == stream.getvalue()


@pytest.mark.usefixtures("no_quiet_time")
def test_a_notebook_has_one_line_below_the_cell_that_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = Notebook()
    monkeypatch.setitem(sys.modules, "IPython", notebook)

    async def work_in_a_cell() -> None:
        assay.run(answer, CASES, name="desk")

    asyncio.run(work_in_a_cell())
    assert any(line.startswith("desk 6/6, ") for line in notebook.lines)
    assert "" == notebook.lines[-1]


@pytest.mark.slow
def test_a_slow_target_is_not_silent_before_its_first_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(progress_line, "QUIET_SECONDS", 0.1)
    monkeypatch.setattr(sys, "stderr", terminal)

    async def think(question: str) -> str:
        await asyncio.sleep(1.5)  # past the first update of the line, a second after the start
        return "Gate B."

    assay.run(think, CASES, name="desk")
    assert "desk 0/6" in terminal.getvalue()


@pytest.mark.usefixtures("no_quiet_time")
def test_scoring_many_rows_shows_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    golden = [{"id": f"c{number}", "question": f"Which gate {number}?", "must_have": ["B"]} for number in range(600)]
    outputs = [{"case_id": case["id"], "answer": "Gate B."} for case in golden]
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assay.score(golden, outputs)
    assert "scoring 512/600" in terminal.getvalue()


def test_attempts_are_as_many_as_are_set() -> None:
    calls: list[str] = []

    def fail(question: str) -> str:
        calls.append(question)
        raise CallError("connection", "down")

    (row,) = assay.observe(fail, CASES[:1], attempts=2)
    assert 2 == len(calls) and row.error is not None


def test_the_run_ends_after_as_many_failures_as_the_breaker_allows() -> None:
    def fail(question: str) -> str:
        raise ValueError("no key")

    result = assay.run(fail, CASES, name="desk", breaker=3, concurrency=1, attempts=1)
    assert 3 == sum(case.observation is not None for case in result)
    assert any("desk: stopped asking" in warning and "after 3 of 6" in warning for warning in result.scoring.warnings)


def test_a_budget_ends_the_run_and_is_named_as_the_argument() -> None:
    def cost(question: str) -> dict[str, Any]:
        return {"answer": "Gate B.", "usage": {"cost_usd": 0.5}}

    by_calls = assay.run(cost, CASES, name="desk", max_calls=4, concurrency=1)
    by_cost = assay.run(cost, CASES, name="desk", max_cost=1.0, concurrency=1)
    assert [4, 2] == [sum(case.observation is not None for case in result) for result in (by_calls, by_cost)]
    assert any("stopped at max_calls=, after 4 of 6" in warning for warning in by_calls.scoring.warnings)
    assert any("stopped at max_cost=, after 2 of 6" in warning for warning in by_cost.scoring.warnings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("attempts", 0),
        ("attempts", 21),
        ("breaker", 0),
        ("retry_after_cap", -1),
        ("max_calls", 0),
        ("max_cost", float("nan")),
    ],
)
def test_a_limit_that_no_call_can_keep_is_refused_before_anything_is_asked(name: str, value: float) -> None:
    with pytest.raises(InputError) as refused:
        assay.run(pytest.fail, CASES, **{name: value})  # type: ignore[arg-type]  # to be refused
    assert name == refused.value.problems[0].field
