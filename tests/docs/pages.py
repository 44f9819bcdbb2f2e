"""The code blocks of the documentation's pages, and the files that they tell the reader to write."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
WALKTHROUGHS = (
    "docs/tutorial.md",
    "docs/coming-from.md",
    "docs/how-to/golden-set.md",
    "docs/how-to/history.md",
    "docs/how-to/production-week.md",
)
"""Pages whose commands are run one after another, with the files that they show."""
PAGES = (
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("README.md")),
)
_BLOCK = re.compile(r"^(?:<!-- (?P<mark>[^>]*?) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


class CodeBlock(NamedTuple):
    """A fenced block: the words of the comment above it (empty without one), its language and its text."""

    mark: tuple[str, ...]
    kind: str
    text: str


def iter_blocks(page: Path) -> Iterator[CodeBlock]:
    """Yield the fenced blocks of a page in order."""
    for match in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield CodeBlock(tuple((match["mark"] or "").split()), match["kind"], match["text"])


def iter_commands(text: str) -> Iterator[list[str]]:
    """Yield the calls of `assay` in a shell block, as words; comments and other commands are left out."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.split()[:1] == ["assay"]:
            yield shlex.split(line, comments=True)[1:]


def write_files(page: Path, folder: Path) -> None:
    """Write the blocks marked `<!-- file NAME -->` into a folder."""
    for block in iter_blocks(page):
        if block.mark[:1] == ("file",):
            (folder / block.mark[1]).write_text(block.text, encoding="utf-8")
