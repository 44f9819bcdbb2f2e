"""From 3.12 on, `sum` of Python corrects the rounding of floats, and before it does not: no score may rest on it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"
WITH_OTHER_SUM = """
import builtins, math
from functools import reduce
from operator import add

def add_up(numbers, /, start=0):
    numbers = [start, *numbers]
    if {is_exact} and any(type(number) is float for number in numbers):
        return math.fsum(numbers)
    return reduce(add, numbers)

builtins.sum = add_up
from assay.__main__ import run_process
run_process()
"""


@pytest.mark.slow
def test_scores_do_not_depend_on_how_python_adds_up(tmp_path: Path) -> None:
    contents = []
    for is_exact in (True, False):
        folder = tmp_path / f"exact-{is_exact}"
        command = [
            *(sys.executable, "-c", WITH_OTHER_SUM.format(is_exact=is_exact), "score"),
            *("--golden", str(HANDBOOK / "golden" / "handbook.jsonl")),
            *("--corpus", str(HANDBOOK / "corpus" / "chunks.jsonl")),
            *("--outputs", str(HANDBOOK / "outputs" / "*.jsonl"), "--run-dir", str(folder)),
        ]
        subprocess.run(command, check=True, capture_output=True)
        contents.append({path.name: path.read_bytes() for path in (folder / "derived").iterdir()})
    assert contents[0]
    assert contents[0] == contents[1]
