"""Fail if a relative link of a Markdown page leads to no file or to no heading."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(r"\[[^\]]*\]\(<?([^)\s>]+)[^)]*\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`[^`\n]+`")


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings as code hosts make them: lower case, words joined by hyphens.

    >>> sorted(anchors("# Exit codes\\n## What `assay` does, and why"))
    ['exit-codes', 'what-assay-does-and-why']
    """
    headings = (match[1] for match in HEADING.finditer(FENCED.sub("", text)))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path, root: Path) -> Iterator[str]:
    """Yield one sentence for each relative link of `page` that leads nowhere."""
    for target in LINK.findall(INLINE.sub("", FENCED.sub("", page.read_text(encoding="utf-8")))):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        file = page.parent / path if path else page
        if not file.exists():
            yield f"{page.relative_to(root)}: {target}: no such file"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
            yield f"{page.relative_to(root)}: {target}: no such heading"


def main() -> int:
    """Check the pages at the top and those under docs/ and examples/; return the exit code."""
    root = Path(__file__).resolve().parent.parent
    pages = [
        *sorted(root.glob("*.md")),
        *sorted((root / "docs").rglob("*.md")),
        *sorted((root / "examples").rglob("*.md")),
    ]
    problems = [problem for page in pages for problem in broken_links(page, root)]
    print("\n".join(problems) if problems else f"the links of {len(pages)} pages are valid")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
