"""Reads judgments of pooled chunks: TREC qrels (`query iteration chunk grade`) and the tables of BEIR.

The text of the file stays in memory, and arrays with one row per judgment refer to it: runs are looked up in them
(`PairIndex`), they become a golden set, and its digest is computed without a record for each judgment.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec import Struct

from assay.formats.file_io import Source, open_source, open_unpacked, refuse_other_content
from assay.formats.problems import ProblemList
from assay.formats.trec.field_lines import (
    BOM,
    HALF_WORD_BITS,
    ColumnLayout,
    FieldSpans,
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
from assay.records.counts import format_count
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case, Evidence, GoldenSet
from assay.stats.arrays import BoolArray, CountArray, GradeArray, IndexArray
from assay.text.late_pattern import LatePattern


class RepeatedPair(NamedTuple):
    """A pair that is listed on `line` and was listed before, on `first_line`."""

    line: int
    query: int
    document: str
    first_line: int


class QueryDocumentPairs(Struct, frozen=True):
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

    def equal(self, rows: IndexArray, other: QueryDocumentPairs, other_rows: IndexArray) -> BoolArray:
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

    def find_repeated(self, line: IndexArray) -> Iterator[RepeatedPair]:
        """Yield every pair that an earlier line lists too; `line` has the line of each pair."""
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
                yield RepeatedPair(number, query, document.decode(), earlier)


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


TREC_LAYOUT = ColumnLayout(("query", "iteration", "chunk", "grade"))
BEIR_LAYOUT = ColumnLayout(("query-id", "corpus-id", "score"), tab_separated=True)
"""Judgments begin with the query and end with the chunk and its grade. The names may stand above those of BEIR."""
MAX_GRADE = 10
_INTEGER = LatePattern(r"[+-]?[0-9]{1,9}")
NOT_JUDGED = -1
QRELS_BLOCK_BYTES = 1 << 20


class Qrels(Struct, frozen=True):
    """The judgments of n queries, in the order in which the queries first appear in the file.

    ordinals: position of each query id. index: the (query, document) pairs of the file, one row each, by query and
    falling grade. grade: grade of each row, -1 (not judged) if it was negative. offset: first row of each query, of
    shape (n,). normalised: number of lines that were not in NFC.
    """

    path: str
    query_ids: tuple[str, ...]
    ordinals: dict[bytes, int]
    index: PairIndex
    grade: GradeArray
    offset: IndexArray
    normalised: int

    def __len__(self) -> int:
        return len(self.query_ids)

    @property
    def negative(self) -> int:
        """Number of negative grades, which mean not judged."""
        return int(np.count_nonzero(self.grade < 0))

    def judged_rows(self) -> tuple[IndexArray, list[int]]:
        """Return the rows that are judged, by query and within it in file order, and where each query begins.

        The second list has one more element than there are queries, the number of rows.
        """
        pairs = self.index.pairs
        rows = np.flatnonzero(self.grade >= 0)
        rows = rows[np.lexsort((pairs.start[rows], pairs.query[rows]))]
        return rows, np.searchsorted(pairs.query[rows], np.arange(len(self) + 1)).tolist()

    def line_numbers(self, rows: IndexArray) -> IndexArray:
        """Return the line of each of some rows."""
        pairs = self.index.pairs
        newline = np.flatnonzero(pairs.text.octets[: pairs.text.size] == ord("\n"))
        return np.searchsorted(newline, pairs.start[rows]) + 1

    def first_rows(self) -> IndexArray:
        """Return for each query its first row in the file, of shape (n,)."""
        pairs = self.index.pairs
        order = np.lexsort((pairs.start, pairs.query))
        return order[self.offset]  # the queries have the same numbers of rows in any order of their rows

    def to_golden_set(self) -> GoldenSet:
        """Return the judgments as a golden set without questions; chunks with a negative grade are not in it."""
        rows, first = self.judged_rows()
        chunk_ids = [chunk.decode() for chunk in self.index.pairs.documents(rows)]
        grades = self.grade[rows].tolist()
        cases = []
        for query, query_id in enumerate(self.query_ids):
            evidence = [
                Evidence(({"chunk_id": chunk_ids[row]},), grades[row], grades[row] > 0)
                for row in range(first[query], first[query + 1])
            ]
            cases.append(Case(query_id, "", evidence=tuple(evidence)))
        return GoldenSet(tuple(cases), judgments="partial")

    def note_doubts(self, findings: ProblemList) -> None:
        """Note warnings about negative grades and about lines that were not in NFC."""
        if self.negative:
            lines = format_count(self.negative, "line")
            message = f"negative grades on {lines} are taken as not judged (expected grades from 0)"
            findings.add_warning(None, "grade", message, "E_UNJUDGED")
        if self.normalised:
            message = f"lines brought to Unicode NFC (got {self.normalised} in another form; expected NFC)"
            findings.add_warning(None, "", message, "E_NFC")

    def count_relevant(self, rel: int) -> CountArray:
        """Return for each query the number of documents with a grade of at least `rel`, of shape (n,)."""
        relevant = self.index.pairs.query[self.grade >= rel]
        return np.bincount(relevant, minlength=len(self)).astype(np.int32)

    def ideal_grades(self, queries: IndexArray, units: CountArray) -> GradeArray:
        """Return the grades of the ideal ranking of some queries, of shape (queries, largest of `units`).

        Row i has the `units[i]` best grades of query i in falling order, then zeros.
        """
        rank = np.arange(int(units.max(initial=0)))[:, np.newaxis]
        filled = rank < units
        ideal = np.zeros(filled.shape, dtype=np.int8)
        ideal[filled] = self.grade[(self.offset[queries] + rank)[filled]]
        return ideal.T


def read_qrels(path: Path) -> Qrels:
    """Read a file of TREC qrels (`.gz` too): four fields a line, each (query, chunk) once, integer grades up to 10.

    A negative grade means not judged. Raises InputError with all malformed lines.
    """
    with open_source(path) as source:
        findings = ProblemList(source.name)
        qrels = read_judgments(source, TREC_LAYOUT, findings)
    findings.raise_errors()
    if not len(qrels):
        message = "no judgments (got an empty file; expected one a line)"
        raise InputError([Problem(source.name, None, "", message, "E_EMPTY")])
    return qrels


def read_judgments(source: Source, layout: ColumnLayout, findings: ProblemList) -> Qrels:
    """Return the judgments of the well-formed lines of a file, and note the problems of the others."""
    with open_unpacked(source) as file:
        raw = file.read()
    refuse_other_content(raw[:16], source.name)
    data, normalised, faults = normalise_lines(_end_with_newline(raw.removeprefix(BOM)), 1)
    del raw
    text = IndexedText.of(data)
    del data
    ordinals: dict[bytes, int] = {}
    parts = [_read_block(block, begin, layout, ordinals, faults) for block, begin in _split_blocks(text, layout)]
    judgments = _Judgments(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    pairs = QueryDocumentPairs(text, judgments.query, judgments.start, judgments.length, judgments.key)
    query_ids = tuple(query_id.decode() for query_id in ordinals)
    for repeated in pairs.find_repeated(judgments.line):
        got = f"got {shorten_repr(repeated.document)} again for {shorten_repr(query_ids[repeated.query])}"
        message = f"chunk judged twice ({got}; expected it once, it is on line {repeated.first_line})"
        faults.append(LineProblem(repeated.line, layout.names[-2], message, "E_DUPLICATE_ID"))
    for fault in sorted(faults):
        findings.add_error(*fault)
    order = np.argsort(judgments.query * (MAX_GRADE + 2) - judgments.grade, kind="stable")
    offset = np.searchsorted(judgments.query[order], np.arange(len(query_ids)))
    grade = judgments.grade[order].astype(np.int8)
    return Qrels(source.name, query_ids, ordinals, PairIndex(pairs.take(order)), grade, offset, normalised)


def is_integer(text: str) -> bool:
    """Return whether a text is an integer of at most nine digits, with an optional sign."""
    return _INTEGER.fullmatch(text) is not None


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


def _split_blocks(text: IndexedText, layout: ColumnLayout) -> Iterator[tuple[LineBlock, int]]:
    """Yield the lines in blocks of about a megabyte, and the offset of each block in the text."""
    begin, line = 0, 1
    while begin < text.size:
        end = text.data.index(b"\n", min(begin + QRELS_BLOCK_BYTES, text.size - 1)) + 1
        block = IndexedText.of(text.data[begin:end])
        yield LineBlock(*split_fields(block, layout, line), 0), begin
        begin, line = end, line + block.lines


def _read_block(
    block: LineBlock, begin: int, layout: ColumnLayout, ordinals: dict[bytes, int], faults: list[LineProblem]
) -> _Judgments:
    """Return the judgments of a block that begins at offset `begin` of the text; number its new queries."""
    faults += block.problems
    fields = _drop_header(block.fields, layout) if layout.tab_separated else block.fields
    document_column, grade_column = layout.columns - 2, layout.columns - 1
    first, ids = fields.query_starts()
    ordinal = np.array([ordinals.setdefault(query_id, len(ordinals)) for query_id in ids], dtype=np.int64)
    query = np.repeat(ordinal, np.diff(first, append=len(fields)))
    pairs = QueryDocumentPairs.of(fields.text, query, *fields.column(document_column))
    grade = _read_grades(fields, grade_column, faults)
    return _Judgments(query, pairs.start + begin, pairs.length, pairs.key, grade, fields.line)


def _drop_header(fields: FieldSpans, layout: ColumnLayout) -> FieldSpans:
    """Return the lines that are not the names of the columns."""
    header = [name.encode() for name in layout.names]
    rows = np.flatnonzero(fields.end[:, 0] - fields.start[:, 0] == len(header[0]))
    columns = [fields.tokens(rows, column) for column in range(layout.columns)]
    is_header = [list(cells) == header for cells in zip(*columns, strict=True)]
    return fields.take(np.setdiff1d(np.arange(len(fields)), rows[np.array(is_header, dtype=np.bool_)]))


def _read_grades(fields: FieldSpans, column: int, faults: list[LineProblem]) -> IndexArray:
    """Return the grade of each line, -1 for a negative one, and note those that are not integers up to 10."""
    numbers = parse_numbers(fields.text, *fields.column(column))
    grade = np.where(numbers.whole, np.clip(numbers.value, NOT_JUDGED, MAX_GRADE + 1), MAX_GRADE + 1).astype(np.int64)
    rows = np.flatnonzero(grade > MAX_GRADE)
    for row, token in zip(rows.tolist(), fields.tokens(rows, column), strict=True):
        text = token.decode()
        grade[row] = max(int(text), NOT_JUDGED) if is_integer(text) else MAX_GRADE + 1  # such as +1
        if grade[row] > MAX_GRADE:
            got = f"got {shorten_repr(text)}; expected an integer up to {MAX_GRADE}"
            faults.append(LineProblem(int(fields.line[row]), "grade", f"not a grade ({got})", "E_GRADE"))
            grade[row] = 0
    return grade


_UNIT = b'{"any_of":[{"chunk_id":%s}]%s}'
_GRADE_MEMBERS = [b',"grade":0,"required":false', *(b',"grade":%d' % grade for grade in range(1, MAX_GRADE + 1))]
_GRADE_MEMBERS[3] = b""  # 3 is the default of the record, and defaults are omitted


def compute_qrels_digest(qrels: Qrels) -> str:
    """Return the digest that `golden_files.compute_golden_digest` gives for the golden set that the judgments are.

    That is the SHA-256 of the canonical JSON of its cases, ordered by id, with the units of each in file order.
    """
    pairs = qrels.index.pairs
    rows, first = qrels.judged_rows()
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
