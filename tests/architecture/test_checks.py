"""The checks in scripts/ find the problems that they look for."""

from __future__ import annotations

from pathlib import Path

from scripts.check_docs import broken_links
from scripts.check_sizes import problems, sizes

LONG_FUNCTION = "def f():\n" + '    """One.\n\n    Two.\n    """\n' + "    x = 1\n" * 41


def test_function_is_measured_without_its_docstring() -> None:
    assert [("src/a.py", 46, 300), ("src/a.py:f", 42, 40)] == list(sizes(LONG_FUNCTION, "src/a.py"))


def test_limit_of_test_functions_is_higher() -> None:
    assert ("tests/a.py:f", 42, 60) in list(sizes(LONG_FUNCTION, "tests/a.py"))


def test_size_above_its_limit_is_a_problem() -> None:
    assert ["a.py: 301 lines (expected at most 300)"] == list(problems([("a.py", 301, 300), ("b.py", 300, 300)], {}))


def test_allowed_size_has_a_limit_too() -> None:
    assert [] == list(problems([("a.py", 310, 300)], {"a.py": 310}))
    assert ["a.py: 311 lines (expected at most 310)"] == list(problems([("a.py", 311, 300)], {"a.py": 310}))


def test_entry_that_is_not_needed_is_a_problem() -> None:
    unneeded = list(problems([("a.py", 300, 300)], {"a.py": 310, "gone.py": 400}))
    assert [f"scripts/size_allow.toml: {name}: entry is not needed" for name in ("a.py", "gone.py")] == unneeded


def test_broken_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One heading\n[a](page.md#one-heading) [b](#none) [c](gone.md) [d](mailto:x) `[e](code.md)`\n"
        "```\n[f](code.md)\n# not a heading\n```\n[g](page.md#not-a-heading)\n",
        encoding="utf-8",
    )
    expected = ["page.md: #none: no such heading", "page.md: gone.md: no such file"]
    assert [*expected, "page.md: page.md#not-a-heading: no such heading"] == list(broken_links(page, tmp_path))
