"""The notebooks run from top to bottom, and their outputs in the repository are what they give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scripts.run_notebook import CellError, find_differences, iter_code_cells, main, run_cell, run_notebook
from tests.docs.pages import ROOT

NOTEBOOKS = sorted((ROOT / "examples").rglob("*.ipynb"))


def load(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_the_outputs_of_a_notebook_are_what_its_cells_print(path: Path, tmp_path: Path) -> None:
    problems = find_differences(load(path), tmp_path)
    assert [] == problems, f"run python scripts/run_notebook.py {path.relative_to(ROOT)}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_shows_results_as_html_and_has_the_form_that_notebooks_need(path: Path) -> None:
    notebook = load(path)
    assert (4, 5) == (notebook["nbformat"], notebook["nbformat_minor"])
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    outputs = [output for cell in iter_code_cells(notebook) for output in cell["outputs"]]
    shown = ["".join(output["data"]["text/html"]) for output in outputs if "text/html" in output.get("data", {})]
    assert len(shown) >= 2
    assert all(text.startswith("<div>") and "<table>" in text for text in shown)
    assert "/tmp" not in json.dumps(outputs)  # nothing of the machine on which it ran


class Shown:
    """A value with a form of its own in notebooks."""

    def __repr__(self) -> str:
        return "two\nlines"

    def _repr_html_(self) -> str:
        return "<b>two</b>"


def test_a_cell_shows_what_it_prints_and_the_value_of_its_last_line() -> None:
    namespace: dict[str, Any] = {"Shown": Shown}
    printed, value = run_cell("print('a')\nShown()", 1, namespace)
    assert ("stream", ["a\n"]) == (printed["output_type"], printed["text"])
    assert {"text/html": ["<b>two</b>"], "text/plain": ["two\n", "lines"]} == value["data"]
    assert [] == run_cell("x = 1", 2, namespace)
    assert [] == run_cell("None", 3, namespace)
    with pytest.raises(CellError, match=r"cell 4: NameError: name 'y'"):
        run_cell("y", 4, namespace)


def test_a_notebook_whose_outputs_are_old_is_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "old.ipynb"
    cells = [
        {"cell_type": "markdown", "source": ["# Text"]},
        {"cell_type": "code", "source": ["x = 20\n", "x + 1"], "outputs": [], "execution_count": None},
    ]
    path.write_text(json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    assert 1 == main(["--check", str(path)])
    assert "cell 1: the file has []" in capsys.readouterr().out
    assert 0 == main([str(path)])
    assert 0 == main(["--check", str(path)])
    (outputs,) = run_notebook(load(path), tmp_path)
    assert ["21"] == outputs[0]["data"]["text/plain"]
