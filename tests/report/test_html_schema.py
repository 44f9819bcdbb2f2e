"""The islands of the HTML report follow their published schema, and the types of the page are generated from it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.report.html_islands import document, islands
from tests.report.html_world import world
from tests.report.schema_check import load_schema, violations

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = load_schema("html-page")


def check_island(name: str, content: Any) -> list[str]:
    """Return the violations of one island; `scores-0` and `detail-0` have the schemas `scores` and `detail`."""
    return violations(content, SCHEMA["properties"][name.partition("-")[0]], SCHEMA, name)


@pytest.mark.parametrize("show_forbidden", [False, True])
def test_every_island_follows_the_schema(show_forbidden: bool) -> None:
    contents = islands(document(world(("apple", "pear", "plum", "cherry"), show_forbidden=show_forbidden)))
    assert {"report", "rows", "scores", "slices", "detail"} == {name.partition("-")[0] for name in contents}
    for name, content in contents.items():
        assert [] == check_island(name, content)


def test_the_schema_refuses_an_unknown_and_a_missing_key() -> None:
    rows = islands(document(world(("apple",))))["rows"]
    assert ["rows: extra is not allowed"] == check_island("rows", {**rows, "extra": 1})
    del rows["ids"]
    assert ["rows: ids is missing"] == check_island("rows", rows)


def test_the_types_of_the_page_are_generated_from_the_schema() -> None:
    command = [sys.executable, str(ROOT / "scripts/ui_types.py"), "--check"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 0 == result.returncode, result.stderr
