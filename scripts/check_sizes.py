"""Fail where a file or a function is too long; the docstring of a function does not count."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("src", "tests", "benchmarks", "scripts", "examples")
FILE_LINES = 300
FUNCTION_LINES = 40
TEST_FUNCTION_LINES = 60

Function = ast.FunctionDef | ast.AsyncFunctionDef


def function_lines(function: Function) -> int:
    """Return the lines from `def` to the last one, less those of the docstring."""
    total = (function.end_lineno or function.lineno) - function.lineno + 1
    if ast.get_docstring(function, clean=False) is None:
        return total
    docstring = function.body[0]
    return total - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def sizes(source: str, path: str) -> Iterator[tuple[str, int, int]]:
    """Yield (place, lines, limit) of the file and of each of its functions; a place is `path` or `path:function`."""
    yield path, len(source.splitlines()), FILE_LINES
    limit = TEST_FUNCTION_LINES if path.startswith("tests/") else FUNCTION_LINES
    for node in ast.walk(ast.parse(source, path)):
        if isinstance(node, Function):
            yield f"{path}:{node.name}", function_lines(node), limit


def problems(sizes_found: list[tuple[str, int, int]], allowed: dict[str, int]) -> Iterator[str]:
    """Yield one sentence for each size above its limit and for each entry of the allow-list that is not needed."""
    unneeded = dict(allowed)
    for location, lines, limit in sizes_found:
        if lines > limit:
            unneeded.pop(location, None)
        if lines > max(limit, allowed.get(location, 0)):
            yield f"{location}: {lines} lines (expected at most {max(limit, allowed.get(location, 0))})"
    for location in unneeded:
        yield f"scripts/size_allow.toml: {location}: entry is not needed"


def main() -> int:
    """Check the project that this script belongs to; return the exit code."""
    root = Path(__file__).resolve().parent.parent
    entries = tomllib.loads((root / "scripts/size_allow.toml").read_text(encoding="utf-8")).get("allow", [])
    allowed: dict[str, int] = {}
    for entry in entries:
        if not entry["reason"].strip():
            raise SystemExit(f"scripts/size_allow.toml: {entry['path']}: an entry needs a reason")
        allowed[f"{entry['path']}:{entry['function']}" if "function" in entry else entry["path"]] = entry["lines"]
    measured = [
        size
        for folder in FOLDERS
        for file in sorted((root / folder).rglob("*.py"))
        for size in sizes(file.read_text(encoding="utf-8"), file.relative_to(root).as_posix())
    ]
    problem_texts = list(problems(measured, allowed))
    print("\n".join(problem_texts) if problem_texts else f"{len(measured)} files and functions are within their limits")
    return 1 if problem_texts else 0


if __name__ == "__main__":
    sys.exit(main())
