"""Parsing the handbook's documents and cutting them into chunks.

Without a fault the chunks are exactly those of `corpus/chunks.jsonl` and `corpus/operations.jsonl`.
"""

from __future__ import annotations

from pathlib import Path

from examples.handbook.app.records import Chunk, Document
from examples.handbook.build_corpus import DOCUMENTS, PAGE_CHARACTERS, cut, front_matter, kind_of


def read_texts(folder: Path = DOCUMENTS) -> list[str]:
    """Return the text of every document, by file name."""
    return [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))]


def parse(text: str) -> Document:
    """Return the document: what it says and what its front matter says about it."""
    meta, body = front_matter(text)
    return Document(
        name=meta["document"],
        version=meta["version"],
        tenant=meta["tenant"],
        roles=tuple(meta["roles"]),
        valid_from=meta["valid_from"],
        valid_to=meta.get("valid_to"),
        body=body,
    )


def chunk(document: Document) -> list[Chunk]:
    """Return one chunk for each heading of the document, in order."""
    return [
        make_chunk(document, f"{number:03d}", section, text, offset)
        for number, (offset, section, text) in enumerate(cut(document.body), start=1)
    ]


def make_chunk(document: Document, number: str, section: str, text: str, offset: int) -> Chunk:
    """Return one chunk of the document; `offset` is where its text starts in the body."""
    first, last = offset // PAGE_CHARACTERS + 1, (offset + max(len(text), 1) - 1) // PAGE_CHARACTERS + 1
    return Chunk(
        chunk_id=f"{document.name}:{document.version}:{number}",
        text=text,
        document=document.name,
        version=document.version,
        section=section,
        pages=tuple(range(first, last + 1)),
        tenant=document.tenant,
        roles=document.roles,
        valid_from=document.valid_from,
        valid_to=document.valid_to,
        kind=kind_of(text),
    )
