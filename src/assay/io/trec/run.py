"""Reads TREC runs (`query Q0 document rank score tag`): the rankings of judged queries in a block of lines.

A ranking is sorted by falling score, compared as float64, and by falling document id among equal scores, as trec_eval
10 does. The rank field is ignored, and so is text after the tag, as in trec_eval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.errors import shown
from assay.io.findings import Findings
from assay.io.trec.encoding import Fault
from assay.io.trec.fields import Block, Fields, Layout
from assay.io.trec.pairs import Pairs
from assay.io.trec.qrels import Grades, Qrels
from assay.io.trec.tokens import Bools, Floats, Places, read_number, read_numbers

LAYOUT = Layout(("query", "Q0", "document", "rank", "score", "tag"), open_ended=True)
DOCUMENT, SCORE, TAG = 2, 4, 5
UNKNOWN = -1


class ScatteredError(Exception):
    """The lines of a query are not adjacent: they must be grouped first."""


@dataclass(frozen=True, slots=True)
class Rankings:
    """n complete rankings of known queries: ordinal `query` and `length` of each, of shape (n,). For every document in
    the qrels: `row` (which ranking), `slot` (its position there, from 0) and `grade`."""

    query: Places
    length: Places
    row: Places
    slot: Places
    grade: Grades

    @classmethod
    def joined(cls, parts: Sequence[Rankings]) -> Rankings:
        """Concatenate the rankings of several blocks; `parts` must not be empty."""
        offsets = np.cumsum([0, *(len(part.query) for part in parts)])
        return cls(
            np.concatenate([part.query for part in parts]),
            np.concatenate([part.length for part in parts]),
            np.concatenate([part.row + shift for part, shift in zip(parts, offsets[:-1], strict=True)]),
            np.concatenate([part.slot for part in parts]),
            np.concatenate([part.grade for part in parts]),
        )

    def take(self, selected: Places) -> Rankings:
        """Return some of the rankings."""
        new_row = np.full(len(self.query), -1, dtype=np.int64)
        new_row[selected] = np.arange(len(selected))
        row = new_row[self.row]
        is_selected = row >= 0
        return Rankings(
            self.query[selected],
            self.length[selected],
            row[is_selected],
            self.slot[is_selected],
            self.grade[is_selected],
        )


@dataclass(frozen=True, slots=True)
class _Scores:
    """The score of each line; where `exact` is False it may differ from the nearest float64 in its last digits."""

    fields: Fields
    value: Floats
    exact: Bools

    def rows(self, lines: Places) -> _Scores:
        """Return the scores of some lines."""
        return _Scores(self.fields.rows(lines), self.value[lines], self.exact[lines])

    def make_exact(self, lines: Places) -> None:
        """Replace inexact values by the nearest float64."""
        inexact = lines[~self.exact[lines]]
        self.value[inexact] = [float(token) for token in self.fields.tokens(inexact, SCORE)]


class RunReader:
    """Reads blocks of a run and looks its documents up in the qrels; keeps the tag and queries, and notes problems."""

    def __init__(self, qrels: Qrels, findings: Findings) -> None:
        self.qrels = qrels
        self.tag: bytes | None = None
        self.unknown: dict[bytes, None] = {}
        self.lines = 0
        self.normalised = 0
        self.sound = True
        self._findings = findings
        self._seen = np.zeros(len(qrels), dtype=np.bool_)

    def queries(self, fields: Fields) -> tuple[Places, Places]:
        """Return the first line of each sequence of lines of one query, and its ordinal (-1: not in the qrels)."""
        first, ids = fields.queries()
        ordinal = np.array([self.qrels.ordinals.get(query_id, UNKNOWN) for query_id in ids], dtype=np.int64)
        self.unknown.update((ids[index], None) for index in np.flatnonzero(ordinal == UNKNOWN).tolist())
        return first, ordinal

    def check(self, block: Block) -> None:
        """Note the problems of single lines of a block."""
        _, faults = self._read_scores(block)
        self._note_all(faults)

    def read(self, block: Block) -> Rankings:
        """Return the rankings of a block of complete queries. Raises ScatteredError if a query came before."""
        scores, faults = self._read_scores(block)
        fields = block.fields
        first, ordinal = self.queries(fields)
        length = np.diff(first, append=len(fields))
        is_judged = ordinal != UNKNOWN
        if not is_judged.all():
            lines = np.flatnonzero(np.repeat(is_judged, length))
            fields, scores = fields.rows(lines), scores.rows(lines)
            ordinal, length = ordinal[is_judged], length[is_judged]
        self._mark_queries(ordinal)
        pairs = Pairs.of(fields.text, np.repeat(ordinal, length), *fields.column(DOCUMENT))
        faults += pairs.duplicates(fields.line, self.qrels.query_ids)
        self._note_all(faults)
        in_qrels, judgment = self.qrels.index.find(pairs)
        ranking = np.repeat(np.arange(len(ordinal)), length)
        slot = _rank_slots(pairs, ranking, length, scores)
        return Rankings(ordinal, length, ranking[in_qrels], slot[in_qrels], self.qrels.grade[judgment])

    def _note_all(self, faults: list[Fault]) -> None:
        for fault in sorted(faults):
            self.sound = False
            self._findings.error(*fault)

    def _mark_queries(self, ordinal: Places) -> None:
        if self._seen[ordinal].any() or len(np.unique(ordinal)) < len(ordinal):
            raise ScatteredError
        self._seen[ordinal] = True

    def _read_scores(self, block: Block) -> tuple[_Scores, list[Fault]]:
        """Return the scores of a block and the problems of its lines."""
        fields = block.fields
        self.lines += len(fields)
        self.normalised += block.normalised
        faults = [*block.faults, *self._tag_faults(fields)]
        numbers = read_numbers(fields.text, *fields.column(SCORE))
        rows = np.flatnonzero(~numbers.plain)
        for row, token in zip(rows.tolist(), fields.tokens(rows, SCORE), strict=True):
            value = read_number(token)
            if value is None:
                got = f"got {shown(token.decode())}; expected a finite decimal number"
                faults.append(Fault(int(fields.line[row]), "score", f"not a score ({got})", "E_SCORE"))
            numbers.value[row] = value or 0.0
        return _Scores(fields, numbers.value, numbers.exact | ~numbers.plain), faults

    def _tag_faults(self, fields: Fields) -> Iterator[Fault]:
        """Yield a problem for every line at which the tag changes to another one than that of the first line."""
        rows = fields.begins(TAG)
        for line, tag in zip(fields.line[rows].tolist(), fields.tokens(rows, TAG), strict=True):
            self.tag = self.tag or tag
            if tag != self.tag:
                got = f"got {shown(tag.decode())}; expected {shown(self.tag.decode())} as on the first line"
                yield Fault(line, "tag", f"another run begins ({got})", "E_TAG")


def _rank_slots(pairs: Pairs, ranking: Places, length: Places, scores: _Scores) -> Places:
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


def _by_falling_score(pairs: Pairs, lines: Places, ranking: Places, value: Floats) -> Places:
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
