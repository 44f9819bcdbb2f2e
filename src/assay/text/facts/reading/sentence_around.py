"""Where words around a value are looked for: so many characters before it, or in its sentence."""

from __future__ import annotations

from assay.text.facts.reading.read_text import ReadText, narrow_clause

REACH_BEFORE = 24
"""Characters before a value in which words for what it counts per, and when it begins, are searched."""


def get_sentence(text: ReadText, position: int) -> tuple[int, int]:
    """Return the first and the last position of the sentence that holds a position."""
    clause = narrow_clause(text.clause_at(position), position)
    return clause.sentence_start, clause.sentence_end
