"""How many examples are tried of the laws that Hypothesis checks."""

from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import settings
from tests.support.examples import USUAL, try_examples

TESTS = Path(__file__).parents[1]
FEW = 5
"""The number from which on a law leaves it to `try_examples`: fewer are not scaled."""


def test_ci_tries_as_many_examples_as_before_and_a_thorough_run_ten_times_as_many() -> None:
    counts = [settings.get_profile(name).max_examples for name in ("dev", "ci", "thorough")]
    assert counts == [30, USUAL, 10 * USUAL]


def test_a_number_of_its_own_is_scaled_with_the_profile() -> None:
    usual = settings().max_examples
    assert (try_examples(USUAL).max_examples, try_examples(2 * USUAL).max_examples) == (usual, 2 * usual)
    assert try_examples(1).max_examples == FEW


def test_no_law_sets_a_number_of_its_own() -> None:
    found = []
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "max_examples":
                count = ast.literal_eval(node.value)
                if count > FEW:
                    found.append(f"{path.relative_to(TESTS)}:{node.value.lineno}: use try_examples({count})")
    assert [] == found
