"""Cut the handbook's documents into the chunks of `corpus/chunks.jsonl`, the operations log into `operations.jsonl`.

One chunk per heading: from the heading to just before the next one, in document order. The same documents always
give the same bytes, so a chunk id (`document:version:NNN`) stays good until its document changes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
DOCUMENTS = HERE / "docs"
CORPUS = HERE / "corpus"
OPERATIONS = "operations_log."
"""Documents whose name starts so are a corpus of their own."""

INDEX_VERSION = "handbook-2026-03"
CHUNKING_STRATEGY = "markdown-headings-1"
PAGE_CHARACTERS = 1800
"""Markdown has no pages; this many characters of the body count as one."""

HEADING = re.compile(r"^(#{1,3}) (.+)$", re.MULTILINE)


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return the fields between the two `---` lines, and the body after them."""
    _, fields, body = text.split("---\n", 2)
    return yaml.safe_load(fields), body


def cut(body: str) -> Iterator[tuple[int, str, str]]:
    """Yield (offset in the body, section, text) for each heading; no line of a code block may look like a heading.

    >>> list(cut("# Leave\\n\\nIntro.\\n\\n## Days\\n\\nTwelve.\\n"))
    [(0, 'Leave', '# Leave\\n\\nIntro.'), (17, 'Days', '## Days\\n\\nTwelve.')]
    """
    headings = list(HEADING.finditer(body))
    ends = [heading.start() for heading in headings[1:]] + [len(body)]
    path: list[str] = []
    for heading, end in zip(headings, ends, strict=True):
        level = len(heading[1])
        # The title of the document is not repeated in front of each section.
        path = [*path[: max(level - 2, 0)], heading[2]]
        yield heading.start(), " > ".join(path), body[heading.start() : end].strip()


def kind_of(text: str) -> str:
    """Return `footnote`, `code`, `table` or `prose`, the first that the chunk holds.

    >>> kind_of("## Notes\\n\\n[^1]: A note.")
    'footnote'
    """
    lines = text.splitlines()
    for kind, mark in (("footnote", "[^"), ("code", "```"), ("table", "|")):
        if any(line.startswith(mark) for line in lines):
            return kind
    return "prose"


def chunks_of(document: str) -> Iterator[dict[str, Any]]:
    """Yield the chunks of one document, front matter included in `document`."""
    meta, body = front_matter(document)
    for number, (offset, section, text) in enumerate(cut(body), start=1):
        first, last = offset // PAGE_CHARACTERS + 1, (offset + len(text) - 1) // PAGE_CHARACTERS + 1
        chunk = {
            "chunk_id": f"{meta['document']}:{meta['version']}:{number:03d}",
            "text": text,
            "text_hash": "sha256:" + hashlib.sha256(text.encode()).hexdigest(),
            "document": meta["document"],
            "version": meta["version"],
            "section": section,
            "pages": list(range(first, last + 1)),
            "tenant": meta["tenant"],
            "roles": meta["roles"],
            "valid_from": meta["valid_from"],
            "kind": kind_of(text),
            "index_version": INDEX_VERSION,
            "chunking_strategy": CHUNKING_STRATEGY,
        }
        if "valid_to" in meta:
            chunk["valid_to"] = meta["valid_to"]
        yield chunk


def build(operations: bool = False) -> str:
    """Return the whole of one corpus file: documents by file name, chunks in document order."""
    paths = [path for path in sorted(DOCUMENTS.glob("*.md")) if path.name.startswith(OPERATIONS) == operations]
    chunks = (chunk for path in paths for chunk in chunks_of(path.read_text(encoding="utf-8")))
    return "".join(json.dumps(chunk, ensure_ascii=False) + "\n" for chunk in chunks)


if __name__ == "__main__":
    CORPUS.mkdir(exist_ok=True)
    (CORPUS / "chunks.jsonl").write_text(build(), encoding="utf-8", newline="\n")
    (CORPUS / "operations.jsonl").write_text(build(operations=True), encoding="utf-8", newline="\n")
