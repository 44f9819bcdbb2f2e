"""What the words of a corpus tell a template: which are names, and how many statements speak of the same thing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from assay.golden.lint_evidence import list_content_words
from assay.records.golden_set import CorpusChunk
from assay.text.normalisation import fold_text
from assay.text.statements import list_statements

_LOWER_WORD = re.compile(r"(?<![\w.@/-])[^\W\d_A-Z][^\W\d_]*(?![\w@/])")
_WRITTEN = re.compile(r"[^\W_]+(?:[-_.][^\W_]+)*")
_COUNTED_NOUN = re.compile(
    r"\b(?:[Aa]n?|[Ee]ach|[Ee]very|[Oo]ne|[Aa]nother)\s+([a-z]{2,})\b(?!\s+[a-z]{2,}(?:er|or|age|ing)\b)"
)
_BARE_NOUN = re.compile(
    r"\b(?:of|for|by|with|without|from|on|in|to|per|about)\s+([a-z]{3,})\b"
    r"(?=[.,;:!?)]|\s+(?:is|are|and|or|at|on|in)\b)"
)
_CAPITAL_INSIDE = re.compile(r"(?<=[a-z,] )[A-Z][^\W\d_]+(?![\w@/])")
_NUMBER_OR_CODE = re.compile(r"\d|[A-Z]{2}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NUMBERED_PARTS = frozenset(
    [
        "appendix",
        "article",
        "chapter",
        "figure",
        "level",
        "page",
        "part",
        "phase",
        "section",
        "stage",
        "step",
        "table",
        "tier",
        "version",
        "year",
    ]
)


class CorpusWords:
    """The words of the chunks that questions are drafted from."""

    def __init__(self, chunks: Iterable[CorpusChunk]) -> None:
        self._lower: set[str] = set()
        self._counted: set[str] = set()
        self._bare: set[str] = set()
        self._names: set[str] = set()
        self._statements_of: dict[str, set[int]] = defaultdict(set)
        self._sections_of: dict[str, set[str]] = defaultdict(set)
        self._written: set[str] = set()
        self._rows_of: dict[tuple[str, str], set[tuple[str | None, str]]] = defaultdict(set)
        numbers: dict[str, int] = {}
        for chunk in chunks:
            text = chunk.text or ""
            self._written.update(_WRITTEN.findall(f"{chunk.section}\n{text}".casefold()))
            self._sections_of[fold_text((chunk.section or "").rpartition(" > ")[2])].add(chunk.section or "")
            self._lower.update(word for word in _LOWER_WORD.findall(text) if word == word.lower())
            self._counted.update(word.lower() for word in _COUNTED_NOUN.findall(text))
            self._bare.update(word.lower() for word in _BARE_NOUN.findall(text))
            for statement in list_statements(text):
                self._names.update(_CAPITAL_INSIDE.findall(statement.text))
                number = numbers.setdefault(fold_text(f"{chunk.document}\n{statement.text}"), len(numbers))
                context = f"{statement.text}\n{' '.join(statement.header)}"
                for word in list_content_words(context):
                    self._statements_of[word].add(number)
                section = statement.heading or chunk.section or ""
                for header in statement.header[1:] if statement.cells else ():
                    self._rows_of[fold_text(statement.cells[0]), fold_text(header)].add((chunk.document, section))
        self.statement_count = len(numbers)

    def has_word(self, word: str) -> bool:
        """Return whether a chunk has a word or code, in whatever case."""
        return word.casefold() in self._written

    def count_statements(self, text: str) -> int:
        """Return how many different statements have all content words of a text; 0 if it has none."""
        statements_by_word = [self._statements_of.get(word, set()) for word in sorted(list_content_words(text))]
        return len(set.intersection(*statements_by_word)) if statements_by_word else 0

    def count_sections(self, entity: str, header: str) -> int:
        """Return under how many headings the corpus has a table with a row of this name and a column of this header."""
        return len(self._rows_of.get((fold_text(entity), fold_text(header)), ()))

    def is_repeated_heading(self, heading: str) -> bool:
        """Return whether sections under different headings are called the same: "Requirements" says not which ones."""
        same_named = [sections for name, sections in self._sections_of.items() if name.endswith(fold_text(heading))]
        return len(set().union(*same_named)) > 1

    def lower_first(self, text: str) -> str:
        """Return a text with its first letter in lower case, unless its first word is a name.

        A word that the corpus has only at the beginning of sentences is a name if it stands alone, or before another
        word in upper case.

        >>> words = CorpusWords([CorpusChunk("a", text="In Rome all staff are there. Staff rest. Opened cans stay.")])
        >>> [words.lower_first(text) for text in ("Staff of Rome", "Rome", "Opened cans", "Vetra")]
        ['staff of Rome', 'Rome', 'opened cans', 'Vetra']
        """
        match = re.match(r"[^\W\d_]+", text)
        if match is None or match[0][1:] != match[0][1:].lower() or len(match[0]) < 2:
            return text
        if match[0].lower() not in self._lower:
            following = text[match.end() :].lstrip(" -")
            if match[0] in self._names or not following[:1].islower():
                return text
        return text[:1].lower() + text[1:]

    def add_article(self, phrase: str) -> str | None:
        """Return a noun phrase in lower case as one speaks of it in general: "a car", "cars", "parking".

        None where the corpus does not tell whether its last word is counted: neither is it a plural, nor written once
        with "a" or "each" before it, nor after a preposition without any article.

        >>> words = CorpusWords([CorpusChunk("a", text="A car is let in. Pay for parking. The yacht sank.")])
        >>> [words.add_article(phrase) for phrase in ("car", "old cars", "night parking", "yacht")]
        ['a car', 'old cars', 'night parking', None]
        """
        head = phrase.split()[-1].lower()
        if head.endswith("s") and not head.endswith(("ss", "us", "is")):
            return phrase
        if head in self._counted:
            return f"{'an' if phrase[0].lower() in 'aeio' else 'a'} {phrase}"
        return phrase if head in self._bare else None

    def is_name(self, word: str) -> bool:
        """Return whether the corpus has a word in upper case within sentences, and nowhere in lower case."""
        bare = word.strip(".,;:!?()'’").removesuffix("'s").removesuffix("’s")
        is_written_so = bare in self._names or bare[1:] != bare[1:].lower()
        return bare[:1].isupper() and bare.lower() not in self._lower and is_written_so

    def is_rare(self, text: str, most: int = 3) -> bool:
        """Return whether at most a few statements have the rarest content word of a text."""
        counts = [len(self._statements_of.get(word, ())) for word in list_content_words(text)]
        return bool(counts) and min(counts) <= most


def is_numbered_name(text: str) -> bool:
    """Return whether a text looks like the name of a model or version: in upper case, with a number or code at its end.

    >>> [is_numbered_name(text) for text in ("Heron 12", "Otter XL", "Terms of use", "Service bulletin 11", "Tax 2026")]
    [True, True, False, False, False]
    """
    words = text.split()
    is_upper = text[:1].isupper() and all(re.match(r"[A-Z0-9][\w.+-]*\Z", word) for word in words)
    if words and _YEAR.fullmatch(words[-1]):
        return False
    return is_upper and _NUMBER_OR_CODE.search(words[-1]) is not None and words[0].lower() not in _NUMBERED_PARTS
