"""The statements of a text: its sentences and table rows, each with the heading and the header cells over it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from assay.text.segmentation import BlockKind, find_cell_spans, segment_block_sentences, segment_blocks
from assay.text.text_cache import cache_by_text

# A label or tag ends where another one begins, so that one without an end is read once.
_MARKUP = re.compile(r"\*\*|__|`|\[\^[^\][]*+\]:?|<[^<>]*+>")


class Statement(NamedTuple):
    """One sentence, list item or table row: its plain text, its span, the heading over it, and the cells of a row."""

    kind: BlockKind
    text: str
    start: int
    end: int
    heading: str = ""
    lead: str = ""
    header: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()

    @property
    def context(self) -> str:
        """The heading, the sentence that introduces a list, and the header cells: words that the text leaves out."""
        return "\n".join(filter(None, (self.heading, self.lead, " | ".join(self.header))))


@cache_by_text(maxsize=4096, longest=4000)  # a chunk of a corpus is compared with many other texts
def list_statements(text: str) -> tuple[Statement, ...]:
    """Return the statements of a text in order; headings and code are none.

    >>> [(s.text, s.context) for s in list_statements("# Leave\\n\\nStaff get 12 days. Ask HR.")]
    [('Staff get 12 days.', 'Leave'), ('Ask HR.', 'Leave')]
    >>> [(s.cells, s.header) for s in list_statements("| a | b |\\n|---|---|\\n| 1 | 2 |")]
    [(('1', '2'), ('a', 'b'))]
    """
    return tuple(_iter_statements(text))


def _iter_statements(text: str) -> Iterator[Statement]:
    heading = lead = ""
    for block in segment_blocks(text):
        if block.kind == "heading":
            heading, lead = strip_markup(text[block.start : block.end]), ""
        elif block.kind == "row":
            cells = tuple(strip_markup(text[a:b]) for a, b in find_cell_spans(text, block.start, block.end))
            header = tuple(strip_markup(text[a:b]) for a, b in block.header_cells)
            plain = strip_markup(text[block.start : block.end])
            yield Statement("row", plain, block.start, block.end, heading, "", header, cells)
        elif block.kind in ("text", "item"):
            for start, end in segment_block_sentences(text, block):
                plain = strip_markup(text[start:end])
                yield Statement(block.kind, plain, start, end, heading, lead if block.kind == "item" else "")
            if block.kind == "text":
                lead = plain if (plain := strip_markup(text[block.start : block.end])).endswith(":") else ""


def strip_markup(text: str) -> str:
    """Return a text without marks of emphasis, code, footnotes and HTML, its whitespace collapsed.

    >>> strip_markup("**12 days**[^1] of `PTO`")
    '12 days of PTO'
    """
    return " ".join(_MARKUP.sub("", text).split())
