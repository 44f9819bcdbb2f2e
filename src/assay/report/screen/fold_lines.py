"""Cuts lines for the screen so that the remedy at their end stays."""

from __future__ import annotations

import textwrap

from assay.text.escaping import shorten_at_word
from assay.text.pattern_cache import compile_pattern


def shorten_before_remedy(line: str, width: int) -> str:
    """Return a line cut before the remedy at its end, which stays unless it would take the place of the sentence: of a
    sentence that is followed by names only the names are cut."""
    remedy = _REMEDY.search(line)
    if len(line) <= width or remedy is None:
        return shorten_at_word(line, width)
    sentence, colon, names = line[: remedy.start()].rpartition(": ")
    room = width - len(remedy[0])
    if room < len(sentence if colon else names) and (colon or len(names) <= width - len(_CUT)):
        return shorten_at_word(line, width)
    return shorten_at_word(line[: remedy.start()], room) + remedy[0]


_CUT = ": …"


def fold_note(note: str, width: int, suffix: str, most_lines: int) -> list[str]:
    """Return a note in at most so many lines; if it is too long, its remedy comes first and the rest is cut."""
    lines = textwrap.wrap(f"note: {note}{suffix}", width, break_on_hyphens=False)
    if len(lines) <= most_lines:
        return lines
    remedy = _REMEDY.search(note)
    if remedy is not None and not remedy[1].startswith("got ") and FOUND_NOTHING not in note:  # these explain
        note = f"{remedy[1]}; {note[: remedy.start()]}"
        lines = textwrap.wrap(f"note: {note}", width, break_on_hyphens=False)
    room = width - len(suffix)
    return [*lines[: most_lines - 1], shorten_at_word(" ".join(lines[most_lines - 1 :]), room) + suffix]


FOUND_NOTHING = ": nothing at "
"""What stands before the parentheses that say what is there instead."""
_REMEDY = compile_pattern(r" \(([^()]*(?:\([^()]*\)[^()]*)*)\)$")
"""What a note says to do: the parentheses at its end."""
