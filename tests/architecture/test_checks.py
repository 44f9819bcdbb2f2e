"""The checks in scripts/ find the problems that they look for."""

from __future__ import annotations

from pathlib import Path

from scripts.check_docs import broken_links


def test_broken_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One heading\n[a](page.md#one-heading) [b](#none) [c](gone.md) [d](mailto:x) `[e](code.md)`\n"
        "```\n[f](code.md)\n# not a heading\n```\n[g](page.md#not-a-heading)\n",
        encoding="utf-8",
    )
    expected = ["page.md: #none: no such heading", "page.md: gone.md: no such file"]
    assert [*expected, "page.md: page.md#not-a-heading: no such heading"] == list(broken_links(page, tmp_path))
