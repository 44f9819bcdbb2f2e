"""Inverse document frequencies in an immutable table, so that a score does not depend on its batch."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from types import MappingProxyType

from assay.metrics.terms import vocabulary

_FEWEST_TEXTS = 3  # texts from which frequencies are meaningful
_LEAST_WEIGHT = 0.2


class Idf:
    """An immutable table of document frequencies: in how many texts each word occurs. `digest` identifies it."""

    def __init__(self, documents: int, counts: Mapping[str, int]) -> None:
        self.documents = documents
        self.counts: Mapping[str, int] = MappingProxyType(dict(sorted(counts.items())))

    @classmethod
    def of(cls, texts: Iterable[str]) -> Idf:
        """Return the table of document frequencies of the given texts.

        >>> idf = Idf.of(["annual leave", "sick leave", "leave it", ""])
        >>> round(idf.weight("leav"), 3), round(idf.weight("unheard"), 3)
        (0.357, 1.204)
        """
        counts: Counter[str] = Counter()
        documents = 0
        for text in texts:
            documents += 1
            counts.update(vocabulary(text))
        return cls(documents, counts)

    def weight(self, key: str) -> float:
        """Return log((N + 1) / (n + 0.5)), at least 0.2, for a word in n of N texts; 1 if N < 3.

        A word that occurs in no text has the weight of one that occurs in one text.
        """
        if self.documents < _FEWEST_TEXTS:
            return 1.0
        return _idf_weight(self.documents, max(1, self.counts.get(key, 0)))

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the table."""
        lines = [str(self.documents), *(f"{key}\t{count}" for key, count in self.counts.items())]
        return "sha256:" + hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=4096)
def _idf_weight(documents: int, count: int) -> float:
    return max(_LEAST_WEIGHT, math.log((documents + 1) / (count + 0.5)))
