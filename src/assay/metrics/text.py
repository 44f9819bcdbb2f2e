"""Tokens of folded text, and the normal forms, numbers and dates that the metrics share."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.metrics.folding import flat, fold, nfc
from assay.metrics.quantities import Date, Number, dates, numbers

__all__ = ["Date", "Number", "dates", "flat", "fold", "nfc", "numbers", "squeeze", "token_spans", "tokens"]

# Every repetition is possessive or followed by what it cannot consume, so that scanning is linear.
_TOKEN_CHUNK = re.compile(
    r"(?:[$€£¥₫](?=\d))?[^\W_]++(?:(?:[-_]|(?<=\d)[.,:/](?=\d)|'(?=[^\W\d_]))[^\W_]++)*+(?:%|[+#]++(?![^\W_]))?"
)
_NON_WORD = re.compile(r"[\W_]+")


def tokens(text: str) -> list[str]:
    """Return the words, numbers and identifiers of the folded text, in order.

    Identifiers (`err-429`, `cve-2024-1234`, `v2026-01`, `leave_policy`), numbers, money and dates stay whole;
    hyphenated words are split.

    >>> tokens("Lỗi ERR-429: part-time pays $1.4M, i.e. 12% (31/12/2026)")
    ['loi', 'err-429', 'part', 'time', 'pays', '$1.4m', 'i', 'e', '12%', '31/12/2026']
    """
    folded = fold(text)
    chunks: list[str] = _TOKEN_CHUNK.findall(folded)
    if "-" not in folded:
        return chunks
    return [part for chunk in chunks for part in _split_chunk(chunk)]


def _split_chunk(chunk: str) -> list[str]:
    """Return the tokens of a chunk: its parts between hyphens, or the whole chunk if it is an identifier."""
    return chunk.split("-") if "-" in chunk and not _is_whole_token(chunk) else [chunk]


def token_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the tokens of folded or flat text.

    >>> list(token_spans("part-time: $5"))
    [(0, 4), (5, 9), (11, 13)]
    """
    hyphens = "-" in text
    for match in _TOKEN_CHUNK.finditer(text):
        if hyphens and "-" in match[0]:
            start = match.start()
            for part in _split_chunk(match[0]):
                yield start, start + len(part)
                start += len(part) + 1
        else:
            yield match.span()


def _is_whole_token(chunk: str) -> bool:
    """Whether a chunk with hyphens is one token: an identifier (letter first, with a digit), a range or a date."""
    digits = any(c.isdigit() for c in chunk)
    letters = any(c.isalpha() for c in chunk)
    return digits and (not letters or chunk[0].isalpha())


def squeeze(text: str) -> str:
    """Return the letters and digits of the folded text.

    >>> squeeze("S E-C\\u200bR_É T!")
    'secret'
    """
    return _NON_WORD.sub("", fold(text))
