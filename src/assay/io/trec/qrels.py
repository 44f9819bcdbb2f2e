"""TREC qrels: how relevant which documents are to which query (`query iteration document grade`).

The file stays in memory as it is; beside it lie arrays with one row per judgment.
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

    ordinals: each query id's place. index: the (query, document) pairs of the file, one row each, by query and falling
    grade. grade: of each row, -1 where it was negative: not judged. offset: (n,) first row of each query.
    normalised: how many lines were not in NFC.
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
        """How many grades were negative and are taken as not judged."""
        return int(np.count_nonzero(self.grade < 0))

    def units(self, rel: int) -> Counts:
        """Return for each query how many documents have at least grade `rel`."""
        relevant = self.index.pairs.query[self.grade >= rel]
        return np.bincount(relevant, minlength=len(self)).astype(np.int32)

    def ideal(self, queries: Places, units: Counts) -> Grades:
        """Return the best grades of some queries, falling: shape (queries, most units), `units[i]` grades in row i."""
        place = np.arange(int(units.max(initial=0)))[:, np.newaxis]
        filled = place < units
        ideal = np.zeros(filled.shape, dtype=np.int8)
        ideal[filled] = self.grade[(self.offset[queries] + place)[filled]]
        return ideal.T


def read_qrels(path: Path) -> Qrels:
    """Read a qrels file (`.gz` too): four fields a line, each (query, document) once, integer grades up to 10.

    A negative grade means not judged. Raises InputError with the lines that are wrong.
    """
    with opened(path) as source, open_file(source.path, source.name) as file:
        data, normalised, faults = normalise(_ending_in_newline(file.read().removeprefix(BOM)), 1)
    text = Text.of(data)
    del data
    ordinals: dict[bytes, int] = {}
    parts = [_judgments(block, begin, ordinals, faults) for block, begin in _blocks(text)]
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
    """One row per judgment: the query's ordinal; the document's place, length and key; the grade and the line."""

    query: Places
    start: Places
    length: Places
    key: Keys
    grade: Places
    line: Places


def _ending_in_newline(raw: bytes) -> bytes:
    return raw if raw.endswith(b"\n") else raw + b"\n"


def _blocks(text: Text) -> Iterator[tuple[Block, int]]:
    """Yield the lines in blocks of about a megabyte, and where in the text each begins."""
    begin, line = 0, 1
    while begin < text.size:
        end = text.data.index(b"\n", min(begin + BLOCK, text.size - 1)) + 1
        block = Text.of(text.data[begin:end])
        yield Block(*split_fields(block, LAYOUT, line), 0), begin
        begin, line = end, line + block.lines


def _judgments(block: Block, begin: int, ordinals: dict[bytes, int], faults: list[Fault]) -> _Judgments:
    """Return the judgments of a block that begins at a place of the whole text; number its new queries."""
    fields = block.fields
    faults += block.faults
    first, ids = fields.queries()
    ordinal = np.array([ordinals.setdefault(query_id, len(ordinals)) for query_id in ids], dtype=np.int64)
    query = np.repeat(ordinal, np.diff(first, append=len(fields)))
    pairs = Pairs.of(fields.text, query, *fields.column(DOCUMENT))
    numbers = read_numbers(fields.text, *fields.column(GRADE))
    wrong = ~numbers.whole | (numbers.value > MAX_GRADE)
    rows = np.flatnonzero(wrong)
    for line, token in zip(fields.line[rows].tolist(), fields.tokens(rows, GRADE), strict=True):
        got = f"got {shown(token.decode())}; expected an integer up to {MAX_GRADE}"
        faults.append(Fault(line, "grade", f"not a grade ({got})", "E_GRADE"))
    grade = np.where(wrong, 0, np.maximum(numbers.value, NOT_JUDGED)).astype(np.int64)
    return _Judgments(query, pairs.start + begin, pairs.length, pairs.key, grade, fields.line)
