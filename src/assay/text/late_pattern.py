"""Regular expressions that are compiled when a text needs them.

Compiling one takes up to five milliseconds, and most runs need few of those that are written for rare texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property


class LatePattern:
    """A regular expression that is compiled on its first use.

    >>> LatePattern(r"[0-9]+").sub("#", "12 of 30")
    '# of #'
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._pattern, self._flags = pattern, flags

    @property
    def pattern(self) -> str:
        """The expression as it is written, for use within another one."""
        return self._pattern

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression, for what this class has no method for."""
        return re.compile(self._pattern, self._flags)

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return the first match between two positions."""
        return self.compiled.search(text, start, len(text) if end is None else end)

    def match(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return the match at the first of two positions."""
        return self.compiled.match(text, start, len(text) if end is None else end)

    def fullmatch(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return the match of all that is between two positions."""
        return self.compiled.fullmatch(text, start, len(text) if end is None else end)

    def finditer(self, text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
        """Return the matches between two positions, one after another."""
        return self.compiled.finditer(text, start, len(text) if end is None else end)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        """Return the text with every match replaced."""
        return self.compiled.sub(replacement, text)


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
