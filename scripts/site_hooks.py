"""What MkDocs does to the pages of docs/ on the way to the site.

Pages of the project's root become pages of the site. A link to a file that the site does not have, such as a test,
becomes its path in words; a link to a page that does not exist stays, so that the strict build fails on it.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
ADDED_PAGES = {"README.md": "project.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Files of the root by their names on the site."""
FRAME_WORKER = "iframe-worker.js"
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_FILE = re.compile(r"^<!-- file (\S+) -->\n```(\w+)\n", re.MULTILINE)
_CELL = re.compile(r"<t[dh]\b.*?</t[dh]>", re.DOTALL)
_COMMENT = re.compile(r"^<!-- .*? -->\n", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the root, and the script by which the search works in pages that are opened from a folder."""
    from mkdocs.structure.files import File

    worker = (ROOT / "scripts" / FRAME_WORKER).read_text(encoding="utf-8")
    files.append(File.generated(config, f"assets/{FRAME_WORKER}", content=worker))
    for source, target in ADDED_PAGES.items():
        files.append(File.generated(config, target, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links that leave docs/, and make titles of the comments that name files; drop the other comments."""
    sources = {target: source for source, target in ADDED_PAGES.items()}
    here = page.file.src_uri
    source = sources.get(here, f"docs/{here}")
    markdown = _FILE.sub(r'```\2 title="\1"\n', markdown)
    return _COMMENT.sub("", _LINK.sub(lambda link: rewrite_link(link, source, here), markdown))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Show the bars in code in tables as they are typed: Markdown needs them escaped there."""
    return _CELL.sub(lambda cell: cell[0].replace(r"\|", "|"), html)


def rewrite_link(link: re.Match[str], source: str, here: str) -> str:
    """Return a Markdown link as it is on the site.

    `source` is the page's path from the root, `here` its path on the site.

    >>> rewrite_link(_LINK.search("[a](../CONTRIBUTING.md#recipes)"), "docs/architecture.md", "architecture.md")
    '[a](contributing.md#recipes)'
    >>> rewrite_link(_LINK.search("[a test](../tests/conftest.py)"), "docs/bad-inputs.md", "bad-inputs.md")
    'a test (`tests/conftest.py`)'
    """
    text, target, anchor = link[1], link[2], link[3] or ""
    if ":" in target:
        return link[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    if path in ADDED_PAGES:
        on_site = ADDED_PAGES[path]
    elif path.startswith("docs/") and path.endswith(".md"):
        on_site = path.removeprefix("docs/")
    elif (ROOT / path).exists():
        return f"{text} (`{path}`)"
    else:
        return link[0]
    return f"[{text}]({posixpath.relpath(on_site, posixpath.dirname(here) or '.')}{anchor})"
