"""The page for people who come from other tools names metrics that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.metrics.catalog import find_metric, parse_metric

PAGES = sorted(Path("docs").glob("coming-from*.md"))
NAME = re.compile(r"`([^`]+)`")
MEMBERS = frozenset(("must_have",))
"""Members of a case that a cell names beside the metric which reads them."""


def list_metric_names(page: Path) -> list[str]:
    """Return the names in backticks of the column *Assay* of each table, without commands."""
    names: list[str] = []
    column = None
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            column = None
        elif column is None:
            column = cells.index("Assay") if "Assay" in cells else None
        elif column < len(cells):
            names += NAME.findall(cells[column])
    return [name for name in names if name not in MEMBERS and not name.startswith("assay ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_metric_that_a_table_of_equivalents_names_exists(page: Path) -> None:
    names = list_metric_names(page)
    assert len(names) > 20
    for name in names:
        assert find_metric(parse_metric(name)).name == parse_metric(name).base, name
