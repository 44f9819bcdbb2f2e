"""Pairs of a query and a document as arrays, with a search for duplicates and an index for look-ups.

Reads TREC qrels: relevance judgments of documents for queries (`query iteration document grade`).

The text of the file stays in memory; arrays with one row per judgment refer to it.

Computes the digest of qrels as a golden set without making a record for each judgment.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from assay.formats.file_io import open_file, open_source
from assay.formats.problems import ProblemList
from assay.formats.trec_lines import (
    BOM,
    HALF_WORD_BITS,
    ColumnLayout,
    IndexedText,
    KeyArray,
    LineBlock,
    LineProblem,
    compare_tokens,
    hash_tokens,
    normalise_lines,
    parse_numbers,
    split_fields,
)
from assay.records.errors import shorten_repr
from assay.stats.arrays import IndexArray


@dataclass(frozen=True, slots=True)
class QueryDocumentPairs:
    """n pairs as arrays of shape (n,): `query` is the ordinal of the query, `start` and `length` the position of the
    document id in `text`, and `key` a hash of both."""

    text: IndexedText
    query: IndexArray
    start: IndexArray
    length: IndexArray
    key: KeyArray

    @classmethod
    def of(cls, text: IndexedText, query: IndexArray, start: IndexArray, length: IndexArray) -> QueryDocumentPairs:
        """Make pairs and compute their keys."""
        return cls(text, query, start, length, hash_tokens(text, start, length, query))

    def __len__(self) -> int:
        return len(self.query)

    def take(self, rows: IndexArray) -> QueryDocumentPairs:
        """Return some of the pairs."""
        return QueryDocumentPairs(self.text, self.query[rows], self.start[rows], self.length[rows], self.key[rows])

    def documents(self, rows: IndexArray) -> list[bytes]:
        """Return the ids of some documents."""
        return self.text.tokens(self.start[rows], self.start[rows] + self.length[rows])

    def equal(self, rows: IndexArray, other: QueryDocumentPairs, other_rows: IndexArray) -> npt.NDArray[np.bool_]:
        """Return which of `rows` are the same pair as `other_rows` of `other`, compared byte by byte."""
        equal = compare_tokens(
            self.text,
            self.start[rows],
            self.length[rows],
            other.text,
            other.start[other_rows],
            other.length[other_rows],
        )
        equal &= self.query[rows] == other.query[other_rows]
        return equal

    def find_duplicates(self, line: IndexArray, query_ids: Sequence[str]) -> Iterator[LineProblem]:
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
                got = (
                    f"got {shorten_repr(document.decode())} again for "
                    f"{shorten_repr(query_ids[query])}; first on line {earlier}"
                )
                yield LineProblem(number, "document", f"listed twice for one query ({got})", "E_DUPLICATE_ID")


class PairIndex:
    """Finds pairs among distinct pairs of the same queries: a hash table of rows sorted by key, cut into buckets."""

    def __init__(self, pairs: QueryDocumentPairs) -> None:
        self.pairs = pairs
        self._row = np.argsort(pairs.key)
        self._key = pairs.key[self._row]
        queries = 1 + int(pairs.query.max(initial=0))
        bits = (len(pairs) // queries).bit_length()
        self._shift = HALF_WORD_BITS - np.uint64(bits)
        self._first = np.zeros((queries << bits) + 1, dtype=np.int32)
        np.cumsum(np.bincount(self._bucket(pairs), minlength=queries << bits), out=self._first[1:])

    def _bucket(self, pairs: QueryDocumentPairs) -> IndexArray:
        return (pairs.key >> self._shift).astype(np.int64)

    def find(self, searched: QueryDocumentPairs) -> tuple[IndexArray, IndexArray]:
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


QRELS_LAYOUT = ColumnLayout(("query", "iteration", "document", "grade"), open_ended=False)
DOCUMENT, GRADE = 2, 3
MAX_GRADE = 10
NOT_JUDGED = -1
QRELS_BLOCK_BYTES = 1 << 20

RelevanceGrades = npt.NDArray[np.int8]
QueryCounts = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Qrels:
    """The judgments of n queries, in the order in which the queries first appear in the file.

    ordinals: position of each query id. index: the (query, document) pairs of the file, one row each, by query and
    falling grade. grade: grade of each row, -1 (not judged) if it was negative. offset: first row of each query, of
    shape (n,). normalised: number of lines that were not in NFC.
    """

    path: str
    query_ids: tuple[str, ...]
    ordinals: dict[bytes, int]
    index: PairIndex
    grade: RelevanceGrades
    offset: IndexArray
    normalised: int

    def __len__(self) -> int:
        return len(self.query_ids)

    @property
    def negative(self) -> int:
        """Number of negative grades, which mean not judged."""
        return int(np.count_nonzero(self.grade < 0))

    def count_relevant(self, rel: int) -> QueryCounts:
        """Return for each query the number of documents with a grade of at least `rel`, of shape (n,)."""
        relevant = self.index.pairs.query[self.grade >= rel]
        return np.bincount(relevant, minlength=len(self)).astype(np.int32)

    def ideal_grades(self, queries: IndexArray, units: QueryCounts) -> RelevanceGrades:
        """Return the grades of the ideal ranking of some queries, of shape (queries, largest of `units`).

        Row i has the `units[i]` best grades of query i in falling order, then zeros.
        """
        rank = np.arange(int(units.max(initial=0)))[:, np.newaxis]
        filled = rank < units
        ideal = np.zeros(filled.shape, dtype=np.int8)
        ideal[filled] = self.grade[(self.offset[queries] + rank)[filled]]
        return ideal.T


def read_qrels(path: Path) -> Qrels:
    """Read a qrels file (`.gz` too): four fields a line, each (query, document) once, integer grades up to 10.

    A negative grade means not judged. Raises InputError with all malformed lines.
    """
    with open_source(path) as source, open_file(source.path, source.name) as file:
        data, normalised, faults = normalise_lines(_end_with_newline(file.read().removeprefix(BOM)), 1)
    text = IndexedText.of(data)
    del data
    ordinals: dict[bytes, int] = {}
    parts = [_read_judgments(block, begin, ordinals, faults) for block, begin in _split_blocks(text)]
    judgments = _Judgments(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    pairs = QueryDocumentPairs(text, judgments.query, judgments.start, judgments.length, judgments.key)
    query_ids = tuple(query_id.decode() for query_id in ordinals)
    faults += pairs.find_duplicates(judgments.line, query_ids)
    findings = ProblemList(source.name)
    if not len(pairs) and not faults:
        findings.add_error(None, "", "no judgments (got an empty file; expected one a line)", "E_EMPTY")
    for fault in sorted(faults):
        findings.add_error(*fault)
    findings.raise_errors()
    order = np.argsort(judgments.query * (MAX_GRADE + 2) - judgments.grade, kind="stable")
    offset = np.searchsorted(judgments.query[order], np.arange(len(query_ids)))
    grade = judgments.grade[order].astype(np.int8)
    return Qrels(source.name, query_ids, ordinals, PairIndex(pairs.take(order)), grade, offset, normalised)


class _Judgments(NamedTuple):
    """One row per judgment: ordinal of the query; start, length and key of the document id; grade and line."""

    query: IndexArray
    start: IndexArray
    length: IndexArray
    key: KeyArray
    grade: IndexArray
    line: IndexArray


def _end_with_newline(raw: bytes) -> bytes:
    return raw if raw.endswith(b"\n") else raw + b"\n"


def _split_blocks(text: IndexedText) -> Iterator[tuple[LineBlock, int]]:
    """Yield the lines in blocks of about a megabyte, and the offset of each block in the text."""
    begin, line = 0, 1
    while begin < text.size:
        end = text.data.index(b"\n", min(begin + QRELS_BLOCK_BYTES, text.size - 1)) + 1
        block = IndexedText.of(text.data[begin:end])
        yield LineBlock(*split_fields(block, QRELS_LAYOUT, line), 0), begin
        begin, line = end, line + block.lines


def _read_judgments(block: LineBlock, begin: int, ordinals: dict[bytes, int], faults: list[LineProblem]) -> _Judgments:
    """Return the judgments of a block that begins at offset `begin` of the text; number its new queries."""
    fields = block.fields
    faults += block.problems
    first, ids = fields.query_starts()
    ordinal = np.array([ordinals.setdefault(query_id, len(ordinals)) for query_id in ids], dtype=np.int64)
    query = np.repeat(ordinal, np.diff(first, append=len(fields)))
    pairs = QueryDocumentPairs.of(fields.text, query, *fields.column(DOCUMENT))
    numbers = parse_numbers(fields.text, *fields.column(GRADE))
    invalid = ~numbers.whole | (numbers.value > MAX_GRADE)
    rows = np.flatnonzero(invalid)
    for line, token in zip(fields.line[rows].tolist(), fields.tokens(rows, GRADE), strict=True):
        got = f"got {shorten_repr(token.decode())}; expected an integer up to {MAX_GRADE}"
        faults.append(LineProblem(line, "grade", f"not a grade ({got})", "E_GRADE"))
    grade = np.where(invalid, 0, np.maximum(numbers.value, NOT_JUDGED)).astype(np.int64)
    return _Judgments(query, pairs.start + begin, pairs.length, pairs.key, grade, fields.line)


_UNIT = b'{"any_of":[{"chunk_id":%s}]%s}'
_GRADE_MEMBERS = [b',"grade":0,"required":false', *(b',"grade":%d' % grade for grade in range(1, MAX_GRADE + 1))]
_GRADE_MEMBERS[3] = b""  # 3 is the default of the record, and defaults are omitted


def compute_qrels_digest(qrels: Qrels) -> str:
    """Return the same digest as `io.golden.golden_digest` for the same judgments read as a golden set.

    That is the SHA-256 of the canonical JSON of its cases, ordered by id, with the units of each in file order.
    """
    pairs = qrels.index.pairs
    rows = np.flatnonzero(qrels.grade >= 0)
    rows = rows[np.lexsort((pairs.start[rows], pairs.query[rows]))]
    first = np.searchsorted(pairs.query[rows], np.arange(len(qrels) + 1)).tolist()
    start, length, grade = pairs.start[rows], pairs.length[rows], qrels.grade[rows]
    data, encode = pairs.text.data, msgspec.json.encode
    needs_no_escape = b'"' not in data and b"\\" not in data
    digest = hashlib.sha256(b'{"cases":[')
    separator = b""
    for query in sorted(range(len(qrels)), key=qrels.query_ids.__getitem__):
        rows_of_query = slice(first[query], first[query + 1])
        tokens = zip(
            start[rows_of_query].tolist(), length[rows_of_query].tolist(), grade[rows_of_query].tolist(), strict=True
        )
        units = [
            _UNIT
            % (
                b'"%s"' % data[at : at + size] if needs_no_escape else encode(data[at : at + size].decode()),
                _GRADE_MEMBERS[level],
            )
            for at, size, level in tokens
        ]
        evidence = b'"evidence":[%s],' % b",".join(units) if units else b""
        digest.update(b'%s{%s"id":%s,"question":""}' % (separator, evidence, encode(qrels.query_ids[query])))
        separator = b","
    digest.update(b'],"judgments":"partial"}')
    return "sha256:" + digest.hexdigest()
