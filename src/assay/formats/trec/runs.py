"""Reads TREC runs (`query Q0 document rank score tag`), as arrays of rankings or as native lines.

A ranking is sorted by falling score, compared as float64, and by falling document id among equal scores, as trec_eval
10 does. The rank field is ignored, and so is text after the tag. The tag is the configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np

from assay.formats.file_io import Source, open_file
from assay.formats.problems import ProblemList
from assay.formats.trec.field_lines import (
    BOM,
    ColumnLayout,
    FieldSpans,
    LineBlock,
    LineProblem,
    iterate_query_blocks,
    parse_number,
    parse_numbers,
)
from assay.formats.trec.qrels import Qrels, QueryDocumentPairs, RepeatedPair
from assay.records.errors import shorten_repr
from assay.records.observations import Chunk, Observation, Stage
from assay.stats.arrays import BoolArray, FloatArray, GradeArray, IndexArray

RUN_LAYOUT = ColumnLayout(("query", "Q0", "document", "rank", "score", "tag"), open_ended=True)
DOCUMENT, SCORE, TAG = 2, 4, 5
UNKNOWN_QUERY = -1


class ScatteredError(Exception):
    """The lines of a query are not adjacent: they must be grouped first."""


@dataclass(frozen=True, slots=True)
class TrecRankings:
    """n complete rankings of known queries: ordinal `query` and `length` of each, of shape (n,). For every document in
    the qrels: `row` (which ranking), `slot` (its position there, from 0) and `grade`."""

    query: IndexArray
    length: IndexArray
    row: IndexArray
    slot: IndexArray
    grade: GradeArray

    @classmethod
    def of_empty(cls, query: IndexArray) -> TrecRankings:
        """Make rankings without a document for some queries."""
        none = np.zeros(0, dtype=np.int64)
        return cls(query, np.zeros(len(query), dtype=np.int64), none, none, np.zeros(0, dtype=np.int8))

    @classmethod
    def concatenate(cls, parts: Sequence[TrecRankings]) -> TrecRankings:
        """Concatenate the rankings of several blocks; `parts` must not be empty."""
        offsets = np.cumsum([0, *(len(part.query) for part in parts)])
        return cls(
            np.concatenate([part.query for part in parts]),
            np.concatenate([part.length for part in parts]),
            np.concatenate([part.row + shift for part, shift in zip(parts, offsets[:-1], strict=True)]),
            np.concatenate([part.slot for part in parts]),
            np.concatenate([part.grade for part in parts]),
        )

    def take(self, selected: IndexArray) -> TrecRankings:
        """Return some of the rankings."""
        new_row = np.full(len(self.query), -1, dtype=np.int64)
        new_row[selected] = np.arange(len(selected))
        row = new_row[self.row]
        is_selected = row >= 0
        return TrecRankings(
            self.query[selected],
            self.length[selected],
            row[is_selected],
            self.slot[is_selected],
            self.grade[is_selected],
        )


@dataclass(frozen=True, slots=True)
class _Scores:
    """The score of each line; where `exact` is False it may differ from the nearest float64 in its last digits."""

    fields: FieldSpans
    value: FloatArray
    exact: BoolArray

    def rows(self, lines: IndexArray) -> _Scores:
        """Return the scores of some lines."""
        return _Scores(self.fields.take(lines), self.value[lines], self.exact[lines])

    def make_exact(self, lines: IndexArray) -> None:
        """Replace inexact values by the nearest float64."""
        inexact = lines[~self.exact[lines]]
        self.value[inexact] = [float(token) for token in self.fields.tokens(inexact, SCORE)]


class RunReader:
    """Reads blocks of a run and looks its documents up in the qrels; keeps the tag and queries, and notes problems."""

    def __init__(self, qrels: Qrels, findings: ProblemList) -> None:
        self.qrels = qrels
        self.tag: bytes | None = None
        self.unknown: dict[bytes, None] = {}
        self.lines = 0
        self.normalised = 0
        self.is_valid = True
        self._findings = findings
        self._seen = np.zeros(len(qrels), dtype=np.bool_)

    def find_queries(self, fields: FieldSpans) -> tuple[IndexArray, IndexArray]:
        """Return the first line of each sequence of lines of one query, and its ordinal (-1: not in the qrels)."""
        first, ids = fields.query_starts()
        ordinal = np.array([self.qrels.ordinals.get(query_id, UNKNOWN_QUERY) for query_id in ids], dtype=np.int64)
        self.unknown.update((ids[index], None) for index in np.flatnonzero(ordinal == UNKNOWN_QUERY).tolist())
        return first, ordinal

    def check_block(self, block: LineBlock) -> None:
        """Note the problems of single lines of a block."""
        _, faults = self._read_scores(block)
        self._note_all(faults)

    def read_block(self, block: LineBlock) -> TrecRankings:
        """Return the rankings of a block of complete queries. Raises ScatteredError if a query came before."""
        scores, faults = self._read_scores(block)
        fields = block.fields
        first, ordinal = self.find_queries(fields)
        length = np.diff(first, append=len(fields))
        is_judged = ordinal != UNKNOWN_QUERY
        if not is_judged.all():
            lines = np.flatnonzero(np.repeat(is_judged, length))
            fields, scores = fields.take(lines), scores.rows(lines)
            ordinal, length = ordinal[is_judged], length[is_judged]
        self._mark_queries(ordinal)
        pairs = QueryDocumentPairs.of(fields.text, np.repeat(ordinal, length), *fields.column(DOCUMENT))
        faults += [self._describe_repeated(repeated) for repeated in pairs.find_repeated(fields.line)]
        self._note_all(faults)
        in_qrels, judgment = self.qrels.index.find(pairs)
        ranking = np.repeat(np.arange(len(ordinal)), length)
        slot = _rank_slots(pairs, ranking, length, scores)
        return TrecRankings(ordinal, length, ranking[in_qrels], slot[in_qrels], self.qrels.grade[judgment])

    def _describe_repeated(self, repeated: RepeatedPair) -> LineProblem:
        query_id = self.qrels.query_ids[repeated.query]
        got = f"got {shorten_repr(repeated.document)} again for {shorten_repr(query_id)}"
        message = f"listed twice for one query ({got}; first on line {repeated.first_line})"
        return LineProblem(repeated.line, "document", message, "E_DUPLICATE_ID")

    def _note_all(self, faults: list[LineProblem]) -> None:
        for fault in sorted(faults):
            self.is_valid = False
            self._findings.add_error(*fault)

    def _mark_queries(self, ordinal: IndexArray) -> None:
        if self._seen[ordinal].any() or len(np.unique(ordinal)) < len(ordinal):
            raise ScatteredError
        self._seen[ordinal] = True

    def _read_scores(self, block: LineBlock) -> tuple[_Scores, list[LineProblem]]:
        """Return the scores of a block and the problems of its lines."""
        fields = block.fields
        self.lines += len(fields)
        self.normalised += block.normalised
        faults = [*block.problems, *self._tag_faults(fields)]
        numbers = parse_numbers(fields.text, *fields.column(SCORE))
        rows = np.flatnonzero(~numbers.plain)
        for row, token in zip(rows.tolist(), fields.tokens(rows, SCORE), strict=True):
            value = parse_number(token)
            if value is None:
                got = f"got {shorten_repr(token.decode())}; expected a finite decimal number"
                faults.append(LineProblem(int(fields.line[row]), "score", f"not a score ({got})", "E_SCORE"))
            numbers.value[row] = value or 0.0
        return _Scores(fields, numbers.value, numbers.exact | ~numbers.plain), faults

    def _tag_faults(self, fields: FieldSpans) -> Iterator[LineProblem]:
        """Yield a problem for every line at which the tag changes to another one than that of the first line."""
        rows = fields.find_changes(TAG)
        for line, tag in zip(fields.line[rows].tolist(), fields.tokens(rows, TAG), strict=True):
            self.tag = self.tag or tag
            if tag != self.tag:
                got = (
                    f"got {shorten_repr(tag.decode())}; expected {shorten_repr(self.tag.decode())} as on the first line"
                )
                yield LineProblem(line, "tag", f"another run begins ({got})", "E_TAG")


def _rank_slots(pairs: QueryDocumentPairs, ranking: IndexArray, length: IndexArray, scores: _Scores) -> IndexArray:
    """Return the position of each line in its ranking, from 0; only rankings with rising or equal scores are sorted."""
    value = scores.value
    slot = np.arange(len(pairs)) - np.repeat(np.cumsum(length) - length, length)
    tolerance = 0.0 if scores.exact.all() else 1e-15 * np.abs(value[1:]) + 1e-15 * np.abs(value[:-1])
    with np.errstate(over="ignore"):  # a difference that is too large for a float64 is infinite
        falling = (value[:-1] - value[1:] > tolerance) | (slot[1:] == 0)
    if falling.all():
        return slot
    unsorted = np.zeros(len(length), dtype=np.bool_)
    unsorted[ranking[1:][~falling]] = True
    lines = np.flatnonzero(unsorted[ranking])
    scores.make_exact(lines)
    slot[_by_falling_score(pairs, lines, ranking[lines], value[lines])] = slot[lines]
    return slot


def _by_falling_score(
    pairs: QueryDocumentPairs, lines: IndexArray, ranking: IndexArray, value: FloatArray
) -> IndexArray:
    """Return the lines of complete rankings, each sorted by falling score, then by falling document id."""
    order = np.lexsort((-value, ranking))
    ordered, value, ranking = lines[order], value[order], ranking[order]
    is_tie = np.zeros(len(lines) + 1, dtype=np.bool_)  # whether a line has the same score as the one before it
    is_tie[1:-1] = (value[1:] == value[:-1]) & (ranking[1:] == ranking[:-1])
    tied = np.flatnonzero(is_tie[:-1] | is_tie[1:])
    if len(tied):
        documents = pairs.documents(ordered[tied])
        falling = np.array(sorted(range(len(tied)), key=documents.__getitem__, reverse=True))
        group = np.cumsum(~is_tie[tied])
        ordered[tied] = ordered[tied][falling[np.argsort(group[falling], kind="stable")]]
    return ordered


BLOCK = 1 << 20


@dataclass(slots=True)
class _Ranking:
    """The lines of one query: the first line, and the score and line of each document."""

    line: int
    tag: str
    documents: dict[str, tuple[float, int]] = field(default_factory=dict)


@dataclass(slots=True)
class ConvertedRun:
    """The line of the run at which the query of each written line begins; how many lines were not in NFC."""

    lines: list[int]
    normalised: int


def convert_trec_run(source: Source, target: Path) -> ConvertedRun:
    """Write a run as native lines, queries in the order of the run. Raises InputError with all bad lines."""
    try:
        return _write(source, target, scattered=False)
    except ScatteredError:
        return _write(source, target, scattered=True)


def _write(source: Source, target: Path, *, scattered: bool) -> ConvertedRun:
    findings, written = ProblemList(source.name), ConvertedRun([], 0)
    with open_file(source.path, source.name) as file, open(target, "wb") as out:
        parts = _read_rankings(file, findings, written)
        rankings = _merge_scattered(parts, findings) if scattered else _refuse_scattered(parts)
        for query, ranking in rankings:
            written.lines.append(ranking.line)
            out.write(msgspec.json.encode(_make_observation(query, ranking)) + b"\n")
    findings.raise_errors()
    return written


def _read_rankings(file: BinaryIO, findings: ProblemList, written: ConvertedRun) -> Iterator[tuple[str, _Ranking]]:
    """Yield the adjacent lines of each query as a ranking; bad lines are noted and left out."""
    file.seek(len(BOM) if file.read(len(BOM)) == BOM else 0)
    tag = ""
    for block in iterate_query_blocks(file, RUN_LAYOUT, BLOCK):
        written.normalised += block.normalised
        for fault in block.problems:
            findings.add_error(*fault)
        starts, queries = block.fields.query_starts()
        columns = [_column_texts(block.fields, column) for column in (DOCUMENT, SCORE, TAG)]
        rows = list(zip(block.fields.line.tolist(), *columns, strict=True))
        for query, (begin, end) in zip(queries, pairwise([*starts.tolist(), len(rows)]), strict=True):
            tag = tag or rows[begin][-1]
            ranking = _Ranking(rows[begin][0], tag)
            for line, document, token, row_tag in rows[begin:end]:
                score = parse_number(token.encode())
                if score is None:
                    message = f"not a score (got {shorten_repr(token)}; expected a finite decimal number)"
                    findings.add_error(line, "score", message, "E_SCORE")
                else:
                    _add_document(ranking, line, document, score, findings)
                if row_tag != tag:
                    got = f"got {shorten_repr(row_tag)}; expected {shorten_repr(tag)} as on the lines before"
                    findings.add_error(line, "tag", f"another run begins ({got})", "E_TAG")
                    tag = row_tag
            yield query.decode(), ranking


def _column_texts(fields: FieldSpans, column: int) -> list[str]:
    start, end, data = fields.start[:, column].tolist(), fields.end[:, column].tolist(), fields.text.data
    return [data[begin:stop].decode() for begin, stop in zip(start, end, strict=True)]


def _add_document(ranking: _Ranking, line: int, document: str, score: float, findings: ProblemList) -> None:
    earlier = ranking.documents.setdefault(document, (score, line))[1]
    if earlier != line:
        got = f"got {shorten_repr(document)} again; first on line {earlier}"
        findings.add_error(line, "document", f"listed twice for one query ({got})", "E_DUPLICATE_ID")


def _refuse_scattered(rankings: Iterable[tuple[str, _Ranking]]) -> Iterator[tuple[str, _Ranking]]:
    """Yield the rankings; raise ScatteredError if a query comes a second time."""
    queries: set[str] = set()
    for query, ranking in rankings:
        if query in queries:
            raise ScatteredError
        queries.add(query)
        yield query, ranking


def _merge_scattered(rankings: Iterable[tuple[str, _Ranking]], findings: ProblemList) -> Iterator[tuple[str, _Ranking]]:
    """Merge the parts of queries whose lines are scattered over the run; all rankings are held in memory."""
    merged: dict[str, _Ranking] = {}
    for query, part in rankings:
        ranking = merged.setdefault(query, part)
        if ranking is not part:
            for document, (score, line) in part.documents.items():
                _add_document(ranking, line, document, score, findings)
    yield from merged.items()


def _make_observation(query: str, ranking: _Ranking) -> Observation:
    ordered = sorted([(score, name) for name, (score, _) in ranking.documents.items()], reverse=True)
    chunks = tuple([Chunk(name, score) for score, name in ordered])
    return Observation(query, ranking.tag, stages=(Stage("retrieved", chunks),))
