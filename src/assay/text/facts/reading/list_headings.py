"""The heading of a list: the line or words before a colon under which an answer puts what it names.

Markup is removed before, so items are told by their lines: those after a line with a colon at its end, as far as no
empty line follows an item.
"""

from __future__ import annotations

from assay.text.facts.reading.read_text import CLAUSE_REACH, ReadText

_COLON = ":"


def find_list_heading(text: ReadText, position: int) -> tuple[int, int] | None:
    r"""Return where the words stand under which a text lists what is at a position, None if it is in no list.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> text = read_text("Bring these:\n- a towel\n- shoes\n\nThe pool opens at 9.")
    >>> find_list_heading(text, text.plain.index("shoes")), find_list_heading(text, text.plain.index("pool"))
    ((0, 12), None)
    """
    if _COLON not in text.plain:
        return None
    lined, low = text.lined, max(0, position - CLAUSE_REACH)
    start = lined.rfind("\n", low, position) + 1
    colon = lined.rfind(f"{_COLON} ", max(start, low), position)
    if colon >= 0:
        return text.clause_at(colon).sentence_start, colon + 1
    while start > low:
        end = start - 1
        start = lined.rfind("\n", low, end) + 1
        line = lined[start:end].rstrip()
        if line.endswith(_COLON):
            return start, start + len(line)
        if not line and not lined[low:end].rstrip().endswith(_COLON):
            return None
    return None


def list_items(text: ReadText, heading_end: int) -> list[tuple[int, int]]:
    r"""Return where the lines below a heading are, until an empty line or another heading; none after an inline one.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> text = read_text("Bring these:\n- a towel\n- shoes\n\nThe pool opens at 9.")
    >>> [text.plain[start:end] for start, end in list_items(text, 12)]
    ['a towel', 'shoes']
    """
    items: list[tuple[int, int]] = []
    lined, start = text.lined, heading_end
    high = min(len(lined), heading_end + CLAUSE_REACH)
    while start < high and lined[start] in "\n ":
        start += 1
    if "\n" not in lined[heading_end:start]:
        return items
    while start < high:
        end = lined.find("\n", start)
        end = len(lined) if end < 0 else end
        if not lined[start:end].strip() or lined[start:end].rstrip().endswith(_COLON):
            break
        items.append((start, end))
        start = end + 1
    return items
