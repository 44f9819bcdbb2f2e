"""Turns an HTML page into Markdown: headings, paragraphs, lists, tables, code; scripts and navigation are left out."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_SKIPPED = frozenset({"script", "style", "noscript", "template", "nav", "svg", "form", "button", "aside", "footer"})
_VOID = frozenset(
    {"br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr"}
)
_BLOCKS = frozenset({"p", "div", "section", "article", "main", "ul", "ol", "blockquote", "dl", "figure", "header"})
_ITEM = re.compile(r"(?:-|\d+\.) ")
META_PREFIX = "assay:"
META_FIELDS = (
    *("document", "version", "title", "tenant", "roles", "valid_from", "valid_to", "position", "position_scope"),
)
"""What a meta element may say of a page, with the prefix or without."""


def convert_html(page: str) -> tuple[str, dict[str, str]]:
    """Return the text of a page as Markdown, and what its title and its meta elements (`<meta name="roles" …>`) say.

    >>> convert_html("<title>Leave</title><h1>Leave</h1><p>12 <b>days</b>.</p><script>x</script>")
    ('# Leave\\n\\n12 days.', {'title': 'Leave'})
    """
    parser = _MarkdownWriter()
    parser.feed(page)
    parser.close()
    return parser.finish(), parser.fields


class _MarkdownWriter(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.fields: dict[str, str] = {}
        self._blocks: list[str] = []
        self._words: list[str] = []
        self._mark = ""
        self._skipped = 0
        self._in_title = self._in_code = False
        self._lists: list[int | None] = []
        self._row: list[str] | None = None
        self._rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a block, a list item or a cell."""
        if tag == "meta":
            self._read_meta(dict(attrs))
        if tag in _SKIPPED and tag not in _VOID:
            self._skipped += 1
        if self._skipped:
            return
        if tag == "title":
            self._in_title = True
        elif tag == "pre":
            self._end_block()
            self._in_code = True
        elif tag == "br":
            self._words.append("\n" if self._in_code else " ")
        elif tag in ("ul", "ol"):
            self._end_block()
            self._lists.append(0 if tag == "ol" else None)
        elif tag == "tr":
            self._end_block()
            self._row = []
        elif tag in ("td", "th"):
            self._words = []
        elif tag == "li" or tag in _BLOCKS or _heading_level(tag):
            self._end_block()
            if tag == "li":
                self._mark = self._mark_item()  # a paragraph inside of it takes the mark

    def handle_endtag(self, tag: str) -> None:
        """Close a block, a list item, a cell or a table."""
        if tag in _SKIPPED:
            self._skipped = max(0, self._skipped - 1)
            return
        if self._skipped:
            return
        level = _heading_level(tag)
        if tag == "title":
            self._in_title = False
        elif level:
            self._end_block("#" * level + " ")
        elif tag == "li":
            self._end_block()
            self._mark = ""
        elif tag == "pre":
            self._end_code()
        elif tag in ("td", "th") and self._row is not None:
            self._row.append(self._take_words().replace("|", "\\|"))
        elif tag == "tr" and self._row is not None:
            self._rows.append(self._row)
            self._row = None
        elif tag == "table":
            self._end_table()
        elif tag in ("ul", "ol") and self._lists:
            self._end_block()
            self._lists.pop()
        elif tag in _BLOCKS:
            self._end_block()

    def handle_data(self, data: str) -> None:
        """Keep the text of what is not skipped."""
        if self._in_title:
            self.fields["title"] = (self.fields.get("title", "") + data).strip()
        elif not self._skipped:
            self._words.append(data)

    def finish(self) -> str:
        """Return the Markdown; what was still open is closed."""
        self._end_table()
        self._end_block()
        parts = [("\n" if _ITEM.match(block) else "\n\n") + block for block in self._blocks]
        return "".join(parts).lstrip("\n")

    def _mark_item(self) -> str:
        """Return the mark of the next list item: its number in a numbered list, which its heading may name as steps."""
        number = self._lists[-1] if self._lists else None
        if number is None:
            return "- "
        self._lists[-1] = number + 1
        return f"{number + 1}. "

    def _read_meta(self, attributes: dict[str, str | None]) -> None:
        name = (attributes.get("name") or "").strip().lower()
        if name:
            name = name.removeprefix(META_PREFIX) if name.removeprefix(META_PREFIX) in META_FIELDS else name
            self.fields[name] = attributes.get("content") or ""

    def _take_words(self) -> str:
        text = " ".join("".join(self._words).split())
        self._words = []
        return text

    def _end_block(self, mark: str = "") -> None:
        if self._row is not None or self._in_code:
            return
        text = self._take_words()
        if text:
            self._blocks.append((mark or self._mark) + text)
            self._mark = ""

    def _end_code(self) -> None:
        code = "".join(self._words).strip("\n")
        self._words, self._in_code = [], False
        if code:
            self._blocks.append(f"```\n{code}\n```")

    def _end_table(self) -> None:
        rows = [row for row in self._rows if any(row)]
        self._rows = []
        if not rows:
            return
        width = max(map(len, rows))
        lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in rows]
        self._blocks.append("\n".join([lines[0], "|" + "---|" * width, *lines[1:]]))


def _heading_level(tag: str) -> int:
    return int(tag[1]) if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456" else 0
