"""Write docs/bad-inputs.md from tests/faults/bad_inputs.yaml, with a link to each test; `--check` only compares."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests/faults/bad_inputs.yaml"
PAGE = ROOT / "docs/bad-inputs.md"
INTRODUCTION = """\
# Bad inputs

<!-- Written by scripts/bad_inputs.py from tests/faults/bad_inputs.yaml; edit that, then run it again. -->

What happens with inputs that are wrong, odd or hostile, and the tests that show it. *Refused* means: exit code 2 and a
message with place, value and what was expected; all faults come at once, more than three of one kind in one line with a
count, up to fifty lines; nothing is scored.
"""


def find_tests() -> dict[str, list[Path]]:
    """Return the files that define each test function, by its name."""
    files: dict[str, list[Path]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                files.setdefault(node.name, []).append(path)
    return files


def load_table() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each part of the table."""
    table: dict[str, list[dict[str, Any]]] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return table


def find_problems() -> list[str]:
    """Return what is wrong with the table: rows without a test, and names that are not those of exactly one test."""
    tests = find_tests()
    problems = []
    for rows in load_table().values():
        for row in rows:
            counts = {name: len(tests.get(name, [])) for name in row["tests"]}
            problems += [f"{name}: {count} tests (expected 1)" for name, count in counts.items() if count != 1]
            if not row["tests"]:
                problems.append(f"{row['input']}: no test")
    return problems


def render_page() -> str:
    """Return the page."""
    return "".join(_render_lines())


def _render_lines() -> Iterator[str]:
    tests = find_tests()
    yield INTRODUCTION
    number = 0
    for part, rows in load_table().items():
        yield f"\n## {part}\n\n| No. | Input | What happens | Tests |\n| --- | --- | --- | --- |\n"
        for row in rows:
            number += 1
            links = ", ".join(_link_test(name, tests[name][0]) for name in row["tests"])
            yield f"| {number} | {row['input']} | {row['outcome']} | {links} |\n"


def _link_test(name: str, path: Path) -> str:
    return f"[{name.removeprefix('test_').replace('_', ' ')}](../{path.relative_to(ROOT).as_posix()})"


def main() -> int:
    """Write the page, or compare it; exit with 1 if the table is wrong or the page is not up to date."""
    problems = find_problems()
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    if "--check" in sys.argv[1:]:
        return int(PAGE.read_text(encoding="utf-8") != render_page())
    PAGE.write_text(render_page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
