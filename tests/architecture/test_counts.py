"""Counts in messages are written by one function, so that nothing says "1 cases"."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "assay"
NOUNS = frozenset(
    "anchors answers calls candidates cases chunks citations claims clusters configurations controls days documents "
    "drafts errors facts faults findings grades incidents items labels leaks lines links metrics nuggets observations "
    "pairs passages people problems questions rankings records repeats requests retries reviews rows rules runs "
    "samples scores sections stages systems traces units users variants verdicts votes weeks".split()
)
ROOMS_WITHOUT_RECORDS = ("text", "stats")


def find_plain_counts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the words of each count that stands before a plural noun in an f-string.

    A constant, a number with a format of its own, and the left part of "x of y" are none.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, text in zip(node.values, node.values[1:], strict=False):
            if not isinstance(value, ast.FormattedValue) or value.format_spec is not None:
                continue
            if not (isinstance(text, ast.Constant) and str(text.value).startswith(" ")):
                continue
            noun = str(text.value)[1:].split(" ")[0].rstrip(".,;:)")
            expression = ast.unparse(value.value)
            if noun in NOUNS and not expression.lstrip("_").isupper() and "format_count" not in expression:
                yield node.lineno, f"{{{expression}}} {noun}"


def list_sources() -> list[Path]:
    """Return the files in which counts are looked for: not those of rooms that take strings and arrays alone."""
    return [
        path for path in sorted(SOURCE.rglob("*.py")) if path.relative_to(SOURCE).parts[0] not in ROOMS_WITHOUT_RECORDS
    ]


def test_a_plain_count_is_noticed() -> None:
    tree = ast.parse('f"{count} cases, {len(rows)} rows; {MOST} lines, {share:.0%} runs, {name} says"')
    assert [words for _, words in find_plain_counts(tree)] == ["{count} cases", "{len(rows)} rows"]


@pytest.mark.parametrize("path", list_sources(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_counts_before_nouns_are_written_by_format_count(path: Path) -> None:
    plain = list(find_plain_counts(ast.parse(path.read_text(encoding="utf-8"))))
    assert not plain, f"use format_count of assay.records.counts: {plain}"
