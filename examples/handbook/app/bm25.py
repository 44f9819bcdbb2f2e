"""BM25 over one column of terms, and the analyzer that makes the terms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from examples.handbook.app.text import fold, words

K1, B = 1.2, 0.75


class Terms(NamedTuple):
    """The terms of a text for the two columns: as written, and folded."""

    exact: list[str]
    folded: list[str]


Analyzer = Callable[[str], Terms]


def analyze(text: str) -> Terms:
    """Return the words as written, and the folded words with their pairs.

    A Vietnamese word is often two syllables with a space between them, so a pair of neighbours is a term of its own.

    >>> analyze("Nghỉ ốm")
    Terms(exact=['nghỉ', 'ốm'], folded=['nghi', 'om', 'nghi_om'])
    """
    exact = words(text)
    folded = [fold(word) for word in exact]
    return Terms(exact, folded + [f"{left}_{right}" for left, right in pairwise(folded)])


class Field:
    """One column: the term counts of every row, and how rare each term is (Robertson and Zaragoza 2009)."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self._counts = [Counter(row) for row in rows]
        having = Counter(term for counts in self._counts for term in counts)
        self._idf = {term: math.log(1 + (len(rows) - n + 0.5) / (n + 0.5)) for term, n in having.items()}
        average = sum(map(len, rows)) / max(len(rows), 1)
        self._norm = [K1 * (1 - B + B * len(row) / max(average, 1)) for row in rows]

    def score(self, terms: Iterable[str], row: int) -> float:
        """Return the BM25 score of one row; a term that the question repeats counts once."""
        counts, norm = self._counts[row], self._norm[row]
        return math.fsum(
            self._idf[term] * counts[term] * (K1 + 1) / (counts[term] + norm)
            for term in dict.fromkeys(terms)
            if term in counts
        )
