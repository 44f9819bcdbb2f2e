"""Splits a text into its runs of letters and digits, several times as fast as a regular expression does.

Nearly every folded text is Latin-1. There, a table of 256 bytes turns all other characters into spaces, and the text is
split at these, all in C; other texts are searched with the regular expression, which finds the same runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.text.pattern_cache import compile_pattern

_LATIN_1 = 256
_SPACE = 32
_AMBIGUOUS = ("--", "''", "-'", "'-")


def _make_table(kept: Iterable[str]) -> bytes:
    """Return a table that keeps letters, digits and the given marks, and makes every other character a space."""
    marks = frozenset(kept)
    return bytes(code if chr(code).isalnum() or chr(code) in marks else _SPACE for code in range(_LATIN_1))


_WORDS, _WORDS_AND_UNDERSCORES, _TOKENS = _make_table(""), _make_table("_"), _make_table("'-")
_WORD = compile_pattern(r"[^\W_]++")
_WORD_OR_UNDERSCORE = compile_pattern(r"\w+")
_TOKEN = compile_pattern(r"[^\W_]+(?:['-][^\W_]+)*")


def split_words(text: str) -> list[str]:
    """Return the runs of letters and digits.

    >>> split_words("it is 9.6 kwh_net, isn't it?")
    ['it', 'is', '9', '6', 'kwh', 'net', 'isn', 't', 'it']
    """
    return _split(text, _WORDS) or _WORD.findall(text)


def split_words_and_underscores(text: str) -> list[str]:
    """Return the runs of letters, digits and underscores.

    >>> split_words_and_underscores("set max_age, then")
    ['set', 'max_age', 'then']
    """
    return _split(text, _WORDS_AND_UNDERSCORES) or _WORD_OR_UNDERSCORE.findall(text)


def split_tokens(text: str) -> list[str]:
    """Return the words, joined over single apostrophes and hyphens within them.

    >>> split_tokens("'i'm' on-line - now")
    ["i'm", 'on-line', 'now']
    """
    if any(pair in text for pair in _AMBIGUOUS):
        return _TOKEN.findall(text)
    return _split(text, _TOKENS, joining=b"'-") or _TOKEN.findall(text)


def list_word_runs(words: Sequence[str], length: int) -> list[tuple[str, ...]]:
    """Return every run of so many words that follow each other.

    >>> list_word_runs(["a", "b", "c"], 2)
    [('a', 'b'), ('b', 'c')]
    """
    return [tuple(words[start : start + length]) for start in range(len(words) - length + 1)]


def _split(text: str, table: bytes, joining: bytes = b"") -> list[str]:
    """Return the runs that the table keeps; nothing if a character is not Latin-1. The bytes of `joining` count only
    within a run."""
    try:
        kept = text.encode("latin-1").translate(table)
    except UnicodeEncodeError:
        return []
    for mark in joining.decode():
        if mark.encode() in kept:
            kept = b" %b " % kept
            kept = kept.replace(f" {mark}".encode(), b" ").replace(f"{mark} ".encode(), b" ")
    return kept.decode("latin-1").split()
