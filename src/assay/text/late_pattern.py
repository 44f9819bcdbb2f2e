"""Regular expressions that are compiled when a text needs them.

Compiling one takes up to five milliseconds, and most runs need few of those that are written for rare texts. Where a
text lacks words that each match holds, nothing is compiled and nothing searched.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from functools import cached_property

from assay.text.pattern_cache import compile_pattern, get_required_words, is_compiled

_TO_THE_END = sys.maxsize
_TELLING_FLAGS = re.ASCII | re.DOTALL | re.MULTILINE
"""Flags under which the letters of an expression match only themselves."""


_LONGEST_LOOKED_AT = 4000  # characters in which words of an expression are looked for first
_MOST_LOOKS = 1000  # looks for a word, after which compiling would have been cheaper
_METHODS = ("search", "match", "fullmatch", "finditer", "sub")


class LatePattern:
    """A regular expression that is compiled for the first text that holds a word without which it matches nothing.

    Positions are those of `re`: any end beyond the text is its end.

    >>> LatePattern(r"[0-9]+ days").sub("some days", "12 days of 30")
    'some days of 30'
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._pattern, self._flags = pattern, flags
        self._looks = 0

    @property
    def pattern(self) -> str:
        """The expression as it is written, for use within another one."""
        return self._pattern

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression, whose methods take the place of those of this class from then on."""
        compiled = compile_pattern(self._pattern, self._flags)
        for name in _METHODS:
            setattr(self, name, getattr(compiled, name))
        return compiled

    @cached_property
    def required_words(self) -> list[tuple[str, ...]]:
        """Groups of words: each match holds a word of every group; empty if the expression tells none."""
        return [] if self._flags & ~_TELLING_FLAGS else get_required_words(self._pattern)

    def _may_match(self, text: str, start: int, end: int) -> bool:
        # A long text is searched a few characters at a time: looking through all of it each time is quadratic work.
        if is_compiled(self._pattern, self._flags):
            return True
        low, high = max(start, 0), min(end, len(text))
        if high - low > _LONGEST_LOOKED_AT or self._looks >= _MOST_LOOKS:
            return True
        for words in self.required_words:
            self._looks += len(words)
            for word in words:
                if text.find(word, low, high) >= 0:
                    break
            else:
                return False
        return True

    def search(self, text: str, start: int = 0, end: int = _TO_THE_END) -> re.Match[str] | None:
        """Return the first match between two positions."""
        return self.compiled.search(text, start, end) if self._may_match(text, start, end) else None

    def match(self, text: str, start: int = 0, end: int = _TO_THE_END) -> re.Match[str] | None:
        """Return the match at the first of two positions."""
        return self.compiled.match(text, start, end) if self._may_match(text, start, end) else None

    def fullmatch(self, text: str, start: int = 0, end: int = _TO_THE_END) -> re.Match[str] | None:
        """Return the match of all that is between two positions."""
        return self.compiled.fullmatch(text, start, end) if self._may_match(text, start, end) else None

    def finditer(self, text: str, start: int = 0, end: int = _TO_THE_END) -> Iterator[re.Match[str]]:
        """Return the matches between two positions, one after another."""
        return self.compiled.finditer(text, start, end) if self._may_match(text, start, end) else iter(())

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        """Return the text with every match replaced."""
        return self.compiled.sub(replacement, text) if self._may_match(text, 0, _TO_THE_END) else text


_ESCAPE_OR_SPACES = compile_pattern(r"\\(.)|\s+", re.DOTALL)


def squeeze_pattern(pattern: str) -> str:
    r"""Return an expression that is written for `re.VERBOSE`, without comments, as it is written without that flag.

    A class of characters must escape its spaces. Compiling takes half the time.

    >>> squeeze_pattern(r"[0-9]+ (?: \ days | \ weeks )")
    '[0-9]+(?: days| weeks)'
    """
    return _ESCAPE_OR_SPACES.sub(_squeeze, pattern)


def _squeeze(match: re.Match[str]) -> str:
    return match[0] if match[1] and not match[1].isspace() else match[1] or ""
