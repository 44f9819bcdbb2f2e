"""Pairs of a query and a document as arrays, with a search for duplicates and an index for look-ups."""

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
    """n pairs as arrays of shape (n,): `query` is the ordinal of the query, `start` and `length` the position of the
    document id in `text`, and `key` a hash of both."""

    text: Text
    query: Places
    start: Places
    length: Places
    key: Keys

    @classmethod
    def of(cls, text: Text, query: Places, start: Places, length: Places) -> Pairs:
        """Make pairs and compute their keys."""
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
        """Return which of `rows` are the same pair as `other_rows` of `other`, compared byte by byte."""
        equal = same(
            self.text,
            self.start[rows],
            self.length[rows],
            other.text,
            other.start[other_rows],
            other.length[other_rows],
        )
        equal &= self.query[rows] == other.query[other_rows]
        return equal

    def duplicates(self, line: Places, query_ids: Sequence[str]) -> Iterator[Fault]:
        """Yield a problem for every pair that an earlier line lists too; `line` has the line of each pair."""
        ordered = np.sort(self.key)
        repeated = ordered[1:][ordered[1:] == ordered[:-1]]
        if not len(repeated):
            return
        # Equal keys may be a coincidence: only these rows are compared by their ids.
        rows = np.flatnonzero(np.isin(self.key, repeated))
        first_line: dict[tuple[int, bytes], int] = {}
        candidates = zip(self.query[rows].tolist(), self.documents(rows), line[rows].tolist(), strict=True)
        for query, document, number in candidates:
            earlier = first_line.setdefault((query, document), number)
            if earlier != number:
                got = f"got {shown(document.decode())} again for {shown(query_ids[query])}; first on line {earlier}"
                yield Fault(number, "document", f"listed twice for one query ({got})", "E_DUPLICATE_ID")


class PairIndex:
    """Finds pairs among distinct pairs of the same queries: a hash table of rows sorted by key, cut into buckets."""

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

    def find(self, searched: Pairs) -> tuple[Places, Places]:
        """Return the rows of `searched` that are in the index, ascending, and the row of the index that each equals."""
        row = np.full(len(searched), -1, dtype=np.int64)
        bucket = self._bucket(searched)
        at, end = self._first[bucket], self._first[bucket + 1]
        pending = np.flatnonzero(at < end)
        at, end = at[pending], end[pending]
        # Each turn compares every pending pair with the next row of its bucket.
        while len(pending):
            same_key = np.flatnonzero(self._key[at] == searched.key[pending])
            same_pair = same_key[searched.equal(pending[same_key], self.pairs, self._row[at[same_key]])]
            row[pending[same_pair]] = self._row[at[same_pair]]
            at += 1
            has_more = at < end
            pending, at, end = pending[has_more], at[has_more], end[has_more]
        matched = np.flatnonzero(row >= 0)
        return matched, row[matched]
