"""Everyday words of which one may stand for another in an answer: "kids" are children, and "necessary" is needed.

A group holds the forms that are written, folded. Words that mean the same only in some sentences are in none, and
neither are opposites: what an answer denies is told by its negations.
"""

from __future__ import annotations

from assay.text.facts.cues.phrase_cues import WORDS_OF_ONE_SENSE
from assay.text.facts.reading.read_text import ReadText

_GROUP_OF_WORD = {word: frozenset(group.split()) for group in WORDS_OF_ONE_SENSE for word in group.split()}


def find_same_sense(text: ReadText, folded: str) -> list[int]:
    """Return the indices of the words of a text that may stand for a folded word; empty for one of no group.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> find_same_sense(read_text("For kids under six."), "children"), find_same_sense(read_text("For kids."), "dogs")
    ([1], [])
    """
    group = _GROUP_OF_WORD.get(folded)
    return [] if group is None else [index for index, own in enumerate(text.words) if own.folded in group]
