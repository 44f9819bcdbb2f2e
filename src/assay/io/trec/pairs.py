"""Pairs of a query and a document as arrays: found in one another, and never listed twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.errors import shown
from assay.io.trec.encoding import Fault
from assay.io.trec.tokens import HALF, Keys, Places, Text, keys, same


@dataclass(frozen=True, slots=True)
class Pairs:
    """n pairs: `query` is a query's ordinal, `start` and `length` are the document id's place in `text`."""

    text: Text
    query: Places
    start: Places
    length: Places
    key: Keys

    @classmethod
    def of(cls, text: Text, query: Places, start: Places, length: Places) -> Pairs:
        """Make pairs with their keys."""
        return cls(text, query, start, length, keys(text, start, length, query))

    def __len__(self) -> int:
        return len(self.query)

    def take(self, rows: Places) -> Pairs:
        """Return some of the pairs."""
        return Pairs(self.text, self.query[rows], self.start[rows], self.length[rows], self.key[rows])

    def documents(self, rows: Places) -> list[bytes]:
        """Return the ids of some documents."""
        return self.text.tokens(self.start[rows], self.start[rows] + self.length[rows])

    def equal(self, rows: Places, other: Pairs, other_rows: Places) -> npt.NDArray[np.bool_]:
        """Return which of these rows are the same pair as the other's, byte by byte."""
        alike = same(
            self.text,
            self.start[rows],
            self.length[rows],
            other.text,
            other.start[other_rows],
            other.length[other_rows],
        )
        alike &= self.query[rows] == other.query[other_rows]
        return alike

    def duplicates(self, line: Places, query_ids: Sequence[str]) -> Iterator[Fault]:
        """Yield a fault for every pair that an earlier line already holds; `line` is each pair's line, rising."""
        ordered = np.sort(self.key)
        repeated = ordered[1:][ordered[1:] == ordered[:-1]]
        if not len(repeated):
            return
        rows = np.flatnonzero(np.isin(self.key, repeated))
        first: dict[tuple[int, bytes], int] = {}
        found = zip(self.query[rows].tolist(), self.documents(rows), line[rows].tolist(), strict=True)
        for query, document, number in found:
            earlier = first.setdefault((query, document), number)
            if earlier != number:
                got = f"got {shown(document.decode())} again for {shown(query_ids[query])}; first on line {earlier}"
                yield Fault(number, "document", f"listed twice for one query ({got})", "E_DUPLICATE_ID")


class PairIndex:
    """Looks pairs up among distinct ones of the same queries: rows sorted by key, and where each bucket begins."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self._row = np.argsort(pairs.key)
        self._key = pairs.key[self._row]
        queries = 1 + int(pairs.query.max(initial=0))
        bits = (len(pairs) // queries).bit_length()
        self._shift = HALF - np.uint64(bits)
        self._first = np.zeros((queries << bits) + 1, dtype=np.int32)
        np.cumsum(np.bincount(self._bucket(pairs), minlength=queries << bits), out=self._first[1:])

    def _bucket(self, pairs: Pairs) -> Places:
        return (pairs.key >> self._shift).astype(np.int64)

    def find(self, wanted: Pairs) -> tuple[Places, Places]:
        """Return the rows of `wanted` that are in the index, rising, and the row of the index that each equals."""
        row = np.full(len(wanted), -1, dtype=np.int64)
        bucket = self._bucket(wanted)
        at, end = self._first[bucket], self._first[bucket + 1]
        asked = np.flatnonzero(at < end)
        at, end = at[asked], end[asked]
        while len(asked):
            alike = np.flatnonzero(self._key[at] == wanted.key[asked])
            same_pair = alike[wanted.equal(asked[alike], self.pairs, self._row[at[alike]])]
            row[asked[same_pair]] = self._row[at[same_pair]]
            at += 1
            more = at < end
            asked, at, end = asked[more], at[more], end[more]
        found = np.flatnonzero(row >= 0)
        return found, row[found]
