"""Everyday words of which one may stand for another in an answer: "kids" are children, and "necessary" is needed.

Which ones `sense_cues` says.
"""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import list_words
from assay.text.facts.cues.sense_cues import WORDS_OF_ONE_SENSE
from assay.text.facts.reading.read_text import ReadText


def _list_senses() -> dict[str, frozenset[str]]:
    """Return the words that may stand for each word."""
    senses: dict[str, frozenset[str]] = {}
    for spelled in WORDS_OF_ONE_SENSE:
        group = list_words(spelled)
        for word in group:
            senses[word] = senses[word] | group if word in senses else group
    return senses


_GROUP_OF_WORD = _list_senses()


def find_same_sense(text: ReadText, folded: str) -> list[int]:
    """Return the indices of the words of a text that may stand for a folded word; empty for one of no group.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> find_same_sense(read_text("For kids under six."), "children"), find_same_sense(read_text("For kids."), "dogs")
    ([1], [])
    """
    group = _GROUP_OF_WORD.get(folded)
    return [] if group is None else [index for index, own in enumerate(text.words) if own.folded in group]
