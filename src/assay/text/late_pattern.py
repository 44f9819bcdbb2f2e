"""Regular expressions that are compiled when a text needs them.

Compiling one takes up to five milliseconds, and most runs need few of those that are written for rare texts. Where a
text lacks words that each match holds, nothing is compiled and nothing searched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property

from assay.text.required_words import list_required_words

_TELLING_FLAGS = re.ASCII | re.DOTALL | re.MULTILINE
"""Flags under which the letters of an expression match only themselves."""


_LONGEST_LOOKED_AT = 4000  # characters in which words of an expression are looked for first
_MOST_LOOKS = 1000  # looks for a word, after which compiling would have been cheaper


class LatePattern:
    """A regular expression that is compiled for the first text that holds a word without which it matches nothing.

    >>> LatePattern(r"[0-9]+ days").sub("some days", "12 days of 30")
    'some days of 30'
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._pattern, self._flags = pattern, flags
        self._compiled: re.Pattern[str] | None = None
        self._looks = 0

    @property
    def pattern(self) -> str:
        """The expression as it is written, for use within another one."""
        return self._pattern

    @property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression, for what this class has no method for."""
        if self._compiled is None:
            self._compiled = re.compile(self._pattern, self._flags)
        return self._compiled

    @cached_property
    def _words(self) -> list[tuple[str, ...]]:
        return [] if self._flags & ~_TELLING_FLAGS else list_required_words(self._pattern)

    def _compile_for(self, text: str, start: int = 0, end: int | None = None) -> re.Pattern[str] | None:
        """Return the compiled expression, None if it matches nothing between two positions of a text."""
        # A long text is searched a few characters at a time: looking through all of it each time is quadratic work.
        length = len(text) if end is None else min(end, len(text))
        low = max(start, 0)
        if length - low <= _LONGEST_LOOKED_AT and self._looks < _MOST_LOOKS:
            for words in self._words:
                self._looks += len(words)
                for word in words:
                    if text.find(word, low, length) >= 0:
                        break
                else:
                    return None
        return self.compiled

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return the first match between two positions."""
        compiled = self._compiled or self._compile_for(text, start, end)
        return compiled and compiled.search(text, start, len(text) if end is None else end)

    def match(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return the match at the first of two positions."""
        compiled = self._compiled or self._compile_for(text, start, end)
        return compiled and compiled.match(text, start, len(text) if end is None else end)

    def fullmatch(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return the match of all that is between two positions."""
        compiled = self._compiled or self._compile_for(text, start, end)
        return compiled and compiled.fullmatch(text, start, len(text) if end is None else end)

    def finditer(self, text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
        """Return the matches between two positions, one after another."""
        compiled = self._compiled or self._compile_for(text, start, end)
        return iter(()) if compiled is None else compiled.finditer(text, start, len(text) if end is None else end)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        """Return the text with every match replaced."""
        compiled = self._compiled or self._compile_for(text)
        return text if compiled is None else compiled.sub(replacement, text)


_ESCAPE_OR_SPACES = re.compile(r"\\(.)|\s+", re.DOTALL)


def squeeze_pattern(pattern: str) -> str:
    r"""Return an expression that is written for `re.VERBOSE`, without comments, as it is written without that flag.

    A class of characters must escape its spaces. Compiling takes half the time.

    >>> squeeze_pattern(r"[0-9]+ (?: \ days | \ weeks )")
    '[0-9]+(?: days| weeks)'
    """
    return _ESCAPE_OR_SPACES.sub(_squeeze, pattern)


def _squeeze(match: re.Match[str]) -> str:
    return match[0] if match[1] and not match[1].isspace() else match[1] or ""
