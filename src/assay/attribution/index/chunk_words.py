"""The words of chunks, the runs by which a piece of one is recognised, and the names that splitters give to pieces."""

from __future__ import annotations

from assay.records.golden_set import CorpusChunk
from assay.text.tokens import tokenise_text
from assay.text.word_runs import list_word_runs

_GRAM = 5
"""The length in words of the runs by which a piece of a chunk is recognised."""


def split_words(chunk: CorpusChunk) -> list[str]:
    """Return the words of a chunk of the corpus, none if its text is unknown."""
    return tokenise_text(chunk.text or "")


def list_runs(words: list[str]) -> list[tuple[str, ...]]:
    """Return the runs of `_GRAM` words, in order."""
    return list_word_runs(words, _GRAM)


def is_piece_name(name: str, whole: str) -> bool:
    """Whether an id names a piece of a chunk, as splitters do: the id of the whole, and a mark that does not extend it.

    >>> [is_piece_name(name, "a:01") for name in ("a:01#2", "a:01b", "a:012", "a:01")]
    [True, True, False, False]
    """
    mark = name[len(whole) :]
    if not mark or not whole or not name.startswith(whole):
        return False
    return not mark[0].isalnum() or (whole[-1].isdigit() and mark[0].isalpha())
