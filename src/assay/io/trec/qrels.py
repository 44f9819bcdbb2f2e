"""Reads TREC qrels: relevance judgments of documents for queries (`query iteration document grade`).

The text of the file stays in memory; arrays with one row per judgment refer to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.errors import shown
from assay.io.findings import Findings
from assay.io.lines import open_file, opened
from assay.io.trec.encoding import BOM, Fault, normalise
from assay.io.trec.fields import Block, Layout, split_fields
from assay.io.trec.pairs import PairIndex, Pairs
from assay.io.trec.tokens import Keys, Places, Text, read_numbers

LAYOUT = Layout(("query", "iteration", "document", "grade"), open_ended=False)
DOCUMENT, GRADE = 2, 3
MAX_GRADE = 10
NOT_JUDGED = -1
BLOCK = 1 << 20

Grades = npt.NDArray[np.int8]
Counts = npt.NDArray[np.int32]


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
    grade: Grades
    offset: Places
    normalised: int

    def __len__(self) -> int:
        return len(self.query_ids)

    @property
    def negative(self) -> int:
        """Number of negative grades, which mean not judged."""
        return int(np.count_nonzero(self.grade < 0))

    def units(self, rel: int) -> Counts:
        """Return for each query the number of documents with a grade of at least `rel`, of shape (n,)."""
        relevant = self.index.pairs.query[self.grade >= rel]
        return np.bincount(relevant, minlength=len(self)).astype(np.int32)

    def ideal(self, queries: Places, units: Counts) -> Grades:
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
    with opened(path) as source, open_file(source.path, source.name) as file:
        data, normalised, faults = normalise(_end_with_newline(file.read().removeprefix(BOM)), 1)
    text = Text.of(data)
    del data
    ordinals: dict[bytes, int] = {}
    parts = [_read_judgments(block, begin, ordinals, faults) for block, begin in _split_blocks(text)]
    judgments = _Judgments(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    pairs = Pairs(text, judgments.query, judgments.start, judgments.length, judgments.key)
    query_ids = tuple(query_id.decode() for query_id in ordinals)
    faults += pairs.duplicates(judgments.line, query_ids)
    findings = Findings(source.name)
    if not len(pairs) and not faults:
        findings.error(None, "", "no judgments (got an empty file; expected one a line)", "E_EMPTY")
    for fault in sorted(faults):
        findings.error(*fault)
    findings.raise_errors()
    order = np.argsort(judgments.query * (MAX_GRADE + 2) - judgments.grade, kind="stable")
    offset = np.searchsorted(judgments.query[order], np.arange(len(query_ids)))
    grade = judgments.grade[order].astype(np.int8)
    return Qrels(source.name, query_ids, ordinals, PairIndex(pairs.take(order)), grade, offset, normalised)


class _Judgments(NamedTuple):
    """One row per judgment: ordinal of the query; start, length and key of the document id; grade and line."""

    query: Places
    start: Places
    length: Places
    key: Keys
    grade: Places
    line: Places


def _end_with_newline(raw: bytes) -> bytes:
    return raw if raw.endswith(b"\n") else raw + b"\n"


def _split_blocks(text: Text) -> Iterator[tuple[Block, int]]:
    """Yield the lines in blocks of about a megabyte, and the offset of each block in the text."""
    begin, line = 0, 1
    while begin < text.size:
        end = text.data.index(b"\n", min(begin + BLOCK, text.size - 1)) + 1
        block = Text.of(text.data[begin:end])
        yield Block(*split_fields(block, LAYOUT, line), 0), begin
        begin, line = end, line + block.lines


def _read_judgments(block: Block, begin: int, ordinals: dict[bytes, int], faults: list[Fault]) -> _Judgments:
    """Return the judgments of a block that begins at offset `begin` of the text; number its new queries."""
    fields = block.fields
    faults += block.faults
    first, ids = fields.queries()
    ordinal = np.array([ordinals.setdefault(query_id, len(ordinals)) for query_id in ids], dtype=np.int64)
    query = np.repeat(ordinal, np.diff(first, append=len(fields)))
    pairs = Pairs.of(fields.text, query, *fields.column(DOCUMENT))
    numbers = read_numbers(fields.text, *fields.column(GRADE))
    invalid = ~numbers.whole | (numbers.value > MAX_GRADE)
    rows = np.flatnonzero(invalid)
    for line, token in zip(fields.line[rows].tolist(), fields.tokens(rows, GRADE), strict=True):
        got = f"got {shown(token.decode())}; expected an integer up to {MAX_GRADE}"
        faults.append(Fault(line, "grade", f"not a grade ({got})", "E_GRADE"))
    grade = np.where(invalid, 0, np.maximum(numbers.value, NOT_JUDGED)).astype(np.int64)
    return _Judgments(query, pairs.start + begin, pairs.length, pairs.key, grade, fields.line)
