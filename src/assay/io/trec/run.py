"""TREC runs (`query Q0 document rank score tag`): what a block of lines says about the rankings of judged queries.

A ranking is sorted by falling score, compared as float64, and by falling document id among equal scores: the rule of
trec_eval 10. The rank field decides nothing. Text after the tag is ignored, as trec_eval does.
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
    """The lines of a query do not stand together: the run must be grouped first."""


@dataclass(frozen=True, slots=True)
class Rankings:
    """n whole rankings of known queries: `query` and `length` of each; for every document in them that the qrels list
    `row` (which ranking), `slot` (its place there, from 0) and `grade`."""

    query: Places
    length: Places
    row: Places
    slot: Places
    grade: Grades

    @classmethod
    def joined(cls, parts: Sequence[Rankings]) -> Rankings:
        """Return the rankings of several blocks, at least one, as one."""
        before = np.cumsum([0, *(len(part.query) for part in parts)])
        return cls(
            np.concatenate([part.query for part in parts]),
            np.concatenate([part.length for part in parts]),
            np.concatenate([part.row + shift for part, shift in zip(parts, before[:-1], strict=True)]),
            np.concatenate([part.slot for part in parts]),
            np.concatenate([part.grade for part in parts]),
        )

    def take(self, chosen: Places) -> Rankings:
        """Return some of the rankings."""
        place = np.full(len(self.query), -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        row = place[self.row]
        kept = row >= 0
        return Rankings(self.query[chosen], self.length[chosen], row[kept], self.slot[kept], self.grade[kept])


@dataclass(frozen=True, slots=True)
class _Scores:
    """The score of each line; where `exact` is False it may be off in its last places."""

    fields: Fields
    value: Floats
    exact: Bools

    def rows(self, lines: Places) -> _Scores:
        """Return the scores of some lines."""
        return _Scores(self.fields.rows(lines), self.value[lines], self.exact[lines])

    def make_exact(self, lines: Places) -> None:
        """Put the nearest float64 in the place of those values that may be off."""
        doubtful = lines[~self.exact[lines]]
        self.value[doubtful] = [float(token) for token in self.fields.tokens(doubtful, SCORE)]


class RunReader:
    """Reads blocks of a run against the qrels; remembers its tag and the queries met, and notes what is wrong."""

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
        """Return the first line of each run of lines of one query, and that query's ordinal (-1: not in the qrels)."""
        first, ids = fields.queries()
        ordinal = np.array([self.qrels.ordinals.get(query_id, UNKNOWN) for query_id in ids], dtype=np.int64)
        self.unknown.update((ids[place], None) for place in np.flatnonzero(ordinal == UNKNOWN).tolist())
        return first, ordinal

    def check(self, block: Block) -> None:
        """Note what is wrong with the lines of a block taken singly."""
        _, faults = self._scores(block)
        self._note(faults)

    def read(self, block: Block) -> Rankings:
        """Return the rankings of a block of whole queries; raise ScatteredError where a query was met before."""
        scores, faults = self._scores(block)
        fields = block.fields
        first, ordinal = self.queries(fields)
        length = np.diff(first, append=len(fields))
        known = ordinal != UNKNOWN
        if not known.all():
            lines = np.flatnonzero(np.repeat(known, length))
            fields, scores = fields.rows(lines), scores.rows(lines)
            ordinal, length = ordinal[known], length[known]
        self._meet(ordinal)
        pairs = Pairs.of(fields.text, np.repeat(ordinal, length), *fields.column(DOCUMENT))
        faults += pairs.duplicates(fields.line, self.qrels.query_ids)
        self._note(faults)
        listed, judgment = self.qrels.index.find(pairs)
        ranking = np.repeat(np.arange(len(ordinal)), length)
        slot = _slots(pairs, ranking, length, scores)
        return Rankings(ordinal, length, ranking[listed], slot[listed], self.qrels.grade[judgment])

    def _note(self, faults: list[Fault]) -> None:
        for fault in sorted(faults):
            self.sound = False
            self._findings.error(*fault)

    def _meet(self, ordinal: Places) -> None:
        if self._seen[ordinal].any() or len(np.unique(ordinal)) < len(ordinal):
            raise ScatteredError
        self._seen[ordinal] = True

    def _scores(self, block: Block) -> tuple[_Scores, list[Fault]]:
        """Return the scores of a block, and the faults of its lines."""
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
        """Yield a fault for every line at which the tag becomes another one than the first line's."""
        rows = fields.begins(TAG)
        for line, tag in zip(fields.line[rows].tolist(), fields.tokens(rows, TAG), strict=True):
            self.tag = self.tag or tag
            if tag != self.tag:
                got = f"got {shown(tag.decode())}; expected {shown(self.tag.decode())} as on the first line"
                yield Fault(line, "tag", f"another run begins ({got})", "E_TAG")


def _slots(pairs: Pairs, ranking: Places, length: Places, scores: _Scores) -> Places:
    """Return each line's place in its ranking, from 0; only rankings whose scores do not fall already are sorted."""
    value = scores.value
    slot = np.arange(len(pairs)) - np.repeat(np.cumsum(length) - length, length)
    doubt = 0.0 if scores.exact.all() else 1e-15 * np.abs(value[1:]) + 1e-15 * np.abs(value[:-1])
    with np.errstate(over="ignore"):  # a fall too deep for a float64 is infinite
        falling = (value[:-1] - value[1:] > doubt) | (slot[1:] == 0)
    if falling.all():
        return slot
    unsorted = np.zeros(len(length), dtype=np.bool_)
    unsorted[ranking[1:][~falling]] = True
    lines = np.flatnonzero(unsorted[ranking])
    scores.make_exact(lines)
    slot[_by_falling_score(pairs, lines, ranking[lines], value[lines])] = slot[lines]
    return slot


def _by_falling_score(pairs: Pairs, lines: Places, ranking: Places, value: Floats) -> Places:
    """Return the lines of whole rankings reordered within each: scores falling, document ids falling where equal."""
    order = np.lexsort((-value, ranking))
    ordered, value, ranking = lines[order], value[order], ranking[order]
    goes_on = np.zeros(len(lines) + 1, dtype=np.bool_)  # whether a place has the score of the one before
    goes_on[1:-1] = (value[1:] == value[:-1]) & (ranking[1:] == ranking[:-1])
    tied = np.flatnonzero(goes_on[:-1] | goes_on[1:])
    if len(tied):
        documents = pairs.documents(ordered[tied])
        falling = np.array(sorted(range(len(tied)), key=documents.__getitem__, reverse=True))
        group = np.cumsum(~goes_on[tied])
        ordered[tied] = ordered[tied][falling[np.argsort(group[falling], kind="stable")]]
    return ordered
