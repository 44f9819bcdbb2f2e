"""Differences between the text of a chunk in the index and that in the corpus which one chunk alone tells."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from msgspec import Struct

from assay.records.golden_set import CorpusChunk
from assay.records.observations import Chunk
from assay.text.tokens import tokenise_text

IndexDefectKind = Literal["parser", "chunking", "stale_index", "unclear"]


class IndexDefect(Struct, frozen=True):
    """What is wrong with the indexed text of a chunk: the part that caused it, the fact that shows it, and the other
    parts that would explain this fact."""

    kind: IndexDefectKind
    evidence: str
    also: tuple[Literal["parser", "chunking", "stale_index"], ...] = ()


def detect_by_order(name: str, expected_lines: list[list[str]], indexed: list[str]) -> IndexDefect | None:
    """Compare the order of words: a line of the corpus whose words stand apart was read wrongly, as by column."""
    text = f" {' '.join(indexed)} "
    for line in expected_lines:
        if f" {' '.join(line)} " not in text:
            return IndexDefect("parser", f"{name} has its words in another order: “{' '.join(line[:12])}” stand apart")
    return None


def detect_by_metadata(chunk: Chunk, corpus_chunk: CorpusChunk) -> IndexDefect | None:
    """Compare the reported metadata: more pages or sections, another kind, a lost section heading."""
    fields = chunk.metadata or {}
    section, pages, kind = fields.get("section"), fields.get("pages"), fields.get("kind")
    has_more_pages = isinstance(pages, (list, tuple)) and corpus_chunk.pages and set(pages) > set(corpus_chunk.pages)
    if has_more_pages or (section != corpus_chunk.section and contains_section(section, corpus_chunk.section)):
        return IndexDefect("chunking", f"{chunk.chunk_id} is indexed with more than its own section")
    if corpus_chunk.kind == "table" and isinstance(kind, str) and kind != "table":
        return IndexDefect("parser", f"{chunk.chunk_id} is a table and is indexed as {kind}")
    heading = corpus_chunk.section
    if heading and isinstance(section, str) and not set(tokenise_text(section)) & set(tokenise_text(heading)):
        return IndexDefect("parser", f"{chunk.chunk_id} has lost its heading {heading!r}")
    return None


def contains_section(section: Any, name: str | None) -> bool:
    """Return whether a reported section has the name of another."""
    return isinstance(section, str) and bool(name) and str(name) in section


def is_cut_word(word: str, lost: Counter[str]) -> bool:
    """Whether a word is the beginning of a longer one that is lost."""
    return any(len(word) < len(whole) and whole.startswith(word) for whole in lost)


def split_lines(text: str | None) -> list[list[str]]:
    """Return the words of each line that has any."""
    lines = [tokenise_text(line) for line in (text or "").splitlines()]
    return [words for words in lines if words]


def find_at_ends(part: list[str], words: list[str]) -> int | None:
    """Return the index at which `part` starts if it is the beginning or the end of `words`, else None."""
    if part == words[: len(part)]:
        return 0
    return len(words) - len(part) if part == words[len(words) - len(part) :] else None
