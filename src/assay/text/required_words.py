"""The words that a text must hold before a regular expression can match in it, read from the expression.

Reading them takes a tenth of the time that compiling takes, and most expressions are about words that most texts lack.
"""

from __future__ import annotations

import re

_PART = (
    r"(?P<text>[^\\\[\](){}.*+?|^$]{2,}(?![*?{]))"
    r"|(?P<open>\((?:\?:|\?>|\?P<\w+>|(?!\?)))"
    r"|(?P<look>\(\?<?[=!])"
    r"|(?P<next>\|)"
    r"|(?P<end>\)(?P<may_be_absent>[*?]|\{0?,[0-9]*\}|\{0\})?)"
    r"|(?P<unknown>\\[uUxN]|\(\?(?!P=))"
    r"|\\[0-9]+|\\.|\[\^?\]?(?>(?:[^\]\\]|\\.)*)\]?|\{[0-9,]*\}|\(\?P=\w+\)"
)
"""What an expression tells its words by: text whose last letter cannot be absent, groups, what is looked for around a
match, alternatives. Codes of characters and other groups with a question mark are not understood. The rest is skipped:
it ends a text."""

Words = tuple[str, ...]


def list_required_words(pattern: str) -> list[Words]:
    r"""Return groups of words: each match of an expression holds a word of every group; empty if it tells none.

    It is read as an expression without flags by which letters match other letters, or white space nothing.

    >>> list_required_words(r"\b(?:may ?be|(?:very )?likely)\b(?=,) (?:an|the) [a-z]+ing\b")
    [('may', 'likely'), ('an', 'the'), ('ing',)]
    >>> list_required_words(r"[0-9]+ (?:days)?")
    []
    """
    group, outer_groups = _Group(), list[_Group]()
    for part in re.finditer(_PART, pattern, re.DOTALL):
        kind = part.lastgroup
        if kind == "text":
            group.add((part[0],))
        elif kind == "next":
            group.end_alternative()
        elif kind in ("open", "look"):
            outer_groups.append(group)
            group = _Group()
            group.is_around = kind == "look"
        elif kind == "end":
            words = None if group.is_around or part["may_be_absent"] else group.end_alternative()
            group = outer_groups.pop()
            if words is not None:
                group.add(words)
        elif kind == "unknown":
            return []
    return group.list_needed()


def _measure_shortest(words: Words) -> int:
    return min(map(len, words))


class _Group:
    """A group while it is read: the words of its alternatives, those of the parts of the present alternative, and
    whether it is only looked for around a match."""

    def __init__(self) -> None:
        self.words: Words | None = ()
        self.parts: list[Words] = []
        self.is_around = False

    def add(self, words: Words) -> None:
        """Keep the words of a part of the present alternative."""
        self.parts.append(words)

    def end_alternative(self) -> Words | None:
        """Begin the next alternative, and return the words of all so far: None if one of them told none."""
        longest = max(self.parts, key=_measure_shortest) if len(self.parts) > 1 else next(iter(self.parts), None)
        self.words = None if self.words is None or longest is None else self.words + longest
        self.parts = []
        return self.words

    def list_needed(self) -> list[Words]:
        """Return the words of every part if there is one alternative, else those of all alternatives."""
        if self.words == ():
            return self.parts
        words = self.end_alternative()
        return [] if words is None else [words]
