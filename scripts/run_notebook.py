#!/usr/bin/env python3
"""Runs the cells of notebooks and writes their outputs into them: `run_notebook.py [--check] FILE…`.

With `--check` the files stay as they are, and a cell whose output differs is named. No kernel is needed: the cells of a
notebook run in one namespace and an empty folder, and the value of a cell's last line is shown as a notebook shows it,
by `_repr_html_` if it has one.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class CellError(Exception):
    """A cell raised an exception."""


def run_notebook(notebook: Json, folder: Path) -> Iterator[list[Json]]:
    """Run the code cells of a notebook in `folder` and yield the outputs of each. Raises CellError."""
    namespace: Json = {"__name__": "__main__"}
    with contextlib.chdir(folder):
        for number, cell in enumerate(iter_code_cells(notebook), start=1):
            yield run_cell("".join(cell["source"]), number, namespace)


def iter_code_cells(notebook: Json) -> Iterator[Json]:
    """Yield the code cells of a notebook in order."""
    return (cell for cell in notebook["cells"] if cell["cell_type"] == "code")


def run_cell(source: str, number: int, namespace: Json) -> list[Json]:
    """Run one cell and return its outputs: what it printed, and the value of its last line. Raises CellError."""
    name = f"cell {number}"
    module = ast.parse(source, name)
    last = module.body.pop() if module.body and isinstance(module.body[-1], ast.Expr) else None
    value = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            exec(compile(module, name, "exec"), namespace)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
        except Exception as error:
            raise CellError(f"{name}: {type(error).__name__}: {error}") from error
    outputs: list[Json] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": split_lines(printed.getvalue())})
    if value is not None:
        result = {"data": describe_value(value), "execution_count": number, "metadata": {}}
        outputs.append({**result, "output_type": "execute_result"})
    return outputs


def describe_value(value: object) -> Json:
    """Return a value as a notebook shows it: as text, and as HTML if it can."""
    shown = {"text/plain": split_lines(repr(value))}
    render = getattr(value, "_repr_html_", None)
    if render is not None:
        shown["text/html"] = split_lines(render())
    return dict(sorted(shown.items()))


def split_lines(text: str) -> list[str]:
    """Return a text as the format stores it, as a list of lines with their ends."""
    return text.splitlines(keepends=True)


def find_differences(notebook: Json, folder: Path) -> list[str]:
    """Run a notebook and return a sentence for each cell whose outputs are not those in the file."""
    problems = []
    cells = zip(iter_code_cells(notebook), run_notebook(notebook, folder), strict=True)
    for number, (cell, outputs) in enumerate(cells, start=1):
        if cell["outputs"] != outputs:
            problems.append(f"cell {number}: the file has {cell['outputs']}, it gives {outputs}")
    return problems


def main(arguments: list[str]) -> int:
    """Run notebooks; return 1 if a cell fails or, with --check, gives something else."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--check", action="store_true", help="only compare")
    options = parser.parse_args(arguments)
    failed = False
    for path in options.files:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            try:
                if options.check:
                    problems = find_differences(notebook, Path(folder))
                else:
                    problems = []
                    for number, (cell, outputs) in enumerate(
                        zip(iter_code_cells(notebook), run_notebook(notebook, Path(folder)), strict=True), start=1
                    ):
                        cell["outputs"], cell["execution_count"] = outputs, number
                    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + os.linesep, encoding="utf-8")
            except CellError as error:
                problems = [str(error)]
        failed |= bool(problems)
        print("\n".join(f"{path}: {problem}" for problem in problems) or f"{path}: ok")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
