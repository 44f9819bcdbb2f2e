"""Cuts Markdown at its headings into chunks with stable ids; tables, lists and code stay whole where they fit.

An id is made of the document, its version and the words of the section, not of a running number, so that a section that
is added or removed elsewhere changes no other id.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from assay.records.digest import compute_text_digest
from assay.records.golden_set import CorpusChunk
from assay.text.normalisation import fold_text


class Document(Struct, frozen=True):
    """One document: `text` is Markdown, in which a form feed ends a page; `line` is the line its text begins at.

    `fields` are those of its front matter: `document`, `version`, `title`, `tenant`, `roles`, `valid_from`, `valid_to`,
    `position`, `position_scope`; any other field goes to the metadata of its chunks.
    """

    path: str
    name: str
    text: str
    fields: dict[str, Any] = {}
    line: int = 1


CHUNKING_STRATEGY = "headings-1"
MAX_CHUNK_CHARS = 2000
"""A section that is longer is cut between its paragraphs, lists and tables."""
MAX_SLUG_CHARS = 60

_HEADING_MARKS = re.compile(r" {0,3}(#{1,6})[ \t]++(?=.)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_KNOWN_FIELDS = frozenset(
    {"document", "version", "tenant", "roles", "valid_from", "valid_to", "position", "position_scope"}
)


class DocumentSection(NamedTuple):
    """The lines under one heading, the heading included, and the headings from the top of the document to it."""

    path: tuple[str, ...]
    text: str
    page: int


def chunk_document(document: Document, max_chars: int = MAX_CHUNK_CHARS) -> Iterator[CorpusChunk]:
    """Yield the chunks of a document in order. A section with no text but its heading is joined to the next one.

    >>> document = Document("leave.md", "leave", "# Leave\\n\\nTwelve days.\\n\\n## Sick leave\\n\\nThree days.\\n")
    >>> [(chunk.chunk_id, chunk.section) for chunk in chunk_document(document)]
    [('leave:leave', 'Leave'), ('leave:leave.sick-leave', 'Leave > Sick leave')]
    """
    fields = document.fields
    name, version = str(fields.get("document", document.name)), fields.get("version")
    prefix = f"{name}:{version}" if version is not None else name
    metadata = {key: value for key, value in fields.items() if key not in _KNOWN_FIELDS}
    used: Counter[str] = Counter()
    for section in _join_bare_headings(list(split_sections(document.text))):
        for part in split_long_section(section.text, max_chars):
            slug = make_slug(section.path) or "text"
            used[slug] += 1
            number = used[slug]
            text = part.replace("\f", "\n").strip()
            yield CorpusChunk(
                f"{prefix}:{slug}" if number == 1 else f"{prefix}:{slug}~{number}",
                text=text,
                text_hash=compute_text_digest(text),
                document=name,
                version=None if version is None else str(version),
                section=" > ".join(section.path) or None,
                pages=_list_pages(section.page, part, document.text),
                path=document.path,
                tenant=fields.get("tenant"),
                roles=tuple(fields.get("roles") or ()),
                position=fields.get("position"),
                position_scope=fields.get("position_scope"),
                valid_from=fields.get("valid_from"),
                valid_to=fields.get("valid_to"),
                kind=_find_block_kind(text),
                chunking_strategy=CHUNKING_STRATEGY,
                metadata=metadata,
            )


def split_sections(text: str) -> Iterator[DocumentSection]:
    """Yield the sections of a Markdown text; lines of code never count as headings. Blank sections are left out."""
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    fence, page = "", 1
    for line in [*text.split("\n"), None]:
        heading = read_heading(line) if line is not None and not fence else None
        if line is None or heading:
            if "".join(lines).strip():
                yield DocumentSection(tuple(title for _, title in path), "\n".join(lines), page)
            page += "".join(lines).count("\f")
            lines = []
        if line is None:
            break
        fence = _next_fence(line, fence)
        if heading:
            path = [(upper, title) for upper, title in path if upper < heading[0]] + [heading]
        lines.append(line)


def read_heading(line: str) -> tuple[int, str] | None:
    """Return the level and the title of a heading; None for another line.

    >>> read_heading("## Leave **policy** ##"), read_heading("#1 on the list")
    ((2, 'Leave **policy'), None)
    """
    marks = _HEADING_MARKS.match(line)
    if marks is None:
        return None
    rest = line[marks.end() :].rstrip(" \t")
    title = rest.rstrip("#").rstrip(" \t") or rest[:1]
    return len(marks[1]), title.strip("*_ ")


def _next_fence(line: str, fence: str) -> str:
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return match[1]
    closes = match[1][0] == fence[0] and len(match[1]) >= len(fence) and not line.strip(" `~")
    return "" if closes else fence


def _join_bare_headings(sections: Sequence[DocumentSection]) -> Iterator[DocumentSection]:
    """Yield the sections; one that is a heading and nothing else is put in front of the next one under it."""
    bare: list[DocumentSection] = []
    for section in sections:
        is_under = not bare or section.path[: len(bare[-1].path)] == bare[-1].path
        if bare and not is_under:
            yield from bare
            bare = []
        lines = [line for line in section.text.split("\n") if line.strip()]
        if len(lines) == 1 and read_heading(lines[0]):
            bare.append(section)
            continue
        if bare:
            text = "\n\n".join([item.text.strip() for item in bare] + [section.text])
            section = DocumentSection(section.path, text, bare[0].page)
            bare = []
        yield section
    yield from bare


def split_long_section(text: str, max_chars: int) -> list[str]:
    """Return the parts of a section, each at most `max_chars` long where its blocks allow; no table is cut.

    >>> split_long_section("one two\\n\\n| a |\\n|---|\\n| 1 |\\n\\nthree", 12)
    ['one two', '| a |\\n|---|\\n| 1 |', 'three']
    """
    parts: list[str] = []
    current = ""
    for block in _split_blocks(text):
        joined = f"{current}\n\n{block}" if current else block
        is_heading_alone = "\n" not in current and read_heading(current) is not None
        if current and len(joined) > max_chars and not is_heading_alone:
            parts.append(current)
            current = block
        else:
            current = joined
    return [*parts, current] if current else parts


def _split_blocks(text: str) -> Iterator[str]:
    """Yield the blocks between empty lines; code in fences is one block."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        fence = _next_fence(line, fence)
        if not line.strip() and not fence:
            if lines:
                yield "\n".join(lines)
            lines = []
        else:
            lines.append(line)
    if lines:
        yield "\n".join(lines)


def make_slug(path: Sequence[str]) -> str:
    """Return the words of a section's headings as a part of an id; numbers in front of a heading are left out.

    >>> make_slug(["Chính sách nghỉ phép", "2. Phép năm và PTO"])
    'chinh-sach-nghi-phep.phep-nam-va-pto'
    """
    slugs = []
    for title in path:
        words = re.findall(r"[^\W_]+", fold_text(re.sub(r"^[\d.]+[.)]?\s+", "", title)))
        slug = "-".join(words)[:MAX_SLUG_CHARS].strip("-")
        slugs.append(slug or "".join(f"u{ord(letter):x}" for letter in title[:4] if not letter.isspace()))
    return ".".join(filter(None, slugs))


def _list_pages(first: int, part: str, text: str) -> tuple[int, ...]:
    """Return the pages of a part; none for a document without page breaks."""
    if "\f" not in text:
        return ()
    return tuple(range(first, first + part.strip("\f").count("\f") + 1))


def _find_block_kind(text: str) -> str:
    lines = [line.strip() for line in text.split("\n")]
    if any(line.startswith(("```", "~~~")) for line in lines):
        return "code"
    return "table" if sum(line.startswith("|") for line in lines) > 1 else "prose"


def make_document_name(path: str) -> str:
    """Return the name of a document by its path in the folder: without its ending, in NFC.

    >>> make_document_name("hr/Leave policy.md")
    'hr/Leave policy'
    """
    return unicodedata.normalize("NFC", re.sub(r"\.[^./]+$", "", path))
